package api

import (
	"context"

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
