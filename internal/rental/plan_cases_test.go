package rental

import (
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"
)

// shown is a line as "item name price quantity amount".
func shown(lines []BillLine) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.Join(strings.Fields(strings.Join([]string{l.Item, l.Name, l.UnitPrice.String(), l.QuantityDecimal(3), l.Amount.Decimal()}, " ")), " ")
	}
	return out
}

func expectLines(t *testing.T, lines []BillLine, want ...string) {
	t.Helper()
	if got := shown(lines); !slices.Equal(got, want) {
		t.Errorf("lines:\n%s\nexpected:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func planned(t *testing.T, price string, change func(*Contract)) Contract {
	t.Helper()
	c := hourly(t, price)
	change(&c)
	if faults := c.Validate(); len(faults) > 0 {
		t.Fatal(faults)
	}
	return c
}

func TestC28SlicesPayTheirShareAndWhatIsIdleIsTheRest(t *testing.T) {
	for _, tc := range []struct {
		by   string
		of   int
		want []string
		idle string
	}{
		{SlicesByCompute, 7, []string{"6.00", "4.00", "2.00"}, "1/7"},
		{SlicesByMemory, 80, []string{"7.00", "3.50", "1.75"}, "1/8"},
	} {
		c := planned(t, "14.00", func(c *Contract) { c.Plan.Unit, c.Plan.Slices = UnitSlice, &Slices{By: tc.by, Of: tc.of} })
		when := span(t, "2026-05-01T00:00:00Z", "2026-05-01T01:00:00Z")
		idle := big.NewRat(1, 1)
		for i, profile := range []string{"3g.40gb", "2g.20gb", "1g.10gb+me"} {
			f := facts(c, when, 1)
			f.Lease.GPUs[0].Profile = profile
			if got := amounts(charge(t, f, when)); !slices.Equal(got, tc.want[i:i+1]) {
				t.Errorf("%s by %s = %v, want %s", profile, tc.by, got, tc.want[i])
			}
			share, err := c.Plan.Slices.Share(profile)
			if err != nil {
				t.Fatal(err)
			}
			idle.Sub(idle, share)
		}
		if idle.RatString() != tc.idle {
			t.Errorf("idle share by %s = %s, want %s", tc.by, idle.RatString(), tc.idle)
		}
	}
	f := facts(planned(t, "14", func(c *Contract) { c.Plan.Unit, c.Plan.Slices = UnitSlice, &Slices{By: SlicesByCompute, Of: 7} }), Span{1, 3_600_001}, 1)
	if _, err := Charge(ChargeInput{Facts: f, Period: f.Lease.Span()}); err == nil || !strings.Contains(err.Error(), "MIG profile") {
		t.Errorf("a card without a profile was charged as a slice: %v", err)
	}
}

func TestC38AReservationIsMatchedHourByHour(t *testing.T) {
	reserved := func(upfront string) Contract {
		return planned(t, "10", func(c *Contract) {
			c.Plan.Reserved = &Reservation{Cards: 8, Price: dec(t, "6.00")}
			if upfront != "" {
				c.Plan.Reserved.Upfront = dec(t, upfront)
			}
		})
	}
	hour := span(t, "2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z")
	expectLines(t, charge(t, facts(reserved(""), hour, 10), hour),
		"gpu_time 10 2 20.00", "reserved_used 6.00 8 48.00")
	expectLines(t, charge(t, facts(reserved(""), hour, 5), hour),
		"reserved_used 6.00 5 30.00", "reserved_unused 6.00 3 18.00")

	// Ten cards, then none: the second hour's unused cards do not pay for the first hour's surplus.
	two := facts(reserved("100"), Span{hour.Start, hour.End + 3_600_000}, 10)
	two.Lease.Stops = []Span{{hour.End, two.Lease.End}}
	expectLines(t, charge(t, two, two.Lease.Span()),
		"gpu_time 10 2 20.00", "reserved_upfront 100 1 100.00", "reserved_used 6.00 8 48.00", "reserved_unused 6.00 8 48.00")

	// Half an hour of ten cards is less than eight for an hour, so all of it is covered.
	half := facts(reserved(""), hour, 10)
	half.Lease.Stops = []Span{{hour.Start + 1_800_000, hour.End}}
	expectLines(t, charge(t, half, hour), "reserved_used 6.00 5 30.00", "reserved_unused 6.00 3 18.00")
	if lines := charge(t, half, hour); lines[0].QuantityMS != 5*3_600_000 || len(lines[0].PerGPU) != 10 || lines[1].PerGPU != nil && len(lines[1].PerGPU) != 0 {
		t.Errorf("time behind the lines: %+v", lines)
	}
}

func TestAReservationPaysNothingForCardsThatWereNotDelivered(t *testing.T) {
	hour := span(t, "2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z")
	c := planned(t, "10", func(c *Contract) {
		c.BillWhileDown = no()
		c.Plan.Reserved = &Reservation{Cards: 2, Price: dec(t, "6")}
	})
	f := facts(c, hour, 2)
	f.Downtimes = []Downtime{{Lease: "L", UUIDs: []string{"A"}, Span: hour, Cause: CauseProvider, ApprovedBy: "anna"}}
	expectLines(t, charge(t, f, hour), "reserved_used 6 1 6.00")
}

func TestC44StorageHasAPriceWhileStopped(t *testing.T) {
	c := planned(t, "0", func(c *Contract) {
		c.Items = []Item{{Name: "scratch", Kind: "storage", Charge: ChargeMonth, Unit: "GB", Quantity: dec(t, "100"),
			Prices: []ItemPrice{{Price: dec(t, "0.10"), Stopped: dec(t, "0.20")}}}}
	})
	f := facts(c, span(t, "2026-04-01T00:00:00Z", "2026-05-01T00:00:00Z"), 1)
	f.Lease.Stops = []Span{span(t, "2026-04-11T00:00:00Z", "2026-05-01T00:00:00Z")}
	lines := charge(t, f, f.Lease.Span())
	expectLines(t, lines, "gpu_time 0 240 0.00", "storage scratch 0.10 33.333 3.33", "storage scratch 0.20 66.667 13.33")
	if got := total(t, "CNY", lines); got != "16.66" {
		t.Errorf("total = %s, want 16.66", got)
	}
}

func TestC48APriceOfAnotherCurrencyIsConvertedAtTheRateOfItsDay(t *testing.T) {
	c := planned(t, "100", func(c *Contract) {
		c.Plan.Mode, c.PricedIn = ModeDay, "USD"
		c.Rates = []Rate{{From: ms(t, "2026-05-01T00:00:00Z"), Rate: dec(t, "7.10"), Source: "SAFE"}, {From: ms(t, "2026-05-02T00:00:00Z"), Rate: dec(t, "7.20")}}
	})
	when := span(t, "2026-05-01T00:00:00Z", "2026-05-03T00:00:00Z")
	lines := charge(t, facts(c, when, 1), when)
	expectLines(t, lines, "gpu_time 100 1 710.00", "gpu_time 100 1 720.00")
	if got := lines[0].Converted; got == nil || got.From != "USD" || got.Rate.String() != "7.10" || got.Source != "SAFE" || got.On != when.Start {
		t.Errorf("converted: %+v", got)
	}
	if want := "1 GPU-days x 100 USD x 7.10 CNY/USD of 2026-05-01T00:00:00Z = 710.00 CNY; 1 card, 1,440 card-minutes charged"; lines[0].Note != want {
		t.Errorf("note: %s\nwant: %s", lines[0].Note, want)
	}
	early := facts(c, Span{when.Start - 1, when.End}, 1)
	if _, err := Charge(ChargeInput{Facts: early, Period: early.Lease.Span()}); err == nil || !strings.Contains(err.Error(), "no rate from USD to CNY") {
		t.Errorf("time before the first rate was converted: %v", err)
	}
}

func TestStartedUnitsAreChargedWholeWhenTheyBegin(t *testing.T) {
	mode := func(mode string) func(*Contract) {
		return func(c *Contract) { c.Plan.Mode, c.Plan.Rounding = mode, RoundUp }
	}
	for _, tc := range []struct {
		name, mode, price, from, to, zone string
		want                              []string
	}{
		{"R42: 8 days by the started week", ModeWeek, "1000", "2026-05-01T00:00:00Z", "2026-05-09T00:00:00Z", "UTC", []string{"2000.00"}},
		{"7 days are one week", ModeWeek, "1000", "2026-05-01T09:00:00Z", "2026-05-08T09:00:00Z", "UTC", []string{"1000.00"}},
		{"a week over the clock change is seven days", ModeWeek, "1000", "2026-03-05T09:00:00-08:00", "2026-03-12T09:00:00-07:00", "America/Los_Angeles", []string{"1000.00"}},
		{"10:59 to 11:01 begins two hours of the clock", ModeClockHour, "3", "2026-05-01T10:59:00Z", "2026-05-01T11:01:00Z", "UTC", []string{"6.00"}},
		{"10:00 to 11:00 begins one", ModeClockHour, "3", "2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z", "UTC", []string{"3.00"}},
		{"the clock of Kathmandu is at a quarter", ModeClockHour, "3", "2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z", "Asia/Kathmandu", []string{"6.00"}},
		{"a minute over midnight begins two days", ModeDay, "50", "2026-05-01T23:59:30Z", "2026-05-02T00:00:30Z", "UTC", []string{"100.00"}},
		{"C15: 31 January to 30 April is three anniversary months, and a moment more is four", ModeAnniversary, "100", "2026-01-31T00:00:00Z", "2026-04-30T00:00:01Z", "UTC",
			[]string{"100.00", "100.00", "100.00", "100.00"}},
		{"C15: in the zone of the contract", ModeAnniversary, "100", "2026-01-31T00:00:00+08:00", "2026-03-31T00:00:00+08:00", "Asia/Shanghai", []string{"100.00", "100.00"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := planned(t, tc.price, mode(tc.mode))
			c.TimeZone = tc.zone
			when := span(t, tc.from, tc.to)
			if got := amounts(charge(t, facts(c, when, 1), when)); !slices.Equal(got, tc.want) {
				t.Errorf("lines = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestAStopWithinAStartedHourCostsNoSecondHour(t *testing.T) {
	c := planned(t, "3", func(c *Contract) { c.Plan.Mode, c.Plan.Rounding = ModeClockHour, RoundUp })
	f := facts(c, span(t, "2026-05-01T10:00:00Z", "2026-05-01T13:00:00Z"), 1)
	f.Lease.Stops = []Span{span(t, "2026-05-01T10:10:00Z", "2026-05-01T10:20:00Z"), span(t, "2026-05-01T10:50:00Z", "2026-05-01T12:30:00Z")}
	lines := charge(t, f, f.Lease.Span())
	expectLines(t, lines, "gpu_time 3 2 6.00")
	if lines[0].QuantityMS != (10+30+30)*60_000 {
		t.Errorf("time = %d ms, want 70 minutes", lines[0].QuantityMS)
	}
}

func TestAnAnniversaryMonthIsItsPriceHoweverLongItIs(t *testing.T) {
	c := planned(t, "3000", func(c *Contract) { c.Plan.Mode, c.TimeZone = ModeAnniversary, "America/Los_Angeles" })
	f := facts(c, Span{ms(t, "2026-01-31T15:00:00-08:00"), Forever}, 1)
	for _, tc := range []struct{ from, to, want string }{
		{"2026-01-31T15:00:00-08:00", "2026-02-28T15:00:00-08:00", "3000.00"},
		{"2026-02-28T15:00:00-08:00", "2026-03-31T15:00:00-07:00", "3000.00"}, // the clock changes within
		{"2026-01-31T15:00:00-08:00", "2026-02-14T15:00:00-08:00", "1500.00"}, // 14 of 28 days
	} {
		got, err := ChargeExact(ChargeInput{Facts: f, Period: span(t, tc.from, tc.to)})
		if err != nil {
			t.Fatal(err)
		}
		if amount, err := got.Round(HalfUp); err != nil || amount.Decimal() != tc.want {
			t.Errorf("%s to %s = %s, %v, want %s", tc.from, tc.to, amount.Decimal(), err, tc.want)
		}
	}
}

func TestAMonthIsProratedAsThePlanSays(t *testing.T) {
	when := span(t, "2026-03-01T00:00:00-08:00", "2026-03-11T00:00:00-07:00") // ten days, 239 hours
	for proration, want := range map[string]string{"": "967.74", ProrateDays: "967.74", ProrateHours: "965.01", ProrateFlat: "982.19"} {
		c := planned(t, "3000", func(c *Contract) {
			c.Plan.Mode, c.Plan.Proration, c.TimeZone = ModeMonth, proration, "America/Los_Angeles"
		})
		if got := amounts(charge(t, facts(c, when, 1), when)); !slices.Equal(got, []string{want}) {
			t.Errorf("%q: %v, want %s", proration, got, want)
		}
	}
}

func TestATrialIsAZeroLineAndThenThePrice(t *testing.T) {
	c := planned(t, "10", func(c *Contract) {
		c.Plan.Trial = Duration(168 * time.Hour)
		c.Plan.Prices = append(c.Plan.Prices, PriceVersion{From: ms(t, "2026-05-03T00:00:00Z"), Price: dec(t, "12")})
	})
	when := span(t, "2026-05-01T00:00:00Z", "2026-05-09T00:00:00Z")
	expectLines(t, charge(t, facts(c, when, 2), when), "gpu_time 0 336 0.00", "gpu_time 12 48 576.00")
	if got := c.Plan.PriceChanges(when.Start); !slices.Equal(got, []Millis{when.Start + 168*3_600_000}) {
		t.Errorf("price changes: %v", got)
	}
}

func TestStepsPriceTheMonthsVolumeOverAllCards(t *testing.T) {
	c := planned(t, "10", func(c *Contract) {
		c.Plan.Steps = []Step{{Over: dec(t, "100"), Price: dec(t, "8")}, {Over: dec(t, "150"), Price: dec(t, "5")}}
	})
	f := facts(c, span(t, "2026-05-31T04:00:00Z", "2026-06-01T10:00:00Z"), 8)
	lines := charge(t, f, f.Lease.Span())
	// 20 h of eight cards in May are 160 card-hours; June counts from nothing.
	expectLines(t, lines, "gpu_time 10 100 1000.00", "gpu_time 8 50 400.00", "gpu_time 5 10 50.00", "gpu_time 10 80 800.00")
	for _, l := range lines {
		if len(l.PerGPU) != 8 || l.PerGPU["A"] != l.Amount.Minor/8 {
			t.Errorf("the cards of %s pay %v, expected the same each", l.UnitPrice, l.PerGPU)
		}
	}
	included := planned(t, "0", func(c *Contract) { c.Plan.Steps = []Step{{Over: dec(t, "100"), Price: dec(t, "8")}} })
	f.Contract = included
	expectLines(t, charge(t, f, span(t, "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z")), "gpu_time 0 100 0.00", "gpu_time 8 60 480.00")
}

func TestALeaseThatEndsBeforeItsTermPaysForWhatIsMissing(t *testing.T) {
	c := planned(t, "2.50", func(c *Contract) { c.Plan.MinimumTerm, c.Plan.EarlyEndPercent = Duration(240*time.Hour), dec(t, "50") })
	f := facts(c, span(t, "2026-05-01T00:00:00Z", "2026-05-09T00:00:00Z"), 4)
	may := span(t, "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z")
	expectLines(t, charge(t, f, may), "gpu_time 2.50 768 1920.00", "early_end 1.25 192 240.00")
	expectLines(t, charge(t, f, span(t, "2026-05-01T00:00:00Z", "2026-05-08T00:00:00Z")), "gpu_time 2.50 672 1680.00")
	f.Lease.End = Forever
	for i := range f.Assignments {
		f.Assignments[i].Span.End = Forever
	}
	expectLines(t, charge(t, f, span(t, "2026-05-01T00:00:00Z", "2026-05-09T00:00:00Z")), "gpu_time 2.50 768 1920.00")
}

func TestItemsHaveTheirLinesAndZeroLinesAreShown(t *testing.T) {
	c := planned(t, "0", func(c *Contract) {
		c.Items = []Item{
			{Name: "set-up", Kind: "setup", Charge: ChargeOnce, Unit: "lease", Quantity: dec(t, "1"), Prices: []ItemPrice{{Price: dec(t, "250")}}},
			{Name: "support", Kind: "support", Charge: ChargeMonth, Unit: "lease", Quantity: dec(t, "1"), Included: true},
			{Name: "egress", Kind: "traffic", Charge: ChargeMetered, Unit: "GB", IncludedQuantity: dec(t, "100"), Prices: []ItemPrice{{Price: dec(t, "0.05")}}},
			{Name: "snapshots", Kind: "backup", Charge: ChargeMetered, Unit: "GiB", Prices: []ItemPrice{{Price: dec(t, "0.02")}}},
		}
	})
	f := facts(c, span(t, "2026-04-01T00:00:00Z", "2026-06-01T00:00:00Z"), 1)
	day := span(t, "2026-04-10T00:00:00Z", "2026-04-11T00:00:00Z")
	f.Consumptions = []Consumption{
		{ID: "b", Lease: "L", Item: "egress", Start: day.Start + 1, End: day.End + 1, Quantity: dec(t, "100"), Unit: "GiB"},
		{ID: "a", Lease: "L", Item: "egress", Start: day.Start, End: day.End, Quantity: dec(t, "60"), Unit: "GB"},
		{ID: "c", Lease: "M", Item: "egress", Start: day.Start, End: day.End, Quantity: dec(t, "9999"), Unit: "GB"},
	}
	expectLines(t, charge(t, f, span(t, "2026-04-01T00:00:00Z", "2026-05-01T00:00:00Z")),
		"gpu_time 0 720 0.00", "setup set-up 250 1 250.00", "support support 0 1 0.00",
		// 60 GB + 100 GiB = 167.3741824 GB, of which 100 GB are included.
		"traffic egress 0 100 0.00", "traffic egress 0.05 67.374 3.37", "backup snapshots 0.02 0 0.00")
	expectLines(t, charge(t, f, span(t, "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z")),
		"gpu_time 0 744 0.00", "support support 0 1 0.00", "traffic egress 0 0 0.00", "backup snapshots 0.02 0 0.00")
	f.Consumptions[0].Unit = "requests"
	if _, err := Charge(ChargeInput{Facts: f, Period: f.Lease.Span()}); err == nil || !strings.Contains(err.Error(), `found the unit "requests", expected "GB"`) {
		t.Errorf("requests were charged as GB: %v", err)
	}
}

func TestTaxIsAddedOrContainedByLineOrOnTheSum(t *testing.T) {
	lines := []BillLine{
		{Item: ItemGPUTime, Amount: Amount{"CNY", 1005}}, {Item: ItemGPUTime, Amount: Amount{"CNY", 1005}}, {Item: "sla_credit", Amount: Amount{"CNY", -201}},
	}
	for _, tc := range []struct {
		name      string
		included  bool
		on        string
		added     []string
		contained string
	}{
		{"by line", false, TaxOnLine, []string{"1.31", "1.31", "-0.26"}, ""}, // 1.3065 each and -0.2613
		{"on the sum", false, TaxOnSum, []string{"2.35"}, ""},                // 13 % of 18.09 = 2.3517
		{"contained", true, TaxOnSum, nil, "2.08"},                           // 18.09 x 13 / 113 = 2.0812
		{"contained by line", true, TaxOnLine, nil, "2.09"},                  // 1.1562 twice and -0.2312: 1.16 + 1.16 - 0.23
	} {
		c := planned(t, "1", func(c *Contract) {
			c.Tax = &Tax{Name: "VAT", Percent: dec(t, "13"), Included: &tc.included, On: tc.on}
		})
		added, contained, err := TaxLines(c, Span{1, 2}, lines)
		if err != nil || !slices.Equal(amounts(added), tc.added) && len(tc.added) > 0 {
			t.Errorf("%s: %v, %v, want %v", tc.name, amounts(added), err, tc.added)
		}
		if got := ""; contained != nil && contained.Decimal() != tc.contained || contained == nil && got != tc.contained {
			t.Errorf("%s: contained %v, want %q", tc.name, contained, tc.contained)
		}
	}
}

func TestACreditIsOfTimeNotOfFees(t *testing.T) {
	c := withTiers(t, hourly(t, "10"))
	f, month := april(t, c)
	f.Contract.Items = []Item{{Name: "set-up", Kind: "setup", Charge: ChargeOnce, Unit: "lease", Quantity: dec(t, "1"), Prices: []ItemPrice{{Price: dec(t, "99999")}}}}
	v := judge(t, JudgeInput{Facts: f, Period: month, Timelines: map[string][]Interval{
		"A": upDown(month.Start, "lost", 5*time.Hour, "ok", 715*time.Hour)}})
	without := f
	without.Contract.Items = nil
	if a, b := creditOf(t, f, v), creditOf(t, without, v); a.Amount != b.Amount || a.Amount.Minor == 0 {
		t.Errorf("a credit of %s with a set-up fee, %s without", a.Amount, b.Amount)
	}
}
