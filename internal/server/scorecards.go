package server

import (
	"context"
	"fmt"
	"slices"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// scoredIncidents bounds how many incidents a scorecard reads; a provider with more in one month is
// told of by what is newest.
const scoredIncidents = 10_000

// Scorecard says how a provider did in a period, by the leases that the query chooses. A provider
// that is not recorded is rental.CodeNotFound, and to a tenant one that it leases nothing from.
func (v availability) Scorecard(ctx context.Context, q api.SLAQuery) (rental.Scorecard, error) {
	none := &rental.Error{Code: rental.CodeNotFound, Message: fmt.Sprintf("provider %q: expected the name of one that is recorded and leases something", q.Provider)}
	providers, err := v.ledger.Providers(ctx)
	if err != nil {
		return rental.Scorecard{}, err
	}
	if !slices.ContainsFunc(providers, func(p rental.Provider) bool { return p.Name == q.Provider }) {
		return rental.Scorecard{}, none
	}
	chosen, err := books{ledger: v.ledger, now: v.now}.chosen(ctx, api.BillQuery{Tenant: q.Tenant, Provider: q.Provider, Period: q.Period})
	if err != nil {
		return rental.Scorecard{}, err
	}
	if len(chosen) == 0 && q.Tenant != "" {
		return rental.Scorecard{}, none
	}
	chosen = slices.DeleteFunc(chosen, func(one billed) bool { return !one.lease.Span().Overlaps(one.span) })
	in := rental.ScoreInput{Provider: q.Provider, Tenant: q.Tenant, MadeAt: rental.At(v.now())}
	if in.Leases, err = v.scored(ctx, chosen); err != nil {
		return rental.Scorecard{}, err
	}
	if in.Period, err = spanOf(q.Period, rental.Contract{TimeZone: "UTC"}, in.MadeAt); err != nil {
		return rental.Scorecard{}, err
	}
	for _, one := range chosen {
		in.Period = rental.Span{Start: min(in.Period.Start, one.span.Start), End: max(in.Period.End, one.span.End)}
	}
	if in.Incidents, err = v.ledger.Incidents(ctx, in.Period, scoredIncidents); err != nil {
		return rental.Scorecard{}, err
	}
	gpus, err := v.ledger.GPUs(ctx)
	if err != nil {
		return rental.Scorecard{}, err
	}
	in.Hardware = make(map[string]string, len(gpus))
	for _, g := range gpus {
		in.Hardware[g.UUID] = g.SKU
	}
	return rental.ScorecardOf(in), nil
}

// scored judges leases for a scorecard; one that cannot be judged is on it without a verdict.
func (v availability) scored(ctx context.Context, chosen []billed) ([]rental.ScoredLease, error) {
	table, err := v.judgeAll(ctx, chosen)
	if err != nil {
		return nil, err
	}
	rows := map[string]api.SLA{}
	for _, row := range table.Rows {
		rows[row.Lease] = row.SLA
	}
	assignments, err := v.ledger.AssignmentsByLease(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]rental.ScoredLease, len(chosen))
	for i, one := range chosen {
		row := rows[one.lease.ID]
		out[i] = rental.ScoredLease{Lease: one.lease, Contract: one.contract, Period: one.span, Verdict: row.Verdict,
			Downtimes: row.Downtimes, Credits: row.Credits, Assignments: assignments[one.lease.ID]}
	}
	return out, nil
}
