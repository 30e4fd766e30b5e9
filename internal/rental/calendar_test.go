package rental

import (
	"testing"
	"time"
)

func TestMonthsHaveTheirHoursInEachZone(t *testing.T) {
	for _, tc := range []struct {
		name, zone string
		year       int
		month      time.Month
		minutes    int64
	}{
		{"C20: March 2026 in Los Angeles is 743 h", "America/Los_Angeles", 2026, time.March, 743 * 60},
		{"a November in the United States is 43,260 min", "America/New_York", 2026, time.November, 43_260},
		{"a March in the United States is 44,580 min", "America/New_York", 2026, time.March, 44_580},
		{"Lord Howe shifts by half an hour", "Australia/Lord_Howe", 2026, time.October, 31*24*60 - 30},
		{"February of a leap year", "UTC", 2028, time.February, 29 * 24 * 60},
		{"December rolls over the year", "Asia/Shanghai", 2026, time.December, 31 * 24 * 60},
	} {
		t.Run(tc.name, func(t *testing.T) {
			span, err := MonthSpan(tc.zone, tc.year, tc.month)
			if err != nil {
				t.Fatal(err)
			}
			if got := span.Duration() / 60_000; got != tc.minutes {
				t.Errorf("%d min, want %d", got, tc.minutes)
			}
		})
	}
}

func TestC15AMonthlyAnniversaryReturnsToItsDay(t *testing.T) {
	start := ms(t, "2026-01-31T10:30:00+08:00")
	for n, want := range []string{
		"2026-01-31T10:30:00+08:00", "2026-02-28T10:30:00+08:00", "2026-03-31T10:30:00+08:00", "2026-04-30T10:30:00+08:00",
		"2026-05-31T10:30:00+08:00",
	} {
		if got, err := Anniversary("Asia/Shanghai", start, n); err != nil || got != ms(t, want) {
			t.Errorf("renewal %d = %s, %v, want %s", n, got, err, want)
		}
	}
	if got, err := Anniversary("UTC", ms(t, "2024-02-29T00:00:00Z"), 12); err != nil || got != ms(t, "2025-02-28T00:00:00Z") {
		t.Errorf("29 February renews on %s, %v", got, err)
	}
	if got, err := Anniversary("America/New_York", ms(t, "2026-02-08T02:30:00-05:00"), 1); err != nil || got != ms(t, "2026-03-08T03:30:00-04:00") {
		t.Errorf("a skipped time renews at %s, %v, want it moved forward by the gap", got.Time(), err)
	}
}

func TestWallClocksThatSkipOrRepeat(t *testing.T) {
	for _, tc := range []struct {
		name, zone string
		wall       [6]int
		want       string
	}{
		{"a time that exists", "America/New_York", [6]int{2026, 5, 1, 12, 0, 0}, "2026-05-01T12:00:00-04:00"},
		{"a skipped time moves forward by the gap", "America/New_York", [6]int{2026, 3, 8, 2, 30, 0}, "2026-03-08T03:30:00-04:00"},
		{"the start of the gap is its end", "America/New_York", [6]int{2026, 3, 8, 2, 0, 0}, "2026-03-08T03:00:00-04:00"},
		{"of a doubled time the first is meant", "America/New_York", [6]int{2026, 11, 1, 1, 30, 0}, "2026-11-01T01:30:00-04:00"},
		{"after the doubled hour there is one time again", "America/New_York", [6]int{2026, 11, 1, 2, 0, 0}, "2026-11-01T02:00:00-05:00"},
		{"a midnight that is skipped", "America/Sao_Paulo", [6]int{2018, 11, 4, 0, 0, 0}, "2018-11-04T01:00:00-02:00"},
		{"a midnight that comes twice", "America/Havana", [6]int{2025, 11, 2, 0, 30, 0}, "2025-11-02T00:30:00-04:00"},
		{"half an hour of Lord Howe", "Australia/Lord_Howe", [6]int{2026, 10, 4, 2, 15, 0}, "2026-10-04T02:45:00+11:00"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			loc, err := LoadZone(tc.zone)
			if err != nil {
				t.Fatal(err)
			}
			w := tc.wall
			if got := At(Instant(loc, w[0], time.Month(w[1]), w[2], w[3], w[4], w[5])); got != ms(t, tc.want) {
				t.Errorf("%s, want %s", got.Time().In(loc), tc.want)
			}
		})
	}
}

func TestDaysPartitionAnyYearOfAnyZone(t *testing.T) {
	for _, zone := range append(zones, "America/Havana", "Pacific/Apia", "Africa/Casablanca") {
		for _, year := range []int{2011, 2018, 2025, 2026} {
			span := Span{Start: ms(t, "2000-01-01T00:00:00Z"), End: 0}
			first, err := MonthSpan(zone, year, time.January)
			if err != nil {
				t.Fatal(err)
			}
			last, err := MonthSpan(zone, year, time.December)
			if err != nil {
				t.Fatal(err)
			}
			span = Span{Start: first.Start + 12_345, End: last.End - 54_321}
			days, err := Days(zone, span)
			if err != nil {
				t.Fatal(err)
			}
			cursor := span.Start
			for _, d := range days {
				if d.Start != cursor || d.Empty() || d.Duration() > 27*3_600_000 {
					t.Fatalf("%s %d: day %s to %s after %s", zone, year, d.Start, d.End, cursor)
				}
				cursor = d.End
			}
			if cursor != span.End || len(days) < 364 || len(days) > 366 {
				t.Fatalf("%s %d: %d days up to %s", zone, year, len(days), cursor)
			}
		}
	}
}

func TestMonthsOfASpanAndOfAMoment(t *testing.T) {
	span := Span{Start: ms(t, "2026-01-31T20:00:00Z"), End: ms(t, "2026-03-31T16:00:00Z")}
	months, err := Months("Asia/Shanghai", span)
	if err != nil || len(months) != 2 || months[0].String() != "2026-02" || months[1].String() != "2026-03" {
		t.Errorf("months = %v, %v: the span begins in February of Shanghai and ends as April begins", months, err)
	}
	if m, err := MonthOf("Asia/Shanghai", span.End); err != nil || m.String() != "2026-04" {
		t.Errorf("month = %v, %v", m, err)
	}
	if _, err := Months("UTC", Span{Start: 1, End: Forever}); err == nil {
		t.Error("months of a span without an end were counted")
	}
}

func TestHoursCutAtTheWholeHour(t *testing.T) {
	hours := Hours(span(t, "2026-05-01T10:30:00Z", "2026-05-01T12:00:01Z"))
	if len(hours) != 3 || hours[0].Duration() != 1_800_000 || hours[1].Duration() != 3_600_000 || hours[2].Duration() != 1000 {
		t.Errorf("hours = %v", hours)
	}
}

func TestZonesThatMeanAnotherOneElsewhereAreRefused(t *testing.T) {
	for _, name := range []string{"", "Local", "Mars/Olympus", "../etc/passwd"} {
		if _, err := LoadZone(name); err == nil {
			t.Errorf("zone %q was accepted", name)
		}
	}
}

func FuzzParseMonth(f *testing.F) {
	for _, seed := range []string{"2026-05", "2026-13", "26-5", "", "2026-05-01"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseMonth(text)
		if err != nil {
			return
		}
		if m.String() != text {
			t.Errorf("%q was read as %s", text, m)
		}
		span, err := m.Span("UTC")
		if err != nil || span.Empty() {
			t.Errorf("month %s is %v, %v", m, span, err)
		}
	})
}
