package server

import (
	"context"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/sla"
)

// availability tells how a lease's GPUs were.
type availability struct {
	ledger *ledger.Ledger
	sla    *sla.Service
	now    func() time.Time
}

// SLA judges the period and tells what the verdict rests on and pays back.
func (v availability) SLA(ctx context.Context, id string, p api.Period) (api.SLA, error) {
	lease, contract, err := readLease(ctx, v.ledger, id)
	if err != nil {
		return api.SLA{}, err
	}
	span, err := spanOf(p, contract, rental.At(v.now()))
	if err != nil {
		return api.SLA{}, err
	}
	out := api.SLA{TimeZone: contract.TimeZone, Credits: []rental.Credit{}, Downtimes: []rental.Downtime{}}
	downtimes, err := v.ledger.Downtimes(ctx, id, span)
	if err != nil {
		return out, err
	}
	out.Downtimes = append(out.Downtimes, standing(downtimes)...)
	if contract.Availability == nil {
		return out, nil
	}
	judged, err := v.sla.Judged(ctx, id, span)
	if err != nil {
		return out, err
	}
	verdict := judged.Verdict
	out.Forecast = judged.Forecast
	credits, err := v.sla.Credits(ctx, id, span)
	if err != nil {
		return out, err
	}
	out.Credits = append(out.Credits, credits...)
	low, high := api.ShareOf(verdict.Low, verdict.Target), api.ShareOf(verdict.High, verdict.Target)
	coverage := api.ShareOf(verdict.Coverage, verdict.Target)
	budget, left := rental.Budget(*contract.Availability, verdict, lease, span)
	out.Verdict, out.AvailabilityLow, out.AvailabilityHigh, out.Coverage = &verdict, &low, &high, &coverage
	out.BudgetMS, out.BudgetLeftMS = &budget, &left
	return out, nil
}

// SLATable judges the leases that the query chooses and that ran in the period, by id; one that was
// asked for by its id is there in any case. A lease that cannot be judged leaves the others whole.
func (v availability) SLATable(ctx context.Context, q api.SLAQuery) (api.SLATable, error) {
	chosen, err := books{ledger: v.ledger, now: v.now}.chosen(ctx, api.BillQuery{Lease: q.Lease, Tenant: q.Tenant, Provider: q.Provider, Period: q.Period})
	if err != nil {
		return api.SLATable{}, err
	}
	out := api.SLATable{Rows: []api.LeaseSLA{}}
	for _, one := range chosen {
		if q.Lease == "" && !one.lease.Span().Overlaps(one.span) {
			continue
		}
		row := api.LeaseSLA{Lease: one.lease.ID, Tenant: one.lease.Tenant, Provider: one.contract.Provider, Contract: one.lease.Contract, Period: one.span}
		row.SLA, err = v.SLA(ctx, one.lease.ID, api.Period{Span: one.span})
		switch {
		case err == nil:
			out.Rows = append(out.Rows, row)
		case ctx.Err() != nil:
			return api.SLATable{}, ctx.Err()
		default:
			out.Failures = append(out.Failures, api.Failure{Name: one.lease.ID, Reason: err.Error()})
		}
	}
	return out, nil
}

// standing leaves out facts that later samples withdrew.
func standing(downtimes []rental.Downtime) []rental.Downtime {
	out := make([]rental.Downtime, 0, len(downtimes))
	for _, d := range downtimes {
		if !d.Span.Empty() {
			out = append(out, d)
		}
	}
	return out
}

// LeaseDowntime returns the downtime that touches the period.
func (v availability) LeaseDowntime(ctx context.Context, id string, p api.Period) (api.DowntimeList, error) {
	_, contract, err := readLease(ctx, v.ledger, id)
	if err != nil {
		return api.DowntimeList{}, err
	}
	span, err := spanOf(p, contract, rental.At(v.now()))
	if err != nil {
		return api.DowntimeList{}, err
	}
	downtimes, err := v.ledger.Downtimes(ctx, id, span)
	return api.DowntimeList{Lease: id, TimeZone: contract.TimeZone, Span: span, Downtimes: standing(downtimes)}, err
}

// States returns the line of time of each GPU that served the lease in the period.
func (v availability) States(ctx context.Context, id string, p api.Period) (api.StateHistory, error) {
	lease, contract, err := readLease(ctx, v.ledger, id)
	if err != nil {
		return api.StateHistory{}, err
	}
	span, err := spanOf(p, contract, rental.At(v.now()))
	if err != nil {
		return api.StateHistory{}, err
	}
	out := api.StateHistory{Lease: id, TimeZone: contract.TimeZone, Span: span, GPUs: []api.GPUStates{}}
	assignments, err := v.ledger.Assignments(ctx, id)
	if err != nil {
		return out, err
	}
	gpus, err := v.ledger.GPUs(ctx)
	if err != nil {
		return out, err
	}
	places := make(map[string]rental.GPU, len(gpus))
	for _, gpu := range gpus {
		places[gpu.UUID] = gpu
	}
	parts, err := v.ledger.MIGInstances(ctx)
	if err != nil {
		return out, err
	}
	profiles := make(map[string]string, len(parts))
	for _, m := range parts {
		profiles[m.UUID] = m.Profile
	}
	until := rental.Span{Start: 0, End: rental.At(v.now())}
	for _, a := range assignments {
		served := span.Clip(a.Span).Clip(lease.Span()).Clip(until)
		if served.Empty() {
			continue
		}
		timeline, err := v.ledger.Timeline(ctx, id, a.UUID, served)
		if err != nil {
			return out, err
		}
		check, err := v.sla.CheckStates(ctx, id, a, served)
		if err != nil {
			return out, err
		}
		place := places[a.CardUUID()]
		out.GPUs = append(out.GPUs, api.GPUStates{
			UUID: a.UUID, Serial: place.Serial, Host: place.Host, Slot: place.Slot, Profile: profiles[a.UUID],
			Intervals: rental.Unwatched(rental.Partition(served, timeline)), Check: check,
		})
	}
	return out, nil
}
