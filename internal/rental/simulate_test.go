package rental

import (
	"strings"
	"testing"
)

func expectQuotes(t *testing.T, q []Quote, want ...string) {
	t.Helper()
	var got []string
	for _, one := range q {
		perHour := "-"
		if one.PerHour != nil {
			perHour = one.PerHour.Decimal()
		}
		got = append(got, one.Contract+" "+one.Total.Decimal()+" "+string(one.Currency)+" "+perHour)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("quotes:\n%s\nexpected:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func named(c Contract, name string) Contract {
	c.Name = name
	return c
}

func TestR35AProfileIsPricedUnderEveryContract(t *testing.T) {
	f, period, err := Profile{Cards: 4, Start: ms(t, "2026-01-01T00:00:00Z"), TimeZone: "UTC", Days: 250, HoursPerDay: dec(t, "8")}.Facts()
	if err != nil {
		t.Fatal(err)
	}
	dollars := hourly(t, "0.8")
	dollars.Currency = "USD"
	whole := named(hourly(t, "1.00"), "whole")
	whole.Plan.Reserved = &Reservation{Cards: 4, Price: dec(t, "0.6")} // 40 % off, of a third of the day
	slice := named(hourly(t, "1"), "slice")
	slice.Plan.Unit, slice.Plan.Slices = UnitSlice, &Slices{By: SlicesByCompute, Of: 7}
	quotes := Simulate(f, []Contract{slice, whole, named(hourly(t, "0.8"), "demand"), named(dollars, "abroad")}, period)
	// 4 x 8 h x 250 d at 0.8 (C1); reserved 4 x 24 h x 250 d at 0.6, though a third is used.
	expectQuotes(t, quotes, "demand 6400.00 CNY 0.80", "whole 14400.00 CNY 1.80", "abroad 6400.00 USD 0.80", "slice 0.00 CNY -")
	if quotes[3].Reason == "" {
		t.Error("whole cards have a price by the slice")
	}
}

func TestR20AReservationAt40PercentOffBreaksEvenAt60Percent(t *testing.T) {
	demand, reserved := named(hourly(t, "10"), "demand"), named(hourly(t, "10"), "reserved")
	reserved.Plan.Reserved = &Reservation{Cards: 1, Price: dec(t, "6")}
	for hours, cheapest := range map[string]string{"14.3": "demand", "14.5": "reserved"} {
		f, period, err := Profile{Cards: 1, Start: ms(t, "2026-05-01T00:00:00Z"), TimeZone: "UTC", Days: 10, HoursPerDay: dec(t, hours)}.Facts()
		if err != nil {
			t.Fatal(err)
		}
		if quotes := Simulate(f, []Contract{demand, reserved}, period); quotes[0].Contract != cheapest {
			t.Errorf("%s of 24 hours: %s is cheaper", hours, quotes[0].Contract)
		}
	}
}

func TestAProfileIsRefusedByField(t *testing.T) {
	good := Profile{Cards: 1, Start: 1, TimeZone: "UTC", Days: 1, HoursPerDay: dec(t, "24")}
	if f, _, err := good.Facts(); err != nil || len(f.Lease.Stops) != 0 {
		t.Errorf("%v, stops %v", err, f.Lease.Stops)
	}
	for want, change := range map[string]func(*Profile){
		"0 GPUs": func(p *Profile) { p.Cards = 0 }, "20000 GPUs": func(p *Profile) { p.Cards = 20000 },
		"0 days": func(p *Profile) { p.Days = 0 }, "24.5 hours": func(p *Profile) { p.HoursPerDay = dec(t, "24.5") },
		"nothing hours": func(p *Profile) { p.HoursPerDay = Decimal{} }, "time zone": func(p *Profile) { p.TimeZone = "Mars" },
	} {
		p := good
		change(&p)
		if _, _, err := p.Facts(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected it to name %s", err, want)
		}
	}
}

func FuzzSliceShare(f *testing.F) {
	for _, seed := range []string{"3g.40gb", "1g.10gb+me", "1c.3g.40gb", "7g.80gb", "0g.1gb", "9g.999gb"} {
		f.Add(seed, 7)
	}
	f.Fuzz(func(t *testing.T, profile string, of int) {
		for _, by := range []string{SlicesByCompute, SlicesByMemory} {
			share, err := Slices{By: by, Of: of}.Share(profile)
			if err == nil && (share.Sign() <= 0 || share.Cmp(hundred) > 0 || share.Num().Cmp(share.Denom()) > 0) {
				t.Errorf("%q by %s of %d is %s of a card", profile, by, of, share.RatString())
			}
		}
	})
}
