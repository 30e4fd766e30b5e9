package api

import (
	"context"
	"net/http"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Heads is what closes each day of a lease's records. A tenant keeps them: no record under a head
// can change without a difference to it.
type Heads struct {
	Lease string        `json:"lease"`
	Heads []rental.Head `json:"heads"`
	// Keys are the keys that reports are signed with, the oldest first; the last one signs.
	Keys []rental.SigningKey `json:"keys"`
}

// Heads returns the heads of a lease's chain so far.
func (c *Client) Heads(ctx context.Context, lease string) (Heads, error) {
	var out Heads
	return out, c.get(ctx, nil, &out, "leases", lease, "heads")
}

// SigningKeys returns the public keys that reports are signed with, the oldest first.
func (c *Client) SigningKeys(ctx context.Context) ([]rental.SigningKey, error) {
	return list[rental.SigningKey](ctx, c, "signing-keys")
}

// ReportQuery chooses a report.
type ReportQuery struct {
	// Period is a month of the contract's zone, or a span; the zero value is the present month.
	Period Period
	// Trial reports on the lease's first 168 hours instead.
	Trial bool
	// Format is html, json (signed) or csv.
	Format string
	// Lang is the language of html and csv, en or zh; the contract's where it is empty. A signed
	// report is in the contract's language.
	Lang string
}

// Report returns the report on a lease as the bytes of its format.
func (c *Client) Report(ctx context.Context, lease string, q ReportQuery) ([]byte, error) {
	v := q.Period.values()
	set(v, "format", q.Format)
	set(v, "lang", q.Lang)
	if q.Trial {
		v.Set("trial", "true")
	}
	return c.do(ctx, request{method: http.MethodGet, path: []string{"leases", lease, "report"}, query: v})
}
