package rental

import (
	"fmt"
	"time"
)

// Values of Plan.Mode.
const (
	ModeSecond = "second"
	ModeMinute = "minute"
	ModeHour   = "hour"
	ModeDay    = "day"   // calendar day of the contract's zone
	ModeWeek   = "week"  // seven such days; with rounding up those from the lease's start
	ModeMonth  = "month" // calendar month, pro rata by Proration
	// ModeClockHour is an hour of the zone's clock, charged whole once it is begun.
	ModeClockHour = "clock_hour"
	// ModePrepaidHour is an hour that is paid for when it begins, counted from each start: a stop
	// within it gives nothing back, and a new start begins a new one.
	ModePrepaidHour = "prepaid_hour"
	// ModeAnniversary is a month from the lease's start to the same day of the next month.
	ModeAnniversary = "anniversary_month"
)

// Values of Plan.Unit.
const (
	UnitGPU      = "gpu"
	UnitInstance = "instance" // all cards of the lease on one host, sold as an instance
	UnitHost     = "host"     // the same, sold as a whole host
	UnitLease    = "lease"
	UnitSlice    = "slice" // the price is a whole card's, a MIG instance pays its share
)

// Values of Plan.RoundingScope.
const (
	RoundSession = "session"
	RoundSum     = "sum"
)

// Values of Availability.Scope.
const (
	ScopeGPU      = "gpu"
	ScopeAll      = "all"
	ScopeWeighted = "weighted"
	ScopeKOfN     = "k_of_n"
)

// Values of Availability.Outage.
const (
	OutageExact        = "exact"
	OutageWholeMinutes = "whole_minutes"
	OutageClockMinutes = "clock_minutes"
)

// Other values of Availability, Credits and Contract.
const (
	PeriodCalendarMonth = "calendar_month"
	DenominatorPeriod   = "period"
	DenominatorLease    = "lease"
	BaseGross           = "gross"
	BaseNet             = "net"
	ApprovalAutomatic   = "automatic"
	ApprovalManual      = "manual"
)

// Validate returns what is wrong with the contract: fields that are missing, values that are not
// known, and fields that contradict each other. It is empty where the contract can be applied.
func (c Contract) Validate() []FieldError {
	var f faults
	f.required("provider", c.Provider, "the name of a provider")
	if c.Currency == "" {
		f.add("currency", "nothing", "an ISO 4217 code such as USD or CNY")
	} else if _, err := c.Currency.MinorDigits(); err != nil {
		f.add("currency", quoted(string(c.Currency)), "an active ISO 4217 code in capitals, such as USD or CNY")
	}
	if _, err := LoadZone(c.TimeZone); err != nil {
		found := "nothing"
		if c.TimeZone != "" {
			found = quoted(c.TimeZone)
		}
		f.add("time_zone", found, "an IANA name such as Asia/Shanghai or UTC")
	}
	if c.Language != "" {
		f.choice("language", c.Language, "en", "zh")
	}
	c.Plan.validate(&f)
	for i, item := range c.Items {
		item.validate(&f, fmt.Sprintf("items[%d]", i))
		for k, other := range c.Items[:i] {
			f.check(item.Name != other.Name, fmt.Sprintf("items[%d].name", i), quoted(item.Name), fmt.Sprintf("another name than items[%d]", k))
		}
	}
	c.validateRates(&f)
	if c.Tax != nil {
		c.Tax.validate(&f)
	}
	if c.MonthlyBudget.IsSet() {
		f.check(c.MonthlyBudget.Rat().Sign() > 0, "monthly_budget", c.MonthlyBudget.found(), "an amount over 0, or no such field")
	}
	c.Energy.validate(&f)
	f.check(c.BillWhileDown != nil, "bill_while_down", "nothing", "true or false (this field has no default)")
	f.check(c.BillWhileMaintenance != nil, "bill_while_maintenance", "nothing", "true or false (this field has no default)")
	f.choice("line_rounding", string(c.LineRounding), string(HalfUp), string(HalfEven), string(RoundUp), string(RoundOff))
	f.choice("downtime_approval", c.DowntimeApproval, ApprovalAutomatic, ApprovalManual)
	if c.Availability != nil {
		c.Availability.validate(&f)
	}
	if c.Credits != nil {
		c.Credits.validate(&f, c.Availability)
	}
	c.validateObjectives(&f)
	f.check(!c.AutoCredit || c.Credits == nil || c.Credits.ClaimDays == 0, "credits.claim_days", "days to claim what auto_credit books", "no such field with auto_credit")
	f.check(!c.AutoCredit || c.Credits != nil, "auto_credit", "true without credits", "a credits table, or false")
	return f.list
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return quoted(s)
}

