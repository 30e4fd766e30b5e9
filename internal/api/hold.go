package api

import (
	"context"
	"net/url"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// PlaceHold asks that nothing of a lease, of a tenant or of all is deleted any more.
type PlaceHold struct {
	Scope string `enum:"lease,tenant,all" json:"scope"`
	// Of is the lease or the tenant; empty for all.
	Of     string `json:"of,omitempty" maxLength:"200"`
	Reason string `json:"reason" maxLength:"1000" minLength:"1"`
}

// ReleaseHold says why a hold ends.
type ReleaseHold struct {
	Why string `json:"why" maxLength:"1000" minLength:"1"`
}

// Holds returns the holds that stand; all returns the released too.
func (c *Client) Holds(ctx context.Context, all bool) ([]rental.Hold, error) {
	v := url.Values{}
	if all {
		v.Set("all", "true")
	}
	var out List[rental.Hold]
	return out.Items, c.get(ctx, v, &out, "holds")
}

// PlaceHold places a hold in the caller's name.
func (c *Client) PlaceHold(ctx context.Context, in PlaceHold) (rental.Hold, error) {
	var out rental.Hold
	return out, c.post(ctx, in, &out, "holds")
}

// ReleaseHold ends a hold that somebody else placed.
func (c *Client) ReleaseHold(ctx context.Context, id string, in ReleaseHold) (rental.Hold, error) {
	var out rental.Hold
	return out, c.post(ctx, in, &out, "holds", id, "release")
}

// Retention returns how long each kind of data is kept; with count also what would end now.
func (c *Client) Retention(ctx context.Context, count bool) ([]rental.Retained, error) {
	v := url.Values{}
	if count {
		v.Set("dry_run", "true")
	}
	var out List[rental.Retained]
	return out.Items, c.get(ctx, v, &out, "retention")
}
