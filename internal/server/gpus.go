package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// SwapGPU records a swap and returns the lease's assignments as they then stand.
func (k keeping) SwapGPU(ctx context.Context, by rental.Principal, lease string, in api.SwapGPU) ([]rental.Assignment, error) {
	if err := k.ledger.Swap(ctx, by.Name, in.Why, lease, in.GPU, in.With, in.At); err != nil {
		return nil, err
	}
	k.changed()
	return k.ledger.Assignments(ctx, lease)
}

// SetGPULife records another stage of a card's life. A card that a lease holds may be suspected or
// drained; it leaves its slot only once the lease has another.
func (k keeping) SetGPULife(ctx context.Context, by rental.Principal, uuid string, in api.SetGPULife, now rental.Millis) (api.Changes, error) {
	gpus, err := k.ledger.GPUs(ctx)
	if err != nil {
		return api.Changes{}, err
	}
	i := slices.IndexFunc(gpus, func(g rental.GPU) bool { return g.UUID == uuid })
	if i < 0 {
		return api.Changes{}, api.NotFound("GPU", uuid)
	}
	gpu := gpus[i]
	gpu.Life = in.Life
	if in.Life == rental.GPURMA || in.Life == rental.GPUStock || in.Life == rental.GPUScrapped {
		held, err := k.ledger.AssignmentsAt(ctx, rental.Span{Start: now, End: now + 1})
		if err != nil {
			return api.Changes{}, err
		}
		for _, a := range held {
			if a.CardUUID() == uuid {
				return api.Changes{}, &rental.Error{Code: rental.CodeRefused, Message: fmt.Sprintf(
					"GPU %s: life: lease %q holds it until %s: expected it free before it is %s; swap it first (leasewatch lease swap)", uuid, a.Lease, a.Span.End, in.Life)}
			}
		}
	}
	return k.apply(ctx, by, in.Why, rental.Resources{GPUs: []rental.GPU{gpu}}, ledger.Submission{})
}

// GPUHistory returns everything that was recorded of a card, the oldest first.
func (k keeping) GPUHistory(ctx context.Context, uuid string) ([]api.GPUStay, error) {
	facts, err := k.ledger.History(ctx, rental.KindGPU, uuid)
	if err != nil {
		return nil, err
	}
	if len(facts) == 0 {
		return nil, api.NotFound("GPU", uuid)
	}
	out := make([]api.GPUStay, len(facts))
	for i, f := range facts {
		var g rental.GPU
		if err := json.Unmarshal(f.Body, &g); err != nil {
			return nil, fmt.Errorf("GPU %s revision %d: %w", uuid, f.Revision, err)
		}
		out[i] = api.GPUStay{At: f.At, By: f.By, Why: f.Why, Host: g.Host, Slot: g.Slot, Life: g.Life, Serial: g.Serial}
	}
	return out, nil
}
