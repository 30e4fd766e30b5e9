package httpapi

import (
	"context"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// Whoever saw an outage may say so; who settles money is another.
var (
	reporters = []rental.Role{rental.RoleAdmin, rental.RoleOperator, rental.RoleOnCall, rental.RoleTenant}
	deciders  = []rental.Role{rental.RoleAdmin, rental.RoleOperator, rental.RoleFinance}
)

// DowntimePath is the path of one downtime.
type DowntimePath struct {
	ID string `doc:"The downtime's id, such as DT-000042." maxLength:"200" path:"id"`
}

// addDowntimes adds what people do with downtimes.
func (r *routes) addDowntimes() error {
	type query struct {
		SpanQuery

		Lease  string `maxLength:"200"                            query:"lease"`
		Tenant string `maxLength:"200"                            query:"tenant"`
		State  string `doc:"All but withdrawn ones where it is not given." enum:"waiting,approved,rejected,disputed,withdrawn" query:"state"`
	}
	if err := operation(r, "list-downtimes", "List downtimes with where each stands",
		func(ctx context.Context, v view, in *query) (*body[api.List[api.DowntimeFact]], error) {
			span, err := in.span(rental.At(v.deps.Now()))
			if err != nil {
				return nil, err
			}
			return items(v.downtimes(ctx, api.DowntimeQuery{Lease: in.Lease, Tenant: in.Tenant, State: in.State, Span: span}))
		}); err != nil {
		return err
	}
	if err := operation(r, "get-downtime-fact", "Show one downtime with its evidence and what people did with it",
		func(ctx context.Context, v view, in *DowntimePath) (*body[api.DowntimeFact], error) {
			return answer(v.downtimeFact(ctx, in.ID))
		}); err != nil {
		return err
	}
	if err := operation(r, "record-downtime", "Enter a downtime by hand; it waits for somebody else's approval",
		func(ctx context.Context, v view, in *body[api.RecordDowntime]) (*body[api.DowntimeFact], error) {
			if err := v.lease(ctx, in.Body.Lease); err != nil {
				return nil, err
			}
			return answer(v.deps.Downtimes.RecordDowntime(ctx, v.who, in.Body))
		},
		func(op *huma.Operation) { op.DefaultStatus = http.StatusCreated }); err != nil {
		return err
	}
	if err := downtimeAct(r, "approve-downtime", "Approve a downtime: it may change money",
		func(_ view, in api.SettleDowntime) (rental.Act, error) {
			return rental.Act{Kind: rental.ActApproved, Cause: in.Cause, Note: in.Reason}, nil
		}); err != nil {
		return err
	}
	if err := downtimeAct(r, "reject-downtime", "Reject a downtime: it changes no money",
		func(_ view, in api.SettleDowntime) (rental.Act, error) {
			if in.Cause != "" {
				return rental.Act{}, invalid("body.cause", "a rejected downtime has no cause", in.Cause)
			}
			return rental.Act{Kind: rental.ActRejected, Note: in.Reason}, nil
		}); err != nil {
		return err
	}
	if err := downtimeAct(r, "dispute-downtime", "Dispute a downtime, or answer a dispute: it is held until a person decides",
		func(v view, in api.DisputeDowntime) (rental.Act, error) {
			side := rental.SideOf(v.who)
			if in.Side != "" && v.tenantOnly() != "" && in.Side != side {
				return rental.Act{}, invalid("body.side", "a tenant speaks for itself", in.Side)
			}
			if in.Side != "" {
				side = in.Side
			}
			return rental.Act{Kind: rental.ActDisputed, Side: side, Note: in.Note}, nil
		}); err != nil {
		return err
	}
	return downtimeAct(r, "decide-downtime", "Decide a dispute",
		func(_ view, in api.DecideDowntime) (rental.Act, error) {
			return rental.Act{Kind: rental.ActDecided, Outcome: in.Outcome, Cause: in.Cause, Note: in.Reason}, nil
		})
}

// downtimeAct adds one act upon a downtime that the caller may see.
func downtimeAct[T any](r *routes, id, summary string, act func(view, T) (rental.Act, error)) error {
	type input struct {
		DowntimePath

		Body T
	}
	return operation(r, id, summary, func(ctx context.Context, v view, in *input) (*body[api.DowntimeFact], error) {
		if _, err := v.downtimeFact(ctx, in.ID); err != nil {
			return nil, err
		}
		a, err := act(v, in.Body)
		if err != nil {
			return nil, err
		}
		if a.Side == "" {
			a.Side = rental.SideOf(v.who)
		}
		return answer(v.deps.Downtimes.ActOnDowntime(ctx, v.who, in.ID, a))
	})
}

func (v view) downtimes(ctx context.Context, q api.DowntimeQuery) ([]api.DowntimeFact, error) {
	if only := v.tenantOnly(); only != "" {
		if q.Tenant != "" && q.Tenant != only {
			return nil, nil
		}
		q.Tenant = only
	}
	if q.Lease != "" {
		if err := v.lease(ctx, q.Lease); err != nil {
			return nil, err
		}
	}
	found, err := v.deps.Downtimes.Downtimes(ctx, q)
	return slices.DeleteFunc(slices.Clone(found), func(d api.DowntimeFact) bool { return !v.own(d.Tenant) }), err
}

func (v view) downtimeFact(ctx context.Context, id string) (api.DowntimeFact, error) {
	d, err := v.deps.Downtimes.Downtime(ctx, id)
	if rental.CodeOf(err) == rental.CodeNotFound || err == nil && !v.own(d.Tenant) {
		return api.DowntimeFact{}, api.NotFound("downtime", id)
	}
	return d, err
}
