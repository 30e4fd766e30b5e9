package incident

import (
	"context"
	"errors"
	"fmt"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Evidence tells from samples and the ledger whether what an incident is about has healed.
type Evidence interface {
	// Healed returns since when it is well again; known is false where the evidence does
	// not tell.
	Healed(ctx context.Context, inc rental.Incident) (at rental.Millis, known bool, err error)
}

// Closed counts what CloseHealed did.
type Closed struct{ Resolved, Unknown int }

// CloseHealed settles, at start, the incidents that nothing else would ever close: those
// whose alerts vanished while the server was down. active tells whether an alert is live
// after the first full evaluation. An incident none of whose alerts is live is resolved at
// the moment the evidence gives, or marked unknown where there is none; of one that is partly
// live, the dead alerts are ended. One incident that fails does not hold up the others: all
// errors come back joined.
func (e *Engine) CloseHealed(ctx context.Context, active func(rental.Alert) bool, evidence Evidence) (Closed, error) {
	var closed Closed
	open, err := e.o.Store.UnresolvedIncidents(ctx)
	if err != nil {
		return closed, fmt.Errorf("open incidents: %w", err)
	}
	var failures []error
	for _, inc := range open {
		if inc.Outside {
			continue // its Alertmanager knows what fires, and tells its end
		}
		live, dead := 0, 0
		for _, alert := range inc.Alerts {
			switch {
			case alert.EndsAt != rental.Forever:
			case active(alert):
				live++
			default:
				dead++
			}
		}
		switch {
		case live == 0:
			err = e.settle(ctx, inc, evidence, &closed)
		case dead > 0:
			err = e.dropDead(ctx, inc.ID, active)
		default:
			err = nil
		}
		if err != nil {
			failures = append(failures, err)
		}
	}
	return closed, errors.Join(failures...)
}

// settle closes one incident that has no live alert.
func (e *Engine) settle(ctx context.Context, inc rental.Incident, evidence Evidence, closed *Closed) error {
	at, known, err := evidence.Healed(ctx, inc)
	if err != nil {
		return fmt.Errorf("evidence of incident %s: %w", inc.ID, err)
	}
	if known {
		if _, err := e.Resolve(ctx, inc.ID, at, "", "healed while nobody watched; closed by evidence at start"); err != nil {
			return err
		}
		closed.Resolved++
		return nil
	}
	_, err = e.changeByID(ctx, inc.ID, func(inc *rental.Incident, now rental.Millis) outcome {
		inc.Status = rental.IncidentUnknown
		inc.Alerts = ended(inc.Alerts, now)
		inc.Revision++
		addEvent(inc, now, eventUnknown, "", "the alert vanished while nobody watched, and no evidence tells whether it healed")
		return outcome{incident: inc, event: eventUnknown, deliveries: e.deliveries(inc, kindUpdate, "", now)}
	})
	if err != nil {
		return err
	}
	closed.Unknown++
	return nil
}

// dropDead ends the alerts of an incident that are not live, and leaves the rest firing.
func (e *Engine) dropDead(ctx context.Context, id string, active func(rental.Alert) bool) error {
	_, err := e.changeByID(ctx, id, func(inc *rental.Incident, now rental.Millis) outcome {
		alerts := make([]rental.Alert, len(inc.Alerts))
		for i, alert := range inc.Alerts {
			if alert.EndsAt == rental.Forever && !active(alert) {
				alert.EndsAt = max(now, alert.StartsAt)
			}
			alerts[i] = alert
		}
		return e.change(inc, merged{alerts: alerts}, now)
	})
	return err
}
