package server

import (
	"context"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// contractReader reads a lease with its contract.
type contractReader interface {
	Lease(ctx context.Context, id string) (rental.Lease, error)
	Contract(ctx context.Context, name string) (rental.Contract, error)
}

// readLease reads a lease and its contract.
func readLease(ctx context.Context, ledger contractReader, id string) (rental.Lease, rental.Contract, error) {
	lease, err := ledger.Lease(ctx, id)
	if err != nil {
		return lease, rental.Contract{}, err
	}
	contract, err := ledger.Contract(ctx, lease.Contract)
	contract.Name = lease.Contract
	return lease, contract, err
}

// spanOf resolves a period against a contract: its month, a span as it is, or for the zero
// value the contract's present month.
func spanOf(p api.Period, contract rental.Contract, now rental.Millis) (rental.Span, error) {
	if p.Month == "" && p.Span != (rental.Span{}) {
		return p.Span, nil
	}
	month, err := monthOf(p, contract, now)
	if err != nil {
		return rental.Span{}, err
	}
	return month.Span(contract.TimeZone)
}

// monthOf returns the month that a period names, or the contract's present one.
func monthOf(p api.Period, contract rental.Contract, now rental.Millis) (rental.Month, error) {
	if p.Month == "" {
		return rental.MonthOf(contract.TimeZone, now)
	}
	month, err := rental.ParseMonth(p.Month)
	if err != nil {
		return month, &rental.Error{Code: rental.CodeInvalid, Message: err.Error()}
	}
	return month, nil
}
