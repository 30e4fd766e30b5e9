package rental

import (
	"math/big"
	"slices"
	"testing"
	"time"
)

// The ids are those of the worked cases for money, metering and SLA.

func TestC1FourCardsForEightHoursOn250DaysCost6400(t *testing.T) {
	c := hourly(t, "0.8")
	f := facts(c, span(t, "2026-01-01T00:00:00Z", "2026-09-07T08:00:00Z"), 4)
	for d := range 250 {
		day := f.Lease.Start + Millis(int64(d)*24*3600*1000)
		f.Lease.Stops = append(f.Lease.Stops, Span{Start: day + 8*3600*1000, End: min(day+24*3600*1000, f.Lease.End)})
	}
	if got := total(t, "CNY", charge(t, f, f.Lease.Span())); got != "6400.00" {
		t.Errorf("total = %s, want 6400.00", got)
	}
}

func TestC2ADayBySecondIsPricedWithoutAnEarlyDivision(t *testing.T) {
	c := hourly(t, "2.49")
	when := span(t, "2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z")
	if got := amounts(charge(t, facts(c, when, 1), when)); !slices.Equal(got, []string{"59.76"}) {
		t.Errorf("lines = %v, want 59.76", got)
	}
}

func TestC3HalfAnHourAt535Is268InBothHalfModes(t *testing.T) {
	for _, mode := range []Rounding{HalfUp, HalfEven} {
		c := hourly(t, "5.35")
		c.LineRounding = mode
		when := span(t, "2026-05-01T00:00:00Z", "2026-05-01T00:30:00Z")
		if got := amounts(charge(t, facts(c, when, 1), when)); !slices.Equal(got, []string{"2.68"}) {
			t.Errorf("%s: lines = %v, want 2.68", mode, got)
		}
	}
}

func TestC5TenOverThreeIsSplitByLargestRemainder(t *testing.T) {
	one := big.NewRat(1, 1)
	if got := SplitLargestRemainder(1000, []*big.Rat{one, one, one}); !slices.Equal(got, []int64{334, 333, 333}) {
		t.Errorf("split = %v", got)
	}
}

func minuteMode(t testing.TB, mode Rounding, scope string) Contract {
	c := hourly(t, "1")
	c.Plan.Mode, c.Plan.Rounding, c.Plan.RoundingScope = ModeMinute, mode, scope
	return c
}

// sessions is a lease that runs n times for the length, a minute and a half apart.
func sessions(t testing.TB, c Contract, n int, length time.Duration) Facts {
	start := ms(t, "2026-05-01T00:00:00Z")
	run, pause := Millis(length.Milliseconds()), Millis(90_000)
	f := facts(c, Span{Start: start, End: start + Millis(n)*run + Millis(n-1)*pause}, 1)
	for i := range n - 1 {
		from := start + Millis(i+1)*run + Millis(i)*pause
		f.Lease.Stops = append(f.Lease.Stops, Span{Start: from, End: from + pause})
	}
	return f
}

func TestStartedMinutesAreRoundedAsThePlanSays(t *testing.T) {
	withMinimum := hourly(t, "1")
	withMinimum.Plan.Mode, withMinimum.Plan.Minimum = ModeSecond, Duration(time.Minute)
	for _, tc := range []struct {
		name     string
		contract Contract
		runs     int
		length   time.Duration
		quantity string
	}{
		{"C6: one session of 61 s rounds up to 2 min", minuteMode(t, RoundUp, RoundSession), 1, 61 * time.Second, "2"},
		{"C7: ten sessions of 61 s round up to 20 min, each by itself", minuteMode(t, RoundUp, RoundSession), 10, 61 * time.Second, "20"},
		{"C7: ten sessions of 61 s round up to 11 min as a sum", minuteMode(t, RoundUp, RoundSum), 10, 61 * time.Second, "11"},
		{"C8: five starts of 20 s with a minimum of 60 s are 300 s", withMinimum, 5, 20 * time.Second, "300"},
		{"C9: 6 min 45 s round down to 6 min", minuteMode(t, RoundOff, RoundSession), 1, 405 * time.Second, "6"},
		{"90 s round half up to 2 min", minuteMode(t, HalfUp, RoundSession), 1, 90 * time.Second, "2"},
		{"89 s round half up to 1 min", minuteMode(t, HalfUp, RoundSession), 1, 89 * time.Second, "1"},
		{"a whole minute rounds up to itself", minuteMode(t, RoundUp, RoundSession), 1, time.Minute, "1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := sessions(t, tc.contract, tc.runs, tc.length)
			lines := charge(t, f, span(t, "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z"))
			if len(lines) != 1 || lines[0].Quantity != tc.quantity {
				t.Fatalf("lines = %+v, want one of quantity %s", lines, tc.quantity)
			}
		})
	}
}

