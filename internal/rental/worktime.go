package rental

import (
	"fmt"
	"slices"
	"time"
)

// Calendar says when people work: the hours of each weekday in a zone, less holidays, with the
// days that are worked in exchange for others. A contract holds a copy of the one that it names, so
// that a later change of the calendar judges nothing anew.
type Calendar struct {
	Name string `json:"name" yaml:"-"`
	// TimeZone is the IANA zone of the hours and days.
	TimeZone string      `json:"time_zone" yaml:"time_zone"`
	Hours    []WorkHours `json:"hours" yaml:"hours"`
	// Holidays are days without work, as 2026-05-01.
	Holidays []string `json:"holidays,omitempty" yaml:"holidays"`
	// WorkingDays are worked although their weekday, or a holiday's neighbourhood, would be free.
	WorkingDays []WorkingDay `json:"working_days,omitempty" yaml:"working_days"`
}

// WorkHours are hours that are worked on some weekdays.
type WorkHours struct {
	Days []string `json:"days" yaml:"days"` // mon, tue, wed, thu, fri, sat, sun
	// From and To are times of the zone's clock, as "09:00"; To may be "24:00".
	From string `json:"from" yaml:"from"`
	To   string `json:"to" yaml:"to"`
}

// WorkingDay is a day that is worked with another weekday's hours.
type WorkingDay struct {
	Date string `json:"date" yaml:"date"` // 2026-10-10
	As   string `json:"as" yaml:"as"`     // mon ... sun
}

// weekdays are the names of days as Calendar takes them, in the order of time.Weekday.
var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// workHorizon bounds how far ahead a moment is looked for: a calendar that has no working day in so
// many days has none that anybody waits for.
const workHorizon = 3 * 366

// Validate returns what is wrong with the calendar; nothing where it is whole.
func (c Calendar) Validate() []FieldError {
	var f faults
	if _, err := LoadZone(c.TimeZone); err != nil {
		f.add("time_zone", orNothing(c.TimeZone), "an IANA name such as Asia/Shanghai or UTC")
	}
	f.check(len(c.Hours) > 0, "hours", "nothing", "at least one line of hours: without any, no clock ever runs")
	for i, h := range c.Hours {
		path := fmt.Sprintf("hours[%d]", i)
		f.check(len(h.Days) > 0, path+".days", "nothing", "weekdays such as [mon, tue]")
		for k, d := range h.Days {
			f.choice(fmt.Sprintf("%s.days[%d]", path, k), d, weekdays...)
		}
		from, fromOK := clockTime(h.From)
		to, toOK := clockTime(h.To)
		f.check(fromOK && from < 24*60, path+".from", orNothing(h.From), "a time such as \"09:00\"")
		f.check(toOK, path+".to", orNothing(h.To), "a time such as \"17:00\", at most \"24:00\"")
		f.check(!fromOK || !toOK || from < to, path+".to", orNothing(h.To), "a time after from; hours past midnight are two lines")
	}
	seen := map[string]string{}
	day := func(path, date string) {
		if _, err := time.Parse(time.DateOnly, date); err != nil {
			f.add(path, orNothing(date), "a day such as 2026-05-01")
			return
		}
		f.check(seen[date] == "", path, date, "a day that is not in "+seen[date]+" already")
		seen[date] = path
	}
	for i, date := range c.Holidays {
		day(fmt.Sprintf("holidays[%d]", i), date)
	}
	for i, w := range c.WorkingDays {
		path := fmt.Sprintf("working_days[%d]", i)
		day(path+".date", w.Date)
		f.choice(path+".as", w.As, weekdays...)
	}
	return f.list
}

// clockTime reads "09:30" as minutes of the day; "24:00" is its end.
func clockTime(text string) (minutes int, ok bool) {
	if text == "24:00" {
		return 24 * 60, true
	}
	t, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		return 0, false
	}
	return t.Hour()*60 + t.Minute(), true
}

