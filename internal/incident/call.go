package incident

import (
	"context"
	"slices"
	"strings"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// call asks for what a step of somebody on call comes to: a reply below the message in Slack, or
// a message on each of the step's routes.
func (e *Engine) call(inc *rental.Incident, step Step, at rental.Millis) []rental.Delivery {
	words := make([]string, 0, 2)
	if step.Mention != "" {
		words = append(words, rental.CallPrefix+step.Mention)
	}
	if step.Last {
		words = append(words, rental.CallLast)
	}
	first := e.o.Routes(*inc)
	var list []rental.Delivery
	var again []string
	for _, route := range step.Routes {
		if inc.Messages[route].ID != "" || slices.Contains(inc.Climbed, route) || slices.Contains(first, route) {
			again = append(again, route)
			continue
		}
		inc.Climbed = append(inc.Climbed, route)
		list = append(list, rental.Delivery{
			Incident: inc.ID, Route: route, Kind: kindPost, Severity: inc.Severity, Revision: inc.Revision,
			State: rental.DeliveryPending, NextAt: at, CreatedAt: at,
		})
	}
	if len(words) > 0 {
		again = append(again, first...)
	} else {
		words = append(words, rental.CallAgain)
	}
	return append(list, replies(inc, again, words, at)...)
}

// callFirst notes the calls that a new message, or news of one, makes by itself: it mentions whoever
// is on call.
func (e *Engine) callFirst(inc *rental.Incident, now rental.Millis) {
	if inc.Severity != rental.Page || inc.Status != rental.IncidentOpen {
		return
	}
	if inc.PagedAt == 0 {
		inc.PagedAt = now
	}
	for _, step := range e.o.Ladder() {
		if step.Key != "" && step.Mention != "" && step.Unacknowledged == 0 && step.Own == 0 && !slices.Contains(inc.Called, step.Key) {
			inc.Called = append(inc.Called, step.Key)
		}
	}
}

// repeat tells a page again on the ways of all steps that were called, and no others: who was on
// call before a hand-over is left in peace.
func (e *Engine) repeat(ctx context.Context, inc rental.Incident, steps []Step) error {
	_, err := e.changeByID(ctx, inc.ID, func(newest *rental.Incident, at rental.Millis) outcome {
		if newest.Status != rental.IncidentOpen || lastCall(*newest) != lastCall(inc) {
			return outcome{}
		}
		words, routes := []string{rental.CallAgain}, slices.Clone(e.o.Routes(*newest))
		for _, step := range steps {
			if step.Key == "" || !slices.Contains(newest.Called, step.Key) {
				continue
			}
			routes = append(routes, step.Routes...)
			if step.Mention != "" {
				words = append(words, rental.CallPrefix+step.Mention)
			}
		}
		newest.Revision++
		addEvent(newest, at, eventRepeated, "", "")
		list := e.deliveries(newest, kindUpdate, "", at)
		return outcome{incident: newest, event: eventRepeated, deliveries: append(list, replies(newest, routes, words, at)...)}
	})
	return err
}

// replies asks each route for a reply with the words. One whose first message still waits needs
// none: that message shows all that is known when it goes.
func replies(inc *rental.Incident, routes, words []string, at rental.Millis) []rental.Delivery {
	slices.Sort(routes)
	routes = slices.Compact(routes)
	list := make([]rental.Delivery, 0, len(routes))
	for _, route := range routes {
		list = append(list, rental.Delivery{
			Incident: inc.ID, Route: route, Kind: kindThread, Severity: inc.Severity, Revision: inc.Revision,
			Text: strings.Join(words, " "), State: rental.DeliveryPending, NextAt: at, CreatedAt: at,
		})
	}
	return list
}

// lastCall is when people were last called: by the incident's beginning, its worsening, a step of
// the ladder or a repeat.
func lastCall(inc rental.Incident) rental.Millis {
	last := inc.OpenedAt
	for _, event := range inc.Events {
		switch event.Kind {
		case eventReopened, eventHeard, eventWorsened, eventClimbed, eventRepeated:
			last = max(last, event.At)
		}
	}
	return last
}
