package server

import (
	"context"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// stakes tells a page what is at stake for a lease.
type stakes struct{ a *App }

// BudgetLeft returns how much more downtime the lease's objective bears in the contract's month.
func (s stakes) BudgetLeft(ctx context.Context, id string) (int64, bool) {
	lease, contract, month, ok := s.month(ctx, id)
	if !ok || contract.Availability == nil {
		return 0, false
	}
	verdict, err := s.a.sla.Verdict(ctx, id, month)
	if err != nil || blind(verdict) {
		return 0, false
	}
	_, left := rental.Budget(*contract.Availability, verdict, lease, month)
	return left, true
}

// AtStake returns the credit that the lease is owed as the month stands.
func (s stakes) AtStake(ctx context.Context, id string) (rental.Amount, bool) {
	_, contract, month, ok := s.month(ctx, id)
	if !ok || contract.Credits == nil {
		return rental.Amount{}, false
	}
	return s.credit(ctx, id, contract, month)
}

// Cost says nothing: what one incident cost is not yet told apart from the month's credit,
// and a wrong figure would be worse than none.
func (s stakes) Cost(context.Context, rental.Incident) (rental.Amount, bool) {
	return rental.Amount{}, false
}

func (s stakes) credit(ctx context.Context, id string, contract rental.Contract, month rental.Span) (rental.Amount, bool) {
	verdict, err := s.a.sla.Verdict(ctx, id, month)
	if err != nil || blind(verdict) {
		return rental.Amount{}, false
	}
	credits, err := s.a.sla.Credits(ctx, id, month)
	if err != nil {
		return rental.Amount{}, false
	}
	sum := rental.Amount{Currency: contract.Currency}
	for _, c := range credits {
		sum.Minor += c.Amount.Minor
	}
	return sum, sum.Minor > 0
}

// blind tells whether so much of the month has no data (under 99 % seen) that a figure of
// budget or money would speak of our blindness and not of the hardware.
func blind(v rental.Verdict) bool {
	return v.Coverage.Denominator == 0 || 100*v.Coverage.Numerator < 99*v.Coverage.Denominator
}

func (s stakes) month(ctx context.Context, id string) (rental.Lease, rental.Contract, rental.Span, bool) {
	lease, contract, err := readLease(ctx, s.a.ledger, id)
	if err != nil {
		return lease, contract, rental.Span{}, false
	}
	month, err := rental.MonthOf(contract.TimeZone, rental.At(s.a.now()))
	if err != nil {
		return lease, contract, rental.Span{}, false
	}
	span, err := month.Span(contract.TimeZone)
	return lease, contract, span, err == nil
}
