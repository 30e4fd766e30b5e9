package api

import (
	"context"
	"net/url"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// IdleReport is what leases cost while they were not used.
type IdleReport struct {
	Span rental.Span `json:"span"`
	Rows []IdleRow   `json:"rows"`
	// Notes are warnings that belong beside the figures.
	Notes []string `json:"notes,omitempty"`
}

// IdleRow is one lease over the report's span. Every ratio stands beside its coverage, and what
// nobody measured is null, never 0.
type IdleRow struct {
	CostRow
	// IdleMS is the measured time without any use, in GPU-milliseconds.
	IdleMS int64 `json:"idle_ms"`
	// Day is from 08:00 to 20:00 of the contract's zone, Night the rest: utilisation and coverage, 0 to 1.
	DayUtilisation   *float64 `json:"day_utilisation"`
	DayCoverage      *float64 `json:"day_coverage"`
	NightUtilisation *float64 `json:"night_utilisation"`
	NightCoverage    *float64 `json:"night_coverage"`
	// EnergyJoules is what the GPUs drew, over resets of their counters; 0 for MIG instances, whose
	// card alone counts it.
	EnergyJoules float64 `json:"energy_joules"`
	// EnergyCost is that at the price that was asked for; null without a price.
	EnergyCost *Money `json:"energy_cost"`
	// EnergyCosts are what it cost by the tariffs of the contract or the sites, one for each currency,
	// where no price was asked for.
	EnergyCosts []rental.EnergyCosts `json:"energy_costs,omitempty"`
}

// UnleasedReport is which GPUs were used while nobody leased them.
type UnleasedReport struct {
	Span rental.Span   `json:"span"`
	Rows []UnleasedRow `json:"rows"`
}

// UnleasedRow is one GPU over the time in which it was free.
type UnleasedRow struct {
	rental.UnleasedUse
	// Utilisation is used / measured time, Coverage measured / free time, both 0 to 1.
	Utilisation *float64 `json:"utilisation"`
	Coverage    *float64 `json:"coverage"`
}

// IdleUse reports what leases cost while they were not used. perKWh is the price of energy in each
// lease's currency; where it is not set, energy costs what the tariffs of contract or site say. The zero span is the present month in UTC so far.
func (c *Client) IdleUse(ctx context.Context, span rental.Span, perKWh rental.Decimal) (IdleReport, error) {
	v := Period{Span: span}.values()
	if perKWh.IsSet() {
		v.Set("energy_price", perKWh.String())
	}
	var out IdleReport
	return out, c.get(ctx, v, &out, "use", "idle")
}

// UnleasedUse reports which GPUs were used while nobody leased them.
func (c *Client) UnleasedUse(ctx context.Context, span rental.Span) (UnleasedReport, error) {
	var v url.Values = Period{Span: span}.values()
	var out UnleasedReport
	return out, c.get(ctx, v, &out, "use", "unleased")
}