// rota is a calendar that was read once for many questions.
type rota struct {
	loc   *time.Location
	hours map[string][]WorkHours // by weekday
	as    map[string]string      // by date: the weekday whose hours are worked; "" for a holiday
}

func (c Calendar) rota() (rota, error) {
	loc, err := LoadZone(c.TimeZone)
	if err != nil {
		return rota{}, fmt.Errorf("calendar %s: %w", c.Name, err)
	}
	r := rota{loc: loc, hours: map[string][]WorkHours{}, as: map[string]string{}}
	for _, h := range c.Hours {
		for _, d := range h.Days {
			r.hours[d] = append(r.hours[d], h)
		}
	}
	for _, date := range c.Holidays {
		r.as[date] = ""
	}
	for _, w := range c.WorkingDays {
		r.as[w.Date] = w.As
	}
	return r, nil
}

// day returns the working time of the n-th day after the one that holds start, in order.
func (r rota) day(start Millis, n int) []Span {
	t := start.Time().In(r.loc)
	// Noon is on every day, whatever the clock does at night.
	date := time.Date(t.Year(), t.Month(), t.Day()+n, 12, 0, 0, 0, time.UTC)
	weekday := weekdays[date.Weekday()]
	if as, special := r.as[date.Format(time.DateOnly)]; special {
		weekday = as
	}
	if noon := Instant(r.loc, date.Year(), date.Month(), date.Day(), 12, 0, 0); noon.Day() != date.Day() {
		return nil // a day that the zone left out
	}
	var out []Span
	for _, h := range r.hours[weekday] {
		from, _ := clockTime(h.From)
		to, _ := clockTime(h.To)
		at := func(minutes int) Millis {
			return At(Instant(r.loc, date.Year(), date.Month(), date.Day(), minutes/60, minutes%60, 0))
		}
		out = append(out, Span{Start: at(from), End: at(to)})
	}
	return UnionSpans(out)
}

// Working returns the time of the span in which people work, in order, without overlaps. The span
// must have an end.
func (c Calendar) Working(span Span) ([]Span, error) {
	if span.End == Forever && !span.Empty() {
		return nil, fmt.Errorf("calendar %s: span from %s has no end: expected an end to count hours to", c.Name, span.Start)
	}
	r, err := c.rota()
	if err != nil {
		return nil, err
	}
	var out []Span
	// A day before, because a zone's day may begin twice where its clock goes back over midnight.
	for n := -1; ; n++ {
		if first := r.midnight(span.Start, n); first >= span.End {
			return ClipSpans(out, span), nil
		}
		out = append(out, r.day(span.Start, n)...)
	}
}

func (r rota) midnight(start Millis, n int) Millis {
	t := start.Time().In(r.loc)
	return At(Instant(r.loc, t.Year(), t.Month(), t.Day()+n, 0, 0, 0))
}

// After returns the moment at which so many milliseconds of work have passed since start; Forever
// where three years hold less than that.
func (c Calendar) After(start Millis, work int64) (Millis, error) {
	r, err := c.rota()
	if err != nil {
		return 0, err
	}
	left := work
	for n := -1; n < workHorizon; n++ {
		for _, s := range r.day(start, n) {
			s.Start = max(s.Start, start)
			if s.Empty() {
				continue
			}
			if left <= s.Duration() {
				return s.Start + Millis(left), nil
			}
			left -= s.Duration()
		}
	}
	return Forever, nil
}

// Equal tells whether two calendars say the same.
func (c Calendar) Equal(o Calendar) bool {
	return c.Name == o.Name && c.TimeZone == o.TimeZone && slices.Equal(c.Holidays, o.Holidays) && slices.Equal(c.WorkingDays, o.WorkingDays) &&
		slices.EqualFunc(c.Hours, o.Hours, func(a, b WorkHours) bool { return a.From == b.From && a.To == b.To && slices.Equal(a.Days, b.Days) })
}
