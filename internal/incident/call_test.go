package incident

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

const adasPhone, bosPhone = "receiver:phone-ada/webhook/0", "receiver:phone-bo/webhook/0"

// duty is a ladder of whoever is on call, which a test may change hands of.
type duty struct {
	mu            sync.Mutex
	person, phone string
	since         rental.Millis
}

func (d *duty) steps() []Step {
	d.mu.Lock()
	defer d.mu.Unlock()
	return []Step{
		{Name: d.person, Key: "1/" + d.person + "/slack", Mention: "U0" + strings.ToUpper(d.person), Since: d.since},
		{Name: d.person + " (phone)", Key: "1/" + d.person + "/phone", Routes: []string{d.phone}, Own: 5 * time.Minute, Since: d.since, Undelivered: 2 * time.Minute},
		{Name: "everybody", Key: "2/all", Routes: []string{mail}, Unacknowledged: 20 * time.Minute, Last: true, Undelivered: 2 * time.Minute},
	}
}

// onDuty is a rig whose ladder is that of the duty, with a repeat every ten minutes.
func onDuty(t *testing.T, d *duty) *rig {
	t.Helper()
	r := newRig(t, oneRoute)
	var err error
	r.engine, err = New(Options{
		Store: r.store, Routes: oneRoute, Now: time.Now, Logger: quiet(), Wake: r.outbox.Wake, Silencer: &r.mutes,
		Ladder: d.steps, Repeat: func() time.Duration { return 10 * time.Minute },
	})
	must(t, err)
	climbing(t, r)
	return r
}

// calledOn returns the texts of what arrived on the route.
func (r *rig) calledOn(route string) []string {
	var texts []string
	for _, m := range r.route.all() {
		if m.delivery.Route == route && m.delivery.Kind != kindUpdate {
			texts = append(texts, strings.TrimSpace(m.delivery.Kind+" "+m.delivery.Text))
		}
	}
	return texts
}

func list(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func TestAPageClimbsThePersonsOwnLadderAndRepeatsUntilSomebodyHasIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := onDuty(t, &duty{person: "ada", phone: adasPhone})
		defer r.stop()
		r.page(t, 1, "page", alert(1, nowMillis(), 0))
		time.Sleep(4*time.Minute + 50*time.Second)
		list(t, "by phone before its time", r.calledOn(adasPhone))
		time.Sleep(20 * time.Second)
		list(t, "by phone", r.calledOn(adasPhone), "post")
		list(t, "in Slack: the message itself calls", r.calledOn(route), "post")
		time.Sleep(10 * time.Minute)
		list(t, "in Slack, again", r.calledOn(route), "post", "thread call-again: call:U0ADA")
		list(t, "by phone, again", r.calledOn(adasPhone), "post", "thread call-again: call:U0ADA")
		time.Sleep(5 * time.Minute)
		list(t, "everybody", r.calledOn(mail), "post")
		list(t, "in Slack, the last step", r.calledOn(route)[2:], "thread call-last:")
		events := r.incident(t, "INC-1").Events
		if at := slices.IndexFunc(events, func(e rental.IncidentEvent) bool { return strings.Contains(e.Note, "last step") }); at < 0 || events[at].Kind != eventClimbed {
			t.Errorf("timeline %+v: expected that it says which step was the last", events)
		}
		_, err := r.engine.Ack(t.Context(), "INC-1", "Ada")
		must(t, err)
		before := len(r.route.all())
		time.Sleep(2 * time.Hour)
		equal(t, "told after the acknowledgement, its edit apart", len(r.route.all())-before <= 3, true)
		equal(t, "calls by phone in all", len(r.calledOn(adasPhone)), 2)
	})
}

func TestWhoTakesOverIsCalledByTheirOwnWaysFromTheHandOverOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &duty{person: "ada", phone: adasPhone}
		r := onDuty(t, d)
		defer r.stop()
		r.page(t, 1, "page", alert(1, nowMillis(), 0))
		time.Sleep(6 * time.Minute)
		d.mu.Lock()
		d.person, d.phone, d.since = "bo", bosPhone, nowMillis()
		d.mu.Unlock()
		time.Sleep(10 * time.Second)
		list(t, "in Slack", r.calledOn(route), "post", "thread call:U0BO")
		time.Sleep(4 * time.Minute)
		list(t, "by the new phone before its time", r.calledOn(bosPhone))
		time.Sleep(time.Minute)
		list(t, "by the new phone", r.calledOn(bosPhone), "post")
		time.Sleep(30 * time.Minute)
		list(t, "by the phone of who is off", r.calledOn(adasPhone), "post")
	})
}

