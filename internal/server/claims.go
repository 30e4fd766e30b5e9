package server

import (
	"context"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// claimsFor is how old the deadlines of claims may be when they are gathered: they are days away,
// and each month is reckoned anew for them.
const claimsFor = 10 * time.Minute

// readClaims tells until when credits may be claimed that nobody has claimed yet. Only contracts
// that name a date have any, and only months whose date has not passed are looked at.
func (s *leaseSeries) readClaims(ctx context.Context, now time.Time, p *page) error {
	leases, err := s.ledger.Leases(ctx)
	if err != nil {
		return err
	}
	for _, lease := range leases {
		contract, err := s.ledger.Contract(ctx, lease.Contract)
		if err != nil {
			return err
		}
		if contract.Credits == nil || contract.Credits.ClaimDays == 0 {
			continue
		}
		// A month is over at the latest 31 days and a zone's hours after its first moment.
		since := rental.At(now.AddDate(0, 0, -contract.Credits.ClaimDays-33))
		if lease.End <= since || lease.Start >= rental.At(now) {
			continue
		}
		if err := s.leaseClaims(ctx, lease, contract, rental.Span{Start: since, End: rental.At(now)}, p); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			s.log.Error("a lease has no deadlines of claims", "lease", lease.ID, "error", err)
		}
	}
	return nil
}

func (s *leaseSeries) leaseClaims(ctx context.Context, lease rental.Lease, contract rental.Contract, span rental.Span, p *page) error {
	credits, err := s.sla.Credits(ctx, lease.ID, span)
	if err != nil {
		return err
	}
	for _, credit := range credits {
		if credit.State != rental.CreditClaimable || credit.ClaimUntil == 0 {
			continue
		}
		month, err := rental.MonthOf(contract.TimeZone, credit.Period.Start)
		if err != nil {
			return err
		}
		p.gauge("lease_credit_claim_deadline_timestamp_seconds", "Until when a credit may be claimed that nobody has claimed yet, in seconds since 1970.",
			float64(credit.ClaimUntil)/1000, "lease", lease.ID, "tenant", lease.Tenant, "provider", contract.Provider, "month", month.String())
	}
	return nil
}
