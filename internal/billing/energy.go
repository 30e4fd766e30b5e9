package billing

import (
	"context"
	"fmt"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// EnergyCosts returns what the energy of a lease's cards cost in a period, one sum for each
// currency; nothing where no tariff is known, or no energy was counted.
func (s *Service) EnergyCosts(ctx context.Context, lease string, period rental.Span) ([]rental.EnergyCosts, error) {
	f, err := s.facts(ctx, lease, period.End)
	if err != nil {
		return nil, err
	}
	uses, err := s.usesOf(ctx, lease, period)
	if err != nil {
		return nil, err
	}
	return s.energyCosts(ctx, f, period, uses)
}

// energyCosts returns what the energy of a lease's cards cost in a period: by its contract's
// tariff, else by that of the site in which the card served last. uses are those of the period by
// card. A record counts at the price that holds where it begins.
func (s *Service) energyCosts(ctx context.Context, f rental.Facts, period rental.Span, uses map[string]rental.Use) ([]rental.EnergyCosts, error) {
	tariffs, err := s.tariffsOf(ctx, f, period)
	if err != nil {
		return nil, err
	}
	var bill rental.EnergyBill
	changing := false
	for uuid, tariff := range tariffs {
		if prices := tariff.Within(period); len(prices) == 1 {
			bill.Add(tariff.Currency, uses[uuid].EnergyMilliJoules, prices[0].Price)
		} else {
			changing = true
		}
	}
	if changing {
		records, err := s.ledger.UsageRecords(ctx, f.Lease.ID, period)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			if tariff, known := tariffs[r.UUID]; known && len(tariff.Within(period)) > 1 && period.Contains(r.Span.Start) {
				bill.Add(tariff.Currency, r.EnergyMilliJoules, tariff.Within(rental.Span{Start: r.Span.Start, End: r.Span.Start + 1})[0].Price)
			}
		}
	}
	costs, err := bill.Costs()
	if err != nil {
		return nil, fmt.Errorf("lease %s: %w", f.Lease.ID, err)
	}
	return costs, nil
}

// tariffsOf returns the tariff of each card that served in the period and has one.
func (s *Service) tariffsOf(ctx context.Context, f rental.Facts, period rental.Span) (map[string]rental.EnergyTariff, error) {
	own := f.Contract.Energy
	var byHost map[string]rental.EnergyTariff
	if own == nil {
		var err error
		if byHost, err = s.ledger.EnergyTariffs(ctx); err != nil || len(byHost) == 0 {
			return nil, err
		}
	}
	out := map[string]rental.EnergyTariff{}
	last := map[string]rental.Millis{}
	for _, a := range f.Assignments {
		if a.Span.Clip(period).Empty() || a.Span.Start < last[a.UUID] {
			continue
		}
		last[a.UUID] = a.Span.Start
		tariff, known := byHost[a.Host]
		switch {
		case own != nil:
			out[a.UUID] = *own
		case known:
			out[a.UUID] = tariff
		default:
			delete(out, a.UUID)
		}
	}
	return out, nil
}
