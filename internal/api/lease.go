package api

import "github.com/leasewatch/leasewatch/internal/rental"

// LeaseSummary is one row of the list of leases; its figures are those of the contract's
// month so far.
type LeaseSummary struct {
	ID       string        `json:"id"`
	Tenant   string        `json:"tenant"`
	Provider string        `json:"provider"`
	Contract string        `json:"contract"`
	SKU      string        `json:"sku"`
	Start    rental.Millis `json:"start"`
	End      rental.Millis `json:"end"`
	GPUs     int           `json:"gpus"`
	// State is planned, running, stopped or ended: what the tenant did.
	State string `json:"state"`
	// Health is the worst state among the lease's GPUs now (ok, degraded, lost, host_down,
	// maintenance, unknown...), "" where the lease does not run.
	Health string `json:"health"`
	// GPUsDown counts the GPUs that are down now.
	GPUsDown int             `json:"gpus_down"`
	Currency rental.Currency `json:"currency"`
	TimeZone string          `json:"time_zone"`
	// Month is the contract's month that the figures below are of: "2026-05".
	Month string `json:"month"`
	Cost  Money  `json:"cost"`
	// Utilisation is used / measured time, 0 to 1; null where nothing was measured.
	Utilisation *float64 `json:"utilisation"`
	// Coverage is measured / allocated time, 0 to 1; null where nothing was allocated.
	Coverage *float64 `json:"coverage"`
	// AvailabilityLow counts unknown time as down, High as up; null without an objective.
	AvailabilityLow  *Share         `json:"availability_low"`
	AvailabilityHigh *Share         `json:"availability_high"`
	Target           rental.Decimal `json:"target_percent"`
	// Outcome is the verdict so far; "" without an objective.
	Outcome rental.Outcome `json:"outcome"`
}

// LeaseQuery chooses leases; its zero value is all that the caller may see.
type LeaseQuery struct {
	Tenant   string
	Provider string
	// At chooses the leases that exist at that moment; 0 is now and ended ones too.
	At rental.Millis
}

// LeaseDetail is one lease with all that decides its bill and its verdict.
type LeaseDetail struct {
	Summary     LeaseSummary        `json:"summary"`
	Lease       rental.Lease        `json:"lease"`
	Contract    rental.Contract     `json:"contract"`
	Assignments []rental.Assignment `json:"assignments"`
	// GPUs are the cards that ever served the lease, with where they sit now.
	GPUs []rental.GPU `json:"gpus"`
	// MIGInstances are those that ever served the lease; GPUs has their cards.
	MIGInstances []rental.MIGInstance `json:"mig_instances,omitempty"`
	// Maintenance are the announced windows that touch the lease.
	Maintenance []rental.Maintenance `json:"maintenance"`
}

// EndLease asks to end a lease.
type EndLease struct {
	// At is when the lease ends; it must not lie in a closed month.
	At rental.Millis `json:"at"`
}

// Period is a contract's month ("2026-05") or, where Month is empty, a span. The zero value
// is the contract's present month so far.
type Period struct {
	Month string
	Span  rental.Span
}

// IsZero tells whether neither month nor span is given.
func (p Period) IsZero() bool { return p.Month == "" && p.Span == rental.Span{} }
