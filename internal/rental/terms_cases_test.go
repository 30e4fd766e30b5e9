package rental

import (
	"slices"
	"testing"
)

func TestAPrepaidHourIsPaidWhenItBeginsAndCountedFromEachStart(t *testing.T) {
	c := planned(t, "3", func(c *Contract) { c.Plan.Mode, c.Plan.Rounding = ModePrepaidHour, RoundUp })
	f := facts(c, span(t, "2026-05-01T10:40:00Z", "2026-05-01T14:00:00Z"), 1)
	for _, tc := range []struct {
		name  string
		stops []Span
		until string
		want  []string
	}{
		{"a minute of the first hour is the hour", nil, "2026-05-01T10:41:00Z", []string{"3.00"}},
		{"the hour ends at 11:40, not with the clock's", nil, "2026-05-01T11:40:00Z", []string{"3.00"}},
		{"a millisecond more is the second", nil, "2026-05-01T11:40:00.001Z", []string{"6.00"}},
		{"200 minutes are four", nil, "2026-05-01T14:00:00Z", []string{"12.00"}},
		{"a new start within a paid hour begins another", []Span{span(t, "2026-05-01T10:50:00Z", "2026-05-01T11:00:00Z")}, "2026-05-01T11:30:00Z", []string{"6.00"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f.Lease.Stops = tc.stops
			if got := amounts(charge(t, f, Span{f.Lease.Start, ms(t, tc.until)})); !slices.Equal(got, tc.want) {
				t.Errorf("lines = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestAReplacementOnAnotherHostMakesNoSecondInstance(t *testing.T) {
	for _, unit := range []string{UnitInstance, UnitHost} {
		c := planned(t, "80", func(c *Contract) { c.Plan.Unit = unit })
		f := facts(c, span(t, "2026-05-01T00:00:00Z", "2026-05-01T10:00:00Z"), 2)
		for i := range f.Assignments {
			f.Assignments[i].Host = "h1"
		}
		f.Assignments[1].Span.End = ms(t, "2026-05-01T04:00:00Z")
		f.Assignments = append(f.Assignments, Assignment{Lease: "L", UUID: "C", Host: "h2", Reason: ReasonRMA, Span: span(t, "2026-05-01T04:00:00Z", "2026-05-01T10:00:00Z")})
		lines := charge(t, f, f.Lease.Span())
		expectLines(t, lines, "gpu_time 80 10 800.00")
		if want := map[string]int64{"A": 40000, "B": 16000, "C": 24000}; lines[0].PerGPU["A"] != want["A"] || lines[0].PerGPU["B"] != want["B"] || lines[0].PerGPU["C"] != want["C"] {
			t.Errorf("by %s the cards pay %v, want %v", unit, lines[0].PerGPU, want)
		}
		if got, want := lines[0].UnitName("zh"), map[string]string{UnitInstance: "实例·小时", UnitHost: "主机·小时"}[unit]; got != want {
			t.Errorf("the unit is %q, want %q", got, want)
		}
	}
}

func TestAReservationMayBeADiscountOnThePriceOfEachHour(t *testing.T) {
	c := planned(t, "10", func(c *Contract) {
		c.Plan.Prices = append(c.Plan.Prices, PriceVersion{From: ms(t, "2026-05-01T01:30:00Z"), Price: dec(t, "12")})
		c.Plan.Reserved = &Reservation{Cards: 8, DiscountPercent: dec(t, "40")}
	})
	f := facts(c, span(t, "2026-05-01T01:00:00Z", "2026-05-01T02:00:00Z"), 5)
	lines := charge(t, f, f.Lease.Span())
	expectLines(t, lines, "reserved_used 6 2.5 15.00", "reserved_used 7.2 2.5 18.00", "reserved_unused 6 1.5 9.00", "reserved_unused 7.2 1.5 10.80")
	if lines[0].ListPrice.String() != "10" || lines[1].ListPrice.String() != "12" {
		t.Errorf("list prices: %s, %s", lines[0].ListPrice, lines[1].ListPrice)
	}
}

func TestR20AReservationPaysOffOnlyAboveItsBreakEvenLoad(t *testing.T) {
	c := planned(t, "10", func(c *Contract) { c.Plan.Reserved = &Reservation{Cards: 8, Price: dec(t, "6.00")} })
	hour := span(t, "2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z")
	use, err := UseOfReservation("CNY", charge(t, facts(c, hour, 5), hour))
	if err != nil || use == nil {
		t.Fatalf("%+v, %v", use, err)
	}
	if use.BreakEvenPercent != "60" || use.LoadPercent != "62.5" || use.ReservedHours != "8" || use.UsedHours != "5" || use.EffectivePrice.Decimal() != "9.60" {
		t.Errorf("found %+v at %s", use, use.EffectivePrice)
	}
	if use, err := UseOfReservation("CNY", charge(t, facts(hourly(t, "10"), hour, 5), hour)); use != nil || err != nil {
		t.Errorf("a lease without a reservation has %+v, %v", use, err)
	}
}

func TestAReservationByTheMonthIsChargedStoppedOrNot(t *testing.T) {
	c := planned(t, "10", func(c *Contract) {
		c.Plan.Reserved = &Reservation{Cards: 2, Price: dec(t, "0"), Monthly: dec(t, "3000")}
	})
	f := facts(c, span(t, "2026-04-21T00:00:00Z", "2026-06-01T00:00:00Z"), 2)
	f.Lease.Stops = []Span{span(t, "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z")}
	lines := charge(t, f, f.Lease.Span())
	expectLines(t, lines, "reserved_monthly 3000 0.333 1000.00", "reserved_used 0 480 0.00", "reserved_monthly 3000 1 3000.00", "reserved_unused 0 1488 0.00")
	use, err := UseOfReservation("CNY", lines)
	// 4,000 for 1,968 reserved hours at 10: 20.33 % of load, and 8.33 for each of the 480 that ran.
	if err != nil || use.BreakEvenPercent != "20.33" || use.EffectivePrice.Decimal() != "8.33" {
		t.Errorf("found %+v, %v", use, err)
	}
}

func TestAPriceThatFollowsAMarketHasALineForEachPrice(t *testing.T) {
	c := planned(t, "1", func(c *Contract) {
		c.Plan.Prices = nil
		for i := range 744 { // an hour at 1, 2, 3, 1, 2, 3...
			c.Plan.Prices = append(c.Plan.Prices, PriceVersion{From: ms(t, "2026-05-01T00:00:00Z") + Millis(i)*millisOfHour, Price: dec(t, []string{"1", "2", "3"}[i%3])})
		}
	})
	f := facts(c, span(t, "2026-05-01T00:30:00Z", "2026-06-01T00:00:00Z"), 8)
	expectLines(t, charge(t, f, f.Lease.Span()), "gpu_time 1 1980 1980.00", "gpu_time 2 1984 3968.00", "gpu_time 3 1984 5952.00")
}
