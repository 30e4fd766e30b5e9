package server

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/billing"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/sla"
)

// leases reads leases, their bills and how available their GPUs were.
type leases struct {
	ledger  *ledger.Ledger
	billing *billing.Service
	sla     *sla.Service
	now     func() time.Time
}

// LeaseTenant returns whose lease it is.
func (l leases) LeaseTenant(ctx context.Context, id string) (string, error) {
	lease, err := l.ledger.Lease(ctx, id)
	return lease.Tenant, err
}

// LeaseHistory returns all that was recorded of a lease.
func (l leases) LeaseHistory(ctx context.Context, id string) ([]rental.HistoryEntry, error) {
	return l.ledger.LeaseHistory(ctx, id)
}

// Leases returns the leases that the query chooses, with their month so far.
func (l leases) Leases(ctx context.Context, q api.LeaseQuery) ([]api.LeaseSummary, error) {
	all, err := l.ledger.Leases(ctx)
	if err != nil {
		return nil, err
	}
	live, err := l.sla.Live(ctx)
	if err != nil {
		return nil, err
	}
	now := make(map[string]sla.Live, len(live))
	for _, one := range live {
		now[one.Lease] = one
	}
	out := []api.LeaseSummary{}
	for _, lease := range all {
		if (q.Tenant != "" && lease.Tenant != q.Tenant) || (q.At != 0 && !lease.Span().Contains(q.At)) {
			continue
		}
		contract, err := l.ledger.Contract(ctx, lease.Contract)
		if err != nil {
			return nil, err
		}
		if q.Provider != "" && contract.Provider != q.Provider {
			continue
		}
		running, runs := now[lease.ID]
		summary, err := l.summary(ctx, lease, contract, running, runs)
		if err != nil {
			return nil, err
		}
		out = append(out, summary)
	}
	return out, nil
}

// summary is one row of the list. A lease that does not run now shows the last month it ran in.
func (l leases) summary(ctx context.Context, lease rental.Lease, contract rental.Contract, live sla.Live, runs bool) (api.LeaseSummary, error) {
	now := rental.At(l.now())
	month, err := rental.MonthOf(contract.TimeZone, max(lease.Start, min(now, lease.End-1)))
	if err != nil {
		return api.LeaseSummary{}, err
	}
	span, err := month.Span(contract.TimeZone)
	if err != nil {
		return api.LeaseSummary{}, err
	}
	out := api.LeaseSummary{
		ID: lease.ID, Tenant: lease.Tenant, Provider: contract.Provider, Contract: lease.Contract, SKU: contract.SKU,
		Start: lease.Start, End: lease.End, GPUs: lease.Cards(), State: stateOf(lease, now),
		Currency: contract.Currency, TimeZone: contract.TimeZone, Month: month.String(),
	}
	if out.SKU == "" {
		if out.SKU, err = l.served(ctx, lease.ID); err != nil {
			return out, err
		}
	}
	bill, err := l.billing.Running(ctx, lease.ID, span)
	if err != nil {
		return out, err
	}
	out.Cost = api.MoneyOf(bill.Total)
	records, err := l.ledger.UsageRecords(ctx, lease.ID, span)
	if err != nil {
		return out, err
	}
	use := rental.SumUse(records)
	out.Utilisation, out.Coverage = ratio(use.Utilisation()), ratio(use.Coverage())
	verdict := live.Verdict
	if runs {
		out.Health, out.GPUsDown = health(live.Cards)
	} else if verdict, err = l.sla.Verdict(ctx, lease.ID, span); err != nil {
		return out, err
	}
	if contract.Availability != nil {
		low, high := api.ShareOf(verdict.Low, verdict.Target), api.ShareOf(verdict.High, verdict.Target)
		out.AvailabilityLow, out.AvailabilityHigh = &low, &high
		out.Target, out.Outcome = verdict.Target, verdict.Outcome
	}
	return out, nil
}

