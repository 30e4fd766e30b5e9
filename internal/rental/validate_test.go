package rental

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func paths(faults []FieldError) []string {
	out := make([]string, len(faults))
	for i, f := range faults {
		out[i] = f.Path
	}
	return out
}

// whole is a contract with every part, and nothing wrong.
func whole(t testing.TB) Contract { return withTiers(t, hourly(t, "2.49")) }

func TestAWholeContractHasNoFaults(t *testing.T) {
	if faults := whole(t).Validate(); len(faults) != 0 {
		t.Errorf("faults: %v", faults)
	}
}

func TestContractsAreRefusedField(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*Contract)
		path   string
	}{
		{"no provider", func(c *Contract) { c.Provider = "" }, "provider"},
		{"no currency", func(c *Contract) { c.Currency = "" }, "currency"},
		{"a currency that does not exist", func(c *Contract) { c.Currency = "RMB" }, "currency"},
		{"no zone", func(c *Contract) { c.TimeZone = "" }, "time_zone"},
		{"a zone that does not exist", func(c *Contract) { c.TimeZone = "Asia/Peking" }, "time_zone"},
		{"a language without a catalogue", func(c *Contract) { c.Language = "fr" }, "language"},
		{"no mode", func(c *Contract) { c.Plan.Mode = "" }, "plan.mode"},
		{"an unknown mode", func(c *Contract) { c.Plan.Mode = "fortnight" }, "plan.mode"},
		{"C78: no unit", func(c *Contract) { c.Plan.Unit = "" }, "plan.unit"},
		{"no price", func(c *Contract) { c.Plan.Prices = nil }, "plan.prices"},
		{"a price without a figure", func(c *Contract) { c.Plan.Prices[0].Price = Decimal{} }, "plan.prices[0].price"},
		{"a price under zero", func(c *Contract) { c.Plan.Prices[0].Price = dec(t, "-1") }, "plan.prices[0].price"},
		{"prices out of order", func(c *Contract) {
			c.Plan.Prices = append(c.Plan.Prices, PriceVersion{From: 5, Price: dec(t, "1")}, PriceVersion{From: 5, Price: dec(t, "2")})
		}, "plan.prices[2].from"},
		{"no rounding", func(c *Contract) { c.Plan.Rounding = "" }, "plan.rounding"},
		{"rounding without a scope", func(c *Contract) { c.Plan.Rounding = RoundUp }, "plan.rounding_scope"},
		{"a month rounded up", func(c *Contract) { c.Plan.Mode, c.Plan.Rounding = ModeMonth, RoundUp }, "plan.rounding"},
		{"a month with a minimum", func(c *Contract) { c.Plan.Mode, c.Plan.Minimum = ModeMonth, Duration(1e9) }, "plan.minimum"},
		{"energy without a currency", func(c *Contract) { c.Energy = &EnergyTariff{Prices: []PriceVersion{{Price: dec(t, "0.5")}}} }, "energy.currency"},
		{"energy without a price", func(c *Contract) { c.Energy = &EnergyTariff{Currency: "CNY"} }, "energy.prices"},
		{"energy under zero", func(c *Contract) {
			c.Energy = &EnergyTariff{Currency: "CNY", Prices: []PriceVersion{{Price: dec(t, "-0.5")}}}
		}, "energy.prices[0].price"},
		{"prices of energy out of order", func(c *Contract) {
			c.Energy = &EnergyTariff{Currency: "CNY", Prices: []PriceVersion{{From: 9, Price: dec(t, "1")}, {From: 9, Price: dec(t, "2")}}}
		}, "energy.prices[1].from"},
		{"no word on downtime", func(c *Contract) { c.BillWhileDown = nil }, "bill_while_down"},
		{"no word on maintenance", func(c *Contract) { c.BillWhileMaintenance = nil }, "bill_while_maintenance"},
		{"no line rounding", func(c *Contract) { c.LineRounding = "" }, "line_rounding"},
		{"line rounding that is none", func(c *Contract) { c.LineRounding = Exact }, "line_rounding"},
		{"no approval", func(c *Contract) { c.DowntimeApproval = "" }, "downtime_approval"},
		{"a target of 100", func(c *Contract) { c.Availability.TargetPercent = dec(t, "100") }, "availability.target_percent"},
		{"a target of 100.0", func(c *Contract) { c.Availability.TargetPercent = dec(t, "100.0") }, "availability.target_percent"},
		{"no scope", func(c *Contract) { c.Availability.Scope = "" }, "availability.scope"},
		{"k of n without k", func(c *Contract) { c.Availability.Scope = ScopeKOfN }, "availability.needed"},
		{"k without k of n", func(c *Contract) { c.Availability.Needed = 2 }, "availability.needed"},
		{"no denominator", func(c *Contract) { c.Availability.Denominator = "" }, "availability.denominator"},
		{"no way to count outages", func(c *Contract) { c.Availability.Outage = "" }, "availability.outage"},
		{"no word on degraded", func(c *Contract) { c.Availability.Degraded = "" }, "availability.degraded"},
		{"unknown as up", func(c *Contract) { c.Availability.Unknown = "up" }, "availability.unknown"},
		{"no word on excluded time", func(c *Contract) { c.Availability.ExcludedLeavesDenominator = nil }, "availability.excluded_leaves_denominator"},
		{"a minimum outage of a month", func(c *Contract) { c.Availability.MinimumOutage = Duration(29 * 24 * 3600 * 1e9) }, "availability.minimum_outage"},
		{"a flap merge of a month", func(c *Contract) { c.Availability.FlapMerge = Duration(29 * 24 * 3600 * 1e9) }, "availability.flap_merge"},
		{"no base", func(c *Contract) { c.Credits.Base = "" }, "credits.base"},
		{"no credit scope", func(c *Contract) { c.Credits.Scope = "" }, "credits.scope"},
		{"no cap", func(c *Contract) { c.Credits.CapPercent = Decimal{} }, "credits.cap_percent"},
		{"a cap over the fee", func(c *Contract) { c.Credits.CapPercent = dec(t, "101") }, "credits.cap_percent"},
		{"no tiers", func(c *Contract) { c.Credits.Tiers = nil }, "credits.tiers"},
		{"a tier over the target pays for a kept objective", func(c *Contract) { c.Credits.Tiers[0].Under = dec(t, "99.6") }, "credits.tiers[0].under"},
		{"tiers that do not descend", func(c *Contract) { c.Credits.Tiers[1].Under = dec(t, "99.5") }, "credits.tiers[1].under"},
		{"a lower tier that pays no more", func(c *Contract) { c.Credits.Tiers[1].Percent = dec(t, "10") }, "credits.tiers[1].percent"},
		{"credits without an objective", func(c *Contract) { c.Availability = nil }, "credits"},
		{"booking credits that do not exist", func(c *Contract) { c.Credits = nil }, "auto_credit"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := whole(t)
			tc.change(&c)
			faults := c.Validate()
			if !slices.Contains(paths(faults), tc.path) {
				t.Fatalf("faults: %v, want one at %s", faults, tc.path)
			}
			for _, f := range faults {
				if f.Found == "" || f.Expected == "" {
					t.Errorf("%+v does not say what was found and expected", f)
				}
			}
			if _, err := Charge(ChargeInput{Facts: facts(c, Span{1, 2}, 1), Period: Span{1, 2}}); err == nil {
				t.Error("the contract was charged")
			}
		})
	}
}

