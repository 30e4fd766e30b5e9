package rental

import (
	"cmp"
	"slices"
)

// UnionSpans returns the same time as spans in order, without overlaps, touching spans joined.
func UnionSpans(spans []Span) []Span {
	sorted := make([]Span, 0, len(spans))
	for _, s := range spans {
		if !s.Empty() {
			sorted = append(sorted, s)
		}
	}
	slices.SortFunc(sorted, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	var out []Span
	for _, s := range sorted {
		if n := len(out); n > 0 && s.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, s.End)
			continue
		}
		out = append(out, s)
	}
	return out
}

// SubtractSpans returns the time of from that lies in none of the holes, in order.
func SubtractSpans(from, holes []Span) []Span {
	var out []Span
	cuts := UnionSpans(holes)
	for _, s := range UnionSpans(from) {
		for _, h := range cuts {
			if h.End <= s.Start {
				continue
			}
			if h.Start >= s.End {
				break
			}
			if h.Start > s.Start {
				out = append(out, Span{Start: s.Start, End: h.Start})
			}
			s.Start = h.End
			if s.Empty() {
				break
			}
		}
		if !s.Empty() {
			out = append(out, s)
		}
	}
	return out
}

// ClipSpans returns the parts of the spans that lie in window, in order, without overlaps.
func ClipSpans(spans []Span, window Span) []Span {
	var out []Span
	for _, s := range UnionSpans(spans) {
		if c := s.Clip(window); !c.Empty() {
			out = append(out, c)
		}
	}
	return out
}

// TotalMillis returns the length of the union of the spans in milliseconds.
func TotalMillis(spans []Span) int64 {
	var total int64
	for _, s := range UnionSpans(spans) {
		total += s.Duration()
	}
	return total
}