func TestSessionsAsSeparateAssignmentsRoundAsSeparateSessions(t *testing.T) {
	f := facts(minuteMode(t, RoundUp, RoundSession), span(t, "2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z"), 1)
	f.Assignments = nil
	for i := range 10 {
		from := f.Lease.Start + Millis(i)*600_000
		f.Assignments = append(f.Assignments, Assignment{Lease: "L", UUID: "A", Span: Span{Start: from, End: from + 61_000}, Reason: "start"})
	}
	if lines := charge(t, f, f.Lease.Span()); lines[0].Quantity != "20" {
		t.Errorf("quantity = %s, want 20", lines[0].Quantity)
	}
}

func TestASwapOfTheCardIsNoNewSession(t *testing.T) {
	f := facts(minuteMode(t, RoundUp, RoundSession), span(t, "2026-05-01T00:00:00Z", "2026-05-01T00:01:01Z"), 1)
	cut := f.Lease.Start + 30_000
	f.Assignments = []Assignment{
		{Lease: "L", UUID: "A", Span: Span{Start: f.Lease.Start, End: cut}, Reason: "start"},
		{Lease: "L", UUID: "B", Span: Span{Start: cut, End: f.Lease.End}, Reason: ReasonRMA},
	}
	if lines := charge(t, f, f.Lease.Span()); lines[0].Quantity != "2" {
		t.Errorf("quantity = %s, want 2", lines[0].Quantity)
	}
}

func monthly(t testing.TB, price string) Contract {
	c := hourly(t, price)
	c.Plan.Mode = ModeMonth
	return c
}

func TestMonthsAreProRataByTheirOwnDays(t *testing.T) {
	for _, tc := range []struct {
		name, from, to string
		zone           string
		want           []string
	}{
		{"C12: ten days of February 2026", "2026-02-01T00:00:00Z", "2026-02-11T00:00:00Z", "UTC", []string{"1071.43"}},
		{"C12: ten days of February 2028", "2028-02-01T00:00:00Z", "2028-02-11T00:00:00Z", "UTC", []string{"1034.48"}},
		{"C12: ten days of April", "2026-04-01T00:00:00Z", "2026-04-11T00:00:00Z", "UTC", []string{"1000.00"}},
		{"C12: ten days of March", "2026-03-01T00:00:00Z", "2026-03-11T00:00:00Z", "UTC", []string{"967.74"}},
		{"C13: 25 January to 5 February 2025, half-open", "2025-01-25T00:00:00Z", "2025-02-05T00:00:00Z", "UTC", []string{"677.42", "428.57"}},
		{"ten days of March over the clock change", "2026-03-01T00:00:00-08:00", "2026-03-11T00:00:00-07:00", "America/Los_Angeles", []string{"967.74"}},
		{"a whole month is its price", "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z", "UTC", []string{"3000.00"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := monthly(t, "3000")
			c.TimeZone = tc.zone
			when := span(t, tc.from, tc.to)
			lines := charge(t, facts(c, when, 1), when)
			if got := amounts(lines); !slices.Equal(got, tc.want) {
				t.Errorf("lines = %v, want %v", got, tc.want)
			}
			if tc.name[:3] == "C13" && total(t, "CNY", lines) != "1105.99" {
				t.Errorf("total = %s, want 1105.99", total(t, "CNY", lines))
			}
		})
	}
}

func TestPartsOfAMonthlyLeaseGoByDaysThoughADayIsShort(t *testing.T) {
	c := monthly(t, "3100")
	c.TimeZone = "America/Los_Angeles"
	f := facts(c, span(t, "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"), 1)
	for _, tc := range []struct{ from, to, want string }{
		{"2026-03-08T00:00:00-08:00", "2026-03-09T00:00:00-07:00", "100.00"},
		{"2026-03-01T00:00:00-08:00", "2026-03-11T00:00:00-07:00", "1000.00"},
		{"2026-03-07T12:00:00-08:00", "2026-03-09T12:00:00-07:00", "200.00"},
	} {
		period := span(t, tc.from, tc.to)
		if got := total(t, "CNY", charge(t, f, period)); got != tc.want {
			t.Errorf("%s to %s costs %s, want %s", tc.from, tc.to, got, tc.want)
		}
		steps, err := ChargeSteps(f, []Span{period})
		if err != nil {
			t.Fatal(err)
		}
		if shown, err := steps[0].Cost.Round(HalfUp); err != nil || shown.Decimal() != tc.want {
			t.Errorf("the step costs %s, %v, want %s", shown, err, tc.want)
		}
	}
}

