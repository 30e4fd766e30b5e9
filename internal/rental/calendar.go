package rental

import (
	"fmt"
	"sync"
	"time"
	_ "time/tzdata" // the knownZones travel with the program: a static binary on a bare host still knows them
)

// knownZones remembers what time.LoadLocation returned by name: it reads a file each time, which took two
// fifths of judging thousands of leases. A zone that is known never changes.
var knownZones sync.Map

// LoadZone returns the zone with an IANA name. "Local" and the empty name are refused, because
// they would mean another zone on another machine.
func LoadZone(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, fmt.Errorf("time zone %q: expected an IANA name such as Asia/Shanghai or UTC", name)
	}
	if known, ok := knownZones.Load(name); ok {
		return known.(*time.Location), nil
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("time zone %q is not known: expected an IANA name such as Asia/Shanghai or UTC", name)
	}
	knownZones.Store(name, loc)
	return loc, nil
}

// Instant returns the moment at which a wall clock in loc shows the given time. A time that the
// clock skips moves forward by the gap, and of a time that it shows twice the first is meant.
// Out-of-range days and months roll over as time.Date has them.
func Instant(loc *time.Location, year int, month time.Month, day, hour, minute, second int) time.Time {
	wall := time.Date(year, month, day, hour, minute, second, 0, time.UTC)
	t := time.Date(year, month, day, hour, minute, second, 0, loc)
	// time.Date does not say which side of a change it chose, so both sides are tried: the
	// offset before the change gives the first of a doubled time and moves a skipped one forward.
	for _, edge := range zoneEdges(t) {
		_, before := edge.Add(-time.Nanosecond).Zone()
		candidate := wall.Add(-time.Duration(before) * time.Second)
		if candidate.Before(edge) {
			if sameWall(candidate.In(loc), wall) {
				return candidate.In(loc)
			}
			continue
		}
		_, after := edge.Zone()
		if wall.Add(-time.Duration(after) * time.Second).Before(edge) {
			return candidate.In(loc)
		}
	}
	return t
}

// zoneEdges returns the changes of the zone's offset next to t.
func zoneEdges(t time.Time) []time.Time {
	start, end := t.ZoneBounds()
	var edges []time.Time
	if !start.IsZero() {
		edges = append(edges, start)
	}
	if !end.IsZero() {
		edges = append(edges, end)
	}
	return edges
}

func sameWall(local, wall time.Time) bool {
	_, offset := local.Zone()
	return local.UTC().Add(time.Duration(offset) * time.Second).Equal(wall)
}

// Month is a calendar month; in which zone it begins is the contract's matter.
type Month struct {
	Year  int
	Month time.Month
}

// ParseMonth reads "2026-05".
func ParseMonth(text string) (Month, error) {
	t, err := time.Parse("2006-01", text)
	if err != nil {
		return Month{}, fmt.Errorf("month %q: expected YYYY-MM, such as 2026-05", text)
	}
	return Month{Year: t.Year(), Month: t.Month()}, nil
}

// String returns the month as ParseMonth reads it.
func (m Month) String() string { return fmt.Sprintf("%04d-%02d", m.Year, int(m.Month)) }

// Before returns the month before m.
func (m Month) Before() Month {
	if m.Month == time.January {
		return Month{Year: m.Year - 1, Month: time.December}
	}
	return Month{Year: m.Year, Month: m.Month - 1}
}

// Next returns the month after m.
func (m Month) Next() Month {
	if m.Month == time.December {
		return Month{Year: m.Year + 1, Month: time.January}
	}
	return Month{Year: m.Year, Month: m.Month + 1}
}

// Span returns the time of the month in the zone.
func (m Month) Span(zone string) (Span, error) { return MonthSpan(zone, m.Year, m.Month) }

// MonthOf returns the month that holds the moment, in the zone.
func MonthOf(zone string, at Millis) (Month, error) {
	loc, err := LoadZone(zone)
	if err != nil {
		return Month{}, err
	}
	return monthOf(loc, at), nil
}

func monthOf(loc *time.Location, at Millis) Month {
	t := at.Time().In(loc)
	return Month{Year: t.Year(), Month: t.Month()}
}

