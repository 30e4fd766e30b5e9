package rental

import (
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
