package api

import (
	"context"
	"net/url"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// DecidePending is what a person notes beside a decision.
type DecidePending struct {
	Note string `json:"note,omitempty" maxLength:"2000"`
}

// EndedLease is a lease that was ended, or one whose end waits for a second person.
type EndedLease struct {
	rental.Lease
	// Pending is set where the end waits; the lease then stands as before.
	Pending *rental.Pending `json:"pending,omitempty"`
}

// Pending returns the changes that wait for a second person, the oldest first; all tells also those
// that were decided or have expired.
func (c *Client) Pending(ctx context.Context, all bool) ([]rental.Pending, error) {
	v := url.Values{}
	if all {
		v.Set("all", "true")
	}
	var out List[rental.Pending]
	return out.Items, c.get(ctx, v, &out, "pending")
}

// PendingChange returns one change that waits or waited.
func (c *Client) PendingChange(ctx context.Context, id string) (rental.Pending, error) {
	var out rental.Pending
	return out, c.get(ctx, nil, &out, "pending", id)
}

// ApprovePending approves a change in the caller's name.
func (c *Client) ApprovePending(ctx context.Context, id string, in DecidePending) (rental.Pending, error) {
	var out rental.Pending
	return out, c.post(ctx, in, &out, "pending", id, "approve")
}

// RejectPending rejects a change in the caller's name.
func (c *Client) RejectPending(ctx context.Context, id string, in DecidePending) (rental.Pending, error) {
	var out rental.Pending
	return out, c.post(ctx, in, &out, "pending", id, "reject")
}
