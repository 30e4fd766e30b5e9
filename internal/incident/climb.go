package incident

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// Step is one rung of the ladder that a page climbs when the rungs below reach nobody.
type Step struct {
	// Name is what the timeline calls the step: the receiver of the routing file, or the person.
	Name string
	// Key makes the step a call of somebody on call: it is due when its time has come, also after
	// the incident was opened again, and an incident keeps the keys of those it made. A step
	// without one is told once in an incident's life, which its messages show.
	Key string
	// Mention is the Slack user that the step calls below the message, in place of Routes.
	Mention string
	// Last tells that nobody else is called after it, which the call says.
	Last bool
	// Routes are told when the step is reached.
	Routes []string
	// Undelivered is how long a page may wait for all routes below; 0: the step does not ask.
	// What a route refuses for good (an archived channel, a dead token) does not wait.
	Undelivered time.Duration
	// Unacknowledged is how long a page may be open with nobody having it in hand; 0: never, but for a
	// step with a Key: at once.
	Unacknowledged time.Duration
	// Since is when whom a step with a Key calls came on call: nobody is called for the time before.
	Since rental.Millis
	// Own is how much longer a step with a Key waits: the person's other ways come first.
	Own time.Duration
}

// Climb takes every open page to the steps of Options.Ladder that are due. It keeps nothing of its own: what a
// page has climbed is where its messages stand and what the outbox holds, so a restart goes on
// where the last process stopped. One incident that cannot be changed does not hold up the rest.
func (e *Engine) Climb(ctx context.Context) error {
	steps := e.o.Ladder()
	if len(steps) == 0 {
		return nil
	}
	open, err := e.o.Store.UnresolvedIncidents(ctx)
	if err != nil {
		return fmt.Errorf("read the open incidents: %w", err)
	}
	pending, err := e.o.Store.PendingDeliveries(ctx)
	if err != nil {
		return fmt.Errorf("read the outbox: %w", err)
	}
	waiting := map[string][]rental.Delivery{}
	for _, d := range pending {
		waiting[d.Incident] = append(waiting[d.Incident], d)
	}
	var errs []error
	for _, inc := range open {
		if inc.Severity != rental.Page {
			continue
		}
		if err := e.climb(ctx, inc, waiting[inc.ID], steps); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// climb takes one incident to the first step that is due. The next ones get their turn when
// this one had its own.
func (e *Engine) climb(ctx context.Context, inc rental.Incident, waiting []rental.Delivery, steps []Step) error {
	now := rental.At(e.o.Now())
	for i, step := range steps {
		if reached(inc, waiting, step) {
			continue
		}
		why := e.due(inc, waiting, steps, i, now)
		if why == "" {
			continue
		}
		_, err := e.take(ctx, inc, step, why, "")
		return err
	}
	if every := e.o.Repeat(); every > 0 && inc.Status == rental.IncidentOpen && now-lastCall(inc) >= millis(every) {
		return e.repeat(ctx, inc, steps)
	}
	return nil
}

// take tells an incident on the ways of a step, if it still is as it was looked at.
func (e *Engine) take(ctx context.Context, inc rental.Incident, step Step, why, by string) (rental.Incident, error) {
	return e.changeByID(ctx, inc.ID, func(newest *rental.Incident, at rental.Millis) outcome {
		if newest.Status != inc.Status {
			return outcome{}
		}
		newest.Revision++
		if step.Key != "" {
			if slices.Contains(newest.Called, step.Key) {
				return outcome{}
			}
			newest.Called = append(newest.Called, step.Key)
		}
		note := step.Name + ": " + why
		if step.Last && step.Key != "" {
			note += "; this was the last step, nobody else is called"
		}
		addEvent(newest, at, eventClimbed, by, note)
		list := e.deliveries(newest, kindUpdate, "", at)
		if step.Key != "" {
			return outcome{incident: newest, event: eventClimbed, deliveries: append(list, e.call(newest, step, at)...)}
		}
		// Named before anything arrives there, so that an end which comes meanwhile is told there too.
		newest.Climbed = append(newest.Climbed, step.Routes...)
		for _, route := range step.Routes {
			list = append(list, rental.Delivery{
				Incident: newest.ID, Route: route, Kind: kindPost, Severity: newest.Severity, Revision: newest.Revision,
				State: rental.DeliveryPending, NextAt: at, CreatedAt: at,
			})
		}
		return outcome{incident: newest, event: eventClimbed, deliveries: list}
	})
}

// reached tells whether the step had its turn before: its message is there or on its way, or its
// call was made since the incident was opened.
func reached(inc rental.Incident, waiting []rental.Delivery, step Step) bool {
	if step.Key != "" {
		return slices.Contains(inc.Called, step.Key)
	}
	return slices.ContainsFunc(step.Routes, func(route string) bool {
		return inc.Messages[route].ID != "" ||
			slices.ContainsFunc(waiting, func(d rental.Delivery) bool { return d.Route == route })
	})
}

// due says why the step's turn has come; empty where it has not. A page is undelivered where
// every route that was asked so far still owes it; the time counts from the last one asked.
func (e *Engine) due(inc rental.Incident, waiting []rental.Delivery, steps []Step, i int, now rental.Millis) string {
	step := steps[i]
	if step.Key != "" {
		turn := max(openSince(inc)+millis(step.Unacknowledged), step.Since) + millis(step.Own)
		switch waited := step.Unacknowledged + step.Own; {
		case inc.Status != rental.IncidentOpen || now < turn:
		case waited == 0:
			return "on call"
		default:
			return "nobody acknowledged it within " + spoken(waited)
		}
	} else if step.Unacknowledged > 0 && inc.Status == rental.IncidentOpen && now-openSince(inc) >= millis(step.Unacknowledged) {
		return "nobody acknowledged it within " + spoken(step.Unacknowledged)
	}
	if step.Undelivered <= 0 {
		return ""
	}
	asked := [][]string{e.first(inc, steps)}
	for _, below := range steps[:i] {
		if reached(inc, waiting, below) {
			asked = append(asked, below.Routes)
		}
	}
	var last *rental.Delivery
	for _, routes := range asked {
		if len(routes) == 0 {
			continue
		}
		at := slices.IndexFunc(waiting, func(d rental.Delivery) bool { return calls(d) && slices.Contains(routes, d.Route) })
		if at < 0 {
			return "" // somebody was reached here
		}
		last = &waiting[at]
	}
	switch {
	case last == nil:
		return ""
	case last.State == rental.DeliveryFailed:
		return last.Route + " refuses it: " + firstLine(last.Error)
	case now-last.CreatedAt >= millis(step.Undelivered):
		return last.Route + " did not take it within " + spoken(step.Undelivered)
	}
	return ""
}

// first returns the routes that are told before anything climbs.
func (e *Engine) first(inc rental.Incident, steps []Step) []string {
	return slices.DeleteFunc(slices.Clone(e.o.Routes(inc)), func(route string) bool {
		return slices.ContainsFunc(steps, func(step Step) bool { return slices.Contains(step.Routes, route) })
	})
}

func spoken(d time.Duration) string { return phrase.For(phrase.English).Duration(d.Milliseconds()) }

// calls tells whether the delivery is meant to reach somebody: a new message, or news below it.
func calls(d rental.Delivery) bool {
	return d.Kind == kindPost || d.Kind == kindThread && !isDetails(d)
}

// openSince is when people were last asked, by a page, to take the incident in hand.
func openSince(inc rental.Incident) rental.Millis {
	return max(Opened(inc), inc.PagedAt)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