// served returns the hardware that serves a lease whose contract names none; "" where the
// cards are of several kinds.
func (l leases) served(ctx context.Context, lease string) (string, error) {
	assignments, err := l.ledger.Assignments(ctx, lease)
	if err != nil {
		return "", err
	}
	gpus, err := l.ledger.GPUs(ctx)
	if err != nil {
		return "", err
	}
	sku := ""
	for _, gpu := range gpus {
		if !slices.ContainsFunc(assignments, func(a rental.Assignment) bool { return a.CardUUID() == gpu.UUID }) {
			continue
		}
		if sku != "" && sku != gpu.SKU {
			return "", nil
		}
		sku = gpu.SKU
	}
	return sku, nil
}

// stateOf is what the tenant did with the lease.
func stateOf(lease rental.Lease, now rental.Millis) string {
	switch {
	case now < lease.Start:
		return "planned"
	case now >= lease.End:
		return "ended"
	case slices.ContainsFunc(lease.Stops, func(s rental.Span) bool { return s.Contains(now) }):
		return "stopped"
	}
	return "running"
}

// health is the worst state among cards and how many of them are down.
func health(cards []sla.Card) (worst string, down int) {
	rank := func(c rental.Class) int {
		return slices.Index([]rental.Class{rental.Up, rental.Excluded, rental.NoData, rental.Down}, c)
	}
	top := -1
	for _, card := range cards {
		if card.Class == rental.Down {
			down++
		}
		if r := rank(card.Class); r > top {
			top, worst = r, card.State
		}
	}
	return worst, down
}

// Lease returns one lease with all that decides its bill and its verdict.
func (l leases) Lease(ctx context.Context, id string) (api.LeaseDetail, error) {
	lease, contract, err := readLease(ctx, l.ledger, id)
	if err != nil {
		return api.LeaseDetail{}, err
	}
	live, err := l.sla.Live(ctx)
	if err != nil {
		return api.LeaseDetail{}, err
	}
	i := slices.IndexFunc(live, func(one sla.Live) bool { return one.Lease == id })
	var running sla.Live
	if i >= 0 {
		running = live[i]
	}
	detail := api.LeaseDetail{Lease: lease, Contract: contract}
	var errs [5]error
	var gpus []rental.GPU
	var parts []rental.MIGInstance
	var windows []rental.Maintenance
	detail.Summary, errs[0] = l.summary(ctx, lease, contract, running, i >= 0)
	detail.Assignments, errs[1] = l.ledger.Assignments(ctx, id)
	gpus, errs[2] = l.ledger.GPUs(ctx)
	parts, errs[4] = l.ledger.MIGInstances(ctx)
	windows, errs[3] = l.ledger.Maintenances(ctx, lease.Span())
	served, hosts := map[string]bool{}, map[string]bool{}
	for _, a := range detail.Assignments {
		served[a.UUID], served[a.CardUUID()] = true, true
	}
	for _, part := range parts {
		if served[part.UUID] {
			detail.MIGInstances = append(detail.MIGInstances, part)
		}
	}
	for _, gpu := range gpus {
		if served[gpu.UUID] {
			detail.GPUs = append(detail.GPUs, gpu)
			hosts[gpu.Host] = true
		}
	}
	for _, w := range windows {
		if slices.Contains(w.Leases, id) || slices.ContainsFunc(w.Hosts, func(h string) bool { return hosts[h] }) {
			detail.Maintenance = append(detail.Maintenance, w)
		}
	}
	return detail, errors.Join(errs[:]...)
}

// Bill returns the bill of a period.
func (l leases) Bill(ctx context.Context, id string, p api.Period, lang string) (rental.Bill, error) {
	_, contract, err := readLease(ctx, l.ledger, id)
	if err != nil {
		return rental.Bill{}, err
	}
	span, err := spanOf(p, contract, rental.At(l.now()))
	if err != nil {
		return rental.Bill{}, err
	}
	return l.billing.BillIn(ctx, id, span, lang)
}
