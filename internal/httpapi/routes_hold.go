package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// Holds keeps legal holds, and tells what retention does.
type Holds interface {
	// Holds returns every hold, the released too.
	Holds(ctx context.Context) ([]rental.Hold, error)
	PlaceHold(ctx context.Context, by rental.Principal, in api.PlaceHold) (rental.Hold, error)
	ReleaseHold(ctx context.Context, by rental.Principal, id, why string) (rental.Hold, error)
	// Retention tells how long each kind of data is kept; with count also what would end now.
	Retention(ctx context.Context, count bool) ([]rental.Retained, error)
}

func (r *routes) addHolds() error {
	type list struct {
		All bool `doc:"Those that were released too." query:"all"`
	}
	if err := operation(r, "list-holds", "List the holds that keep data from being deleted",
		func(ctx context.Context, v view, in *list) (*body[api.List[rental.Hold]], error) {
			all, err := v.deps.Holds.Holds(ctx)
			if !in.All {
				all = rental.Standing(all)
			}
			return items(all, err)
		}); err != nil {
		return err
	}
	if err := operation(r, "place-hold", "Keep all of a lease, a tenant or everything from being deleted",
		func(ctx context.Context, v view, in *body[api.PlaceHold]) (*body[rental.Hold], error) {
			return answer(v.deps.Holds.PlaceHold(ctx, v.who, in.Body))
		},
		func(op *huma.Operation) { op.DefaultStatus = http.StatusCreated }); err != nil {
		return err
	}
	type release struct {
		ID string `doc:"The hold's id, such as HOLD-1." maxLength:"200" path:"id"`

		Body api.ReleaseHold
	}
	if err := operation(r, "release-hold", "End a hold that somebody else placed",
		func(ctx context.Context, v view, in *release) (*body[rental.Hold], error) {
			return answer(v.deps.Holds.ReleaseHold(ctx, v.who, in.ID, in.Body.Why))
		}); err != nil {
		return err
	}
	type query struct {
		DryRun bool `doc:"Count too what would end now." query:"dry_run"`
	}
	return operation(r, "get-retention", "Tell how long each kind of data is kept",
		func(ctx context.Context, v view, in *query) (*body[api.List[rental.Retained]], error) {
			return items(v.deps.Holds.Retention(ctx, in.DryRun))
		})
}
