package incident

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// silenced opens a page and silences it.
func silenced(t *testing.T, length time.Duration) *rig {
	t.Helper()
	r := newRig(t, oneRoute)
	climbing(t, r)
	r.page(t, 1, "page", alert(1, nowMillis(), 0))
	time.Sleep(time.Minute)
	inc, err := r.engine.Silence(t.Context(), "INC-1", length, "Ada")
	must(t, err)
	equal(t, "who has it", inc.AckedBy, "Ada")
	equal(t, "silences", r.mutes.active(), []string{"s1"})
	return r
}

func TestASilenceThatRunsOutOnAPageThatStillFiresIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := silenced(t, time.Hour)
		defer r.stop()
		time.Sleep(59 * time.Minute)
		equal(t, "status while it is silent", r.incident(t, "INC-1").Status, rental.IncidentAcked)
		equal(t, "replies while it is silent", count(r.on(route), kindThread), 0)
		time.Sleep(2 * time.Minute)
		inc := r.incident(t, "INC-1")
		equal(t, "status after it", inc.Status, rental.IncidentOpen)
		equal(t, "silence after it", inc.Silence == nil, true)
		equal(t, "replies after it", count(r.on(route), kindThread), 1)
		time.Sleep(10 * time.Minute)
		equal(t, "told by phone, since nobody has it again", r.on(phone), []string{"post"})
	})
}

func TestASilenceUntilFixedLastsAndEndsWithTheIncident(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := silenced(t, UntilFixed)
		defer r.stop()
		time.Sleep(7 * time.Hour)
		equal(t, "silences after seven hours", r.mutes.active(), []string{"s1"})
		equal(t, "replies", count(r.on(route), kindThread), 0)
		began := r.incident(t, "INC-1").Alerts[0].StartsAt
		r.page(t, 1, "page", alert(1, began, nowMillis()))
		equal(t, "silences after the end", r.mutes.active(), []string(nil))
		time.Sleep(time.Minute)
		equal(t, "the last word", lastUpdate(r.route.all()).status, rental.IncidentResolved)
	})
}

func TestASilenceUntilFixedIsHeardAgainWithinTheHourWhereNobodyTendsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, oneRoute)
		defer r.stop()
		r.page(t, 1, "page", alert(1, nowMillis(), 0))
		_, err := r.engine.Silence(t.Context(), "INC-1", UntilFixed, "Ada")
		must(t, err)
		time.Sleep(61 * time.Minute) // the server is down
		equal(t, "silences", r.mutes.active(), []string(nil))
		must(t, r.engine.Tend(t.Context()))
		equal(t, "status", r.incident(t, "INC-1").Status, rental.IncidentOpen)
	})
}

func TestASecondSilenceTakesTheFirstOnesPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := silenced(t, time.Hour)
		defer r.stop()
		_, err := r.engine.Silence(t.Context(), "INC-1", 4*time.Hour, "Bob")
		must(t, err)
		equal(t, "silences", r.mutes.active(), []string{"s2"})
		equal(t, "who has it", r.incident(t, "INC-1").AckedBy, "Ada")
	})
}

func TestWhatCannotBeSilencedSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, oneRoute)
		defer r.stop()
		began := nowMillis()
		r.page(t, 1, "page", alert(1, began, 0))
		r.page(t, 1, "page", alert(1, began, nowMillis()))
		_, err := r.engine.Silence(t.Context(), "INC-1", time.Hour, "Ada")
		equal(t, "over", errors.Is(err, rental.ErrOver), true)
		g := group(nowMillis(), alert(2, nowMillis(), 0))
		g.Key, g.Outside = "elsewhere", true
		must(t, r.engine.Handle(t.Context(), g))
		_, err = r.engine.Silence(t.Context(), "INC-2", time.Hour, "Ada")
		equal(t, "outside", errors.Is(err, rental.ErrOutside), true)
		_, err = r.engine.Silence(t.Context(), "INC-9", time.Hour, "Ada")
		equal(t, "unknown", errors.Is(err, ErrNotFound), true)
		equal(t, "silences", r.mutes.active(), []string(nil))
	})
}

func TestEscalatingTellsTheNextWayAtOnceUntilThereIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, oneRoute)
		defer r.stop()
		r.page(t, 1, "page", alert(1, nowMillis(), 0))
		for range 2 {
			_, err := r.engine.Escalate(t.Context(), "INC-1", "Ada")
			must(t, err)
			time.Sleep(10 * time.Second)
		}
		equal(t, "told by phone", count(r.on(phone), kindPost), 1)
		equal(t, "told by mail", count(r.on(mail), kindPost), 1)
		_, err := r.engine.Escalate(t.Context(), "INC-1", "Ada")
		equal(t, "no step is left", errors.Is(err, rental.ErrNoStep), true)
		at := slices.IndexFunc(r.incident(t, "INC-1").Events, func(e rental.IncidentEvent) bool { return e.Kind == eventClimbed })
		equal(t, "who asked", r.incident(t, "INC-1").Events[at].By, "Ada")
	})
}

func TestIncidentsOfAnotherAlertmanagerAreNotSettledAtStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, oneRoute)
		defer r.stop()
		g := group(nowMillis(), alert(1, nowMillis(), 0))
		g.Outside = true
		must(t, r.engine.Handle(t.Context(), g))
		closed, err := r.engine.CloseHealed(t.Context(), func(rental.Alert) bool { return false }, nothing{})
		must(t, err)
		equal(t, "closed", closed, Closed{})
		equal(t, "status", r.incident(t, "INC-1").Status, rental.IncidentOpen)
	})
}

// nothing is evidence that tells nothing.
type nothing struct{}

func (nothing) Healed(context.Context, rental.Incident) (rental.Millis, bool, error) {
	return 0, false, nil
}