func TestFaultsComeInTheSameOrderEachTime(t *testing.T) {
	first := Contract{Availability: &Availability{MinimumOutage: 1, FlapMerge: 1, MaintenanceNotice: 1}}.Validate()
	for range 20 {
		if again := (Contract{Availability: &Availability{MinimumOutage: 1, FlapMerge: 1, MaintenanceNotice: 1}}).Validate(); !slices.Equal(first, again) {
			t.Fatalf("%v, then %v", first, again)
		}
	}
}

func TestLeasesAreRefusedByField(t *testing.T) {
	slot := func(n int) *int { return &n }
	for _, tc := range []struct {
		name   string
		change func(*Lease)
		path   string
	}{
		{"no tenant", func(l *Lease) { l.Tenant = "" }, "tenant"},
		{"no contract", func(l *Lease) { l.Contract = "" }, "contract"},
		{"no start", func(l *Lease) { l.Start = 0 }, "start"},
		{"a year that is a slip of the pen", func(l *Lease) { l.Start = ms(t, "0206-05-01T00:00:00Z") }, "start"},
		{"no end", func(l *Lease) { l.End = 0 }, "end"},
		{"C69: an end before the start", func(l *Lease) { l.End = l.Start - 1 }, "end"},
		{"no GPUs", func(l *Lease) { l.GPUs = nil }, "gpus"},
		{"a GPU without a name", func(l *Lease) { l.GPUs = []GPURef{{}} }, "gpus[0]"},
		{"a host without a slot", func(l *Lease) { l.GPUs = []GPURef{{Host: "h"}} }, "gpus[0]"},
		{"a slot under zero", func(l *Lease) { l.GPUs = []GPURef{{Host: "h", Slot: slot(-1)}} }, "gpus[0]"},
		{"a GPU twice", func(l *Lease) { l.GPUs = []GPURef{{UUID: "A"}, {UUID: "B"}, {UUID: "A"}} }, "gpus[2]"},
		{"a slot twice", func(l *Lease) { l.GPUs = []GPURef{{Host: "h", Slot: slot(1)}, {Host: "h", Slot: slot(1)}} }, "gpus[1]"},
		{"a stop outside the lease", func(l *Lease) { l.Stops = []Span{{l.Start - 5, l.Start + 5}} }, "stops[0]"},
		{"a stop that ends before it starts", func(l *Lease) { l.Stops = []Span{{l.Start + 5, l.Start + 1}} }, "stops[0].end"},
		{"stops that overlap", func(l *Lease) { l.Stops = []Span{{l.Start, l.Start + 5}, {l.Start + 4, l.Start + 9}} }, "stops[1].start"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := facts(whole(t), Span{earliest, earliest + 100_000}, 2).Lease
			tc.change(&l)
			if got := paths(l.Validate()); !slices.Contains(got, tc.path) {
				t.Errorf("faults at %v, want one at %s", got, tc.path)
			}
		})
	}
	l := facts(whole(t), Span{earliest, Forever}, 2).Lease
	l.GPUs = append(l.GPUs, GPURef{Host: "h", Slot: slot(0)}, GPURef{Host: "h", Slot: slot(1)})
	if faults := l.Validate(); len(faults) != 0 {
		t.Errorf("an open lease of cards and slots: %v", faults)
	}
}

