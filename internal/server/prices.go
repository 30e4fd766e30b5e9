package server

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// SimulateProfile prices a use that is no lease yet under every contract that is recorded.
func (b books) SimulateProfile(ctx context.Context, in api.UseProfile) ([]rental.Quote, error) {
	zone := cmp.Or(in.TimeZone, "UTC")
	loc, err := rental.LoadZone(zone)
	if err != nil {
		return nil, invalidInput("time_zone", err)
	}
	first, err := time.ParseInLocation(time.DateOnly, in.From, loc)
	if err != nil {
		return nil, invalidInput("from", fmt.Errorf("%q: expected a day such as 2026-05-01", in.From))
	}
	hours, err := rental.ParseDecimal(cmp.Or(in.HoursPerDay, "24"))
	if err != nil {
		return nil, invalidInput("hours_per_day", err)
	}
	start := rental.At(rental.Instant(loc, first.Year(), first.Month(), first.Day(), 0, 0, 0))
	facts, period, err := rental.Profile{Cards: in.GPUs, Start: start, TimeZone: zone, Days: in.Days, HoursPerDay: hours}.Facts()
	if err != nil {
		return nil, invalidInput("profile", err)
	}
	contracts, err := b.ledger.Contracts(ctx)
	if err != nil {
		return nil, err
	}
	return rental.Simulate(facts, contracts, period), nil
}

// OwnOrRent compares a month of a lease that has ended with owning its GPUs. The bill and what was
// measured of its use are the baseline.
func (b books) OwnOrRent(ctx context.Context, id string, in api.OwnOrRent) (api.OwnComparison, error) {
	lease, contract, err := readLease(ctx, b.ledger, id)
	if err != nil {
		return api.OwnComparison{}, err
	}
	now := rental.At(b.now())
	span, err := spanOf(api.Period{Month: in.Month}, contract, now)
	if err != nil {
		return api.OwnComparison{}, err
	}
	if span.End > now {
		return api.OwnComparison{}, invalidInput("month", fmt.Errorf("%s has not ended in %s: expected one that has, its bill is the baseline", in.Month, contract.TimeZone))
	}
	bill, err := b.billing.Bill(ctx, id, span)
	if err != nil {
		return api.OwnComparison{}, err
	}
	own := rental.Ownership{Currency: bill.Currency, LifeDays: in.LifeDays}
	for _, f := range []struct {
		field, text string
		to          *rental.Decimal
	}{{"price", in.Price, &own.Price}, {"power_per_day", in.PowerPerDay, &own.Power}, {"operations_per_day", in.OperationsPerDay, &own.Operations},
		{"disposal", in.Disposal, &own.Disposal}, {"resale", in.Resale, &own.Resale}} {
		if *f.to, err = rental.ParseDecimal(cmp.Or(f.text, "0")); err != nil {
			return api.OwnComparison{}, invalidInput(f.field, err)
		}
	}
	base := rental.Baseline{Bill: bill, Cards: len(lease.GPUs)}
	out := api.OwnComparison{Lease: id, Month: in.Month, Currency: bill.Currency, GPUs: base.Cards, Own: own}
	if u := bill.Use; u != nil {
		base.UsedMS, base.MeasuredMS = u.UsedMicros/1000, u.MeasuredMS
		out.Utilisation, out.Coverage = ratio(u.Utilisation()), ratio(u.Coverage())
	}
	if out.Comparison, err = own.Compare(base); err != nil {
		return api.OwnComparison{}, invalidInput("own", err)
	}
	return out, nil
}

// invalidInput is the caller's fault, with the field that is wrong.
func invalidInput(field string, err error) error {
	return &rental.Error{Code: rental.CodeInvalid, Message: field, Cause: err}
}
