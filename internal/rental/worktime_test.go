package rental

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// office is nine to five on weekdays in a zone.
func office(zone string) Calendar {
	return Calendar{Name: "office", TimeZone: zone, Hours: []WorkHours{{Days: []string{"mon", "tue", "wed", "thu", "fri"}, From: "09:00", To: "17:00"}}}
}

func TestHoursOfWorkAreCountedInTheCalendarsZone(t *testing.T) {
	china := office("Asia/Shanghai")
	china.Holidays = []string{"2026-10-01", "2026-10-02", "2026-10-05", "2026-10-06", "2026-10-07"}
	china.WorkingDays = []WorkingDay{{Date: "2026-10-10", As: "mon"}}
	dawn := Calendar{Name: "dawn", TimeZone: "Europe/Oslo", Hours: []WorkHours{{Days: []string{"sun"}, From: "01:00", To: "04:00"}}}
	split := office("Asia/Shanghai")
	split.Hours = append(split.Hours, WorkHours{Days: []string{"mon"}, From: "16:00", To: "24:00"})
	for name, c := range map[string]struct {
		calendar   Calendar
		start, end string
		work       time.Duration
	}{
		"a weekend between two days is no work":           {office("Asia/Shanghai"), "2026-11-27T16:00:00+08:00", "2026-11-30T10:00:00+08:00", 2 * time.Hour},
		"a night is no work":                              {office("Asia/Shanghai"), "2026-11-30T18:00:00+08:00", "2026-12-01T08:59:59.999+08:00", 0},
		"a holiday is no work":                            {china, "2026-09-30T16:00:00+08:00", "2026-10-08T10:00:00+08:00", 2 * time.Hour},
		"a Saturday that is worked for another day":       {china, "2026-10-09T16:00:00+08:00", "2026-10-12T09:00:00+08:00", 9 * time.Hour},
		"another zone's morning":                          {office("Europe/Oslo"), "2026-11-30T07:30:00Z", "2026-11-30T08:30:00Z", 30 * time.Minute},
		"a night of which the clock skips an hour":        {dawn, "2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00", 2 * time.Hour},
		"a night of which the clock tells an hour twice":  {dawn, "2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00", 4 * time.Hour},
		"hours that overlap are one, up to midnight":      {split, "2026-11-30T00:00:00+08:00", "2026-12-01T00:00:00+08:00", 15 * time.Hour},
		"a span within an hour":                           {office("UTC"), "2026-11-30T10:00:00Z", "2026-11-30T10:00:00.001Z", time.Millisecond},
		"the millisecond at which work ends is no work":   {office("UTC"), "2026-11-30T17:00:00Z", "2026-11-30T17:00:00.001Z", 0},
		"the millisecond before it is":                    {office("UTC"), "2026-11-30T16:59:59.999Z", "2026-11-30T17:00:01Z", time.Millisecond},
		"a day that a zone left out is not counted twice": {office("Pacific/Apia"), "2011-12-29T00:00:00-10:00", "2012-01-01T00:00:00+14:00", 8 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			if f := c.calendar.Validate(); len(f) > 0 {
				t.Fatal(f)
			}
			spans, err := c.calendar.Working(Span{Start: ms(t, c.start), End: ms(t, c.end)})
			if err != nil {
				t.Fatal(err)
			}
			if got := TotalMillis(spans); got != c.work.Milliseconds() {
				t.Errorf("got %v, want %v: %v", time.Duration(got)*time.Millisecond, c.work, spans)
			}
		})
	}
}

func TestWorkThatHasPassedIsFoundAgain(t *testing.T) {
	zones := []string{"Asia/Shanghai", "Europe/Oslo", "America/New_York", "Australia/Lord_Howe", "UTC"}
	rapid.Check(t, func(t *rapid.T) {
		c := office(rapid.SampledFrom(zones).Draw(t, "zone"))
		c.Hours = append(c.Hours, WorkHours{Days: []string{"sun"}, From: "00:30", To: "03:30"})
		start := Millis(rapid.Int64Range(1_750_000_000_000, 1_850_000_000_000).Draw(t, "start"))
		work := rapid.Int64Range(1, 200*3_600_000).Draw(t, "work")
		at, err := c.After(start, work)
		if err != nil {
			t.Fatal(err)
		}
		for end, want := range map[Millis]int64{at: work, at - 1: work - 1} {
			spans, err := c.Working(Span{Start: start, End: end})
			if err != nil {
				t.Fatal(err)
			}
			if got := TotalMillis(spans); got != want {
				t.Fatalf("from %s to %s: got %d ms, want %d", start, end, got, want)
			}
		}
	})
}

func TestACalendarWithoutWorkNeverComesToAnEnd(t *testing.T) {
	c := office("UTC")
	c.Hours = nil
	if at, err := c.After(1_800_000_000_000, 1); err != nil || at != Forever {
		t.Errorf("got %v and %v", at, err)
	}
	if _, err := c.Working(Span{Start: 1, End: Forever}); err == nil {
		t.Error("a span without an end was counted")
	}
}

func TestACalendarThatIsWrongSaysWhere(t *testing.T) {
	for path, spoil := range map[string]func(*Calendar){
		"time_zone":        func(c *Calendar) { c.TimeZone = "Mars" },
		"hours":            func(c *Calendar) { c.Hours = nil },
		"hours[0].days":    func(c *Calendar) { c.Hours[0].Days = nil },
		"hours[0].days[0]": func(c *Calendar) { c.Hours[0].Days = []string{"Monday"} },
		"hours[0].from":    func(c *Calendar) { c.Hours[0].From = "9:00" },
		"hours[0].to":      func(c *Calendar) { c.Hours[0].To = "08:00" },
		"holidays[0]":      func(c *Calendar) { c.Holidays = []string{"2026-02-30"} },
		"holidays[1]":      func(c *Calendar) { c.Holidays = []string{"2026-05-01", "2026-05-01"} },
		"working_days[0].date": func(c *Calendar) {
			c.Holidays, c.WorkingDays = []string{"2026-05-01"}, []WorkingDay{{"2026-05-01", "mon"}}
		},
		"working_days[0].as": func(c *Calendar) { c.WorkingDays = []WorkingDay{{Date: "2026-05-02"}} },
	} {
		c := office("UTC")
		spoil(&c)
		if faults := c.Validate(); len(faults) != 1 || faults[0].Path != path {
			t.Errorf("%s: got %v", path, faults)
		}
	}
}

func TestCalendarsAreEqualWhereTheySayTheSame(t *testing.T) {
	a, b := office("UTC"), office("UTC")
	if !a.Equal(b) {
		t.Error("two copies differ")
	}
	b.Hours[0].Days = slices.Clone(b.Hours[0].Days[:4])
	if a.Equal(b) || !strings.Contains(a.Name, "office") {
		t.Error("a day less was not seen")
	}
}
