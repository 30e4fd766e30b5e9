package seeded

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/httpapi"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// books answers what the plugin asks; the rooms that it never asks are left empty.
type books struct {
	unasked

	now func() time.Time
}

type (
	incidents interface{ httpapi.Incidents }
	tokens    interface{ httpapi.Tokens }
	bills     interface{ httpapi.BillReader }
)

// unasked are the rooms that the plugin does not ask; a call of one panics, which the
// handlers answer with 500.
type unasked struct {
	httpapi.StatusReader
	httpapi.LeaseEnder
	bills
	httpapi.BillRenderer
	httpapi.FleetReader
	incidents
	httpapi.Ledger
	httpapi.Adopter
	tokens
}

// lease is what a seeded lease is like, at every moment alike.
type lease struct {
	id, tenant, provider, sku string
	currency                  rental.Currency
	gpus                      int64
	centsAnHour               int64 // of one GPU
	usedPermille              int64 // of measured time; -1 where use is not measured
	measuredPermille          int64 // of allocated time
}

var leases = []lease{
	{LeaseDark, TenantAcme, "north", "a100-80", "USD", 2, 130, -1, 0},
	{LeaseIdle, TenantAcme, "south", "h100-80", "USD", 8, 249, 84, 995},
	{LeaseTrain, TenantAcme, "north", "h100-80", "USD", 8, 210, 726, 980},
	{LeaseInfer, TenantOther, "north", "l40s", "EUR", 2, 89, 410, 930},
}

func find(id string) (lease, error) {
	for _, l := range leases {
		if l.id == id {
			return l, nil
		}
	}
	return lease{}, &rental.Error{Code: rental.CodeNotFound, Message: "the ledger holds no such lease"}
}

func (b books) Leases(_ context.Context, q api.LeaseQuery) ([]api.LeaseSummary, error) {
	var out []api.LeaseSummary
	for _, l := range leases {
		if q.Tenant == "" || q.Tenant == l.tenant {
			out = append(out, api.LeaseSummary{
				ID: l.id, Tenant: l.tenant, Provider: l.provider, SKU: l.sku, GPUs: int(l.gpus), Currency: l.currency,
				State: "running", End: rental.Forever, TimeZone: "UTC",
			})
		}
	}
	return out, nil
}

func (b books) Lease(_ context.Context, id string) (api.LeaseDetail, error) {
	l, err := find(id)
	return api.LeaseDetail{Lease: rental.Lease{ID: l.id, Tenant: l.tenant, End: rental.Forever}}, err
}

// LeaseHistory is empty: nobody recorded these leases.
func (b books) LeaseHistory(_ context.Context, id string) ([]rental.HistoryEntry, error) {
	_, err := find(id)
	return nil, err
}

func (b books) LeaseTenant(_ context.Context, id string) (string, error) {
	l, err := find(id)
	return l.tenant, err
}

// present is the month so far.
func (b books) present() rental.Span {
	now := b.now().UTC()
	return rental.Span{Start: rental.At(time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)), End: rental.At(now)}
}

func (b books) span(p api.Period) (rental.Span, error) {
	if p.Month != "" {
		start, err := time.Parse("2006-01", p.Month)
		if err != nil {
			return rental.Span{}, fmt.Errorf("month: %w", err)
		}
		return rental.Span{Start: rental.At(start), End: rental.At(start.AddDate(0, 1, 0))}, nil
	}
	if p.IsZero() {
		return b.present(), nil
	}
	return p.Span.Clip(rental.Span{End: rental.At(b.now())}), nil
}

func (b books) Usage(_ context.Context, id string, p api.Period, step string) (api.Usage, error) {
	l, err := find(id)
	if err != nil {
		return api.Usage{}, err
	}
	span, err := b.span(p)
	if err != nil {
		return api.Usage{}, err
	}
	length := time.Hour
	if step == api.StepDay {
		length = 24 * time.Hour
	}
	u := api.Usage{Lease: id, Currency: l.currency, TimeZone: "UTC", Step: step, Span: span, Total: l.point(span, 0), Cards: l.cards(span)}
	if l.usedPermille < 0 {
		u.Notes = []string{"use is not measured: no exporter reports the cards of " + id}
	}
	for at := span.Start.Time().Truncate(length); rental.At(at) < span.End; at = at.Add(length) {
		part := rental.Span{Start: rental.At(at), End: rental.At(at.Add(length))}.Clip(span)
		// A week's rhythm, so that a curve is seen.
		u.Points = append(u.Points, l.point(part, int64(at.Unix()/int64(length.Seconds()))%7*20-60))
	}
	return u, nil
}

