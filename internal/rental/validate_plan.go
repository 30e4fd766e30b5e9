package rental

import (
	"fmt"
	"time"
)

func (p Plan) validate(f *faults) {
	f.choice("plan.mode", p.Mode, ModeSecond, ModeMinute, ModeHour, ModeClockHour, ModePrepaidHour, ModeDay, ModeWeek, ModeMonth, ModeAnniversary)
	f.choice("plan.unit", p.Unit, UnitGPU, UnitInstance, UnitHost, UnitLease, UnitSlice)
	p.validateRounding(f)
	f.check(len(p.Prices) > 0, "plan.prices", "nothing", "at least one price")
	for i, v := range p.Prices {
		path := fmt.Sprintf("plan.prices[%d]", i)
		f.price(path+".price", v.Price)
		if i > 0 {
			f.check(v.From > p.Prices[i-1].From, path+".from", v.From.String(), "a time after the price above it, "+p.Prices[i-1].From.String())
		}
	}
	if p.Mode == ModeMonth && p.Proration != "" {
		f.choice("plan.proration", p.Proration, ProrateDays, ProrateHours, ProrateFlat)
	} else {
		f.check(p.Proration == "", "plan.proration", quoted(p.Proration), "no such field unless mode is month")
	}
	f.lengthOfTime("plan.trial", p.Trial)
	f.lengthOfTime("plan.minimum_term", p.MinimumTerm)
	if p.MinimumTerm > 0 {
		f.check(p.EarlyEndPercent.IsSet(), "plan.early_end_percent", "nothing", "what a lease pays for the part of minimum_term that it leaves out, 0 to 100 (this field has no default)")
		f.percentage("plan.early_end_percent", p.EarlyEndPercent)
	} else {
		f.check(!p.EarlyEndPercent.IsSet(), "plan.early_end_percent", p.EarlyEndPercent.found(), "no such field without minimum_term")
	}
	p.validateVolume(f)
	if p.Unit == UnitSlice && p.Slices == nil {
		f.add("plan.slices", "nothing", "by and of: what share of a card a MIG instance is (this field has no default)")
	}
	f.check(p.Unit == UnitSlice || p.Slices == nil, "plan.slices", "them", "no such field unless unit is slice")
	if p.Slices != nil {
		f.choice("plan.slices.by", p.Slices.By, SlicesByCompute, SlicesByMemory)
		f.check(p.Slices.Of > 0, "plan.slices.of", fmt.Sprintf("%d", p.Slices.Of), "the card's whole: its compute slices, such as 7, or its memory in GB as profiles count it, such as 80")
	}
}

func (p Plan) validateRounding(f *faults) {
	timed := p.unitMillis() > 0
	switch {
	case p.Mode == ModeClockHour:
		f.check(p.Rounding == RoundUp, "plan.rounding", orNothing(string(p.Rounding)), "up: a started hour of the clock is charged whole")
	case p.Mode == ModePrepaidHour:
		f.check(p.Rounding == RoundUp, "plan.rounding", orNothing(string(p.Rounding)), "up: an hour that is paid in advance is charged whole")
	case p.Mode == ModeMonth:
		f.check(p.Rounding == Exact, "plan.rounding", orNothing(string(p.Rounding)), "exact: a month is charged pro rata")
	case p.calendar():
		f.check(p.Rounding == Exact || p.Rounding == RoundUp, "plan.rounding", orNothing(string(p.Rounding)),
			"exact (pro rata) or up (every started one is charged whole)")
	default:
		f.choice("plan.rounding", string(p.Rounding), string(Exact), string(RoundUp), string(RoundOff), string(HalfUp))
	}
	f.check(timed || p.Mode == "" || p.Minimum == 0, "plan.minimum", time.Duration(p.Minimum).String(), "none: a plan by the "+p.Mode+" has no starts")
	f.lengthOfTime("plan.minimum", p.Minimum)
	switch {
	case timed && p.Rounding != "" && p.Rounding != Exact, p.RoundingScope != "":
		f.choice("plan.rounding_scope", p.RoundingScope, RoundSession, RoundSum)
	}
}

