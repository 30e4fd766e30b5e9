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
}

type almanacMonth struct {
	span Span
	days []Span
}

func newAlmanac(zone string) (almanac, error) {
	loc, err := LoadZone(zone)
	return almanac{loc: loc, months: map[Month]almanacMonth{}}, err
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