// point sums a span, with use shifted by some thousandths.
func (l lease) point(span rental.Span, shift int64) api.UsagePoint {
	allocated := span.Duration() * l.gpus
	p := api.UsagePoint{Span: span, AllocatedMS: allocated, MeasuredMS: allocated * l.measuredPermille / 1000}
	spent := l.spent(span)
	p.Cost = ptr(spent.FloatString(4))
	p.Coverage = ptr(share(l.measuredPermille))
	if l.usedPermille >= 0 {
		used := min(max(l.usedPermille+shift, 0), 1000)
		p.BusyMS = p.MeasuredMS
		p.UsedMicros = p.MeasuredMS * used
		p.Utilisation = ptr(share(used))
		p.IdleCost = ptr(new(big.Rat).Mul(spent, big.NewRat(1000-used, 1000)).FloatString(4))
		p.IdleBasis = "use"
	}
	return p
}

// cards splits the span over two halves of a card, cut as MIG instances: a busy and an idle one.
func (l lease) cards(span rental.Span) []api.CardUsage {
	out := make([]api.CardUsage, 2)
	for i := range out {
		spent := new(big.Rat).Quo(l.spent(span), big.NewRat(2, 1)).FloatString(2)
		out[i] = api.CardUsage{UUID: fmt.Sprintf("MIG-%s-%d", l.id, i), Card: "GPU-" + l.id, Profile: "3g.40gb", Cost: spent, Coverage: ptr(share(l.measuredPermille))}
		switch {
		case l.usedPermille < 0:
		case i == 0:
			out[i].Utilisation, out[i].Working = ptr(share(l.usedPermille)), ptr(share(l.usedPermille/2))
			out[i].IdleCost, out[i].UsefulHourCost = ptr("0.00"), ptr(big.NewRat(l.centsAnHour*10, l.usedPermille).FloatString(2))
		default:
			out[i].Utilisation, out[i].IdleCost = ptr(0.0), ptr(spent)
		}
	}
	return out
}

// spent is what the span costs, in the lease's currency.
func (l lease) spent(span rental.Span) *big.Rat {
	return new(big.Rat).Mul(big.NewRat(l.centsAnHour*l.gpus, 100), big.NewRat(span.Duration(), time.Hour.Milliseconds()))
}

func (l lease) amount(r *big.Rat) api.Money {
	cents := new(big.Rat).Mul(r, big.NewRat(100, 1))
	return api.MoneyOf(rental.Amount{Currency: l.currency, Minor: new(big.Int).Quo(cents.Num(), cents.Denom()).Int64()})
}

func (b books) CostVsUtilisation(_ context.Context, span rental.Span, tenant string) (api.CostTable, error) {
	span, err := b.span(api.Period{Span: span})
	table := api.CostTable{Span: span}
	for _, l := range leases {
		if tenant != "" && tenant != l.tenant {
			continue
		}
		row := api.CostRow{
			Lease: l.id, Tenant: l.tenant, Provider: l.provider, SKU: l.sku, GPUs: int(l.gpus), Currency: l.currency,
			Usage: l.point(span, 0), Cost: l.amount(l.spent(span)),
		}
		if l.usedPermille > 0 {
			row.IdleCost = ptr(l.amount(new(big.Rat).Mul(l.spent(span), big.NewRat(1000-l.usedPermille, 1000))))
			row.UsefulHourCost = ptr(big.NewRat(l.centsAnHour*10, l.usedPermille).FloatString(4))
		}
		table.Rows = append(table.Rows, row)
	}
	return table, err
}

func ptr[T any](v T) *T { return &v }

func share(permille int64) float64 { return float64(permille) / 1000 }
