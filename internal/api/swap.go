package api

import (
	"context"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// SwapGPU asks that another GPU serves in the place of one from a moment on. The old one serves
// until then, so the time between its failure and the swap stays the lease's, and downtime.
type SwapGPU struct {
	GPU  string        `json:"gpu" maxLength:"200" minLength:"1"`
	With string        `json:"with" maxLength:"200" minLength:"1"`
	At   rental.Millis `json:"at"`
	// Why is for the record: "RMA-42: fell off the bus".
	Why string `json:"why,omitempty" maxLength:"1000"`
}

// SetGPULife asks for another stage of a GPU's life.
type SetGPULife struct {
	Life rental.GPULife `enum:"stock,service,suspect,drained,rma,scrapped" json:"life"`
	Why  string         `json:"why" maxLength:"1000" minLength:"1"`
}

// GPUStay is what was recorded of a GPU at a moment: where it sat and where it stood in its life.
type GPUStay struct {
	At   rental.Millis  `json:"at"`
	By   string         `json:"by"`
	Why  string         `json:"why"`
	Host string         `json:"host"`
	Slot int            `json:"slot"`
	Life rental.GPULife `json:"life"`
	// Serial is the card's own, as it was known then.
	Serial string `json:"serial"`
}

// SwapGPU replaces a GPU of a lease and returns who serves it now and when.
func (c *Client) SwapGPU(ctx context.Context, lease string, in SwapGPU) ([]rental.Assignment, error) {
	var out List[rental.Assignment]
	return out.Items, c.post(ctx, in, &out, "leases", lease, "swap")
}

// SetGPULife records another stage of a GPU's life.
func (c *Client) SetGPULife(ctx context.Context, uuid string, in SetGPULife) (Changes, error) {
	var out Changes
	return out, c.post(ctx, in, &out, "gpus", uuid, "life")
}

// GPUHistory returns everything that was recorded of a GPU, the oldest first.
func (c *Client) GPUHistory(ctx context.Context, uuid string) ([]GPUStay, error) {
	var out List[GPUStay]
	return out.Items, c.get(ctx, nil, &out, "gpus", uuid, "history")
}
