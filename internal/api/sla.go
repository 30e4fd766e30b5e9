package api

import "github.com/leasewatch/leasewatch/internal/rental"

// SLA is a lease's availability over a period: the verdict, what it rests on, what it pays back.
type SLA struct {
	TimeZone string `json:"time_zone"`
	// Verdict is null where the contract has no availability objective.
	Verdict *rental.Verdict `json:"verdict"`
	// AvailabilityLow and High are the verdict's bounds with their copy for show.
	AvailabilityLow  *Share `json:"availability_low"`
	AvailabilityHigh *Share `json:"availability_high"`
	Coverage         *Share `json:"coverage"`
	// Budget is the downtime that the objective allows in the period, and what is left of it
	// at the low bound (negative where it is overspent); null without an objective.
	BudgetMS     *int64 `json:"budget_ms"`
	BudgetLeftMS *int64 `json:"budget_left_ms"`
	// Forecast is how the period ends at the rate of the last three days; absent once it has ended.
	Forecast  *rental.Forecast  `json:"forecast,omitempty"`
	Credits   []rental.Credit   `json:"credits"`
	Downtimes []rental.Downtime `json:"downtimes"`
	// Objectives are response, resolution, RTO and RPO, as far as the contract has them.
	Objectives []rental.ObjectiveVerdict `json:"objectives,omitempty"`
}

// SLAQuery chooses leases to judge; without lease, tenant and provider it is all that the caller
// may see.
type SLAQuery struct {
	Lease    string
	Tenant   string
	Provider string
	// Period is each contract's own month, or a span; the zero value is the present month.
	Period Period
}

// SLATable is the availability of several leases, by lease.
type SLATable struct {
	Rows []LeaseSLA `json:"rows"`
	// Failures are leases that could not be judged, by id.
	Failures []Failure `json:"failures,omitempty"`
}

// LeaseSLA is one lease's availability with whose it is.
type LeaseSLA struct {
	Lease    string `json:"lease"`
	Tenant   string `json:"tenant"`
	Provider string `json:"provider"`
	Contract string `json:"contract"`
	// Period is what was judged: the month of the contract's zone, or the span that was asked for.
	Period rental.Span `json:"period"`

	SLA
}

// DowntimeList is the downtime of a lease that touches a span.
type DowntimeList struct {
	Lease     string            `json:"lease"`
	TimeZone  string            `json:"time_zone"`
	Span      rental.Span       `json:"span"`
	Downtimes []rental.Downtime `json:"downtimes"`
}

// StateHistory is how each GPU of a lease was over a span.
type StateHistory struct {
	Lease    string      `json:"lease"`
	TimeZone string      `json:"time_zone"`
	Span     rental.Span `json:"span"`
	GPUs     []GPUStates `json:"gpus"`
}

// GPUStates is one GPU's line of time; its intervals partition the part of the span in
// which it served the lease, oldest first.
type GPUStates struct {
	UUID   string `json:"uuid"`
	Serial string `json:"serial"`
	Host   string `json:"host"`
	Slot   int    `json:"slot"`
	// Profile is a MIG instance's; serial, host and slot are its card's.
	Profile   string            `json:"profile,omitempty"`
	Intervals []rental.Interval `json:"intervals"`
	// Check sets the exporter's own count of the states beside the line of time; null where they
	// cannot be compared.
	Check *rental.StateCheck `json:"check,omitempty"`
}
