package billing

import (
	"context"
	"fmt"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// addUse sets beside the cost of the cards' time how it was used. Where one line charges for all of
// it the month's kept totals say so; of several, each has the records of its cards in its period.
func (s *Service) addUse(ctx context.Context, bill *rental.Bill, f rental.Facts, period rental.Span) error {
	var times []int
	for i, l := range bill.Lines {
		if l.TimeOfCards() {
			times = append(times, i)
		}
	}
	if len(times) == 0 {
		return nil
	}
	whole, err := s.usesOf(ctx, bill.Lease, period)
	if err != nil {
		return err
	}
	var all rental.Use
	for _, use := range whole {
		all.Sum(use)
	}
	lines, uses := make([]rental.BillLine, len(times)), make([]rental.Use, len(times))
	for k, i := range times {
		cards := whole
		if len(times) > 1 {
			if cards, err = s.usesOf(ctx, bill.Lease, bill.Lines[i].Charged); err != nil {
				return err
			}
		}
		lines[k] = bill.Lines[i]
		for uuid := range lines[k].PerGPU {
			uses[k].Sum(cards[uuid])
		}
		if bill.Lines[i].Use, err = rental.UseOfLines(bill.Currency, lines[k:k+1], uses[k:k+1], uses[k]); err != nil {
			return fmt.Errorf("use of lease %s: %w", bill.Lease, err)
		}
	}
	if bill.Use, err = rental.UseOfLines(bill.Currency, lines, uses, all); err != nil {
		return fmt.Errorf("use of lease %s: %w", bill.Lease, err)
	}
	if all.EnergyMilliJoules > 0 {
		bill.Use.EnergyCosts, err = s.energyCosts(ctx, f, period, whole)
	}
	return err
}

func (s *Service) usesOf(ctx context.Context, lease string, span rental.Span) (map[string]rental.Use, error) {
	sums, err := s.ledger.UsageSums(ctx, lease, span)
	if err != nil {
		return nil, err
	}
	out := make(map[string]rental.Use, len(sums))
	for _, r := range sums {
		use := out[r.UUID]
		use.Add(r)
		out[r.UUID] = use
	}
	return out, nil
}
