package server

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/leasewatch/leasewatch/internal/billing"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/sla"
)

// factShelf reads facts for the bills and verdicts of many leases: what the ledger would be asked for lease by
// lease it reads once for all of them. It serves one request and is safe for concurrent use; what
// is not on it the ledger answers.
type factShelf struct {
	*ledger.Ledger
	leases       map[string]rental.Lease
	contracts    map[string]rental.Contract
	assignments  map[string][]rental.Assignment
	downtimes    map[string][]rental.Downtime
	maintenances []rental.Maintenance
	consumptions func() (map[string][]rental.Consumption, error)
	adjustments  map[string][]rental.Adjustment
	closed       map[string][]rental.ClosedMonth
	gpus         func() ([]rental.GPU, error)
	tariffs      func() (map[string]rental.EnergyTariff, error)
	cases        func() (map[string][]rental.CreditCase, error)

	mu sync.Mutex
	// sums are by the spans that are billed; nil until one is asked for.
	sums map[rental.Span]map[string][]rental.UsageRecord
}

var (
	_ billing.Ledger = (*factShelf)(nil)
	_ sla.Ledger     = (*factShelf)(nil)
)

// always is every moment that a fact may be about.
var always = rental.Span{Start: math.MinInt64, End: rental.Forever}

// newFactShelf reads what the chosen leases' bills rest on.
func newFactShelf(ctx context.Context, l *ledger.Ledger, chosen []billed) (*factShelf, error) {
	s := &factShelf{Ledger: l, leases: map[string]rental.Lease{}, contracts: map[string]rental.Contract{}, sums: map[rental.Span]map[string][]rental.UsageRecord{}}
	for _, one := range chosen {
		s.leases[one.lease.ID], s.contracts[one.lease.Contract], s.sums[one.span] = one.lease, one.contract, nil
	}
	var err error
	if s.assignments, err = l.AssignmentsByLease(ctx); err != nil {
		return nil, err
	}
	downtimes, err := l.DowntimesOf(ctx, nil, always)
	if err != nil {
		return nil, err
	}
	s.downtimes = byLease(downtimes, func(d rental.Downtime) string { return d.Lease })
	if s.maintenances, err = l.Maintenances(ctx, always); err != nil {
		return nil, err
	}
	closed, err := l.ClosedMonths(ctx, "")
	if err != nil {
		return nil, err
	}
	s.closed = byLease(closed, func(c rental.ClosedMonth) string { return c.Lease })
	adjusted, err := l.Adjusted(ctx)
	if err != nil {
		return nil, err
	}
	s.adjustments = byLease(adjusted, func(a rental.Adjustment) string { return a.Lease })
	s.consumptions = sync.OnceValues(func() (map[string][]rental.Consumption, error) {
		all, err := l.Consumed(ctx)
		return byLease(all, func(c rental.Consumption) string { return c.Lease }), err
	})
	s.gpus = sync.OnceValues(func() ([]rental.GPU, error) { return l.GPUs(ctx) })
	s.tariffs = sync.OnceValues(func() (map[string]rental.EnergyTariff, error) { return l.EnergyTariffs(ctx) })
	s.cases = sync.OnceValues(func() (map[string][]rental.CreditCase, error) {
		all, err := l.CreditCases(ctx, "")
		return byLease(all, func(c rental.CreditCase) string { return c.Lease }), err
	})
	return s, nil
}

func byLease[T any](all []T, lease func(T) string) map[string][]T {
	out := map[string][]T{}
	for _, one := range all {
		out[lease(one)] = append(out[lease(one)], one)
	}
	return out
}

func (s *factShelf) Lease(ctx context.Context, id string) (rental.Lease, error) {
	if lease, ok := s.leases[id]; ok {
		return lease, nil
	}
	return s.Ledger.Lease(ctx, id)
}

func (s *factShelf) Contract(ctx context.Context, name string) (rental.Contract, error) {
	if contract, ok := s.contracts[name]; ok {
		return contract, nil
	}
	return s.Ledger.Contract(ctx, name)
}

func (s *factShelf) Assignments(_ context.Context, lease string) ([]rental.Assignment, error) {
	return slices.Clone(s.assignments[lease]), nil
}

func (s *factShelf) Downtimes(_ context.Context, lease string, span rental.Span) ([]rental.Downtime, error) {
	return slices.DeleteFunc(slices.Clone(s.downtimes[lease]), func(d rental.Downtime) bool {
		return d.Span.Start >= span.End || d.Span.End <= span.Start
	}), nil
}

func (s *factShelf) Maintenances(_ context.Context, span rental.Span) ([]rental.Maintenance, error) {
	return slices.DeleteFunc(slices.Clone(s.maintenances), func(m rental.Maintenance) bool {
		return !(rental.Span{Start: m.Start, End: m.End}).Overlaps(span)
	}), nil
}

func (s *factShelf) Consumptions(_ context.Context, lease string) ([]rental.Consumption, error) {
	all, err := s.consumptions()
	return slices.Clone(all[lease]), err
}

func (s *factShelf) CreditCases(_ context.Context, lease string) ([]rental.CreditCase, error) {
	all, err := s.cases()
	return slices.Clone(all[lease]), err
}

func (s *factShelf) Adjustments(_ context.Context, lease string) ([]rental.Adjustment, error) {
	return s.adjustments[lease], nil
}

func (s *factShelf) ClosedMonths(_ context.Context, lease string) ([]rental.ClosedMonth, error) {
	return s.closed[lease], nil
}

func (s *factShelf) GPUs(context.Context) ([]rental.GPU, error) { return s.gpus() }

func (s *factShelf) EnergyTariffs(context.Context) (map[string]rental.EnergyTariff, error) {
	return s.tariffs()
}

// UsageSums takes the kept totals of the period that is billed from one read for all leases.
func (s *factShelf) UsageSums(ctx context.Context, lease string, span rental.Span) ([]rental.UsageRecord, error) {
	kept, err := s.keptSums(ctx, span)
	if err != nil || len(kept[lease]) > 0 {
		return kept[lease], err
	}
	return s.Ledger.UsageSums(ctx, lease, span)
}

func (s *factShelf) keptSums(ctx context.Context, span rental.Span) (map[string][]rental.UsageRecord, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sums, billed := s.sums[span]
	if !billed || sums != nil {
		return sums, nil
	}
	sums, err := s.MonthSums(ctx, span)
	if err != nil {
		return nil, err
	}
	s.sums[span] = sums
	return sums, nil
}