func TestEightDaysOnAWeeklyPriceAreProRata(t *testing.T) {
	c := hourly(t, "1000")
	c.Plan.Mode = ModeWeek
	when := span(t, "2026-05-01T00:00:00Z", "2026-05-09T00:00:00Z")
	if got := amounts(charge(t, facts(c, when, 1), when)); !slices.Equal(got, []string{"1142.86"}) {
		t.Errorf("lines = %v, want 1142.86", got)
	}
}

func TestDaysOfTheZoneAreChargedByTheirHours(t *testing.T) {
	for _, tc := range []struct {
		name  string
		month time.Month
		day   int
		want  string
	}{
		{"C17: the short day of spring is 23 h", time.March, 8, "368.00"},
		{"C18: the long day of autumn is 25 h", time.November, 1, "400.00"},
		{"another day is 24 h", time.May, 1, "384.00"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := hourly(t, "2")
			c.TimeZone = "America/Los_Angeles"
			day, err := DaySpan(c.TimeZone, 2026, tc.month, tc.day)
			if err != nil {
				t.Fatal(err)
			}
			f := facts(c, span(t, "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"), 8)
			if got := amounts(charge(t, f, day)); !slices.Equal(got, []string{tc.want}) {
				t.Errorf("lines = %v, want %s", got, tc.want)
			}
		})
	}
}

func TestC21AnHourOnEachSideOfShanghaisMidnightFallsInTwoMonths(t *testing.T) {
	c := hourly(t, "10")
	c.TimeZone = "Asia/Shanghai"
	f := facts(c, span(t, "2026-03-31T15:00:00Z", "2026-03-31T17:00:00Z"), 1)
	for _, m := range []time.Month{time.March, time.April} {
		month, err := MonthSpan(c.TimeZone, 2026, m)
		if err != nil {
			t.Fatal(err)
		}
		if got := amounts(charge(t, f, month)); !slices.Equal(got, []string{"10.00"}) {
			t.Errorf("%s = %v, want 10.00", m, got)
		}
	}
	if got := amounts(charge(t, f, f.Lease.Span())); !slices.Equal(got, []string{"10.00", "10.00"}) {
		t.Errorf("the whole lease = %v, want a line for each month", got)
	}
}

func TestC25TheEarlierLeaseHoldsADoublyClaimedCard(t *testing.T) {
	c := hourly(t, "10")
	claims := []Assignment{
		{Lease: "B", UUID: "gpu", Span: span(t, "2026-05-01T11:00:00Z", "2026-05-01T13:00:00Z")},
		{Lease: "A", UUID: "gpu", Span: span(t, "2026-05-01T10:00:00Z", "2026-05-01T12:00:00Z")},
	}
	kept, conflicts := ResolveConflicts(claims)
	if len(conflicts) != 1 || conflicts[0].Holds != "A" || conflicts[0].Loses != "B" || conflicts[0].Span.Duration() != 3_600_000 {
		t.Errorf("conflicts = %+v, want an hour that A holds", conflicts)
	}
	hours := map[string]string{}
	for _, id := range []string{"A", "B"} {
		f := Facts{Contract: c, Lease: Lease{ID: id, Start: claims[1].Span.Start, End: claims[0].Span.End}, Assignments: kept}
		hours[id] = charge(t, f, f.Lease.Span())[0].Quantity
	}
	if hours["A"] != "2" || hours["B"] != "1" {
		t.Errorf("hours = %v, want A 2 and B 1", hours)
	}
}

func TestC26ASampleAtTheHandOverBelongsToTheLaterLease(t *testing.T) {
	noon := ms(t, "2026-05-01T12:00:00Z")
	list := []Assignment{
		{Lease: "A", UUID: "gpu", Span: Span{Start: noon - 3_600_000, End: noon}},
		{Lease: "B", UUID: "gpu", Span: Span{Start: noon, End: noon + 3_600_000}},
	}
	if a, ok := HolderAt(list, "gpu", noon); !ok || a.Lease != "B" {
		t.Errorf("holder at noon = %+v, want B", a)
	}
	if a, ok := HolderAt(list, "gpu", noon-1); !ok || a.Lease != "A" {
		t.Errorf("holder before noon = %+v, want A", a)
	}
}

