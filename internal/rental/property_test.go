package rental

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

var zones = []string{"UTC", "America/Los_Angeles", "Asia/Shanghai", "Australia/Lord_Howe", "America/Sao_Paulo", "Asia/Kathmandu"}

// drawFacts draws a lease of up to four cards under any plan, with stops, downtime and maintenance.
func drawFacts(t *rapid.T, exact bool) Facts {
	modes := []string{ModeSecond, ModeMinute, ModeHour}
	if exact {
		modes = append(modes, ModeDay, ModeWeek, ModeMonth, ModeClockHour, ModePrepaidHour, ModeAnniversary)
	}
	c := hourly(nil, "1")
	c.TimeZone = rapid.SampledFrom(zones).Draw(t, "zone")
	c.Plan.Mode = rapid.SampledFrom(modes).Draw(t, "mode")
	c.Plan.Unit = rapid.SampledFrom([]string{UnitGPU, UnitInstance, UnitHost, UnitLease}).Draw(t, "unit")
	if !exact {
		c.Plan.Rounding = rapid.SampledFrom([]Rounding{RoundUp, RoundOff, HalfUp}).Draw(t, "rounding")
		c.Plan.RoundingScope = rapid.SampledFrom([]string{RoundSession, RoundSum}).Draw(t, "scope")
		c.Plan.Minimum = Duration(rapid.Int64Range(0, 600).Draw(t, "minimum")) * 1_000_000_000
	}
	c.Currency = rapid.SampledFrom([]Currency{"USD", "JPY", "KWD"}).Draw(t, "currency")
	c.LineRounding = rapid.SampledFrom([]Rounding{HalfUp, HalfEven, RoundUp, RoundOff}).Draw(t, "line rounding")
	down, kept := rapid.Bool().Draw(t, "bill while down"), rapid.Bool().Draw(t, "bill while maintenance")
	c.BillWhileDown, c.BillWhileMaintenance = &down, &kept
	whole := Span{Start: 1_772_000_000_000, End: 1_772_000_000_000 + 90*24*3_600_000}
	when := drawSpan(t, whole, "lease")
	prices := rapid.IntRange(1, 3).Draw(t, "prices")
	c.Plan.Prices = nil
	for i := range prices {
		c.Plan.Prices = append(c.Plan.Prices, PriceVersion{
			From:  whole.Start + Millis(i)*Millis(whole.Duration()/3) + Millis(rapid.Int64Range(0, whole.Duration()/3-1).Draw(t, "from")),
			Price: Decimal{text: rapid.SampledFrom([]string{"0", "0.0001", "2.49", "10", "3000"}).Draw(t, "price")},
		})
	}
	if exact {
		drawTerms(t, &c, whole)
	}
	f := facts(c, when, rapid.IntRange(1, 4).Draw(t, "cards"))
	for range rapid.IntRange(0, 3).Draw(t, "stops") {
		f.Lease.Stops = append(f.Lease.Stops, drawSpan(t, when, "stop"))
	}
	f.Lease.Stops = UnionSpans(f.Lease.Stops)
	for range rapid.IntRange(0, 3).Draw(t, "downtimes") {
		f.Downtimes = append(f.Downtimes, Downtime{Lease: "L", UUIDs: []string{card(rapid.IntRange(0, 3).Draw(t, "card"))},
			Span: drawSpan(t, whole, "downtime"), Cause: CauseProvider, ApprovedBy: "anna"})
	}
	for range rapid.IntRange(0, 2).Draw(t, "maintenances") {
		w := drawSpan(t, whole, "maintenance")
		f.Maintenances = append(f.Maintenances, Maintenance{Leases: []string{"L"}, Start: w.Start, End: w.End, Announced: w.Start - 1})
	}
	return f
}