// validateVolume checks what is priced hour by hour.
func (p Plan) validateVolume(f *faults) {
	exact := p.Rounding == Exact && p.Minimum == 0 && p.Trial == 0
	if p.Reserved != nil {
		f.check(p.Mode == ModeHour && p.Unit == UnitGPU && exact, "plan.reserved", "a reservation under mode "+p.Mode+", unit "+p.Unit,
			"mode hour, unit gpu, rounding exact, no minimum and no trial: it is matched hour by hour")
		f.check(p.Reserved.Cards > 0, "plan.reserved.cards", fmt.Sprintf("%d", p.Reserved.Cards), "how many cards are reserved, at least 1")
		p.Reserved.validate(f)
	}
	if len(p.Steps) > 0 {
		f.check(p.unitMillis() > 0 && exact && len(p.Prices) == 1, "plan.steps", "steps under mode "+p.Mode,
			"mode second, minute or hour, rounding exact, no minimum, no trial and one price in prices: it holds before the first step")
	}
	for i, s := range p.Steps {
		path := fmt.Sprintf("plan.steps[%d]", i)
		f.check(s.Over.IsSet() && s.Over.Rat().Sign() > 0, path+".over", s.Over.found(), "a volume over 0, in "+p.unitName()+"s of a month")
		if i > 0 {
			f.check(s.Over.Rat().Cmp(p.Steps[i-1].Over.Rat()) > 0, path+".over", s.Over.found(), "more than the step above it, "+p.Steps[i-1].Over.found())
		}
		f.price(path+".price", s.Price)
	}
}

func (r Reservation) validate(f *faults) {
	if r.DiscountPercent.IsSet() {
		f.check(!r.Price.IsSet(), "plan.reserved.price", r.Price.found(), "no such field beside discount_percent: one of them is the price")
		f.percentage("plan.reserved.discount_percent", r.DiscountPercent)
	} else {
		f.price("plan.reserved.price", r.Price)
	}
	if r.Upfront.IsSet() {
		f.price("plan.reserved.upfront", r.Upfront)
	}
	if r.Monthly.IsSet() {
		f.price("plan.reserved.monthly", r.Monthly)
	}
}

// calendar tells whether the plan charges calendar units, which have no fixed length.
func (p Plan) calendar() bool {
	return p.Mode == ModeDay || p.Mode == ModeWeek || p.Mode == ModeMonth || p.Mode == ModeAnniversary
}

func (i Item) validate(f *faults, path string) {
	f.required(path+".name", i.Name, "a name, as the bill shows it")
	f.choice(path+".kind", i.Kind, "storage", "traffic", "support", "backup", "ip", "setup", "license", "other")
	f.choice(path+".charge", i.Charge, ChargeOnce, ChargeMonth, ChargeMetered)
	f.required(path+".unit", i.Unit, "GB, GiB, TB, TiB or a word such as address")
	if i.Charge == ChargeMetered {
		f.check(!i.Quantity.IsSet(), path+".quantity", i.Quantity.found(), "no such field: a metered item counts what was used")
	} else {
		f.check(i.Quantity.IsSet() && i.Quantity.Rat().Sign() > 0, path+".quantity", i.Quantity.found(), "how many units, over 0")
	}
	f.check(i.Charge == ChargeMetered && !i.Included || !i.IncludedQuantity.IsSet(), path+".included_quantity", i.IncludedQuantity.found(),
		"no such field unless the item is metered and not included")
	f.check(i.IncludedQuantity.Rat().Sign() >= 0, path+".included_quantity", i.IncludedQuantity.found(), "a quantity that is not negative")
	if i.Included {
		f.check(len(i.Prices) == 0, path+".prices", "prices of an included item", "none: it costs nothing, and the bill shows that")
		return
	}
	f.check(len(i.Prices) > 0, path+".prices", "nothing", "at least one price, or included: true")
	for k, v := range i.Prices {
		at := fmt.Sprintf("%s.prices[%d]", path, k)
		f.price(at+".price", v.Price)
		if i.Charge == ChargeMonth {
			f.price(at+".stopped", v.Stopped)
		} else {
			f.check(!v.Stopped.IsSet(), at+".stopped", v.Stopped.found(), "no such field unless charge is month")
		}
		if k > 0 {
			f.check(v.From > i.Prices[k-1].From, at+".from", v.From.String(), "a time after the price above it, "+i.Prices[k-1].From.String())
		}
	}
}

