package billing

import (
	"fmt"

	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

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

// useNotes says how paid time was used, what it drew, and whether a reservation paid off.
func useNotes(p phrase.Printer, bill rental.Bill) []string {
	var out []string
	if u := bill.Use; u != nil {
		out = append(append(out, workNotes(p, u)...), energyNotes(p, u)...)
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

// workNotes says how the time was used: by the driver's word, by the work done, by day and night, and
// what of it cost money for nothing.
func workNotes(p phrase.Printer, u *rental.BillUse) []string {
	var out []string
	if u.UtilisationPercent == "" {
		out = append(out, p.Say(phrase.BillUseNotMeasured))
	} else {
		out = append(out, p.Say(phrase.BillUseNote, u.UtilisationPercent, u.CoveragePercent))
	}
	if u.WorkingPercent != "" {
		out = append(out, p.Say(phrase.BillWorkingNote, u.WorkingPercent, u.WorkingCoveragePercent))
	}
	if u.Day != nil && u.Night != nil && u.UtilisationPercent != "" {
		out = append(out, p.Say(phrase.BillDayNight, shareName(p, u.Day), shareName(p, u.Night), clock(rental.DayBegins), clock(rental.DayEnds)))
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
	return out
}

// clock is a full hour of a wall clock.
func clock(hour int) string { return fmt.Sprintf("%02d:00", hour) }

// shareName is the utilisation of a part of the time, with its coverage.
func shareName(p phrase.Printer, share *rental.UseShare) string {
	if share.UtilisationPercent == "" {
		return p.Say(phrase.NotMeasuredWord)
	}
	return p.Say(phrase.BillUseCell, share.UtilisationPercent, share.CoveragePercent)
}

// energyNotes says what the cards drew and what that cost.
func energyNotes(p phrase.Printer, u *rental.BillUse) []string {
	if u.EnergyKWh == "" {
		return nil
	}
	out := []string{p.Say(phrase.BillEnergy, rental.GroupDigits(u.EnergyKWh), u.EnergyCoveragePercent)}
	for _, cost := range u.EnergyCosts {
		out = append(out, p.Say(phrase.BillEnergyCost, cost.Amount.String(), rental.GroupDigits(cost.KWh)))
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
