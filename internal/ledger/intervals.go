package ledger

import (
	"cmp"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

func sortSpans(all []rental.SampleInterval) {
	slices.SortFunc(all, func(a, b rental.SampleInterval) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
}

func compare(a1, b1, a2, b2 string) int { return cmp.Or(cmp.Compare(a1, b1), cmp.Compare(a2, b2)) }

func sameClass(a, b rental.Interval) bool {
	return a.Class == b.Class && a.Reason == b.Reason && a.Vantage == b.Vantage
}

// paint lays an interval over a line: ordered, without overlaps, equal neighbours merged. An
// interval without a class erases. The result does not share memory with line.
func paint(line []rental.Interval, over rental.Interval) []rental.Interval {
	if over.Span.Empty() {
		return line
	}
	painted := make([]rental.Interval, 0, len(line)+2)
	put := func(i rental.Interval) {
		if i.Span.Empty() || i.Class == "" {
			return
		}
		if n := len(painted); n > 0 && painted[n-1].Span.End == i.Span.Start && sameClass(painted[n-1], i) {
			painted[n-1].Span.End = i.Span.End
			return
		}
		painted = append(painted, i)
	}
	done := false
	for _, i := range line {
		before, after := i, i
		before.Span.End = min(i.Span.End, over.Span.Start)
		after.Span.Start = max(i.Span.Start, over.Span.End)
		put(before)
		if !done && i.Span.End > over.Span.Start {
			put(over)
			done = true
		}
		put(after)
	}
	if !done {
		put(over)
	}
	return painted
}

// subtractSame returns the parts of w in which the line says something else than w, in order.
func subtractSame(w rental.Interval, line []rental.Interval) []rental.Interval {
	var rest []rental.Interval
	from := w.Span.Start
	first, _ := slices.BinarySearchFunc(line, w.Span.Start, func(i rental.Interval, at rental.Millis) int {
		if i.Span.End <= at {
			return -1
		}
		return 1
	})
	for _, i := range line[first:] {
		if i.Span.Start >= w.Span.End {
			break
		}
		if !sameClass(i, w) {
			continue
		}
		same := i.Span.Clip(w.Span)
		if from < same.Start {
			rest = append(rest, rental.Interval{Span: rental.Span{Start: from, End: same.Start}, Class: w.Class, Reason: w.Reason, Vantage: w.Vantage})
		}
		from = max(from, same.End)
	}
	if from < w.Span.End {
		rest = append(rest, rental.Interval{Span: rental.Span{Start: from, End: w.Span.End}, Class: w.Class, Reason: w.Reason, Vantage: w.Vantage})
	}
	return rest
}

// clipAll cuts intervals to a span, in order of time, equal neighbours merged. Where two
// overlap the later word in the list wins, as it does in the store.
func clipAll(intervals []rental.Interval, span rental.Span) []rental.Interval {
	var cut []rental.Interval
	for _, i := range intervals {
		i.Span = i.Span.Clip(span)
		if i.Span.Empty() || i.Class == "" {
			continue
		}
		n := len(cut)
		switch {
		case n > 0 && cut[n-1].Span.End > i.Span.Start:
			cut = paint(cut, i)
		case n > 0 && cut[n-1].Span.End == i.Span.Start && sameClass(cut[n-1], i):
			cut[n-1].Span.End = i.Span.End
		default:
			cut = append(cut, i)
		}
	}
	return cut
}
