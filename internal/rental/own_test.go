package rental

import (
	"strings"
	"testing"
)

func bought(t *testing.T) Ownership {
	return Ownership{Currency: "CNY", Price: dec(t, "250000"), LifeDays: 3 * 365, Power: dec(t, "30")}
}

func TestR34AServerOfAQuarterMillionIs258AndSomeADay(t *testing.T) {
	o := bought(t)
	for _, tc := range []struct {
		name   string
		change func()
		want   string
	}{
		{"with 30 of power", func() {}, "258.31"},
		{"without power", func() { o.Power = Decimal{} }, "228.31"},
		{"R43: wiping and carting away cost, resale brings", func() { o.Disposal, o.Resale = dec(t, "1000"), dec(t, "32000") }, "200.00"},
		{"operations too", func() { o.Operations = dec(t, "12.5") }, "212.50"},
	} {
		tc.change()
		perDay, err := o.PerDay()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := perDay.Round(HalfUp); err != nil || got.Decimal() != tc.want {
			t.Errorf("%s: %s, %v, want %s", tc.name, got.Decimal(), err, tc.want)
		}
	}
}

func TestOwningIsComparedWithABaselineOnItsMeasuredHours(t *testing.T) {
	when := span(t, "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z")
	lines := charge(t, facts(hourly(t, "10"), when, 8), when)
	b := Baseline{Bill: Bill{Currency: "CNY", Period: when, Lines: lines, Total: lines[0].Amount}, Cards: 8, UsedMS: 45, MeasuredMS: 100}
	c, err := bought(t).Compare(b)
	if err != nil {
		t.Fatal(err)
	}
	// 258.3105 a day for 31 days is 8,007.63; eight cards at 10 an hour cost 80 an hour, so 3.23 h a day.
	if c.Rent.Decimal() != "59520.00" || c.Own.Decimal() != "8007.63" || c.OwnPerDay.Decimal() != "258.31" || c.OwnPerCardDay.Decimal() != "32.29" ||
		c.BreakEvenHours != "3.23" || c.NeverPays || c.Days != "31" {
		t.Errorf("comparison: %+v", c)
	}
	cheap := charge(t, facts(hourly(t, "1.3"), when, 8), when)
	if c, err := bought(t).Compare(Baseline{Bill: Bill{Currency: "CNY", Period: when, Lines: cheap, Total: cheap[0].Amount}, Cards: 8}); err != nil || c.NeverPays != true || c.BreakEvenHours != "24.84" {
		t.Errorf("owning never pays at 1.3: %+v, %v", c, err)
	}
	// A used hour costs what an hour costs over the 45 % that were measured as used.
	if c.UsedHourRent.Decimal() != "22.22" || c.UsedHourOwn.Decimal() != "2.99" {
		t.Errorf("a used hour: rent %s, own %s", c.UsedHourRent, c.UsedHourOwn)
	}
	b.UsedMS, b.MeasuredMS = 0, 0
	if c, err := bought(t).Compare(b); err != nil || c.UsedHourOwn != nil || c.UsedHourRent != nil {
		t.Errorf("use that nobody measured has a cost: %+v, %v", c, err)
	}
}

func TestR36ThereIsNoSavingWithoutABaseline(t *testing.T) {
	when := span(t, "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z")
	good := Baseline{Bill: Bill{Currency: "CNY", Period: when, Total: Amount{Currency: "CNY"}}, Cards: 1}
	for want, compare := range map[string]func() (Comparison, error){
		"no baseline":          func() (Comparison, error) { return bought(t).Compare(Baseline{Cards: 1}) },
		"cannot add USD":       func() (Comparison, error) { b := good; b.Bill.Currency = "USD"; return bought(t).Compare(b) },
		"a life of 0 days":     func() (Comparison, error) { o := bought(t); o.LifeDays = 0; return o.Compare(good) },
		"no price":             func() (Comparison, error) { o := bought(t); o.Price = Decimal{}; return o.Compare(good) },
		"a resale of 250001":   func() (Comparison, error) { o := bought(t); o.Resale = dec(t, "250001"); return o.Compare(good) },
		"that is not negative": func() (Comparison, error) { o := bought(t); o.Power = dec(t, "-1"); return o.Compare(good) },
	} {
		if _, err := compare(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	if c, err := bought(t).Compare(good); err != nil || c.BreakEvenHours != "" {
		t.Errorf("a lease that cost nothing: %+v, %v", c, err)
	}
}