func TestC36ANewPriceSplitsTheLine(t *testing.T) {
	c := hourly(t, "10")
	c.Plan.Prices = append(c.Plan.Prices, PriceVersion{From: ms(t, "2026-05-15T00:00:00Z"), Price: dec(t, "12")})
	when := span(t, "2026-05-14T20:00:00Z", "2026-05-15T06:00:00Z")
	lines := charge(t, facts(c, when, 4), when)
	if got := amounts(lines); !slices.Equal(got, []string{"160.00", "288.00"}) {
		t.Errorf("lines = %v, want 160.00 and 288.00", got)
	}
	if lines[0].Charged.End != lines[1].Charged.Start || lines[0].UnitPrice.String() != "10" || lines[1].UnitPrice.String() != "12" {
		t.Errorf("the lines do not meet at the change: %+v", lines)
	}
}

func TestC50MoneyOfTwoCurrenciesIsNotAdded(t *testing.T) {
	mixed := []Amount{{Currency: "USD", Minor: 1000}, {Currency: "CNY", Minor: 1000}, {Currency: "USD", Minor: 1}}
	if _, err := SumAmounts("USD", mixed...); err == nil {
		t.Error("10 USD + 10 CNY was added")
	}
	subtotals, err := Subtotals(mixed)
	if err != nil || !slices.Equal(subtotals, []Amount{{Currency: "CNY", Minor: 1000}, {Currency: "USD", Minor: 1001}}) {
		t.Errorf("subtotals = %v, %v", subtotals, err)
	}
	a, b := NewMoney("USD", big.NewRat(10, 1)), NewMoney("CNY", big.NewRat(10, 1))
	if _, err := a.Add(b); err == nil {
		t.Error("exact money of two currencies was added")
	}
}

func TestC69ALeaseOfNoLengthCostsNothingAndOneThatEndsBeforeItStartsIsRefused(t *testing.T) {
	when := span(t, "2026-05-01T00:00:00Z", "2026-05-01T00:00:00Z")
	f := facts(hourly(t, "10"), when, 1)
	if lines := charge(t, f, span(t, "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z")); len(lines) != 0 {
		t.Errorf("lines = %+v, want none", lines)
	}
	if faults := f.Lease.Validate(); len(faults) != 0 {
		t.Errorf("a lease of no length is refused: %v", faults)
	}
	f.Lease.End--
	if _, err := Charge(ChargeInput{Facts: f, Period: when}); err == nil {
		t.Error("a lease that ends before it starts was charged")
	}
	if faults := f.Lease.Validate(); len(faults) != 1 || faults[0].Path != "end" {
		t.Errorf("faults = %v, want one at end", faults)
	}
}

func TestC70AnOpenLeaseIsBilledToThePeriodsEnd(t *testing.T) {
	f := facts(hourly(t, "10"), Span{Start: ms(t, "2026-05-30T00:00:00Z"), End: Forever}, 1)
	if got := amounts(charge(t, f, span(t, "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z"))); !slices.Equal(got, []string{"480.00"}) {
		t.Errorf("lines = %v, want 480.00", got)
	}
}

func TestC71ALeaseIsBilledFromTheLedgerHoweverLongSamplesAreKept(t *testing.T) {
	when := span(t, "2026-05-01T00:00:00Z", "2026-06-10T00:00:00Z")
	if got := total(t, "CNY", charge(t, facts(hourly(t, "10"), when, 1), when)); got != "9600.00" {
		t.Errorf("total = %s, want 9600.00", got)
	}
}

func TestC78APriceBuysWhatItsUnitSays(t *testing.T) {
	when := span(t, "2026-05-01T00:00:00Z", "2026-05-01T10:00:00Z")
	for unit, want := range map[string]string{UnitGPU: "1600.00", UnitInstance: "200.00", UnitLease: "100.00"} {
		c := hourly(t, "10")
		c.Plan.Unit = unit
		if got := total(t, "CNY", charge(t, facts(c, when, 16), when)); got != want {
			t.Errorf("%s: total = %s, want %s", unit, got, want)
		}
	}
	c := hourly(t, "10")
	c.Plan.Unit = ""
	if _, err := Charge(ChargeInput{Facts: facts(c, when, 1), Period: when}); err == nil {
		t.Error("a plan without a unit was charged")
	}
}

func TestYenHaveNoMinorDigitsAndDinarsHaveThree(t *testing.T) {
	when := span(t, "2026-05-01T00:00:00Z", "2026-05-01T00:20:00Z")
	for currency, want := range map[Currency]string{"JPY": "3", "KWD": "3.333", "USD": "3.33"} {
		c := hourly(t, "10")
		c.Currency = currency
		if got := amounts(charge(t, facts(c, when, 1), when)); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: lines = %v, want %s", currency, got, want)
		}
	}
}
