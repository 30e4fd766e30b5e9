package server

import (
	"context"
	"fmt"
	"slices"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// TellAssignments records what a scheduler says of GPUs and leases.
func (k keeping) TellAssignments(ctx context.Context, by rental.Principal, in api.TellAssignments) (api.ToldAssignments, error) {
	events, err := eventsOf(in.Sessions)
	if err != nil {
		return api.ToldAssignments{}, err
	}
	record := k.ledger.RecordEvents
	if in.Strict {
		record = k.ledger.Assign
	}
	held, err := record(ctx, by.Name, events)
	if err != nil {
		return api.ToldAssignments{}, err
	}
	k.changed()
	var told api.ToldAssignments
	for _, e := range held {
		i := slices.IndexFunc(in.Sessions, func(s api.SchedulerSession) bool {
			return sessionOf(s) == e.Session && s.UUID == e.UUID && s.Lease == e.Lease && s.End == e.At
		})
		told.Held = append(told.Held, in.Sessions[i])
	}
	told.Over, err = k.overNumber(ctx, in.Sessions)
	return told, err
}

// overNumber tells where the leases that were touched hold more than they were sold.
func (k keeping) overNumber(ctx context.Context, sessions []api.SchedulerSession) ([]api.OverNumber, error) {
	var out []api.OverNumber
	seen := map[string]bool{}
	for _, s := range sessions {
		if seen[s.Lease] {
			continue
		}
		seen[s.Lease] = true
		lease, err := k.ledger.Lease(ctx, s.Lease)
		if err != nil {
			return nil, err
		}
		if lease.Floating == nil {
			continue
		}
		all, err := k.ledger.Assignments(ctx, s.Lease)
		if err != nil {
			return nil, err
		}
		for _, span := range rental.OverNumber(lease, all) {
			out = append(out, api.OverNumber{Lease: lease.ID, Number: lease.Floating.Number, Span: span})
		}
	}
	return out, nil
}

// sessionOf is the natural name of a session: no part of it holds a slash.
func sessionOf(s api.SchedulerSession) string { return s.Scheduler + "/" + s.Cluster + "/" + s.Session }

// eventsOf makes an event of each moment that is told. Its key is all that it says, so what is
// told again is the same event.
func eventsOf(sessions []api.SchedulerSession) ([]rental.AssignmentEvent, error) {
	var events []rental.AssignmentEvent
	for i, s := range sessions {
		switch {
		case s.Start == 0 && s.End == 0:
			return nil, &rental.Error{Code: rental.CodeInvalid, Message: fmt.Sprintf("sessions[%d]: found neither start nor end, expected one of them or both", i)}
		case s.UUID == "" && s.Start != 0:
			return nil, &rental.Error{Code: rental.CodeInvalid, Message: fmt.Sprintf("sessions[%d].uuid: found nothing, expected the GPU that starts; only an end may mean all of a session's", i)}
		case s.Start != 0 && s.End != 0 && s.End < s.Start:
			return nil, &rental.Error{Code: rental.CodeInvalid, Message: fmt.Sprintf("sessions[%d].end: found %s, expected a moment that is not before the start %s", i, s.End, s.Start)}
		}
		for kind, at := range map[string]rental.Millis{rental.EventStart: s.Start, rental.EventStop: s.End} {
			if at == 0 || at == rental.Forever {
				continue
			}
			events = append(events, rental.AssignmentEvent{
				Key:     fmt.Sprintf("%s/%s/%s/%s@%s", sessionOf(s), s.Lease, s.UUID, kind, at),
				Session: sessionOf(s), Lease: s.Lease, UUID: s.UUID, Kind: kind, At: at,
			})
		}
	}
	slices.SortStableFunc(events, func(a, b rental.AssignmentEvent) int { // the order of a map is nobody's
		return int(a.At - b.At)
	})
	return events, nil
}
