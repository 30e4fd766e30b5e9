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
	BudgetMS     *int64            `json:"budget_ms"`
	BudgetLeftMS *int64            `json:"budget_left_ms"`
	Credits      []rental.Credit   `json:"credits"`
	Downtimes    []rental.Downtime `json:"downtimes"`
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
	UUID      string            `json:"uuid"`
	Serial    string            `json:"serial"`
	Host      string            `json:"host"`
	Slot      int               `json:"slot"`
	Intervals []rental.Interval `json:"intervals"`
}
