package api

import "github.com/leasewatch/leasewatch/internal/rental"

// The steps of a usage series. A day is one of the contract's time zone.
const (
	StepHour = "hour"
	StepDay  = "day"
)

// Usage is what a lease cost beside how it was used, over time.
type Usage struct {
	Lease    string          `json:"lease"`
	Currency rental.Currency `json:"currency"`
	TimeZone string          `json:"time_zone"`
	Step     string          `json:"step"`
	Span     rental.Span     `json:"span"`
	Points   []UsagePoint    `json:"points"`
	// Total is the whole span as one point.
	Total UsagePoint `json:"total"`
	// Cards are the GPUs and MIG instances that served in the span, each over the whole of it.
	Cards []CardUsage `json:"cards,omitempty"`
	// Notes are warnings that belong beside the figures: "no price before 2026-05-04".
	Notes []string `json:"notes,omitempty"`
}

// CardUsage is what one GPU or MIG instance cost beside how it was used. Amounts are decimals for
// show in the series' currency; what was not measured is null.
type CardUsage struct {
	UUID string `json:"uuid"`
	// Card and Profile say what a MIG instance is a part of, and which; empty of a whole card.
	Card    string `json:"card,omitempty"`
	Profile string `json:"profile,omitempty"`
	// Cost is its part of what the cards' time costs; the parts of all cards sum to that.
	Cost string `json:"cost"`
	// IdleCost is the part of Cost for the measured time without any use.
	IdleCost *string `json:"idle_cost"`
	// UsefulHourCost is what one fully used hour of it cost.
	UsefulHourCost *string  `json:"useful_hour_cost"`
	Utilisation    *float64 `json:"utilisation"`
	Coverage       *float64 `json:"coverage"`
	// Working is the activity of its multiprocessors over the time in which it was measured.
	Working *float64 `json:"working"`
}

// UsagePoint is one step of a usage series, summed over the lease's GPUs.
type UsagePoint struct {
	Span        rental.Span `json:"span"`
	AllocatedMS int64       `json:"allocated_ms"`
	MeasuredMS  int64       `json:"measured_ms"`
	BusyMS      int64       `json:"busy_ms"`
	// UsedMicros is use x time, in microseconds.
	UsedMicros int64 `json:"used_us"`
	// HeldKnownMS is time in which a scheduler said whether the card was held, HeldMS in which it was.
	HeldKnownMS int64 `json:"held_known_ms"`
	HeldMS      int64 `json:"held_ms"`
	// Utilisation is used / measured time, 0 to 1; null where nothing was measured.
	Utilisation *float64 `json:"utilisation"`
	// Held is held / known time, 0 to 1; null where no scheduler told.
	Held *float64 `json:"held"`
	// Coverage is measured / allocated time, 0 to 1; null where nothing was allocated.
	Coverage *float64 `json:"coverage"`
	// Working is the activity of the multiprocessors over the time in which it was measured, 0 to 1;
	// WorkingCoverage that time / allocated time. Null where it was not measured.
	Working         *float64 `json:"working"`
	WorkingCoverage *float64 `json:"working_coverage"`
	// EnergyJoules is what the GPUs drew, over resets of their counters, in EnergyCoverage of the
	// allocated time, 0 to 1; null where nobody counted it, as of MIG instances.
	EnergyJoules   *float64 `json:"energy_joules"`
	EnergyCoverage *float64 `json:"energy_coverage"`
	// Cost is a decimal for show in the series' currency; null where the price is not known.
	Cost *string `json:"cost"`
	// IdleCost is the cost of the time without use; null where use is not known. IdleBasis
	// says what "without use" rests on: "use" or "allocation".
	IdleCost  *string `json:"idle_cost"`
	IdleBasis string  `json:"idle_basis,omitempty"`
}

// CostRow is one lease in the comparison of cost against use.
type CostRow struct {
	Lease    string          `json:"lease"`
	Tenant   string          `json:"tenant"`
	Provider string          `json:"provider"`
	Contract string          `json:"contract"`
	SKU      string          `json:"sku"`
	GPUs     int             `json:"gpus"`
	Currency rental.Currency `json:"currency"`
	// Usage is the whole span as one point.
	Usage UsagePoint `json:"usage"`
	Cost  Money      `json:"cost"`
	// IdleCost is the cost of the time without use; null where use is not known.
	IdleCost *Money `json:"idle_cost"`
	// UsefulHourCost is the cost of one used GPU-hour, a decimal for show; null where nothing was used.
	UsefulHourCost *string `json:"useful_hour_cost"`
}

// CostTable is one row a lease, for tables and scatter charts.
type CostTable struct {
	Span rental.Span `json:"span"`
	Rows []CostRow   `json:"rows"`
	// Notes are warnings that belong beside the figures.
	Notes []string `json:"notes,omitempty"`
}