func (c Contract) validateRates(f *faults) {
	if c.PricedIn == "" {
		f.check(len(c.Rates) == 0, "rates", "rates", "priced_in: the currency that they convert from")
		return
	}
	_, err := c.PricedIn.MinorDigits()
	f.check(err == nil && c.PricedIn != c.Currency, "priced_in", quoted(string(c.PricedIn)), "an active ISO 4217 code other than currency")
	f.check(len(c.Rates) > 0, "rates", "nothing", "at least one rate from priced_in to currency")
	for i, r := range c.Rates {
		path := fmt.Sprintf("rates[%d]", i)
		f.check(r.Rate.IsSet() && r.Rate.Rat().Sign() > 0, path+".rate", r.Rate.found(), "a rate over 0, such as 7.10")
		f.check(r.From != 0, path+".from", "nothing", "a time with an offset: a rate is one of a date")
		if i > 0 {
			f.check(r.From > c.Rates[i-1].From, path+".from", r.From.String(), "a time after the rate above it, "+c.Rates[i-1].From.String())
		}
	}
}

func (t Tax) validate(f *faults) {
	f.required("tax.name", t.Name, "the tax's name, such as VAT")
	f.check(t.Percent.IsSet(), "tax.percent", "nothing", "a percentage")
	f.percentage("tax.percent", t.Percent)
	f.check(t.Included != nil, "tax.included", "nothing", "true (prices hold it) or false (it is added); this field has no default")
	f.choice("tax.on", t.On, TaxOnLine, TaxOnSum)
}

// Validate returns what is wrong with the consumption; nothing where it is whole.
func (c Consumption) Validate() []FieldError {
	var f faults
	f.required("lease", c.Lease, "the id of a lease")
	f.required("item", c.Item, "the name of a metered item of the lease's contract")
	f.check(c.Start != 0, "start", "nothing", "a time with an offset")
	f.check(c.End > c.Start && c.End != Forever, "end", c.End.String(), "a time after the start "+c.Start.String())
	f.check(c.Quantity.IsSet() && c.Quantity.Rat().Sign() >= 0, "quantity", c.Quantity.found(), "a quantity that is not negative; 0 takes it back")
	f.required("unit", c.Unit, "the item's unit, or another unit of data such as GiB")
	return f.list
}

// Validate returns what is wrong with the adjustment; nothing where it is whole.
func (a Adjustment) Validate() []FieldError {
	var f faults
	f.required("lease", a.Lease, "the id of a lease")
	_, err := ParseMonth(a.Month)
	f.check(err == nil, "month", orNothing(a.Month), "the month whose bill carries it, such as 2026-05")
	f.check(a.Start != 0, "start", "nothing", "a time with an offset: where the period that it is about begins")
	f.check(a.End > a.Start && a.End != Forever, "end", a.End.String(), "a time after the start "+a.Start.String())
	f.check(a.Amount.IsSet(), "amount", "nothing", "an amount such as -24.00")
	if _, err := a.Currency.MinorDigits(); err != nil {
		f.add("currency", orNothing(string(a.Currency)), "an active ISO 4217 code in capitals, such as USD or CNY")
	} else if _, err := a.Money(); err != nil {
		f.add("amount", a.Amount.found(), "no more digits than "+string(a.Currency)+" has")
	}
	f.required("reason", a.Reason, "why, as the bill says it")
	return f.list
}

func (f *faults) price(path string, d Decimal) {
	f.check(d.IsSet(), path, "nothing", "a price such as 2.49")
	f.check(d.Rat().Sign() >= 0, path, d.String(), "a price that is not negative")
}

func (f *faults) percentage(path string, d Decimal) {
	f.check(d.Rat().Sign() >= 0 && d.Rat().Cmp(hundred) <= 0, path, d.found(), "a percentage from 0 to 100")
}
