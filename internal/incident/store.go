package incident

import (
	"context"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Store keeps incidents and their outbox; the ledger implements it. Each method is one
// transaction. A method that finds nothing returns an error that wraps ErrNotFound.
type Store interface {
	// ChangeByKey hands fn the newest incident with this group key (nil where there never
	// was one) and saves what fn returns, with its deliveries, in the same transaction.
	// fn gets a copy; a nil incident from fn changes nothing. A new incident comes back
	// with ID empty and is given the next one. It returns what was saved.
	ChangeByKey(ctx context.Context, key string, fn Change) (*rental.Incident, error)
	// ChangeByID does the same for one incident by its id.
	ChangeByID(ctx context.Context, id string, fn Change) (*rental.Incident, error)

	// Incident returns one incident with its timeline.
	Incident(ctx context.Context, id string) (*rental.Incident, error)
	// Incidents returns incidents that overlap the span, newest first, at most limit.
	Incidents(ctx context.Context, span rental.Span, limit int) ([]rental.Incident, error)
	// UnresolvedIncidents returns all open and acked ones, oldest first.
	UnresolvedIncidents(ctx context.Context) ([]rental.Incident, error)

	// DueDeliveries returns pending deliveries with NextAt <= now: pages first, then by id.
	DueDeliveries(ctx context.Context, now rental.Millis, limit int) ([]rental.Delivery, error)
	// PendingDeliveries returns all deliveries that are pending or failed, oldest first.
	PendingDeliveries(ctx context.Context) ([]rental.Delivery, error)
	// SaveDelivery records where a delivery stands.
	SaveDelivery(ctx context.Context, d rental.Delivery) error
}

// Change is a step in an incident's life: from what is kept to what shall be kept.
type Change = func(newest *rental.Incident) (*rental.Incident, []rental.Delivery, error)