// MonthSpan returns the time of a calendar month in the zone, daylight saving included: 743 h
// for March 2026 in America/Los_Angeles.
func MonthSpan(zone string, year int, month time.Month) (Span, error) {
	loc, err := LoadZone(zone)
	if err != nil {
		return Span{}, err
	}
	return monthSpan(loc, Month{Year: year, Month: month}), nil
}

func monthSpan(loc *time.Location, m Month) Span {
	return Span{
		Start: At(Instant(loc, m.Year, m.Month, 1, 0, 0, 0)),
		End:   At(Instant(loc, m.Year, m.Month+1, 1, 0, 0, 0)),
	}
}

// DaySpan returns the time of a calendar day in the zone: 23 h or 25 h where the clock changes.
func DaySpan(zone string, year int, month time.Month, day int) (Span, error) {
	loc, err := LoadZone(zone)
	if err != nil {
		return Span{}, err
	}
	return daySpan(loc, year, month, day), nil
}

func daySpan(loc *time.Location, year int, month time.Month, day int) Span {
	return Span{
		Start: At(Instant(loc, year, month, day, 0, 0, 0)),
		End:   At(Instant(loc, year, month, day+1, 0, 0, 0)),
	}
}

// Months cuts span into the calendar months of the zone that it touches: each is returned whole.
// The span must have an end.
func Months(zone string, span Span) ([]Month, error) {
	loc, err := LoadZone(zone)
	if err != nil {
		return nil, err
	}
	if span.Empty() {
		return nil, nil
	}
	if span.End == Forever {
		return nil, fmt.Errorf("span from %s has no end: expected an end to count months to", span.Start)
	}
	var out []Month
	for m := monthOf(loc, span.Start); monthSpan(loc, m).Start < span.End; m = m.Next() {
		out = append(out, m)
	}
	return out, nil
}

// Days cuts span at the midnights of the zone; the first and last part may be short.
func Days(zone string, span Span) ([]Span, error) {
	loc, err := LoadZone(zone)
	if err != nil {
		return nil, err
	}
	if span.End == Forever && !span.Empty() {
		return nil, fmt.Errorf("span from %s has no end: expected an end to count days to", span.Start)
	}
	return cutDays(loc, span), nil
}

func cutDays(loc *time.Location, span Span) []Span {
	var out []Span
	for cursor := span.Start; cursor < span.End; {
		end := min(dayOf(loc, cursor).End, span.End)
		out = append(out, Span{Start: cursor, End: end})
		cursor = end
	}
	return out
}

// dayOf returns the calendar day that holds the moment.
func dayOf(loc *time.Location, at Millis) Span {
	y, m, d := at.Time().In(loc).Date()
	day := daySpan(loc, y, m, d)
	for day.End <= at { // a doubled midnight: the moment is in the second telling of the evening before
		d++
		day = Span{Start: day.End, End: daySpan(loc, y, m, d).End}
	}
	return day
}

// Anniversary returns the n-th monthly renewal of a lease that began at start, in the zone: the
// same day and time of day, or the month's last day where it has no such day. It is counted from
// the start each time, so 31 January renews on 28 February and then on 31 March.
func Anniversary(zone string, start Millis, n int) (Millis, error) {
	loc, err := LoadZone(zone)
	if err != nil {
		return 0, err
	}
	return anniversary(loc, start, n), nil
}

func anniversary(loc *time.Location, start Millis, n int) Millis {
	t := start.Time().In(loc)
	first := time.Date(t.Year(), t.Month()+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	last := time.Date(first.Year(), first.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	at := Instant(loc, first.Year(), first.Month(), min(t.Day(), last), t.Hour(), t.Minute(), t.Second())
	return At(at) + Millis(t.Nanosecond()/int(time.Millisecond))
}

// Hours cuts span at the whole hours of UTC; the first and last part may be short. The span must
// have an end.
func Hours(span Span) []Span {
	var out []Span
	for cursor := span.Start; cursor < span.End && span.End != Forever; {
		end := min(At(cursor.Time().Truncate(time.Hour).Add(time.Hour)), span.End)
		out = append(out, Span{Start: cursor, End: end})
		cursor = end
	}
	return out
}
