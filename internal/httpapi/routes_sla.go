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
	if err := leaseRead(r, "get-downtime", "List the downtime of a lease", view.downtime); err != nil {
		return err
	}
	if err := leaseRead(r, "get-states", "Show how each GPU of a lease was, over time", view.states); err != nil {
		return err
	}
	return r.addProof()
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