// drawTerms draws what a plan may have besides its prices: all of it charges the same for any
// split of a span.
func drawTerms(t *rapid.T, c *Contract, whole Span) {
	switch p := &c.Plan; {
	case p.Mode == ModeClockHour, p.Mode == ModePrepaidHour, p.calendar() && p.Mode != ModeMonth && rapid.Bool().Draw(t, "started"):
		p.Rounding = RoundUp
	case p.Mode == ModeMonth:
		p.Proration = rapid.SampledFrom([]string{"", ProrateDays, ProrateHours, ProrateFlat}).Draw(t, "proration")
	case p.Mode == ModeHour && p.Unit == UnitGPU && rapid.Bool().Draw(t, "reserved"):
		p.Reserved = &Reservation{Cards: rapid.IntRange(1, 5).Draw(t, "reserved cards"), Price: Decimal{text: "1.7"}, Upfront: Decimal{text: "33"}, Monthly: Decimal{text: "7.1"}}
		if rapid.Bool().Draw(t, "discounted") {
			p.Reserved.Price, p.Reserved.DiscountPercent = Decimal{}, Decimal{text: "12.5"}
			return
		}
		fallthrough
	case p.unitMillis() > 0 && rapid.Bool().Draw(t, "steps"):
		p.Prices = p.Prices[:1]
		p.Steps = []Step{{Over: Decimal{text: "100"}, Price: Decimal{text: "0.7"}}, {Over: Decimal{text: "1000.5"}, Price: Decimal{text: "5"}}}
	}
	if len(c.Plan.Steps) == 0 && rapid.Bool().Draw(t, "trial") {
		c.Plan.Trial = Duration(rapid.Int64Range(0, 30*24).Draw(t, "trial hours")) * 3_600_000_000_000
	}
	if rapid.Bool().Draw(t, "items") {
		c.Items = []Item{
			{Name: "disk", Kind: "storage", Charge: ChargeMonth, Unit: "GB", Quantity: Decimal{text: "7.5"}, Prices: []ItemPrice{{Price: Decimal{text: "0.1"}, Stopped: Decimal{text: "0.3"}}}},
			{Name: "fee", Kind: "setup", Charge: ChargeOnce, Unit: "lease", Quantity: Decimal{text: "1"}, Prices: []ItemPrice{{Price: Decimal{text: "9"}}}},
		}
	}
	if rapid.Bool().Draw(t, "converted") {
		c.PricedIn = "CNY"
		c.Rates = []Rate{{From: 1, Rate: Decimal{text: "7.1"}}, {From: whole.Start + Millis(rapid.Int64Range(0, whole.Duration()).Draw(t, "rate from")), Rate: Decimal{text: "7.25"}}}
	}
	if rapid.Bool().Draw(t, "term") {
		c.Plan.MinimumTerm, c.Plan.EarlyEndPercent = Duration(30*24)*3_600_000_000_000, Decimal{text: "40"}
	}
}

func drawSpan(t *rapid.T, within Span, name string) Span {
	a := rapid.Int64Range(int64(within.Start), int64(within.End)).Draw(t, name+" from")
	b := rapid.Int64Range(a, int64(within.End)).Draw(t, name+" to")
	return Span{Start: Millis(a), End: Millis(b)}
}

func exactOf(t *rapid.T, f Facts, period Span) *big.Rat {
	m, err := ChargeExact(ChargeInput{Facts: f, Period: period})
	if err != nil {
		t.Fatal(err)
	}
	return m.Rat()
}

func TestAnySplitOfASpanChargesTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFacts(t, true)
		period := drawSpan(t, f.Lease.Span(), "period")
		cut := drawSpan(t, period, "cut")
		parts := []Span{{period.Start, cut.Start}, cut, {cut.End, period.End}}
		sum := new(big.Rat)
		for _, p := range parts {
			sum.Add(sum, exactOf(t, f, p))
		}
		if whole := exactOf(t, f, period); sum.Cmp(whole) != 0 {
			t.Fatalf("the parts cost %s, the whole %s", sum.RatString(), whole.RatString())
		}
		steps, err := ChargeSteps(f, parts)
		if err != nil {
			t.Fatal(err)
		}
		stepped := new(big.Rat)
		for _, s := range steps {
			stepped.Add(stepped, s.Cost.Rat())
		}
		if stepped.Cmp(sum) != 0 {
			t.Fatalf("the steps cost %s, the parts %s", stepped.RatString(), sum.RatString())
		}
	})
}

func TestMoreTimeNeverCostsLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFacts(t, rapid.Bool().Draw(t, "exact"))
		period := drawSpan(t, f.Lease.Span(), "period")
		shorter := Span{Start: period.Start, End: Millis(rapid.Int64Range(int64(period.Start), int64(period.End)).Draw(t, "earlier end"))}
		if a, b := exactOf(t, f, shorter), exactOf(t, f, period); a.Cmp(b) > 0 {
			t.Fatalf("up to %s it costs %s, up to %s less: %s", shorter.End, a.RatString(), period.End, b.RatString())
		}
	})
}

func TestLinesAndTheirCardsSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFacts(t, rapid.Bool().Draw(t, "exact"))
		in := ChargeInput{Facts: f, Period: f.Lease.Span()}
		lines, err := Charge(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lines {
			var sum int64
			for _, part := range l.PerGPU {
				if part < 0 {
					t.Fatalf("a card of %+v costs less than nothing", l)
				}
				sum += part
			}
			if len(l.PerGPU) > 0 && sum != l.Amount.Minor || l.Amount.Minor < 0 {
				t.Fatalf("the cards of %+v sum to %d", l, sum)
			}
		}
		net, err := lineTotal(f.Contract.Currency, lines)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Charge(in)
		if err != nil || !slices.EqualFunc(lines, again, func(a, b BillLine) bool { return a.Note == b.Note && a.Amount == b.Amount }) {
			t.Fatalf("the same facts gave %+v and then %+v (%v)", lines, again, err)
		}
		exact := exactOf(t, f, in.Period)
		rounded := new(big.Rat).SetFrac(big.NewInt(net.Minor), pow10(digitsOf(t, f.Contract.Currency)))
		slack := new(big.Rat).SetFrac(big.NewInt(int64(len(lines))), pow10(digitsOf(t, f.Contract.Currency)))
		if diff := new(big.Rat).Sub(exact, rounded); diff.Abs(diff).Cmp(slack) > 0 {
			t.Fatalf("%d lines were rounded away from %s to %s", len(lines), exact.RatString(), rounded.RatString())
		}
	})
}