func TestALeaseNeedsAsManyGPUsAsItsObjective(t *testing.T) {
	c := whole(t)
	c.Availability.Scope, c.Availability.Needed = ScopeKOfN, 3
	if got := paths(facts(c, Span{1, 2}, 2).Lease.ValidateUnder(c)); !slices.Equal(got, []string{"gpus"}) {
		t.Errorf("faults at %v", got)
	}
	if got := facts(c, Span{1, 2}, 3).Lease.ValidateUnder(c); len(got) != 0 {
		t.Errorf("faults: %v", got)
	}
}

func TestWindowsAreRefusedByField(t *testing.T) {
	good := Maintenance{Hosts: []string{"h"}, Start: 2000, End: 3000, Announced: 1000}
	if faults := good.Validate(); len(faults) != 0 {
		t.Fatalf("faults: %v", faults)
	}
	for path, change := range map[string]func(*Maintenance){
		"hosts":     func(m *Maintenance) { m.Hosts = nil },
		"start":     func(m *Maintenance) { m.Start = 0 },
		"end":       func(m *Maintenance) { m.End = m.Start },
		"announced": func(m *Maintenance) { m.Announced = m.Start + 1 },
	} {
		m := good
		change(&m)
		if got := paths(m.Validate()); !slices.Contains(got, path) {
			t.Errorf("faults at %v, want one at %s", got, path)
		}
	}
}

func TestInvalidNamesEveryFault(t *testing.T) {
	err := Invalid(`contract "c"`, Contract{}.Validate())
	var fault FieldError
	if err == nil || !errors.As(err, &fault) || !strings.Contains(err.Error(), "line_rounding: found nothing, expected half_up") {
		t.Errorf("error: %v", err)
	}
	if Invalid("contract", nil) != nil {
		t.Error("no faults are an error")
	}
}
