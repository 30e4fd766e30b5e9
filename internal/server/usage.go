package server

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/billing"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// usage tells cost beside use.
type usage struct {
	ledger  *ledger.Ledger
	billing *billing.Service
	now     func() time.Time
}

// maxPoints bounds a series: a year of hours is 8,784.
const maxPoints = 9000

// Usage sums a lease's usage in steps.
func (u usage) Usage(ctx context.Context, id string, p api.Period, step string) (api.Usage, error) {
	lease, contract, err := readLease(ctx, u.ledger, id)
	if err != nil {
		return api.Usage{}, err
	}
	asked, err := spanOf(p, contract, rental.At(u.now()))
	if err != nil {
		return api.Usage{}, err
	}
	answer := api.Usage{
		Lease: lease.ID, Currency: contract.Currency, TimeZone: contract.TimeZone, Step: step, Span: asked,
		Points: []api.UsagePoint{},
	}
	span := asked.Clip(lease.Span()).Clip(rental.Span{Start: 0, End: rental.At(u.now())})
	if span.Empty() {
		answer.Notes = append(answer.Notes, "the lease did not run in this span")
		return answer, nil
	}
	steps, err := billing.Steps(contract.TimeZone, span, step)
	if err != nil {
		return api.Usage{}, err
	}
	if len(steps) > maxPoints {
		return api.Usage{}, &rental.Error{Code: rental.CodeInvalid,
			Message: fmt.Sprintf("span of %d steps: expected at most %d; take step=day or a shorter span", len(steps), maxPoints)}
	}
	if err := u.ledger.UsageKept(ctx, id, span.Start); err != nil {
		return api.Usage{}, err
	}
	points, err := u.billing.CostPoints(ctx, id, steps)
	if err != nil {
		return api.Usage{}, err
	}
	for _, point := range points {
		answer.Points = append(answer.Points, usagePoint(point))
	}
	whole, err := u.billing.CostPoints(ctx, id, []rental.Span{span})
	if err != nil {
		return api.Usage{}, err
	}
	answer.Total = usagePoint(whole[0])
	cards, err := u.billing.CardCosts(ctx, id, span)
	if err != nil {
		return api.Usage{}, err
	}
	for _, card := range cards {
		answer.Cards = append(answer.Cards, cardUsage(card))
	}
	if whole[0].CardMS > 0 && whole[0].Use.AllocatedMS == 0 {
		answer.Notes = append(answer.Notes, "no use of this span was metered yet: only its cost is known")
	}
	return answer, nil
}

// usagePoint is a point as the API shows it.
func usagePoint(p billing.CostPoint) api.UsagePoint {
	spent := p.Cost.Decimal()
	out := api.UsagePoint{
		Span:        p.Span,
		AllocatedMS: p.Use.AllocatedMS, MeasuredMS: p.Use.MeasuredMS, BusyMS: p.Use.BusyMS, UsedMicros: p.Use.UsedMicros,
		HeldKnownMS: p.Use.HeldKnownMS, HeldMS: p.Use.HeldMS,
		Utilisation: ratio(p.Use.Utilisation()), Held: ratio(p.Use.HeldShare()), Coverage: ratio(p.Use.Coverage()),
		Cost: &spent, IdleBasis: p.IdleBasis,
	}
	if p.Use.WorkingKnownMS > 0 {
		out.Working, out.WorkingCoverage = ratio(p.Use.Working()), ratio(p.Use.WorkingCoverage())
	}
	if p.Use.EnergyKnownMS > 0 {
		joules := float64(p.Use.EnergyMilliJoules) / 1000
		out.EnergyJoules, out.EnergyCoverage = &joules, ratio(p.Use.EnergyCoverage())
	}
	if p.Use.MeasuredMS == 0 && p.Use.HeldKnownMS > 0 {
		out.Coverage = ratio(p.Use.HeldCoverage())
	}
	if p.IdleCost != nil {
		idle := p.IdleCost.Decimal()
		out.IdleCost = &idle
	}
	return out
}

