package incident

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// Silencer mutes alerts by their labels, so that nothing more is told of them.
type Silencer interface {
	// Silence mutes alerts with all these labels until then and returns the silence's id.
	Silence(ctx context.Context, matchers map[string]string, until time.Time, by, comment string) (id string, err error)
	// ProlongSilence moves the end of a silence that still mutes.
	ProlongSilence(ctx context.Context, id string, until time.Time) error
	// ExpireSilence ends a silence now.
	ExpireSilence(ctx context.Context, id string) error
}

// UntilFixed asks Silence to mute an incident until it is resolved.
const UntilFixed time.Duration = 0

// A silence until fixed is a short one that Tend prolongs: where the server dies, the alerts are
// heard again within the hour.
const (
	fixedLength = time.Hour
	fixedRenew  = 30 * time.Minute
)

// Silence mutes an incident for a while, or UntilFixed: no further alert of its subject and
// severity is told. Whoever silences has it in hand, so that it is acknowledged too; when the time
// is over and it still fires, it is told again. Its end is always told.
func (e *Engine) Silence(ctx context.Context, id string, length time.Duration, by string) (rental.Incident, error) {
	inc, err := e.o.Store.Incident(ctx, id)
	if err != nil {
		return rental.Incident{}, fmt.Errorf("incident %s: %w", id, err)
	}
	switch {
	case e.o.Silencer == nil || inc.Outside:
		return *inc, fmt.Errorf("silence incident %s: %w", id, rental.ErrOutside)
	case !unsettled(inc):
		return *inc, fmt.Errorf("silence incident %s: %w", id, rental.ErrOver)
	}
	matchers := about(inc)
	if len(matchers) == 0 {
		return *inc, fmt.Errorf("silence incident %s: its alerts have neither severity nor subject", id)
	}
	until, note := rental.At(e.o.Now().Add(length)), phrase.For(phrase.English).Duration(length.Milliseconds())
	if length == UntilFixed {
		until, note = rental.At(e.o.Now().Add(fixedLength)), "until fixed"
	}
	silence, err := e.o.Silencer.Silence(ctx, matchers, until.Time(), by, "leasewatch "+id+": "+note)
	if err != nil {
		return *inc, fmt.Errorf("silence incident %s: %w", id, err)
	}
	before := inc.Silence
	changed, err := e.changeByID(ctx, id, func(inc *rental.Incident, now rental.Millis) outcome {
		if !unsettled(inc) {
			return outcome{}
		}
		if inc.Status == rental.IncidentOpen {
			inc.Status, inc.AckedAt, inc.AckedBy = rental.IncidentAcked, now, by
		}
		inc.Silence = &rental.IncidentSilence{ID: silence, Until: until, UntilFixed: length == UntilFixed, By: by}
		inc.Revision++
		addEvent(inc, now, eventSilenced, by, note)
		return outcome{incident: inc, event: eventSilenced, deliveries: e.deliveries(inc, kindUpdate, "", now)}
	})
	if err == nil && (changed.Silence == nil || changed.Silence.ID != silence) {
		e.unmute(ctx, silence) // it ended meanwhile
	}
	if err == nil && before != nil && before.ID != silence {
		e.unmute(ctx, before.ID)
	}
	return changed, err
}

// Escalate takes a page to its next step at once, because a person asks for it.
func (e *Engine) Escalate(ctx context.Context, id, by string) (rental.Incident, error) {
	inc, err := e.o.Store.Incident(ctx, id)
	if err != nil {
		return rental.Incident{}, fmt.Errorf("incident %s: %w", id, err)
	}
	if !unsettled(inc) {
		return *inc, fmt.Errorf("escalate incident %s: %w", id, rental.ErrOver)
	}
	pending, err := e.o.Store.PendingDeliveries(ctx)
	if err != nil {
		return *inc, fmt.Errorf("escalate incident %s: read the outbox: %w", id, err)
	}
	waiting := slices.DeleteFunc(pending, func(d rental.Delivery) bool { return d.Incident != id })
	for _, step := range e.o.Ladder() {
		if !reached(*inc, waiting, step) {
			return e.take(ctx, *inc, step, "asked for", by)
		}
	}
	return *inc, fmt.Errorf("escalate incident %s: %w", id, rental.ErrNoStep)
}

// Tend looks after silences: it prolongs those until fixed, and tells an incident again whose
// silence is over while it still fires. One that cannot be changed does not hold up the rest.
func (e *Engine) Tend(ctx context.Context) error {
	if e.o.Silencer == nil {
		return nil
	}
	open, err := e.o.Store.UnresolvedIncidents(ctx)
	if err != nil {
		return fmt.Errorf("read the open incidents: %w", err)
	}
	var errs []error
	for _, inc := range open {
		if inc.Silence != nil {
			errs = append(errs, e.tend(ctx, inc))
		}
	}
	return errors.Join(errs...)
}

func (e *Engine) tend(ctx context.Context, inc rental.Incident) error {
	now := e.o.Now()
	left := inc.Silence.Until.Time().Sub(now)
	switch {
	case inc.Silence.UntilFixed && left > fixedRenew, !inc.Silence.UntilFixed && left > 0:
		return nil
	case inc.Silence.UntilFixed && left > 0:
		until := now.Add(fixedLength)
		if err := e.o.Silencer.ProlongSilence(ctx, inc.Silence.ID, until); err != nil {
			return fmt.Errorf("prolong the silence of incident %s: %w", inc.ID, err)
		}
		_, err := e.changeByID(ctx, inc.ID, func(newest *rental.Incident, _ rental.Millis) outcome {
			if newest.Silence == nil || newest.Silence.ID != inc.Silence.ID {
				return outcome{}
			}
			newest.Silence.Until = rental.At(until)
			return outcome{incident: newest}
		})
		return err
	}
	_, err := e.changeByID(ctx, inc.ID, func(newest *rental.Incident, at rental.Millis) outcome {
		if newest.Silence == nil || newest.Silence.ID != inc.Silence.ID || !unsettled(newest) {
			return outcome{}
		}
		newest.Silence, newest.Status, newest.AckedAt, newest.AckedBy, newest.Called = nil, rental.IncidentOpen, 0, "", nil
		newest.Revision++
		e.callFirst(newest, at)
		addEvent(newest, at, eventHeard, "", "")
		firing := slices.DeleteFunc(slices.Clone(newest.Alerts), func(a rental.Alert) bool { return a.EndsAt != rental.Forever })
		return outcome{incident: newest, event: eventHeard, deliveries: e.updateAndThread(newest, firing, at)}
	})
	return err
}

// unmute ends a silence that nobody needs; one that cannot be ended runs out by itself.
func (e *Engine) unmute(ctx context.Context, id string) {
	if err := e.o.Silencer.ExpireSilence(ctx, id); err != nil {
		e.o.Logger.Warn("a silence could not be ended; it runs out by itself", "silence", id, "err", err)
	}
}

// unsettled tells whether the incident is open or acknowledged.
func unsettled(inc *rental.Incident) bool {
	return inc.Status == rental.IncidentOpen || inc.Status == rental.IncidentAcked
}

// about returns the labels by which the incident's alerts are one group, and no others.
func about(inc *rental.Incident) map[string]string {
	matchers := map[string]string{}
	for _, alert := range inc.Alerts {
		for _, name := range []string{"provider", "severity", "subject"} {
			if value := alert.Labels[name]; value != "" {
				matchers[name] = value
			}
		}
	}
	if matchers["severity"] == "" || matchers["subject"] == "" {
		return nil
	}
	return matchers
}
