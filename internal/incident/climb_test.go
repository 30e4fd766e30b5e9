package incident

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

const (
	phone = "receiver:phone/pagerduty/0"
	mail  = "receiver:boss/email/0"
)

// ladder is a phone after two minutes without delivery or ten without a person, then a mail.
func ladder() []Step {
	return []Step{
		{Name: "phone", Routes: []string{phone}, Undelivered: 2 * time.Minute, Unacknowledged: 10 * time.Minute},
		{Name: "boss", Routes: []string{mail}, Undelivered: 2 * time.Minute, Unacknowledged: 30 * time.Minute},
	}
}

// climbing lets the engine look at the ladder every five seconds, as the server does.
func climbing(t *testing.T, r *rig) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	stop := r.stop
	ended := make(chan struct{})
	r.stop = func() { cancel(); <-ended; stop() }
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			if err := errors.Join(r.engine.Tend(ctx), r.engine.Climb(ctx)); err != nil {
				t.Error(err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(5 * time.Second):
			}
		}
	}()
}

// on returns the kinds of what arrived on the route.
func (r *rig) on(route string) []string {
	var kinds []string
	for _, m := range r.route.all() {
		if m.delivery.Route == route {
			kinds = append(kinds, m.delivery.Kind)
		}
	}
	return kinds
}

// refusing makes routes fail: for good, or as if nobody answered.
func (r *rig) refusing(terminal bool, routes ...string) {
	r.route.do(func() {
		r.route.before = func(d rental.Delivery) error {
			if slices.Contains(routes, d.Route) {
				return sendError{text: "out of order", terminal: terminal, refused: true}
			}
			return nil
		}
	})
}

func TestAPageThatIsDeliveredAndAcknowledgedClimbsNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, oneRoute)
		climbing(t, r)
		defer r.stop()
		r.page(t, 1, "page", alert(1, nowMillis(), 0))
		r.page(t, 2, "ticket", alert(2, nowMillis(), 0))
		time.Sleep(9*time.Minute + 50*time.Second)
		if _, err := r.engine.Ack(t.Context(), "INC-1", "Ada"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		equal(t, "told by phone", r.on(phone), []string(nil))
		equal(t, "told by mail", r.on(mail), []string(nil))
	})
}

func TestAPageThatNobodyTakesClimbsStepByStepOnceEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, oneRoute)
		climbing(t, r)
		defer r.stop()
		r.page(t, 1, "page", alert(1, nowMillis(), 0))
		time.Sleep(9*time.Minute + 50*time.Second)
		equal(t, "told by phone before its time", r.on(phone), []string(nil))
		time.Sleep(20 * time.Second)
		equal(t, "told by phone", r.on(phone), []string{"post"})
		equal(t, "told by mail before its time", r.on(mail), []string(nil))
		time.Sleep(21 * time.Minute)
		equal(t, "told by mail", r.on(mail), []string{"post"})
		time.Sleep(2 * time.Hour)
		equal(t, "posts by phone in all", count(r.on(phone), "post"), 1)
		events := r.incident(t, "INC-1").Events
		at := slices.IndexFunc(events, func(e rental.IncidentEvent) bool { return e.Kind == eventClimbed })
		if at < 0 || events[at].Note != "phone: nobody acknowledged it within 10 min 00 s" {
			t.Errorf("timeline %+v: expected that it says why the page went to the phone", events)
		}
	})
}

func TestWhatSlackRefusesForGoodIsToldByTheNextRouteAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, oneRoute)
		r.refusing(true, route)
		climbing(t, r)
		defer r.stop()
		r.page(t, 1, "page", alert(1, nowMillis(), 0))
		time.Sleep(8 * time.Second)
		equal(t, "told by phone", r.on(phone), []string{"post"})
		time.Sleep(5 * time.Minute)
		equal(t, "told by mail, though the phone took it", r.on(mail), []string(nil))
	})
}

func TestWhatNoRouteTakesClimbsToTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, oneRoute)
		r.refusing(false, route, phone)
		climbing(t, r)
		defer r.stop()
		r.page(t, 1, "page", alert(1, nowMillis(), 0))
		time.Sleep(110 * time.Second)
		equal(t, "the phone before two minutes", len(r.incident(t, "INC-1").Events), 2) // opened, undelivered
		time.Sleep(3 * time.Minute)
		equal(t, "told by mail", r.on(mail), []string{"post"})
		r.refusing(false)
		time.Sleep(3 * time.Minute)
		equal(t, "told by Slack when it is back", count(r.on(route), "post"), 1)
		equal(t, "told by phone when it is back", count(r.on(phone), "post"), 1)
	})
}

func TestNewsOfAnAcknowledgedPageClimbWhereSlackDoesNotTakeThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, oneRoute)
		climbing(t, r)
		defer r.stop()
		r.page(t, 1, "page", alert(1, nowMillis(), 0))
		time.Sleep(time.Minute)
		if _, err := r.engine.Ack(t.Context(), "INC-1", "Ada"); err != nil {
			t.Fatal(err)
		}
		r.refusing(false, route)
		r.page(t, 1, "page", alert(1, nowMillis(), 0), alert(2, nowMillis(), 0))
		time.Sleep(3 * time.Minute)
		equal(t, "told by phone", r.on(phone), []string{"post"})
		note := r.incident(t, "INC-1").Events
		if !slices.ContainsFunc(note, func(e rental.IncidentEvent) bool {
			return e.Kind == eventClimbed && strings.Contains(e.Note, "did not take it within 2 min 00 s")
		}) {
			t.Errorf("timeline %+v: expected that it says what Slack did not take", note)
		}
	})
}

func TestALadderGoesOnAfterARestartWithoutARepeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, oneRoute)
		climbing(t, r)
		defer r.stop()
		r.page(t, 1, "page", alert(1, nowMillis(), 0))
		time.Sleep(11 * time.Minute)
		next, err := New(Options{Store: r.store, Routes: oneRoute, Now: time.Now, Logger: quiet(), Wake: r.outbox.Wake, Ladder: ladder})
		must(t, err)
		for range 5 {
			must(t, next.Climb(t.Context()))
			time.Sleep(time.Second)
		}
		equal(t, "told by phone", r.on(phone), []string{"post"})
	})
}

func TestAnIncidentThatIsOverTellsItsEndWhereItClimbedTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, oneRoute)
		climbing(t, r)
		defer r.stop()
		began := nowMillis()
		r.page(t, 1, "page", alert(1, began, 0))
		time.Sleep(11 * time.Minute)
		r.page(t, 1, "page", alert(1, began, nowMillis()))
		time.Sleep(time.Minute)
		equal(t, "told by phone", r.on(phone), []string{"post", "update"})
		time.Sleep(time.Hour)
		equal(t, "told by mail after the end", r.on(mail), []string(nil))
	})
}

func TestAnEndThatComesWhileTheNextWayIsBeingToldIsToldThereToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, oneRoute)
		defer r.stop()
		began := nowMillis()
		r.page(t, 1, "page", alert(1, began, 0))
		time.Sleep(time.Minute)
		r.route.do(func() { r.route.took = 5 * time.Second })
		_, err := r.engine.Escalate(t.Context(), "INC-1", "Ada")
		must(t, err)
		time.Sleep(2 * time.Second) // the call to the phone is under way
		r.page(t, 1, "page", alert(1, began, nowMillis()))
		time.Sleep(time.Minute)
		equal(t, "told by phone", r.on(phone), []string{"post", "update"})
	})
}

func count(list []string, what string) int {
	n := 0
	for _, entry := range list {
		if entry == what {
			n++
		}
	}
	return n
}
