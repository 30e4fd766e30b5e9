package httpapi

import (
	"context"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// Approvals keeps the changes that wait for a second person.
type Approvals interface {
	// Pending returns every change that waits or waited, the oldest first.
	Pending(ctx context.Context) ([]rental.Pending, error)
	// DecidePending approves or rejects one in the name of by.
	DecidePending(ctx context.Context, by rental.Principal, id string, approve bool, note string) (rental.Pending, error)
}

// addPending adds the changes that wait for a second person.
func (r *routes) addPending() error {
	type query struct {
		All bool `doc:"Those that were decided or have expired too." query:"all"`
	}
	if err := operation(r, "list-pending", "List the changes that wait for a second person",
		func(ctx context.Context, v view, in *query) (*body[api.List[rental.Pending]], error) {
			all, err := v.deps.Approvals.Pending(ctx)
			var out []rental.Pending
			for _, p := range all {
				if in.All || p.Decision == "" {
					out = append(out, p)
				}
			}
			return items(out, err)
		}); err != nil {
		return err
	}
	type path struct {
		ID string `doc:"The change's id, such as P-3." maxLength:"200" path:"id"`
	}
	if err := operation(r, "get-pending", "Show one change that waits or waited for a second person",
		func(ctx context.Context, v view, in *path) (*body[rental.Pending], error) {
			all, err := v.deps.Approvals.Pending(ctx)
			if err != nil {
				return nil, err
			}
			for _, p := range all {
				if p.ID == in.ID {
					return answer(p, nil)
				}
			}
			return nil, api.NotFound("pending change", in.ID)
		}); err != nil {
		return err
	}
	type decision struct {
		ID string `doc:"The change's id, such as P-3." maxLength:"200" path:"id"`

		Body api.DecidePending
	}
	if err := operation(r, "approve-pending", "Approve a change that somebody else entered: it takes effect",
		func(ctx context.Context, v view, in *decision) (*body[rental.Pending], error) {
			return answer(v.deps.Approvals.DecidePending(ctx, v.who, in.ID, true, in.Body.Note))
		}); err != nil {
		return err
	}
	return operation(r, "reject-pending", "Reject a change: nothing of it takes effect",
		func(ctx context.Context, v view, in *decision) (*body[rental.Pending], error) {
			return answer(v.deps.Approvals.DecidePending(ctx, v.who, in.ID, false, in.Body.Note))
		})
}