func digitsOf(t *rapid.T, c Currency) int {
	d, err := c.MinorDigits()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// drawJudge draws a lease with an objective of any shape and timelines of its cards.
func drawJudge(t *rapid.T) JudgeInput {
	f := drawFacts(t, true)
	leaves := rapid.Bool().Draw(t, "excluded leaves")
	a := Availability{
		TargetPercent: Decimal{text: rapid.SampledFrom([]string{"99.5", "99.99", "95"}).Draw(t, "target")},
		Scope:         rapid.SampledFrom([]string{ScopeGPU, ScopeAll, ScopeWeighted, ScopeKOfN}).Draw(t, "judged scope"),
		Period:        PeriodCalendarMonth,
		Denominator:   rapid.SampledFrom([]string{DenominatorPeriod, DenominatorLease}).Draw(t, "denominator"),
		Outage:        rapid.SampledFrom([]string{OutageExact, OutageWholeMinutes, OutageClockMinutes}).Draw(t, "outage"),
		MinimumOutage: Duration(rapid.Int64Range(0, 300).Draw(t, "minimum outage")) * 1_000_000_000,
		FlapMerge:     Duration(rapid.Int64Range(0, 300).Draw(t, "flap merge")) * 1_000_000_000,
		Degraded:      rapid.SampledFrom([]string{"up", "down"}).Draw(t, "degraded"),
		Unknown:       rapid.SampledFrom([]string{"down", "excluded"}).Draw(t, "unknown"), ExcludedLeavesDenominator: &leaves,
	}
	if a.Scope == ScopeKOfN {
		a.Needed = rapid.IntRange(1, len(f.Lease.GPUs)).Draw(t, "needed")
	}
	f.Contract.Availability = &a
	in := JudgeInput{Facts: f, Period: drawSpan(t, Span{f.Lease.Start - 1e9, f.Lease.End + 1e9}, "judged"), Timelines: map[string][]Interval{}}
	for i := range f.Lease.GPUs {
		cursor := f.Lease.Start
		for range rapid.IntRange(0, 6).Draw(t, "intervals") {
			end := cursor + Millis(rapid.Int64Range(0, f.Lease.Span().Duration()/3+1).Draw(t, "length"))
			state := rapid.SampledFrom([]string{"ok", "lost", "unknown", "degraded", "driver_down"}).Draw(t, "state")
			in.Timelines[card(i)] = append(in.Timelines[card(i)], Interval{Span: Span{cursor, end}, Class: ClassOfState(state), Reason: state})
			cursor = end
		}
	}
	return in
}

func judged(t *rapid.T, in JudgeInput) Verdict {
	v, err := Judge(in)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestClassesPartitionThePeriod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawJudge(t)
		v := judged(t, in)
		want := in.Period
		if in.Contract.Availability.Denominator == DenominatorLease {
			want = in.Lease.Span().Clip(want)
		}
		if v.PeriodMS != want.Duration()*int64(v.Cards) && v.Cards > 0 {
			t.Fatalf("the verdict covers %d ms of %d cards, the period has %d", v.PeriodMS, v.Cards, want.Duration())
		}
		for name, ms := range map[string]int64{"up": v.UpMS, "down": v.DownMS, "excluded": v.ExcludedMS, "unknown": v.UnknownMS} {
			if ms < 0 {
				t.Fatalf("%s is %d ms", name, ms)
			}
		}
		if v.UpMS+v.DownMS+v.ExcludedMS+v.UnknownMS != v.PeriodMS {
			t.Fatalf("up %d + down %d + excluded %d + unknown %d is not %d", v.UpMS, v.DownMS, v.ExcludedMS, v.UnknownMS, v.PeriodMS)
		}
		if v.Low.compare(v.High) > 0 {
			t.Fatalf("the low bound %+v is over the high %+v", v.Low, v.High)
		}
	})
}

func TestAddingDowntimeNeverRaisesAvailability(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawJudge(t)
		in.Maintenances, in.Lease.Stops = nil, nil
		before := judged(t, in)
		more := drawSpan(t, in.Lease.Span(), "more downtime")
		in.Downtimes = append(in.Downtimes, Downtime{Lease: "L", UUIDs: []string{"A"}, Span: more, Cause: CauseProvider, Reason: "lost", ApprovedBy: "anna"})
		after := judged(t, in)
		if after.High.compare(before.High) > 0 || after.Low.compare(before.Low) > 0 {
			t.Fatalf("availability rose from %+v..%+v to %+v..%+v", before.Low, before.High, after.Low, after.High)
		}
	})
}

