package httpapi

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// RMAs keeps the cases of GPUs that go back to their maker.
type RMAs interface {
	// RMAs returns those that the query chooses, by id.
	RMAs(ctx context.Context, q api.RMAQuery) ([]rental.RMA, error)
	// RMA returns one; rental.CodeNotFound where there is none.
	RMA(ctx context.Context, id string) (rental.RMA, error)
	OpenRMA(ctx context.Context, by rental.Principal, in api.OpenRMA) (rental.RMA, error)
	// ActOnRMA replaces or closes; who and when are filled in. with is the card of a replacement.
	ActOnRMA(ctx context.Context, by rental.Principal, id string, act rental.Act, with rental.RMAReplacement) (rental.RMA, error)
	// RMABundle writes the evidence of a case as a zip.
	RMABundle(ctx context.Context, id string, q api.RMABundleQuery) ([]byte, error)
}

// RMAPath is the path of one case.
type RMAPath struct {
	ID string `doc:"The case's id, such as RMA-000001." maxLength:"200" path:"id"`
}

func (r *routes) addRMAs() error {
	type query struct {
		GPU   string `doc:"Only those of this GPU, by uuid." maxLength:"200" query:"gpu"`
		State string `enum:"open,replaced,closed" query:"state"`
	}
	if err := operation(r, "list-rmas", "List the cases of GPUs that go back to their maker",
		func(ctx context.Context, v view, in *query) (*body[api.List[rental.RMA]], error) {
			return items(v.deps.RMAs.RMAs(ctx, api.RMAQuery{GPU: in.GPU, State: in.State}))
		}); err != nil {
		return err
	}
	if err := operation(r, "get-rma", "Show one case with what people did",
		func(ctx context.Context, v view, in *RMAPath) (*body[rental.RMA], error) {
			return answer(v.deps.RMAs.RMA(ctx, in.ID))
		}); err != nil {
		return err
	}
	type bundle struct {
		RMAPath

		Days    int  `default:"7" doc:"How many days before the incident, or the opening of the case, its samples begin." maximum:"400" minimum:"1" query:"days"`
		Tenants bool `doc:"Name leases and tenants, and hold the incident as it was told." query:"tenants"`
	}
	if err := operation(r, "get-rma-bundle", "Return the evidence of a case",
		func(ctx context.Context, v view, in *bundle) (*huma.StreamResponse, error) {
			text, err := v.deps.RMAs.RMABundle(ctx, in.ID, api.RMABundleQuery{Days: in.Days, Tenants: in.Tenants})
			return stream("application/zip", text), err
		},
		func(op *huma.Operation) {
			op.Responses = map[string]*huma.Response{"200": {
				Description: "The bundle.",
				Content:     map[string]*huma.MediaType{"application/zip": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
			}}
		}); err != nil {
		return err
	}
	if err := operation(r, "open-rma", "Open the case of a GPU: its life becomes rma",
		func(ctx context.Context, v view, in *body[api.OpenRMA]) (*body[rental.RMA], error) {
			return answer(v.deps.RMAs.OpenRMA(ctx, v.who, in.Body))
		}); err != nil {
		return err
	}
	type replace struct {
		RMAPath

		Body api.ReplaceRMA
	}
	if err := operation(r, "replace-rma", "Name the GPU that came for the one that went",
		func(ctx context.Context, v view, in *replace) (*body[rental.RMA], error) {
			return answer(v.deps.RMAs.ActOnRMA(ctx, v.who, in.ID, rental.Act{Kind: rental.ActReplaced, Note: in.Body.Why},
				rental.RMAReplacement{UUID: in.Body.UUID, Serial: in.Body.Serial}))
		}); err != nil {
		return err
	}
	type closing struct {
		RMAPath

		Body api.CloseRMA
	}
	return operation(r, "close-rma", "Close a case with what came of it",
		func(ctx context.Context, v view, in *closing) (*body[rental.RMA], error) {
			return answer(v.deps.RMAs.ActOnRMA(ctx, v.who, in.ID, rental.Act{Kind: rental.ActClosed, Outcome: in.Body.Outcome, Note: in.Body.Why}, rental.RMAReplacement{}))
		})
}
