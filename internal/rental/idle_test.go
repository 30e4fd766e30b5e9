package rental

import (
	"strings"
	"testing"
	"time"
)

func TestUseIsSplitByDayAndNightOfTheContractsZone(t *testing.T) {
	record := func(utcHour int) UsageRecord {
		start := At(time.Date(2026, 5, 1, utcHour, 0, 0, 0, time.UTC))
		return UsageRecord{Lease: "L", UUID: "A", Span: Span{start, start + 3_600_000}, AllocatedMS: 3_600_000, MeasuredMS: 3_600_000, BusyMS: 60_000, UsedMicros: 60_000_000}
	}
	for _, tc := range []struct {
		name, zone string
		utcHours   []int
		day, night int
	}{
		{"in UTC", "UTC", []int{7, 8, 19, 20}, 2, 2},
		{"in Shanghai, eight hours on", "Asia/Shanghai", []int{23, 0, 11, 12}, 2, 2},
		{"where the zone is half an hour off", "Asia/Kolkata", []int{2, 3}, 1, 1}, // 07:30 and 08:30
	} {
		t.Run(tc.name, func(t *testing.T) {
			var records []UsageRecord
			for _, h := range tc.utcHours {
				records = append(records, record(h))
			}
			got, err := SplitDayNight(tc.zone, records)
			if err != nil {
				t.Fatal(err)
			}
			const hour = 3_600_000
			if got.Day.MeasuredMS != int64(tc.day)*hour || got.Night.MeasuredMS != int64(tc.night)*hour {
				t.Errorf("day %d and night %d h, expected %d and %d", got.Day.MeasuredMS/hour, got.Night.MeasuredMS/hour, tc.day, tc.night)
			}
			if sum := got.Day.UsedMicros + got.Night.UsedMicros; sum != int64(len(records))*60_000_000 {
				t.Errorf("both halves hold %d us of use, expected all of it", sum)
			}
		})
	}
	if _, err := SplitDayNight("Mars/Olympus", nil); err == nil {
		t.Error("a zone that is none is taken")
	}
}

func TestDayAndNightAreToldOnlyWhereAllOfTheTimeIsKnown(t *testing.T) {
	var u Use
	u.Add(UsageRecord{AllocatedMS: 100, MeasuredMS: 80, UsedMicros: 40_000, SplitMS: 100, NightMS: 60, NightMeasuredMS: 50, NightUsedMicros: 10_000})
	halves, known := u.DayNight()
	if day := (Use{AllocatedMS: 40, MeasuredMS: 30, UsedMicros: 30_000}); !known || halves.Day != day {
		t.Errorf("day = %+v (%v), want %+v", halves.Day, known, day)
	}
	u.Add(UsageRecord{AllocatedMS: 100, MeasuredMS: 100}) // from before the two were told apart
	if _, known := u.DayNight(); known {
		t.Error("day and night are told though half of the time has no such record")
	}
	if _, known := (Use{}).DayNight(); known {
		t.Error("day and night of no time are told")
	}
}

func TestTwilightsAreThoseOfTheWallClock(t *testing.T) {
	for zone, want := range map[string]string{
		"Asia/Kolkata":        "2026-11-01T02:30:00Z 2026-11-01T14:30:00Z",
		"America/Los_Angeles": "2026-11-01T03:00:00Z 2026-11-01T16:00:00Z", // the evening before, summer time; then winter time
	} {
		place, err := LoadZone(zone)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, at := range Twilights(place, span(t, "2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z")) {
			got = append(got, at.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", zone, got, want)
		}
	}
}

func TestEnergyHasThePriceOfItsTimeAndNoSumOverCurrencies(t *testing.T) {
	tariff := EnergyTariff{Currency: "CNY", Prices: []PriceVersion{{Price: dec(t, "0.5")}, {From: 100, Price: dec(t, "0.6")}, {From: 200, Price: dec(t, "0.7")}}}
	for _, tc := range []struct {
		name string
		span Span
		want string
	}{
		{"before any change", Span{0, 100}, "0.5"},
		{"at a change", Span{100, 101}, "0.6"},
		{"over a change", Span{99, 101}, "0.5 0.6"},
		{"over all", Span{0, 500}, "0.5 0.6 0.7"},
		{"after the last", Span{300, 400}, "0.7"},
	} {
		var got []string
		for _, v := range tariff.Within(tc.span) {
			got = append(got, v.Price.String())
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %v, want %s", tc.name, got, tc.want)
		}
	}
	var bill EnergyBill
	bill.Add("USD", 3_600_000_000, dec(t, "0.12"))
	bill.Add("CNY", 1_800_000_000, dec(t, "0.005"))
	bill.Add("CNY", 1_800_000_000, dec(t, "0.005")) // half a fen, and half a fen: rounded once
	bill.Add("CNY", -5, dec(t, "9"))
	costs, err := bill.Costs()
	if err != nil || len(costs) != 2 || costs[0].Amount.String() != "0.01 CNY" || costs[0].KWh != "1" || costs[1].Amount.String() != "0.12 USD" {
		t.Errorf("%+v, %v", costs, err)
	}
}

func TestEnergyCostsItsPriceAndIsNeverNegative(t *testing.T) {
	price, err := ParseDecimal("0.12")
	if err != nil {
		t.Fatal(err)
	}
	for milliJoules, want := range map[int64]string{36_000_000_000: "1.20", 0: "0.00", -5: "0.00", 150_000_000: "0.01"} {
		amount, err := EnergyCost("USD", milliJoules, price).Round(HalfUp)
		if err != nil || amount.Decimal() != want {
			t.Errorf("%d mJ cost %s (%v), expected %s", milliJoules, amount.Decimal(), err, want)
		}
	}
}
