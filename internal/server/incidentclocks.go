package server

import (
	"context"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// ReportIncident tells the provider of an incident, in the name of who asks.
func (i incidents) ReportIncident(ctx context.Context, by rental.Principal, id, note string) (rental.Incident, error) {
	return i.engine.Amend(ctx, id, func(inc rental.Incident, now rental.Millis) (rental.Incident, error) {
		return inc.Report(now, by.Name, note)
	})
}

// VerifyIncident says that it works again.
func (i incidents) VerifyIncident(ctx context.Context, by rental.Principal, id, note string) (rental.Incident, error) {
	return i.engine.Amend(ctx, id, func(inc rental.Incident, now rental.Millis) (rental.Incident, error) {
		return inc.Verify(now, by.Name, note)
	})
}

// NoteAnswer notes an answer that a person of the provider gave earlier.
func (i incidents) NoteAnswer(ctx context.Context, by rental.Principal, id string, in api.NoteAnswer) (rental.Incident, error) {
	if err := person(by, "note an answer to incident "+id); err != nil {
		return rental.Incident{}, err
	}
	return i.engine.Amend(ctx, id, func(inc rental.Incident, now rental.Millis) (rental.Incident, error) {
		return inc.NoteAnswer(in.At, now, by.Name, in.Note)
	})
}

// ApproveAnswer approves the answer that waits.
func (i incidents) ApproveAnswer(ctx context.Context, by rental.Principal, id string) (rental.Incident, error) {
	if err := person(by, "approve an answer to incident "+id); err != nil {
		return rental.Incident{}, err
	}
	return i.engine.Amend(ctx, id, func(inc rental.Incident, now rental.Millis) (rental.Incident, error) {
		return inc.ApproveAnswer(now, by.Name)
	})
}

// person refuses a program what only a person's word counts for.
func person(by rental.Principal, what string) error {
	if by.Service {
		return &rental.Error{Code: rental.CodeRefused, Message: what + ": found the token of a program (" + by.Name + "), expected a person's"}
	}
	return nil
}