func TestAnIncidentThatIsOpenedAgainClimbsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := onDuty(t, &duty{person: "ada", phone: adasPhone})
		defer r.stop()
		began := nowMillis()
		r.page(t, 1, "page", alert(1, began, 0))
		time.Sleep(6 * time.Minute)
		r.page(t, 1, "page", alert(1, began, nowMillis()))
		time.Sleep(10 * time.Minute)
		equal(t, "messages by phone, the end included", len(r.on(adasPhone)), 2)
		r.page(t, 1, "page", alert(1, nowMillis(), 0))
		time.Sleep(6 * time.Minute)
		list(t, "by phone", r.calledOn(adasPhone)[1:], "thread "+alert(1, 0, 0).Fingerprint, "thread call-again:")
	})
}

func TestACallBeforeSlackHasTheFirstMessageLeavesOneMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &duty{person: "ada", phone: adasPhone}
		r := onDuty(t, d)
		defer r.stop()
		r.refusing(false, route)
		r.page(t, 1, "page", alert(1, nowMillis(), 0))
		time.Sleep(130 * time.Second)
		list(t, "by phone, since Slack does not take it", r.calledOn(adasPhone), "post")
		time.Sleep(19 * time.Minute)
		r.refusing(false)
		time.Sleep(2 * time.Minute)
		list(t, "in Slack when it is back", r.calledOn(route), "post")
	})
}

func TestATicketThatBecomesAPageStartsTheLadderThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := onDuty(t, &duty{person: "ada", phone: adasPhone})
		defer r.stop()
		r.page(t, 1, "ticket", alert(1, nowMillis(), 0))
		time.Sleep(3 * time.Hour)
		list(t, "by phone, of a ticket", r.calledOn(adasPhone))
		worse := group(nowMillis(), alert(1, nowMillis(), 0), alert(2, nowMillis(), 0))
		worse.Key = "slack/host-1/ticket"
		worse.Alerts[1].Labels["severity"] = "page"
		must(t, r.engine.Handle(t.Context(), worse))
		time.Sleep(4 * time.Minute)
		list(t, "by phone before its time", r.calledOn(adasPhone))
		time.Sleep(2 * time.Minute)
		list(t, "by phone", r.calledOn(adasPhone), "post")
	})
}

func TestEscalateCallsTheNextOfTheLadderWhoeverHasIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := onDuty(t, &duty{person: "ada", phone: adasPhone})
		defer r.stop()
		r.page(t, 1, "page", alert(1, nowMillis(), 0))
		time.Sleep(10 * time.Second)
		_, err := r.engine.Ack(t.Context(), "INC-1", "Ada")
		must(t, err)
		for range 2 {
			_, err = r.engine.Escalate(t.Context(), "INC-1", "Ada")
			must(t, err)
		}
		time.Sleep(time.Minute)
		list(t, "by phone", r.calledOn(adasPhone), "post")
		list(t, "everybody", r.calledOn(mail), "post")
		if _, err := r.engine.Escalate(t.Context(), "INC-1", "Ada"); !errors.Is(err, rental.ErrNoStep) {
			t.Errorf("a step beyond the last: %v, want %v", err, rental.ErrNoStep)
		}
	})
}

func TestALadderOfPeopleGoesOnAfterARestartWithoutARepeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &duty{person: "ada", phone: adasPhone}
		r := onDuty(t, d)
		defer r.stop()
		r.page(t, 1, "page", alert(1, nowMillis(), 0))
		time.Sleep(6 * time.Minute)
		next, err := New(Options{Store: r.store, Routes: oneRoute, Now: time.Now, Logger: quiet(), Wake: r.outbox.Wake, Ladder: d.steps})
		must(t, err)
		for range 5 {
			must(t, next.Climb(t.Context()))
			time.Sleep(time.Second)
		}
		list(t, "by phone", r.calledOn(adasPhone), "post")
	})
}

