package httpapi

import (
	"context"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// addPrices adds what a use would cost under other contracts, and against owning its GPUs.
func (r *routes) addPrices() error {
	if err := operation(r, "simulate-profile", "Price a use that is no lease yet under every contract that is recorded",
		func(ctx context.Context, v view, in *body[api.UseProfile]) (*body[api.List[rental.Quote]], error) {
			return items(v.deps.Books.SimulateProfile(ctx, in.Body))
		}); err != nil {
		return err
	}
	return operation(r, "own-or-rent", "Compare a lease's month with owning its GPUs",
		func(ctx context.Context, v view, in *struct {
			ID   string `maxLength:"200" path:"id"`
			Body api.OwnOrRent
		}) (*body[api.OwnComparison], error) {
			if err := v.lease(ctx, in.ID); err != nil {
				return nil, err
			}
			return answer(v.deps.Books.OwnOrRent(ctx, in.ID, in.Body))
		})
}
