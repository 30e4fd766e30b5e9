package server

import (
	"cmp"
	"context"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// downtimes keeps what people do with downtimes.
type downtimes struct {
	ledger *ledger.Ledger
	now    func() time.Time
	// changed is told after each act, so that the server's own series follow at once.
	changed func()
}

// Downtimes returns those that the query chooses, in order of time.
func (d downtimes) Downtimes(ctx context.Context, q api.DowntimeQuery) ([]api.DowntimeFact, error) {
	leases, err := d.ledger.Leases(ctx)
	if err != nil {
		return nil, err
	}
	tenants := map[string]string{}
	var chosen []string
	for _, l := range leases {
		if (q.Lease == "" || l.ID == q.Lease) && (q.Tenant == "" || l.Tenant == q.Tenant) {
			tenants[l.ID] = l.Tenant
			chosen = append(chosen, l.ID)
		}
	}
	if len(chosen) == 0 {
		return nil, nil
	}
	if q.Lease == "" && q.Tenant == "" {
		chosen = nil // all: a long list of names is not needed
	}
	span := q.Span
	if span == (rental.Span{}) {
		span = allOfTime
	}
	found, err := d.ledger.DowntimesOf(ctx, chosen, span)
	if err != nil {
		return nil, err
	}
	var out []api.DowntimeFact
	for _, one := range found {
		status := one.Status()
		if status == q.State || q.State == "" && status != rental.DowntimeWithdrawn {
			out = append(out, api.DowntimeFact{Downtime: one, Tenant: tenants[one.Lease], State: status})
		}
	}
	return out, nil
}

// Downtime returns one downtime.
func (d downtimes) Downtime(ctx context.Context, id string) (api.DowntimeFact, error) {
	one, err := d.ledger.Downtime(ctx, id)
	if err != nil {
		return api.DowntimeFact{}, err
	}
	return d.fact(ctx, one)
}

func (d downtimes) fact(ctx context.Context, one rental.Downtime) (api.DowntimeFact, error) {
	lease, err := d.ledger.Lease(ctx, one.Lease)
	return api.DowntimeFact{Downtime: one, Tenant: lease.Tenant, State: one.Status()}, err
}

// RecordDowntime enters a downtime in the name of who asks.
func (d downtimes) RecordDowntime(ctx context.Context, by rental.Principal, in api.RecordDowntime) (api.DowntimeFact, error) {
	lease, err := d.ledger.Lease(ctx, in.Lease)
	if err != nil {
		return api.DowntimeFact{}, err
	}
	served, err := d.ledger.Assignments(ctx, in.Lease)
	if err != nil {
		return api.DowntimeFact{}, err
	}
	one, err := rental.Downtime{
		Lease: in.Lease, UUIDs: in.UUIDs, Span: rental.Span{Start: in.Start, End: in.End}, Cause: in.Cause, Reason: in.Reason, Evidence: in.Evidence,
	}.ByHand(rental.Act{
		At: rental.At(d.now()), By: by.Name, Side: rental.SideOf(by), Kind: rental.ActRecorded, Cause: in.Cause, Note: cmp.Or(in.Note, in.Reason),
	}, lease, served)
	if err != nil {
		return api.DowntimeFact{}, err
	}
	if one, err = d.ledger.RecordDowntime(ctx, one); err != nil {
		return api.DowntimeFact{}, err
	}
	d.changed()
	return api.DowntimeFact{Downtime: one, Tenant: lease.Tenant, State: one.Status()}, nil
}

// ActOnDowntime approves, rejects, disputes or decides, in the name of who asks.
func (d downtimes) ActOnDowntime(ctx context.Context, by rental.Principal, id string, act rental.Act) (api.DowntimeFact, error) {
	act.At, act.By = rental.At(d.now()), by.Name
	one, err := d.ledger.ChangeDowntime(ctx, id, func(old *rental.Downtime) (*rental.Downtime, error) {
		if old == nil {
			return nil, api.NotFound("downtime", id)
		}
		next, err := old.Do(act)
		return &next, err
	})
	if err != nil {
		return api.DowntimeFact{}, err
	}
	d.changed()
	return d.fact(ctx, one)
}