func (f *faults) lengthOfTime(path string, d Duration) {
	f.check(d >= 0 && d%Duration(time.Millisecond) == 0, path, time.Duration(d).String(), "whole milliseconds, not negative")
}

func (a Availability) validate(f *faults) {
	target := a.TargetPercent.Rat()
	f.check(a.TargetPercent.IsSet() && target.Sign() > 0 && target.Cmp(hundred) < 0, "availability.target_percent",
		a.TargetPercent.found(), "a percentage over 0 and under 100: a target of 100 leaves no budget, every reading breaks it")
	f.choice("availability.scope", a.Scope, ScopeGPU, ScopeAll, ScopeWeighted, ScopeKOfN)
	if a.Scope == ScopeKOfN {
		f.check(a.Needed > 0, "availability.needed", fmt.Sprintf("%d", a.Needed), "how many GPUs must be up, at least 1")
	} else {
		f.check(a.Needed == 0, "availability.needed", fmt.Sprintf("%d", a.Needed), "no such field unless scope is k_of_n")
	}
	f.choice("availability.period", a.Period, PeriodCalendarMonth)
	f.choice("availability.denominator", a.Denominator, DenominatorPeriod, DenominatorLease)
	f.choice("availability.outage", a.Outage, OutageExact, OutageWholeMinutes, OutageClockMinutes)
	f.choice("availability.degraded", a.Degraded, string(Up), string(Down))
	f.choice("availability.unknown", a.Unknown, string(Down), string(Excluded))
	f.check(a.ExcludedLeavesDenominator != nil, "availability.excluded_leaves_denominator", "nothing", "true or false (this field has no default)")
	f.lengthOfTime("availability.minimum_outage", a.MinimumOutage)
	f.lengthOfTime("availability.flap_merge", a.FlapMerge)
	f.lengthOfTime("availability.maintenance_notice", a.MaintenanceNotice)
	f.lengthOfTime("availability.maintenance_cap", a.MaintenanceCap)
	month := Duration(28 * 24 * time.Hour)
	f.check(a.MinimumOutage < month, "availability.minimum_outage", time.Duration(a.MinimumOutage).String(),
		"less than the shortest month, else no outage would ever count")
	f.check(a.FlapMerge < month, "availability.flap_merge", time.Duration(a.FlapMerge).String(),
		"less than the shortest month, else all time between two outages would be one")
}

func (c Credits) validate(f *faults, a *Availability) {
	f.check(a != nil, "credits", "a table without an availability objective", "an availability objective that it pays for")
	f.choice("credits.base", c.Base, BaseGross, BaseNet)
	f.choice("credits.scope", c.Scope, UnitGPU, UnitInstance, UnitLease)
	limit := c.CapPercent.Rat()
	f.check(c.CapPercent.IsSet() && limit.Sign() > 0 && limit.Cmp(hundred) <= 0, "credits.cap_percent",
		c.CapPercent.found(), "a percentage over 0 and at most 100 of the fee")
	f.check(c.ClaimDays >= 0 && c.ClaimDays <= 3660, "credits.claim_days", fmt.Sprintf("%d", c.ClaimDays), "a number of days up to ten years, or none")
	f.check(len(c.Tiers) > 0, "credits.tiers", "nothing", "at least one tier")
	for i, t := range c.Tiers {
		path := fmt.Sprintf("credits.tiers[%d]", i)
		under, percent := t.Under.Rat(), t.Percent.Rat()
		f.check(t.Under.IsSet() && under.Sign() > 0 && under.Cmp(hundred) < 0, path+".under", t.Under.found(), "a percentage over 0 and under 100")
		f.check(t.Percent.IsSet() && percent.Sign() > 0 && percent.Cmp(hundred) <= 0, path+".percent", t.Percent.found(), "a percentage over 0 and at most 100")
		if i == 0 {
			f.check(a == nil || !a.TargetPercent.IsSet() || under.Cmp(a.TargetPercent.Rat()) <= 0, path+".under", t.Under.found(),
				"at most the target: a kept objective pays nothing back")
			continue
		}
		f.check(under.Cmp(c.Tiers[i-1].Under.Rat()) < 0, path+".under", t.Under.found(), "less than the tier above it, "+c.Tiers[i-1].Under.found())
		f.check(percent.Cmp(c.Tiers[i-1].Percent.Rat()) > 0, path+".percent", t.Percent.found(), "more than the tier above it, "+c.Tiers[i-1].Percent.found())
	}
}
