package httpapi

import (
	"context"
	"slices"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// UseReports tell what is paid for and not used, and what is used and not paid for.
type UseReports interface {
	// IdleUse reports the leases of a tenant, or of all where it is ""; perKWh may be unset.
	IdleUse(ctx context.Context, span rental.Span, tenant string, perKWh rental.Decimal) (api.IdleReport, error)
	UnleasedUse(ctx context.Context, span rental.Span) (api.UnleasedReport, error)
}

// Cards keeps GPUs through their lives.
type Cards interface {
	SwapGPU(ctx context.Context, by rental.Principal, lease string, in api.SwapGPU) ([]rental.Assignment, error)
	SetGPULife(ctx context.Context, by rental.Principal, uuid string, in api.SetGPULife, now rental.Millis) (api.Changes, error)
	GPUHistory(ctx context.Context, uuid string) ([]api.GPUStay, error)
}

// GPUPath is the path of one GPU.
type GPUPath struct {
	ID string `doc:"The GPU's uuid." maxLength:"200" path:"id"`
}

// addCards adds what becomes of GPUs, and how they are used.
func (r *routes) addCards() error {
	type idleQuery struct {
		SpanQuery

		EnergyPrice string `doc:"Price of a kWh in each lease's currency, such as 0.12; without it energy has no cost." maxLength:"20" query:"energy_price"`
	}
	if err := operation(r, "idle-use", "Show what leases cost while they were not used",
		func(ctx context.Context, v view, in *idleQuery) (*body[api.IdleReport], error) {
			span, err := in.span(rental.At(v.deps.Now()))
			if err != nil {
				return nil, err
			}
			var price rental.Decimal
			if in.EnergyPrice != "" {
				if price, err = rental.ParseDecimal(in.EnergyPrice); err != nil || price.Rat().Sign() < 0 {
					return nil, invalid("query.energy_price", "a price of a kWh that is not negative is expected, such as 0.12", in.EnergyPrice)
				}
			}
			report, err := v.deps.Use.IdleUse(ctx, span, v.tenantOnly(), price)
			report.Rows = orEmpty(slices.DeleteFunc(slices.Clone(report.Rows), func(row api.IdleRow) bool { return !v.own(row.Tenant) }))
			return answer(report, err)
		}); err != nil {
		return err
	}
	if err := operation(r, "unleased-use", "Show which GPUs were used while nobody leased them",
		func(ctx context.Context, v view, in *SpanQuery) (*body[api.UnleasedReport], error) {
			span, err := in.span(rental.At(v.deps.Now()))
			if err != nil {
				return nil, err
			}
			report, err := v.deps.Use.UnleasedUse(ctx, span)
			report.Rows = orEmpty(report.Rows)
			return answer(report, err)
		}); err != nil {
		return err
	}
	type swap struct {
		LeasePath

		Body api.SwapGPU
	}
	if err := operation(r, "swap-gpu", "Let another GPU serve in the place of one",
		func(ctx context.Context, v view, in *swap) (*body[api.List[rental.Assignment]], error) {
			if err := v.lease(ctx, in.ID); err != nil {
				return nil, err
			}
			return items(v.deps.Cards.SwapGPU(ctx, v.who, in.ID, in.Body))
		}); err != nil {
		return err
	}
	type life struct {
		GPUPath

		Body api.SetGPULife
	}
	if err := operation(r, "set-gpu-life", "Record another stage of a GPU's life",
		func(ctx context.Context, v view, in *life) (*body[api.Changes], error) {
			changes, err := v.deps.Cards.SetGPULife(ctx, v.who, in.ID, in.Body, rental.At(v.deps.Now()))
			changes.Changes = orEmpty(changes.Changes)
			return answer(changes, err)
		}); err != nil {
		return err
	}
	return operation(r, "gpu-history", "Show where a GPU sat and where it stood in its life",
		func(ctx context.Context, v view, in *GPUPath) (*body[api.List[api.GPUStay]], error) {
			return items(v.deps.Cards.GPUHistory(ctx, in.ID))
		})
}
