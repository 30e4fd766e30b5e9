package server

import (
	"context"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

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
	return v.slaOf(ctx, v.sla, lease, contract, span)
}

// slaOf judges a lease over a span.
func (v availability) slaOf(ctx context.Context, service *sla.Service, lease rental.Lease, contract rental.Contract, span rental.Span) (api.SLA, error) {
	out := api.SLA{TimeZone: contract.TimeZone, Credits: []rental.Credit{}, Downtimes: []rental.Downtime{}}
	judged, err := service.Judged(ctx, lease.ID, span)
	if err != nil {
		return out, err
	}
	for _, d := range standing(judged.Input.Downtimes) {
		if d.Span.Overlaps(span) {
			out.Downtimes = append(out.Downtimes, d)
		}
	}
	out.Objectives, err = objectives{ledger: v.ledger, now: v.now}.Judge(ctx, lease, contract, span, contract.Language)
	if err != nil {
		return out, err
	}
	if contract.Availability == nil {
		return out, nil
	}
	verdict := judged.Verdict
	out.Forecast = judged.Forecast
	credits, err := service.CreditsNow(ctx, judged.Input)
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
	if q.Lease == "" {
		chosen = slices.DeleteFunc(chosen, func(one billed) bool { return !one.lease.Span().Overlaps(one.span) })
	}
	return v.judgeAll(ctx, chosen)
}

// judgeAll judges each chosen lease, or says why it cannot be. Of many leases the facts are read once
// for all, and each processor judges.
func (v availability) judgeAll(ctx context.Context, chosen []billed) (api.SLATable, error) {
	service := v.sla
	if len(chosen) > 1 {
		facts, err := newFactShelf(ctx, v.ledger, chosen)
		if err != nil {
			return api.SLATable{}, err
		}
		service = service.Over(facts)
	}
	rows, errs := make([]api.SLA, len(chosen)), make([]error, len(chosen))
	var work errgroup.Group
	work.SetLimit(runtime.GOMAXPROCS(0))
	for i, one := range chosen {
		work.Go(func() error {
			rows[i], errs[i] = v.slaOf(ctx, service, one.lease, one.contract, one.span)
			return ctx.Err()
		})
	}
	if err := work.Wait(); err != nil {
		return api.SLATable{}, err
	}
	out := api.SLATable{Rows: []api.LeaseSLA{}}
	for i, one := range chosen {
		if errs[i] != nil {
			out.Failures = append(out.Failures, api.Failure{Name: one.lease.ID, Reason: errs[i].Error()})
			continue
		}
		out.Rows = append(out.Rows, api.LeaseSLA{Lease: one.lease.ID, Tenant: one.lease.Tenant, Provider: one.contract.Provider,
			Contract: one.lease.Contract, Period: one.span, SLA: rows[i]})
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
