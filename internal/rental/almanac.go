package rental

import (
	"slices"
	"time"
)

// almanac remembers the months and days of one zone for the length of one reckoning: a charge
// asks for the same few of them thousands of times. It is not safe for concurrent use.
type almanac struct {
	loc    *time.Location
	months map[Month]almanacMonth
	anchor Millis // where weeks and anniversary months are counted from: the lease's start
}

type almanacMonth struct {
	span Span
	days []Span
}

func newAlmanac(zone string, anchor Millis) (almanac, error) {
	loc, err := LoadZone(zone)
	return almanac{loc: loc, months: map[Month]almanacMonth{}, anchor: anchor}, err
}

// month returns the month that holds the moment, with its days.
func (a almanac) month(at Millis) (Month, almanacMonth) {
	m := monthOf(a.loc, at)
	known, ok := a.months[m]
	if !ok {
		known.span = monthSpan(a.loc, m)
		known.days = cutDays(a.loc, known.span)
		a.months[m] = known
	}
	return m, known
}

// day returns the day that holds the moment.
func (a almanac) day(at Millis) Span {
	_, m := a.month(at)
	i, _ := slices.BinarySearchFunc(m.days, at, func(d Span, at Millis) int {
		if d.End <= at {
			return -1
		}
		return 1
	})
	return m.days[min(i, len(m.days)-1)]
}

// hour returns the hour of the zone's clock that holds the moment; it is short where the clock
// changes within it.
func (a almanac) hour(at Millis) Span {
	t := at.Time().In(a.loc)
	_, offset := t.Zone()
	shift := Millis(offset) * 1000
	into := (at + shift) % millisOfHour
	if into < 0 {
		into += millisOfHour
	}
	hour := Span{Start: at - into, End: at - into + millisOfHour}
	from, until := t.ZoneBounds()
	if !from.IsZero() {
		hour.Start = max(hour.Start, At(from))
	}
	if !until.IsZero() {
		hour.End = min(hour.End, At(until))
	}
	return hour
}

const millisOfHour Millis = 3_600_000

// week returns the week, counted from the anchor, that holds the moment: seven calendar days of
// the zone, from the anchor's time of day.
func (a almanac) week(at Millis) Span {
	t := a.anchor.Time().In(a.loc)
	return a.renewal(at, 7*24*millisOfHour, func(n int) Millis {
		return At(Instant(a.loc, t.Year(), t.Month(), t.Day()+7*n, t.Hour(), t.Minute(), t.Second())) + a.anchor%1000
	})
}

// anniversaryMonth returns the month, counted from the anchor, that holds the moment.
func (a almanac) anniversaryMonth(at Millis) Span {
	return a.renewal(at, 31*24*millisOfHour, func(n int) Millis { return anniversary(a.loc, a.anchor, n) })
}

// renewal returns the span between two renewals that holds a moment not before the anchor.
// longest is at least as long as any two are apart, but for a change of the clock.
func (a almanac) renewal(at, longest Millis, nth func(int) Millis) Span {
	n := max(int((at-a.anchor)/longest)-1, 0)
	span := Span{Start: nth(n), End: nth(n + 1)}
	for span.End <= at {
		n++
		span = Span{Start: span.End, End: nth(n + 1)}
	}
	return span
}
