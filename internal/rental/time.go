// Package rental is the vocabulary and the arithmetic of renting GPUs: spans, money,
// contracts, leases, downtime, bills and verdicts. It uses the standard library only,
// does no input or output, and never asks for the time.
package rental

import (
	"fmt"
	"math"
	"time"
)

// Millis is a moment in UTC, in milliseconds since 1970-01-01T00:00:00Z.
type Millis int64

// Forever is the end of a span that has no end yet.
const Forever Millis = math.MaxInt64

// At returns t as Millis, floored to the millisecond.
func At(t time.Time) Millis { return Millis(t.UnixMilli()) }

// Time returns the moment as a time in UTC.
func (m Millis) Time() time.Time { return time.UnixMilli(int64(m)).UTC() }

// String returns the moment in RFC 3339 with milliseconds where it has any, or "open" for Forever.
func (m Millis) String() string {
	if m == Forever {
		return "open"
	}
	return m.Time().Format(time.RFC3339Nano)
}

// MarshalText writes the moment as String does.
func (m Millis) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads RFC 3339 with an offset, or "open".
func (m *Millis) UnmarshalText(text []byte) error {
	if string(text) == "open" {
		*m = Forever
		return nil
	}
	t, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return fmt.Errorf("time %q: expected RFC 3339 with an offset, such as 2026-05-01T00:00:00Z", text)
	}
	*m = At(t)
	return nil
}

// Span is the half-open time from Start up to, but without, End.
type Span struct {
	Start Millis `json:"start" yaml:"start"`
	End   Millis `json:"end" yaml:"end"`
}

// Duration returns the length of the span in milliseconds; 0 where End is not after Start.
func (s Span) Duration() int64 {
	if s.End <= s.Start {
		return 0
	}
	return int64(s.End - s.Start)
}

// Empty tells whether the span holds no time.
func (s Span) Empty() bool { return s.End <= s.Start }

// Contains tells whether the moment lies in the span.
func (s Span) Contains(m Millis) bool { return s.Start <= m && m < s.End }

// Overlaps tells whether the two spans share any time.
func (s Span) Overlaps(o Span) bool {
	return s.Start < o.End && o.Start < s.End && !s.Empty() && !o.Empty()
}

// Clip returns the part of s that lies in o; it is empty where there is none.
func (s Span) Clip(o Span) Span {
	c := Span{Start: max(s.Start, o.Start), End: min(s.End, o.End)}
	if c.End < c.Start {
		c.End = c.Start
	}
	return c
}
