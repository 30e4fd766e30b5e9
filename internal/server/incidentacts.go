package server

import (
	"context"
	"errors"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/incident"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// SilenceIncident mutes an incident in the name of who asks.
func (i incidents) SilenceIncident(ctx context.Context, by rental.Principal, id string, length time.Duration) (rental.Incident, error) {
	if err := person(by, "silence incident "+id); err != nil { // it acknowledges, which stops a clock
		return rental.Incident{}, err
	}
	inc, err := i.engine.Silence(ctx, id, length, by.Name)
	return inc, actError(id, err)
}

// EscalateIncident calls the next step at once.
func (i incidents) EscalateIncident(ctx context.Context, by rental.Principal, id string) (rental.Incident, error) {
	inc, err := i.engine.Escalate(ctx, id, by.Name)
	return inc, actError(id, err)
}

// NoteIncident adds a person's words to the timeline.
func (i incidents) NoteIncident(ctx context.Context, by rental.Principal, id, note string) (rental.Incident, error) {
	inc, err := i.engine.Note(ctx, id, by.Name, note)
	return inc, actError(id, err)
}

// ExportIncident writes an incident as Markdown.
func (i incidents) ExportIncident(ctx context.Context, id, lang string) ([]byte, error) {
	d, err := i.Incident(ctx, id)
	if err != nil {
		return nil, err
	}
	names, err := i.ledger.Names(ctx, "")
	if err != nil {
		return nil, err
	}
	d.Incident.AckedBy = names.Of(d.Incident.AckedBy)
	for n := range d.Incident.Events {
		d.Incident.Events[n].By = names.Of(d.Incident.Events[n].By)
	}
	return incident.Markdown(d.Incident, d.Deliveries, lang), nil
}

// actError tells what cannot be done as a refusal, and what is not there as not found.
func actError(id string, err error) error {
	if errors.Is(err, incident.ErrNotFound) {
		return api.NotFound("incident", id)
	}
	for _, refused := range []error{rental.ErrOver, rental.ErrOutside, rental.ErrNoStep, rental.ErrUsed} {
		if errors.Is(err, refused) {
			return &rental.Error{Code: rental.CodeRefused, Message: id + ": " + refused.Error()}
		}
	}
	return err
}
