package incident

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestTheFirstMessageLeavesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, oneRoute)
		defer r.stop()
		time.Sleep(time.Hour)
		began := time.Now()
		r.page(t, 1, "page", alert(1, nowMillis(), 0))
		time.Sleep(time.Second)
		got := r.route.all()
		equal(t, "messages", len(got), 1)
		if wait := got[0].at.Sub(began) - r.route.took; wait > 5*time.Millisecond {
			t.Errorf("the first message waited %s; expected at most a few milliseconds", wait)
		}
		equal(t, "where it stands", r.incident(t, "INC-1").Messages[route].ID, "ts-1")
	})
}

func TestPagesOvertakeNoticesAndTheRateIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, oneRoute)
		defer r.stop()
		for n := range 20 {
			r.page(t, n, "notice", alert(n, nowMillis(), 0))
		}
		time.Sleep(1500 * time.Millisecond)
		for n := range 3 {
			r.page(t, n, "page", alert(n, nowMillis(), 0))
		}
		time.Sleep(time.Minute)
		got := r.route.all()
		equal(t, "messages", len(got), 23)
		for i := range got[1:] {
			if gap := got[i+1].at.Sub(got[i].at); gap < time.Second {
				t.Errorf("message %d came %s after the one before; expected at least 1 s", i+1, gap)
			}
		}
		for i := 2; i < 5; i++ {
			equal(t, fmt.Sprintf("message %d", i), got[i].delivery.Severity, rental.Page)
		}
	})
}

func TestUpdatesOfOneMessageBecomeOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, oneRoute)
		defer r.stop()
		r.route.do(func() { r.route.took = 5 * time.Second })
		r.page(t, 1, "page", alert(1, nowMillis(), 0))
		time.Sleep(time.Second)
		for n := range 30 { // while the first message is on its way
			r.page(t, 1, "page", alert(1, nowMillis(), 0), alert(100+n, nowMillis(), 0))
		}
		time.Sleep(5 * time.Minute)
		counts := map[string]int{}
		for _, got := range r.route.all() {
			counts[got.delivery.Kind]++
			if got.delivery.Kind == kindThread {
				equal(t, "alerts in the reply", len(splitFields(got.delivery.Text)), 30)
			}
		}
		equal(t, "messages by kind", counts, map[string]int{"post": 1, "update": 1, "thread": 1})
		equal(t, "what the message shows", lastUpdate(r.route.all()).revision, 31)
	})
}

func TestOneReplyAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, oneRoute)
		defer r.stop()
		for n := range 30 {
			r.page(t, 1, "page", alert(n, nowMillis(), 0))
			time.Sleep(10 * time.Second)
		}
		time.Sleep(2 * time.Minute)
		var last time.Time
		about := map[string]bool{}
		for _, got := range r.route.all() {
			if got.delivery.Kind != kindThread {
				continue
			}
			if !last.IsZero() && got.at.Sub(last) < time.Minute {
				t.Errorf("a reply %s after the one before; expected a minute", got.at.Sub(last))
			}
			last = got.at
			for _, name := range splitFields(got.delivery.Text) {
				if about[name] {
					t.Errorf("alert %s was told twice", name)
				}
				about[name] = true
			}
		}
		equal(t, "alerts told in replies", len(about), 29)
	})
}

func TestTheChannelsOwnWaitIsRespected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, oneRoute)
		defer r.stop()
		began, tries := time.Now(), 0
		r.fail(func(rental.Delivery) error {
			if tries++; tries == 1 {
				return sendError{text: "rate limited", after: 30 * time.Second, refused: true}
			}
			return nil
		})
		r.page(t, 1, "page", alert(1, nowMillis(), 0))
		r.page(t, 2, "page", alert(2, nowMillis(), 0))
		time.Sleep(5 * time.Minute)
		got := r.route.all()
		equal(t, "messages", len(got), 2)
		if wait := got[0].at.Sub(began); wait < 30*time.Second || wait > 32*time.Second {
			t.Errorf("the next try came after %s; expected 30 s", wait)
		}
		equal(t, "not marked as a repeat", got[0].delivery.Repeat, false)
	})
}

func TestATerminalErrorIsVisibleAndARepairedTokenDelivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, oneRoute)
		defer r.stop()
		broken, calls := true, 0
		r.fail(func(rental.Delivery) error {
			calls++
			if broken {
				return sendError{text: "token_revoked", terminal: true, refused: true}
			}
			return nil
		})
		r.page(t, 1, "page", alert(1, nowMillis(), 0))
		time.Sleep(16 * time.Second)
		equal(t, "failed on /metrics", testutil.ToFloat64(r.outbox.meter.undelivered.WithLabelValues("page", "post", "failed")), 1.0)
		equal(t, "timeline", eventsOf(r.incident(t, "INC-1")), []string{"opened", "undelivered"})
		if age := gaugeOf(t, r.reg, "leasewatch_outbox_oldest_seconds"); age < 15 {
			t.Errorf("age of the oldest message is %v s; expected at least 15", age)
		}
		time.Sleep(30 * time.Minute)
		r.route.do(func() {
			if calls > 8 {
				t.Errorf("%d calls to a broken route in half an hour; expected a slow retry", calls)
			}
			broken = false
		})
		time.Sleep(6 * time.Minute)
		equal(t, "delivered", len(r.route.all()), 1)
		left, err := r.store.PendingDeliveries(context.Background())
		must(t, err)
		equal(t, "left in the outbox", len(left), 0)
		equal(t, "nothing undelivered", gaugeOf(t, r.reg, "leasewatch_outbox_oldest_seconds"), 0.0)
	})
}

func TestARouteThatFailsOrHangsHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(rental.Incident) []string { return []string{"slack:bad", "slack:good"} })
		defer r.stop()
		r.fail(func(d rental.Delivery) error {
			if d.Route == "slack:bad" {
				return sendError{text: "channel_not_found", terminal: true, refused: true}
			}
			return nil
		})
		for n := range 5 {
			r.page(t, n, "page", alert(n, nowMillis(), 0))
		}
		time.Sleep(10 * time.Second)
		equal(t, "told on the good route", len(r.route.all()), 5)
	})
}

func TestADeletedMessageIsPostedAgainWhileTheIncidentIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, oneRoute)
		defer r.stop()
		r.page(t, 1, "page", alert(1, nowMillis(), 0))
		time.Sleep(10 * time.Second)
		r.fail(func(d rental.Delivery) error {
			if d.Kind == kindUpdate {
				return sendError{text: "message_not_found", refused: true, gone: true}
			}
			return nil
		})
		_, err := r.engine.Ack(context.Background(), "INC-1", "ada")
		must(t, err)
		time.Sleep(time.Minute)
		must(t, r.engine.Handle(context.Background(), rental.AlertGroup{Key: "slack/host-1/page", At: nowMillis(), Alerts: []rental.Alert{alert(1, nowMillis()-70_000, nowMillis()-1)}}))
		time.Sleep(time.Minute)
		var kinds []string
		for _, m := range r.route.all() {
			kinds = append(kinds, m.delivery.Kind)
		}
		equal(t, "messages", kinds, []string{"post", "post"})
		left, _ := r.store.PendingDeliveries(context.Background())
		equal(t, "left in the outbox", len(left), 0)
	})
}

func TestAStoreAwayForAWhileLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, oneRoute)
		defer r.stop()
		for n := range 5 {
			r.page(t, n, "page", alert(n, nowMillis(), 0))
		}
		away := time.Now().Add(time.Minute)
		r.store.mu.Lock()
		r.store.fail = func(string) error {
			if time.Now().Before(away) {
				return errors.New("disk full")
			}
			return nil
		}
		r.store.mu.Unlock()
		time.Sleep(5 * time.Minute)
		posts := map[string]int{}
		for _, got := range r.route.all() {
			posts[got.delivery.Incident]++
		}
		equal(t, "posts by incident", posts, map[string]int{"INC-1": 1, "INC-2": 1, "INC-3": 1, "INC-4": 1, "INC-5": 1})
	})
}

// 10,000 alerts over 500 groups within a minute, on a route that fails a third of its calls,
// some of them after it took the message.
func TestAStormLosesNothingTellsNothingTwiceAndKeepsTheRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, oneRoute)
		defer r.stop()
		random := rand.New(rand.NewPCG(1, 2))
		r.fail(func(rental.Delivery) error {
			if random.IntN(5) == 0 {
				return errors.New("connection reset")
			}
			return nil
		})
		r.route.do(func() {
			r.route.after = func(rental.Delivery) error {
				if random.IntN(10) == 0 {
					return errors.New("unexpected EOF")
				}
				return nil
			}
		})
		const groups, rounds, each = 500, 4, 5
		for round := range rounds {
			for n := range groups {
				alerts := make([]rental.Alert, 0, each)
				for i := range each {
					alerts = append(alerts, alert((n*rounds+round)*each+i, nowMillis(), 0))
				}
				r.page(t, n, []string{"page", "ticket"}[n%2], alerts...)
			}
			time.Sleep(15 * time.Second)
		}
		time.Sleep(3 * time.Hour)
		got := r.route.everything()
		posts, threads, shown := map[string]int{}, map[string]int{}, map[string]int{}
		var lastMessage time.Time
		var updates []time.Time
		for _, m := range got {
			if m.delivery.Kind == kindUpdate {
				updates = append(updates, m.at)
			} else {
				if gap := m.at.Sub(lastMessage); gap < time.Second {
					t.Fatalf("two messages within %s", gap)
				}
				lastMessage = m.at
			}
			shown[m.delivery.Incident] = max(shown[m.delivery.Incident], m.revision)
			switch m.delivery.Kind {
			case kindPost:
				posts[m.delivery.Incident]++
			case kindThread:
				for _, name := range splitFields(m.delivery.Text) {
					threads[name]++
				}
			}
		}
		for i := 50; i < len(updates); i++ {
			if updates[i].Sub(updates[i-50]) < time.Minute {
				t.Fatal("more than 50 updates within a minute")
			}
		}
		equal(t, "incidents told", len(posts), groups)
		incidents, err := r.store.UnresolvedIncidents(context.Background())
		must(t, err)
		for _, inc := range incidents {
			if posts[inc.ID] != 1 {
				t.Errorf("%s was posted %d times", inc.ID, posts[inc.ID])
			}
			if len(inc.Alerts) != rounds*each || shown[inc.ID] != inc.Revision {
				t.Errorf("%s has %d alerts and revision %d; people see revision %d", inc.ID, len(inc.Alerts), inc.Revision, shown[inc.ID])
			}
		}
		for name, count := range threads {
			if count > 1 {
				t.Errorf("alert %s was told in %d replies", name, count)
			}
		}
		left, _ := r.store.PendingDeliveries(context.Background())
		equal(t, "left in the outbox", len(left), 0)
	})
}
