package api

import (
	"context"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// UseProfile is a use that is no lease yet: GPUs on one host that run for the first hours of each day.
type UseProfile struct {
	GPUs int `json:"gpus" minimum:"1" maximum:"10000"`
	// HoursPerDay may have a fraction; 24 where the GPUs never stop.
	HoursPerDay string `json:"hours_per_day,omitempty" maxLength:"40" doc:"More than 0 and at most 24; 24 where it is not given."`
	Days        int    `json:"days" minimum:"1" maximum:"3660"`
	// From is the first day, as YYYY-MM-DD, in TimeZone; prices are those of that time.
	From     string `json:"from" pattern:"^[0-9]{4}-[0-9]{2}-[0-9]{2}$" patternDescription:"a day such as 2026-05-01"`
	TimeZone string `json:"time_zone,omitempty" maxLength:"100" doc:"An IANA name; UTC where it is not given."`
}

// OwnOrRent asks to compare a lease's month with owning its GPUs.
type OwnOrRent struct {
	// Month is a month of the contract that has ended: its bill and its measured use are the baseline.
	Month string `json:"month" pattern:"^[0-9]{4}-(0[1-9]|1[0-2])$" patternDescription:"a month such as 2026-05"`
	// The amounts are decimals in the bill's currency, for all GPUs of the lease together.
	Price            string `json:"price" maxLength:"40"`
	LifeDays         int    `json:"life_days" minimum:"1" maximum:"100000"`
	PowerPerDay      string `json:"power_per_day,omitempty" maxLength:"40"`
	OperationsPerDay string `json:"operations_per_day,omitempty" maxLength:"40"`
	Disposal         string `json:"disposal,omitempty" maxLength:"40"`
	Resale           string `json:"resale,omitempty" maxLength:"40"`
}

// OwnComparison is owning against renting, never without its baseline.
type OwnComparison struct {
	Lease    string          `json:"lease"`
	Month    string          `json:"month"`
	Currency rental.Currency `json:"currency"`
	GPUs     int             `json:"gpus"`
	// Utilisation is the measured one of the month with its coverage, 0 to 1; null where nothing was measured.
	Utilisation *float64         `json:"utilisation"`
	Coverage    *float64         `json:"coverage"`
	Own         rental.Ownership `json:"own"`
	rental.Comparison
}

// SimulateProfile prices a use that is no lease yet under every contract that is recorded.
func (c *Client) SimulateProfile(ctx context.Context, in UseProfile) ([]rental.Quote, error) {
	var out List[rental.Quote]
	err := c.post(ctx, in, &out, "prices", "simulate")
	return out.Items, err
}

// OwnOrRent compares a lease's month with owning its GPUs.
func (c *Client) OwnOrRent(ctx context.Context, lease string, in OwnOrRent) (OwnComparison, error) {
	var out OwnComparison
	err := c.post(ctx, in, &out, "leases", lease, "own-or-rent")
	return out, err
}