// cardUsage is a card as the API shows it.
func cardUsage(c billing.CardCost) api.CardUsage {
	out := api.CardUsage{UUID: c.UUID, Card: c.Card, Profile: c.Profile, Cost: c.Cost.Decimal(),
		Utilisation: ratio(c.Use.Utilisation()), Coverage: ratio(c.Use.Coverage()), Working: ratio(c.Use.Working())}
	if c.IdleCost != nil {
		idle := c.IdleCost.Decimal()
		out.IdleCost = &idle
	}
	if c.UsefulHour != nil {
		useful := c.UsefulHour.Decimal()
		out.UsefulHourCost = &useful
	}
	return out
}

// ratio is a share for show; nil where it is a share of nothing.
func ratio(b rental.Bound) *float64 {
	if b.Denominator == 0 {
		return nil
	}
	r := b.Ratio()
	return &r
}

// money is an amount as the API shows it.
func money(a rental.Amount) api.Money {
	return api.Money{Currency: a.Currency, Minor: a.Minor, Decimal: a.Decimal()}
}

// CostVsUtilisation compares the leases of a tenant, or of all, over a span.
func (u usage) CostVsUtilisation(ctx context.Context, span rental.Span, tenant string) (api.CostTable, error) {
	now := rental.At(u.now())
	if span == (rental.Span{}) {
		month, err := rental.MonthOf("UTC", now)
		if err != nil {
			return api.CostTable{}, err
		}
		if span, err = month.Span("UTC"); err != nil {
			return api.CostTable{}, err
		}
	}
	table := api.CostTable{Span: span, Rows: []api.CostRow{}}
	leases, err := u.ledger.Leases(ctx)
	if err != nil {
		return table, err
	}
	for _, lease := range leases {
		part := span.Clip(lease.Span()).Clip(rental.Span{Start: 0, End: now})
		if part.Empty() || (tenant != "" && lease.Tenant != tenant) {
			continue
		}
		row, err := u.costRow(ctx, lease, part)
		if err != nil {
			table.Notes = append(table.Notes, fmt.Sprintf("%s: %v", lease.ID, err))
			continue
		}
		table.Rows = append(table.Rows, row)
	}
	return table, nil
}

func (u usage) costRow(ctx context.Context, lease rental.Lease, span rental.Span) (api.CostRow, error) {
	contract, err := u.ledger.Contract(ctx, lease.Contract)
	if err != nil {
		return api.CostRow{}, err
	}
	points, err := u.billing.CostPoints(ctx, lease.ID, []rental.Span{span})
	if err != nil {
		return api.CostRow{}, err
	}
	p := points[0]
	row := api.CostRow{
		Lease: lease.ID, Tenant: lease.Tenant, Provider: contract.Provider, Contract: lease.Contract,
		SKU: contract.SKU, GPUs: lease.Cards(), Currency: contract.Currency,
		Usage: usagePoint(p), Cost: money(p.Cost),
	}
	if p.IdleCost != nil {
		idle := money(*p.IdleCost)
		row.IdleCost = &idle
	}
	if p.Use.UsedMicros > 0 {
		useful, err := usefulHour(p)
		if err != nil {
			return api.CostRow{}, err
		}
		row.UsefulHourCost = &useful
	}
	return row, nil
}

// millisPerHour turns card-milliseconds into card-hours.
const millisPerHour = 3_600_000

// usefulHour is what one fully used GPU-hour cost: the cost of a GPU-hour over the utilisation
// of the measured time (case C35), for show.
func usefulHour(p billing.CostPoint) (string, error) {
	used := p.Use.Utilisation()
	if p.CardMS == 0 || used.Numerator == 0 {
		return "", nil
	}
	perHour := new(big.Rat).Mul(p.Exact.Rat(), big.NewRat(millisPerHour, p.CardMS))
	exact := perHour.Mul(perHour, big.NewRat(used.Denominator, used.Numerator))
	amount, err := rental.NewMoney(p.Cost.Currency, exact).Round(rental.HalfUp)
	return amount.Decimal(), err
}
