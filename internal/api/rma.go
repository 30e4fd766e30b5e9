package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// OpenRMA asks for the case of a GPU that goes back to its maker. Its life becomes rma.
type OpenRMA struct {
	GPU string `json:"gpu" maxLength:"200" minLength:"1"`
	Why string `json:"why" maxLength:"1000" minLength:"1"`
	// Incident is the incident that it began with, such as INC-42.
	Incident string `json:"incident,omitempty" maxLength:"200"`
}

// ReplaceRMA names the GPU that came for the one that went.
type ReplaceRMA struct {
	UUID string `json:"uuid" maxLength:"200" minLength:"1"`
	// Serial may be left out for a GPU that the inventory knows.
	Serial string `json:"serial,omitempty" maxLength:"200"`
	Why    string `json:"why" maxLength:"1000" minLength:"1"`
}

// CloseRMA says what came of a case.
type CloseRMA struct {
	Outcome string `enum:"replaced,repaired,no_fault,refused" json:"outcome"`
	Why     string `json:"why" maxLength:"1000" minLength:"1"`
}

// RMAQuery chooses cases.
type RMAQuery struct {
	GPU   string // by uuid; "" is any
	State string // one of rental.RMAStates; "" is any
}

// RMABundleQuery says what an evidence bundle holds.
type RMABundleQuery struct {
	// Days is how far back from the incident, or from the opening of the case, its samples reach; 0 is 7.
	Days int
	// Tenants has it name leases and tenants, and the incident as it was told.
	Tenants bool
}

// RMAs returns the cases that the query chooses, by id.
func (c *Client) RMAs(ctx context.Context, q RMAQuery) ([]rental.RMA, error) {
	v := url.Values{}
	set(v, "gpu", q.GPU)
	set(v, "state", q.State)
	var out List[rental.RMA]
	return out.Items, c.get(ctx, v, &out, "rmas")
}

// RMA returns one case; ErrNotFound where there is none.
func (c *Client) RMA(ctx context.Context, id string) (rental.RMA, error) {
	var out rental.RMA
	return out, c.get(ctx, nil, &out, "rmas", id)
}

// OpenRMA opens a case; ErrConflict where one of the GPU is open, refused while a lease holds it.
func (c *Client) OpenRMA(ctx context.Context, in OpenRMA) (rental.RMA, error) {
	var out rental.RMA
	return out, c.post(ctx, in, &out, "rmas")
}

// ReplaceRMA names the GPU that came for the one that went.
func (c *Client) ReplaceRMA(ctx context.Context, id string, in ReplaceRMA) (rental.RMA, error) {
	var out rental.RMA
	return out, c.post(ctx, in, &out, "rmas", id, "replace")
}

// CloseRMA closes a case with what came of it.
func (c *Client) CloseRMA(ctx context.Context, id string, in CloseRMA) (rental.RMA, error) {
	var out rental.RMA
	return out, c.post(ctx, in, &out, "rmas", id, "close")
}

// RMABundle returns the evidence of a case as a zip.
func (c *Client) RMABundle(ctx context.Context, id string, q RMABundleQuery) ([]byte, error) {
	v := url.Values{}
	if q.Days != 0 {
		v.Set("days", strconv.Itoa(q.Days))
	}
	if q.Tenants {
		v.Set("tenants", "true")
	}
	return c.do(ctx, request{method: http.MethodGet, path: []string{"rmas", id, "bundle"}, query: v})
}
