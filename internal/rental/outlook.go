package rental

import (
	"fmt"
	"math/big"
)

// BudgetSteps are the parts of a budget, in percent, whose spending is told.
var BudgetSteps = [...]int{50, 80, 100}

// Outlook says what an open period will have cost by its end: the lease going on as it is, metered
// items at the period's mean rate so far, with tax and before credits. It promises nothing.
type Outlook struct {
	SoFar    Amount `json:"so_far"`
	Forecast Amount `json:"forecast"`
	// Budget is the contract's for a calendar month; the percentages of it are rounded half up to
	// two digits. Nil and empty without one, and for a period that is no calendar month.
	Budget          *Amount `json:"budget,omitempty"`
	UsedPercent     string  `json:"budget_used_percent,omitempty"`
	ForecastPercent string  `json:"budget_forecast_percent,omitempty"`
	// Metered are the contract's metered items.
	Metered []MeteredOutlook `json:"metered,omitempty"`
}

// MeteredOutlook is what of a metered item was used, and will have been. Quantities are decimals in
// the item's unit, rounded half up to three digits.
type MeteredOutlook struct {
	Item     string `json:"item"`
	Unit     string `json:"unit"`
	Used     string `json:"used"`
	Forecast string `json:"forecast"`
	// Included is what the month holds at no price; the percentages are of it. Empty without one.
	Included        string `json:"included,omitempty"`
	UsedPercent     string `json:"used_percent,omitempty"`
	ForecastPercent string `json:"forecast_percent,omitempty"`
}

// OutlookOf returns the outlook of a period of the lease at the moment now, which lies in it.
func OutlookOf(f Facts, period Span, now Millis) (*Outlook, error) {
	soFar := Span{Start: period.Start, End: min(max(now, period.Start), period.End)}
	spent, err := taxedTotal(f, soFar)
	if err != nil {
		return nil, err
	}
	out := &Outlook{SoFar: spent}
	if f, out.Metered, err = f.extrapolated(period, soFar.End); err != nil {
		return nil, err
	}
	if out.Forecast, err = taxedTotal(f, period); err != nil {
		return nil, err
	}
	if !f.Contract.MonthlyBudget.IsSet() || !isMonth(f.Contract.TimeZone, period) {
		return out, nil
	}
	budget, err := NewMoney(f.Contract.Currency, f.Contract.MonthlyBudget.Rat()).Round(HalfUp)
	if err != nil {
		return nil, err
	}
	out.Budget = &budget
	whole := big.NewRat(budget.Minor, 1)
	out.UsedPercent = percentOf(big.NewRat(out.SoFar.Minor, 1), whole)
	out.ForecastPercent = percentOf(big.NewRat(out.Forecast.Minor, 1), whole)
	return out, nil
}

func isMonth(zone string, period Span) bool {
	month, err := MonthOf(zone, period.Start)
	if err != nil {
		return false
	}
	span, err := month.Span(zone)
	return err == nil && span == period
}

// taxedTotal is what the lines of a period sum to, with tax.
func taxedTotal(f Facts, period Span) (Amount, error) {
	lines, err := Charge(ChargeInput{Facts: f, Period: period})
	if err != nil {
		return Amount{}, err
	}
	taxes, _, err := TaxLines(f.Contract, period, lines)
	if err != nil {
		return Amount{}, err
	}
	return lineTotal(f.Contract.Currency, append(lines, taxes...))
}

// extrapolated returns the facts with a consumption of each metered item that ends with the
// period, as large as the mean rate up to now makes it, and what that comes to.
func (f Facts) extrapolated(period Span, now Millis) (Facts, []MeteredOutlook, error) {
	lease := f.Lease.Span().Clip(period)
	past := Span{Start: lease.Start, End: min(now, lease.End)}
	var out []MeteredOutlook
	for _, item := range f.Contract.Items {
		if item.Charge != ChargeMetered {
			continue
		}
		used := new(big.Rat)
		for _, c := range f.Consumptions {
			if c.Lease != f.Lease.ID || c.Item != item.Name || !past.Contains(c.End-1) {
				continue
			}
			quantity, err := convertUnit(c.Quantity.Rat(), c.Unit, item.Unit)
			if err != nil {
				return f, nil, fmt.Errorf("consumption %q: %w", c.ID, err)
			}
			used.Add(used, quantity)
		}
		forecast := new(big.Rat).Set(used)
		if past.Duration() > 0 {
			forecast.Mul(forecast, big.NewRat(lease.Duration(), past.Duration()))
		}
		o := MeteredOutlook{Item: item.Name, Unit: item.Unit, Used: trimZeros(used.FloatString(3)), Forecast: trimZeros(forecast.FloatString(3))}
		if quota := item.IncludedQuantity; quota.IsSet() && quota.Rat().Sign() > 0 {
			o.Included, o.UsedPercent, o.ForecastPercent = quota.String(), percentOf(used, quota.Rat()), percentOf(forecast, quota.Rat())
		}
		out = append(out, o)
		if rest := forecast.Sub(forecast, used); rest.Sign() > 0 {
			f.Consumptions = append(f.Consumptions[:len(f.Consumptions):len(f.Consumptions)], Consumption{ID: "forecast", Lease: f.Lease.ID, Item: item.Name,
				Start: past.End, End: lease.End, Quantity: Decimal{text: rest.FloatString(9)}, Unit: item.Unit})
		}
	}
	return f, out, nil
}