func TestQuietHoursHoldTicketsUntilTheMorningAndNoPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, oneRoute)
		r.stop()
		morning := rental.At(time.Now().Add(8 * time.Hour))
		var err error
		r.outbox, err = NewOutbox(OutboxOptions{Store: r.store, Sender: r.route, Now: time.Now, Logger: quiet(),
			Quiet: func(_ rental.Severity, at rental.Millis) rental.Millis {
				if at < morning {
					return morning
				}
				return 0
			}})
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.outbox.Run(ctx) }()
		defer func() { cancel(); <-ended }()
		r.engine.o.Wake = r.outbox.Wake
		r.page(t, 1, "ticket", alert(1, nowMillis(), 0))
		r.page(t, 2, "page", alert(2, nowMillis(), 0))
		r.page(t, 3, "ticket", alert(3, nowMillis(), 0))
		time.Sleep(time.Minute)
		told := func() (ids []string) {
			for _, m := range r.route.all() {
				ids = append(ids, m.delivery.Incident)
			}
			return ids
		}
		list(t, "at night", told(), "INC-2")
		worse := group(nowMillis(), alert(3, nowMillis(), 0), alert(4, nowMillis(), 0))
		worse.Key = "slack/host-3/ticket"
		worse.Alerts[1].Labels["severity"] = "page"
		must(t, r.engine.Handle(t.Context(), worse))
		time.Sleep(time.Minute)
		list(t, "what became a page does not wait", told(), "INC-2", "INC-3")
		time.Sleep(8 * time.Hour)
		list(t, "in the morning", told(), "INC-2", "INC-3", "INC-1")
	})
}

func TestTheExportTellsTheWholeStoryAndNothingInItIsMarkup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := onDuty(t, &duty{person: "ada", phone: adasPhone})
		defer r.stop()
		bad := alert(1, nowMillis(), 0)
		bad.Annotations = map[string]string{"summary": "GPU lost | [click](http://evil) <b>", "description": "line one\nline two"}
		r.page(t, 1, "page", bad)
		time.Sleep(6 * time.Minute)
		_, err := r.engine.Ack(t.Context(), "INC-1", "Ada | L.")
		must(t, err)
		inc := r.incident(t, "INC-1")
		for lang, words := range map[string][]string{
			"en": {"# INC-1: GPU lost \\|", "## Timeline", "Acknowledged", "by Ada \\| L.", "nobody acknowledged it within 5 min 00 s"},
			"zh": {"# INC-1：", "## 时间线", "已确认"},
		} {
			text := string(Markdown(inc, nil, lang))
			for _, word := range words {
				if !strings.Contains(text, word) {
					t.Errorf("%s: %q is missing in\n%s", lang, word, text)
				}
			}
			if strings.Contains(text, "](http") || strings.Contains(text, "<b>") {
				t.Errorf("%s: markup came out of an alert's text\n%s", lang, text)
			}
		}
	})
}

func TestALinkAcknowledgesOnceAndOnlyTheOpeningThatItWasMadeFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := onDuty(t, &duty{person: "ada", phone: adasPhone})
		defer r.stop()
		began := nowMillis()
		r.page(t, 1, "page", alert(1, began, 0))
		opened := Opened(r.incident(t, "INC-1"))
		use := func(link string, opened rental.Millis) (rental.Incident, error) {
			return r.engine.AckByLink(t.Context(), "INC-1", "Ada", link, opened, true)
		}
		if _, err := use("l0", opened-1); !errors.Is(err, rental.ErrUsed) {
			t.Errorf("a link of another opening: %v, want %v", err, rental.ErrUsed)
		}
		inc, err := use("l1", opened)
		must(t, err)
		equal(t, "acknowledged by", inc.AckedBy, "Ada")
		if _, err := use("l1", opened); !errors.Is(err, rental.ErrUsed) {
			t.Errorf("a second use: %v, want %v", err, rental.ErrUsed)
		}
		inc, err = r.engine.AckByLink(t.Context(), "INC-1", "Bo", "l2", opened, true)
		must(t, err)
		equal(t, "who has it after another's link", inc.AckedBy, "Ada")
		time.Sleep(time.Minute)
		r.page(t, 1, "page", alert(1, began, nowMillis()))
		if _, err := use("l3", opened); !errors.Is(err, rental.ErrOver) {
			t.Errorf("after the end: %v, want %v", err, rental.ErrOver)
		}
		time.Sleep(time.Minute)
		r.page(t, 1, "page", alert(1, nowMillis(), 0))
		if _, err := use("l2", opened); !errors.Is(err, rental.ErrUsed) {
			t.Errorf("a link from before it was opened again: %v, want %v", err, rental.ErrUsed)
		}
		equal(t, "open again", r.incident(t, "INC-1").Status, rental.IncidentOpen)
		_, err = use("l4", Opened(r.incident(t, "INC-1")))
		must(t, err)
	})
}
