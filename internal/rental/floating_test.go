package rental

import (
	"slices"
	"strings"
	"testing"
)

// floating is a lease of two cards at once, of 10 hours from the epoch on.
func floating() Lease {
	return Lease{ID: "L", Tenant: "acme", Contract: "c", Start: earliest, End: earliest + 36_000_000, Floating: &Floating{SKU: "h100", Number: 2}}
}

func TestTimeOverTheNumberOfAFloatingLease(t *testing.T) {
	h := func(from, to int64) Span { return Span{Millis(from * 3_600_000), Millis(to * 3_600_000)} }
	of := func(uuid string, s Span) Assignment { return Assignment{Lease: "L", UUID: uuid, Span: s} }
	for _, tc := range []struct {
		name string
		all  []Assignment
		want []Span
	}{
		{"as many as were sold", []Assignment{of("A", h(0, 4)), of("B", h(0, 4))}, nil},
		{"one more for an hour", []Assignment{of("A", h(0, 4)), of("B", h(0, 4)), of("C", h(2, 3))}, []Span{h(2, 3)}},
		{"a card follows another at one moment", []Assignment{of("A", h(0, 4)), of("B", h(0, 2)), of("C", h(2, 4))}, nil},
		{"a card that two sessions name counts once", []Assignment{of("A", h(0, 4)), of("A", h(1, 3)), of("B", h(0, 4))}, nil},
		{"another lease's are not counted", []Assignment{of("A", h(0, 4)), of("B", h(0, 4)), {Lease: "other", UUID: "C", Span: h(0, 4)}}, nil},
		{"two more, one after the other", []Assignment{of("A", h(0, 9)), of("B", h(0, 9)), of("C", h(1, 3)), of("D", h(2, 4))}, []Span{h(1, 4)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := OverNumber(floating(), tc.all); !slices.Equal(got, tc.want) {
				t.Errorf("found %v, expected %v", got, tc.want)
			}
		})
	}
	if got := OverNumber(Lease{ID: "L", GPUs: []GPURef{{UUID: "A"}}}, []Assignment{of("A", h(0, 1)), of("B", h(0, 1))}); got != nil {
		t.Errorf("a lease over fixed GPUs has %v over", got)
	}
}

func TestAFloatingLeaseSaysANumberAndTheContractPricesEachCard(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*Lease, *Contract)
		want   string // path of the one fault
	}{
		{"whole", func(*Lease, *Contract) {}, ""},
		{"beside fixed GPUs", func(l *Lease, _ *Contract) { l.GPUs = []GPURef{{UUID: "A"}} }, "gpus"},
		{"neither", func(l *Lease, _ *Contract) { l.Floating = nil }, "gpus"},
		{"no class", func(l *Lease, _ *Contract) { l.Floating.SKU = "" }, "floating.sku"},
		{"no number", func(l *Lease, _ *Contract) { l.Floating.Number = 0 }, "floating.number"},
		{"priced by the lease", func(_ *Lease, c *Contract) { c.Plan.Unit = UnitLease }, "floating"},
		{"all cards judged together", func(_ *Lease, c *Contract) { c.Availability = &Availability{Scope: ScopeAll} }, "floating"},
		{"each card judged by itself", func(_ *Lease, c *Contract) { c.Availability = &Availability{Scope: ScopeGPU} }, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l, c := floating(), Contract{Name: "c", Plan: Plan{Unit: UnitGPU}}
			tc.change(&l, &c)
			var paths []string
			for _, f := range append(l.Validate(), l.ValidateUnder(c)...) {
				paths = append(paths, f.Path)
			}
			if got := strings.Join(paths, " "); got != tc.want {
				t.Errorf("faults at %q, expected %q", got, tc.want)
			}
		})
	}
}

// Of ten hours a scheduler gave a card for three, of which one was lost.
func TestAFloatingLeaseIsJudgedAndChargedByWhatItsSchedulerGave(t *testing.T) {
	yes := true
	l := floating()
	hour := func(n int64) Millis { return l.Start + Millis(n*3_600_000) }
	price, err := ParseDecimal("2")
	if err != nil {
		t.Fatal(err)
	}
	target, err := ParseDecimal("99")
	if err != nil {
		t.Fatal(err)
	}
	facts := Facts{Lease: l, Contract: Contract{Name: "c", Provider: "north", Currency: "USD", TimeZone: "UTC",
		Plan:          Plan{Mode: ModeHour, Unit: UnitGPU, Rounding: Exact, Prices: []PriceVersion{{Price: price}}},
		BillWhileDown: &yes, BillWhileMaintenance: &yes, LineRounding: HalfUp, DowntimeApproval: ApprovalAutomatic,
		Availability: &Availability{TargetPercent: target, Scope: ScopeWeighted, Period: PeriodCalendarMonth, Denominator: DenominatorLease,
			Outage: OutageExact, Degraded: "up", Unknown: "excluded", ExcludedLeavesDenominator: &yes}},
		Assignments: []Assignment{{Lease: "L", UUID: "A", Span: Span{hour(2), hour(5)}, Reason: "scheduler x"}}}
	v, err := Judge(JudgeInput{Facts: facts, Period: l.Span(), Timelines: map[string][]Interval{"A": {
		{Span: Span{hour(2), hour(3)}, Class: Down, Reason: "lost"}, {Span: Span{hour(3), hour(5)}, Class: Up, Reason: "ok"}}}})
	if err != nil {
		t.Fatal(err)
	}
	const ms = 3_600_000
	if v.DownMS != ms || v.UpMS != 2*ms || v.ExcludedMS != 7*ms || v.ExcludedBy[ReasonNotAssigned] != 7*ms || v.High.Denominator != 3*ms {
		t.Errorf("down %d, up %d, excluded %d h of %d h: expected 1, 2 and 7 of 3", v.DownMS/ms, v.UpMS/ms, v.ExcludedMS/ms, v.High.Denominator/ms)
	}
	lines, err := Charge(ChargeInput{Facts: facts, Period: l.Span()})
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != 1 || lines[0].Amount.Minor != 600 {
		t.Errorf("lines %+v, expected 3 hours at 2 USD", lines)
	}
}
