package httpapi

import (
	"context"
	"slices"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// addSLA adds what tells how leases were, and what proves it: verdicts, downtime, states, reports.
func (r *routes) addSLA() error {
	if err := leaseRead(r, "get-sla", "Judge a lease's availability", view.sla); err != nil {
		return err
	}
	type query struct {
		PeriodQuery
		AsOfQuery

		Lease    string `maxLength:"200" query:"lease"`
		Tenant   string `maxLength:"200" query:"tenant"`
		Provider string `maxLength:"200" query:"provider"`
	}
	if err := operation(r, "list-sla", "Judge the availability of a tenant's, a provider's or all leases",
		func(ctx context.Context, v view, in *query) (*body[api.SLATable], error) {
			p, err := in.period(rental.At(v.deps.Now()))
			if err != nil {
				return nil, err
			}
			t, err := v.slaTable(ctx, api.SLAQuery{Lease: in.Lease, Tenant: in.Tenant, Provider: in.Provider, Period: p})
			return answer(t, err)
		}); err != nil {
		return err
	}
	if err := r.addScorecard(); err != nil {
		return err
	}
	if err := leaseRead(r, "get-downtime", "List the downtime of a lease", view.downtime); err != nil {
		return err
	}
	if err := leaseRead(r, "get-states", "Show how each GPU of a lease was, over time", view.states); err != nil {
		return err
	}
	return r.addProof()
}

// addScorecard adds how a provider did; a tenant reads it by its own leases alone.
func (r *routes) addScorecard() error {
	type query struct {
		PeriodQuery
		AsOfQuery

		Name   string `doc:"The provider." maxLength:"200" path:"name"`
		Tenant string `doc:"By this tenant's leases alone." maxLength:"200" query:"tenant"`
	}
	return operation(r, "get-scorecard", "Say how a provider did: every figure with source, date and coverage, or as not measured",
		func(ctx context.Context, v view, in *query) (*body[rental.Scorecard], error) {
			p, err := in.period(rental.At(v.deps.Now()))
			if err != nil {
				return nil, err
			}
			q := api.SLAQuery{Provider: in.Name, Tenant: in.Tenant, Period: p}
			if only := v.tenantOnly(); only != "" {
				if q.Tenant != "" && q.Tenant != only {
					return nil, api.ErrNotFound
				}
				q.Tenant = only
			}
			card, err := v.deps.SLA.Scorecard(ctx, q)
			card.Figures, card.Leases = orEmpty(card.Figures), orEmpty(card.Leases)
			return answer(card, err)
		})
}

// slaTable judges several leases; a tenant's answer holds its own, and why one of another cannot
// be judged is nothing to it.
func (v view) slaTable(ctx context.Context, q api.SLAQuery) (api.SLATable, error) {
	if only := v.tenantOnly(); only != "" {
		if q.Tenant != "" && q.Tenant != only {
			return api.SLATable{Rows: []api.LeaseSLA{}}, nil
		}
		q.Tenant = only
	}
	if q.Lease != "" {
		if err := v.lease(ctx, q.Lease); err != nil {
			return api.SLATable{}, err
		}
	}
	t, err := v.deps.SLA.SLATable(ctx, q)
	if err != nil {
		return api.SLATable{}, err
	}
	t.Rows = slices.DeleteFunc(slices.Clone(t.Rows), func(row api.LeaseSLA) bool { return !v.own(row.Tenant) })
	t.Rows = orEmpty(t.Rows)
	if v.tenantOnly() != "" {
		t.Failures = slices.DeleteFunc(slices.Clone(t.Failures), func(f api.Failure) bool { return v.lease(ctx, f.Name) != nil })
	}
	return t, nil
}
