package incident

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Ack records that a person has the incident in hand. It is idempotent: the first who
// acknowledges stays named, and an incident that is over is left as it is. It returns the
// incident as it then stands; an unknown id is ErrNotFound.
func (e *Engine) Ack(ctx context.Context, id, by string) (rental.Incident, error) {
	if strings.TrimSpace(by) == "" {
		return rental.Incident{}, errors.New("acknowledge incident " + id + ": expected the name of a person")
	}
	return e.changeByID(ctx, id, func(inc *rental.Incident, now rental.Millis) outcome {
		return e.ack(inc, now, by, eventAcked)
	})
}

// AckByProgram quiets the incident as Ack does, and answers it as no person: the contract's response
// clock goes on until a person acknowledges.
func (e *Engine) AckByProgram(ctx context.Context, id, by string) (rental.Incident, error) {
	return e.changeByID(ctx, id, func(inc *rental.Incident, now rental.Millis) outcome {
		return e.ack(inc, now, by, rental.EventAckedByProgram)
	})
}

// ack takes an incident in hand. A person takes it over from a program.
func (e *Engine) ack(inc *rental.Incident, now rental.Millis, by, kind string) outcome {
	takeover := inc.Status == rental.IncidentAcked && kind == eventAcked && inc.Responded() == 0
	if inc.Status != rental.IncidentOpen && !takeover {
		return outcome{}
	}
	inc.Status, inc.AckedAt, inc.AckedBy = rental.IncidentAcked, now, by
	inc.Revision++
	addEvent(inc, now, kind, by, "")
	return outcome{incident: inc, event: kind, deliveries: e.deliveries(inc, kindUpdate, "", now)}
}

// AckByLink acknowledges by a link that was made for the opening of the incident, Opened, and works
// once: in the same transaction the link's id is kept. A second use, or one after the incident was
// opened anew, is rental.ErrUsed; where it is over, rental.ErrOver. One that somebody else has is
// returned as it is. A link that is no one person's quiets as AckByProgram does: nobody can tell who
// of those whom a receiver reaches answered.
func (e *Engine) AckByLink(ctx context.Context, id, by, link string, opened rental.Millis, person bool) (rental.Incident, error) {
	var refused error
	inc, err := e.changeByID(ctx, id, func(inc *rental.Incident, now rental.Millis) outcome {
		if refused = LinkStands(*inc, link, opened); refused != nil {
			return outcome{}
		}
		kind := eventAcked
		if !person {
			kind = rental.EventAckedByProgram
		}
		done := e.ack(inc, now, by, kind)
		if done.incident != nil {
			inc.Links = append(inc.Links, link)
		}
		return done
	})
	return inc, errors.Join(err, refused)
}

// LinkStands tells whether a link may still acknowledge: rental.ErrUsed where it did before or the
// incident was opened anew since, rental.ErrOver where it is over.
func LinkStands(inc rental.Incident, link string, opened rental.Millis) error {
	switch {
	case slices.Contains(inc.Links, link), Opened(inc) != opened:
		return rental.ErrUsed
	case !unsettled(&inc):
		return rental.ErrOver
	}
	return nil
}

// Opened is when the incident was opened, opened again, or heard again after a silence.
func Opened(inc rental.Incident) rental.Millis {
	at := inc.OpenedAt
	for _, event := range inc.Events {
		if event.Kind == eventReopened || event.Kind == eventHeard {
			at = max(at, event.At)
		}
	}
	return at
}

// Note adds a person's words to the timeline; it tells nobody.
func (e *Engine) Note(ctx context.Context, id, by, text string) (rental.Incident, error) {
	if strings.TrimSpace(text) == "" {
		return rental.Incident{}, errors.New("note on incident " + id + ": expected a text")
	}
	return e.changeByID(ctx, id, func(inc *rental.Incident, now rental.Millis) outcome {
		addEvent(inc, now, eventNote, by, text)
		return outcome{incident: inc, event: eventNote}
	})
}

// Resolve ends an incident by evidence that its alerts ended at the moment, with who says so
// and why. It is idempotent.
func (e *Engine) Resolve(ctx context.Context, id string, at rental.Millis, by, why string) (rental.Incident, error) {
	return e.changeByID(ctx, id, func(inc *rental.Incident, now rental.Millis) outcome {
		if inc.Status == rental.IncidentResolved {
			return outcome{}
		}
		out := e.resolve(inc, ended(inc.Alerts, min(at, now)), now, by)
		inc.ResolvedAt = max(inc.EvidenceAt, min(at, now))
		inc.Events[len(inc.Events)-1].Note = why
		return out
	})
}

// changeByID runs one step on one incident and returns the incident as it then stands.
func (e *Engine) changeByID(ctx context.Context, id string, fn func(*rental.Incident, rental.Millis) outcome) (rental.Incident, error) {
	var step outcome
	e.o.CrashPoint("incident-commit-before")
	saved, err := e.o.Store.ChangeByID(ctx, id, func(inc *rental.Incident) (*rental.Incident, []rental.Delivery, error) {
		if inc == nil {
			return nil, nil, ErrNotFound
		}
		step = fn(inc, rental.At(e.o.Now()))
		return step.incident, step.deliveries, nil
	})
	if err != nil {
		return rental.Incident{}, fmt.Errorf("incident %s: %w", id, err)
	}
	e.o.CrashPoint("incident-commit-after")
	if step.incident != nil && saved != nil {
		e.committed(ctx, saved, step)
		return *saved, nil
	}
	unchanged, err := e.o.Store.Incident(ctx, id)
	if err != nil {
		return rental.Incident{}, fmt.Errorf("incident %s: %w", id, err)
	}
	return *unchanged, nil
}

// ended gives every alert that still fires this end.
func ended(alerts []rental.Alert, at rental.Millis) []rental.Alert {
	list := make([]rental.Alert, len(alerts))
	for i, alert := range alerts {
		if alert.EndsAt == rental.Forever {
			alert.EndsAt = max(at, alert.StartsAt)
		}
		list[i] = alert
	}
	return list
}
