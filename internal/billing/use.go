package billing

import (
	"context"
	"fmt"

	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// addUse sets beside the cost of the cards' time how it was used. Where one line charges for all of
// it the month's kept totals say so; of several, each has the records of its cards in its period.
func (s *Service) addUse(ctx context.Context, bill *rental.Bill, period rental.Span) error {
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
	return nil
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

// useName is a line's utilisation with its coverage.
func useName(p phrase.Printer, use *rental.BillUse) string {
	switch {
	case use == nil:
		return "-"
	case use.UtilisationPercent == "":
		return p.Say(phrase.NotMeasuredWord)
	}
	return p.Say(phrase.BillUseCell, use.UtilisationPercent, use.CoveragePercent)
}

// useNotes says how paid time was used and whether a reservation paid off.
func useNotes(p phrase.Printer, bill rental.Bill) []string {
	var out []string
	if u := bill.Use; u != nil {
		if u.UtilisationPercent == "" {
			out = append(out, p.Say(phrase.BillUseNotMeasured))
		} else {
			out = append(out, p.Say(phrase.BillUseNote, u.UtilisationPercent, u.CoveragePercent))
		}
		switch u.IdleBasis {
		case IdleByUse:
			out = append(out, p.Say(phrase.BillIdleNote, u.IdleCost.String()))
		case IdleByAllocation:
			out = append(out, p.Say(phrase.BillFreeNote, u.IdleCost.String()))
		}
		if u.UsefulHour != nil {
			out = append(out, p.Say(phrase.BillUsefulHour, u.UsefulHour.String()))
		}
	}
	out = append(out, outlookNotes(p, bill.Outlook)...)
	switch r := bill.Reservation; {
	case r == nil:
	case r.EffectivePrice == nil:
		out = append(out, p.Say(phrase.BillReservationIdle, shownHours(r.ReservedHours), r.BreakEvenPercent))
	default:
		out = append(out, p.Say(phrase.BillReservationNote, shownHours(r.UsedHours), shownHours(r.ReservedHours), r.LoadPercent, r.EffectivePrice.String(), r.BreakEvenPercent))
	}
	return out
}

// outlookNotes says what an open period will have cost, and what of its quantities is used.
func outlookNotes(p phrase.Printer, o *rental.Outlook) []string {
	if o == nil {
		return nil
	}
	out := []string{p.Say(phrase.BillOutlook, o.SoFar.String(), o.Forecast.String())}
	if o.Budget != nil {
		out = append(out, p.Say(phrase.BillBudget, o.Budget.String(), o.UsedPercent, o.ForecastPercent))
	}
	for _, m := range o.Metered {
		name, unit := clean(m.Item), clean(m.Unit)
		if m.Included == "" {
			out = append(out, p.Say(phrase.BillMetered, name, rental.GroupDigits(m.Used), unit, rental.GroupDigits(m.Forecast)))
			continue
		}
		out = append(out, p.Say(phrase.BillQuota, name, rental.GroupDigits(m.Used), rental.GroupDigits(m.Included), unit, m.UsedPercent, rental.GroupDigits(m.Forecast), m.ForecastPercent))
	}
	return out
}

// shownHours writes an exact number of hours with up to two digits.
func shownHours(exact string) string {
	return rental.GroupDigits(rental.BillLine{Quantity: exact}.QuantityDecimal(2))
}