func TestACreditIsMonotoneAndStaysWithinTheFee(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawJudge(t)
		in.Maintenances, in.Lease.Stops, in.Downtimes = nil, nil, nil
		in.Period = in.Lease.Span()
		if plan := &in.Contract.Plan; plan.started() {
			// A started unit falls due when its first charged time does: downtime there may move it
			// past a change of price or rate, to either side.
			plan.Prices, in.Contract.Rates = plan.Prices[:1], in.Contract.Rates[:min(len(in.Contract.Rates), 1)]
		}
		in.Contract.Availability.TargetPercent = Decimal{text: "99.9"}
		in.Contract.Credits = &Credits{
			Base:       rapid.SampledFrom([]string{BaseGross, BaseNet}).Draw(t, "base"),
			Scope:      rapid.SampledFrom([]string{UnitGPU, UnitInstance, UnitLease}).Draw(t, "credit scope"),
			Tiers:      []CreditTier{{Decimal{text: "99.9"}, Decimal{text: "10"}}, {Decimal{text: "99"}, Decimal{text: "25"}}, {Decimal{text: "95"}, Decimal{text: "100"}}},
			CapPercent: Decimal{text: rapid.SampledFrom([]string{"100", "50", "0.5"}).Draw(t, "cap")},
		}
		relief := func(in JudgeInput) (int64, int64) {
			v := judged(t, in)
			charge := ChargeInput{Facts: in.Facts, Period: in.Period}
			net, err := Charge(charge)
			if err != nil {
				t.Fatal(err)
			}
			gross, err := Charge(charge.Gross())
			if err != nil {
				t.Fatal(err)
			}
			credit, err := CreditFor(CreditInput{Facts: in.Facts, Verdict: v, Gross: gross, Net: net, Approved: true})
			if err != nil {
				t.Fatal(err)
			}
			fee, _ := lineTotal(in.Contract.Currency, gross)
			charged, _ := lineTotal(in.Contract.Currency, net)
			if credit.Amount.Minor < 0 || credit.Amount.Minor > charged.Minor {
				t.Fatalf("a credit of %d on %d charged", credit.Amount.Minor, charged.Minor)
			}
			unbilled := fee.Minor - charged.Minor
			if limit := capOf(fee.Minor, in.Contract.Credits.CapPercent); credit.Amount.Minor > 0 && unbilled+credit.Amount.Minor > limit {
				t.Fatalf("unbilled %d and credit %d pass the cap %d", unbilled, credit.Amount.Minor, limit)
			}
			return credit.Amount.Minor, unbilled
		}
		creditBefore, unbilledBefore := relief(in)
		in.Downtimes = append(in.Downtimes, Downtime{Lease: "L", UUIDs: []string{"A"}, Span: drawSpan(t, in.Lease.Span(), "more"), Cause: CauseProvider, Reason: "lost", ApprovedBy: "anna"})
		creditAfter, unbilledAfter := relief(in)
		slack := int64(12) // minor units: each of the lines on either side is rounded once
		if creditAfter+unbilledAfter+slack < creditBefore+unbilledBefore {
			t.Fatalf("more downtime pays less: %d+%d after %d+%d", creditAfter, unbilledAfter, creditBefore, unbilledBefore)
		}
	})
}

func TestSplitsSumForAnyWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64().Draw(t, "total")
		var weights []*big.Rat
		for range rapid.IntRange(1, 9).Draw(t, "parts") {
			weights = append(weights, big.NewRat(rapid.Int64Range(0, 1e12).Draw(t, "weight"), rapid.Int64Range(1, 1e6).Draw(t, "of")))
		}
		var sum int64
		for _, part := range SplitLargestRemainder(total, weights) {
			sum += part
		}
		if sum != total {
			t.Fatalf("the parts sum to %d, not %d", sum, total)
		}
	})
}

func TestAStateTimelinePartitionsItsSpanInAnyOrderOfArrival(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		span := drawSpan(t, Span{0, 10_000_000}, "span")
		var series []Series
		for range rapid.IntRange(0, 30).Draw(t, "samples") {
			series = append(series, Series{
				Labels:  map[string]string{"state": rapid.SampledFrom([]string{"ok", "lost", "unknown"}).Draw(t, "state")},
				Samples: []Sample{{At: Millis(rapid.Int64Range(0, 10_000_000).Draw(t, "at")), Value: 1}},
			})
		}
		line := StateTimeline(span, series, 15_000)
		cursor := span.Start
		for _, iv := range line {
			if iv.Span.Start != cursor || iv.Span.Empty() {
				t.Fatalf("%+v does not partition %+v", line, span)
			}
			cursor = iv.Span.End
		}
		if !span.Empty() && cursor != span.End {
			t.Fatalf("%+v does not reach the end of %+v", line, span)
		}
		slices.Reverse(series)
		if again := StateTimeline(span, series, 15_000); !slices.Equal(line, again) {
			t.Fatalf("another order of arrival gave %+v, not %+v", again, line)
		}
	})
}
