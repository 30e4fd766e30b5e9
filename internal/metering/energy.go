package metering

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

const (
	// maxJoules is more than a card can have drawn since its driver was loaded (2 kW for a
	// hundred years); larger values are the driver's sentinels.
	maxJoules = 1e13
	// maxWatts is more than any card draws. A counter that rose faster, or that after a reset
	// shows more than that rate since the sample before, is a stale or broken reading.
	maxWatts = 5000
	// maxGap is the longest rise that is counted, in milliseconds. Neighbours of an hour are
	// looked for as far, so that metering an hour alone or with others says the same.
	maxGap = 30 * 60_000
)

// step is what a counter rose by between two samples.
type step struct {
	span       rental.Span
	milliJoule int64
}

// energySteps returns the rises of a card's counter in order of time. A fall is a reset: the
// counter began at 0 again, and what it shows is a floor of what was drawn. Each copy of the
// series is read by itself, because a page may lag behind a push and would look like a reset;
// the first copy by labels counts, the others where it has none. A rise over more than
// maxGap is left out: whose hour it was is not known.
func energySteps(copies []rental.Series) (steps []step, dropped int) {
	copies = slices.Clone(copies)
	slices.SortFunc(copies, func(a, b rental.Series) int { return cmp.Compare(fmt.Sprint(a.Labels), fmt.Sprint(b.Labels)) })
	for _, c := range copies {
		found, n := stepsOf(c.Samples)
		dropped += n
		if steps == nil {
			steps = found
			continue
		}
		free := slices.DeleteFunc(found, func(one step) bool { return overlapsAny(steps, one.span) })
		steps = append(steps, free...)
		slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(a.span.Start, b.span.Start) })
	}
	return steps, dropped
}

// overlapsAny tells whether a span overlaps one of the steps, which are in order.
func overlapsAny(steps []step, span rental.Span) bool {
	first, _ := slices.BinarySearchFunc(steps, span.Start, endsBy)
	return first < len(steps) && steps[first].span.Overlaps(span)
}

// endsBy orders a step before a moment where it has ended by then.
func endsBy(x step, at rental.Millis) int {
	if x.span.End <= at {
		return -1
	}
	return 1
}

func stepsOf(samples []rental.Sample) (steps []step, dropped int) {
	var last rental.Sample
	known := false
	for _, sample := range samples {
		if !(sample.Value >= 0 && sample.Value < maxJoules) {
			dropped++
			continue
		}
		if !known {
			last, known = sample, true
			continue
		}
		if sample.At <= last.At {
			continue
		}
		rise := sample.Value - last.Value
		if rise < 0 {
			rise = sample.Value
		}
		// Half a second more than the clock says: page and counter are not read at once.
		if rise > maxWatts*(float64(sample.At-last.At)+500)/1000 {
			dropped++
			continue
		}
		if sample.At-last.At <= maxGap {
			steps = append(steps, step{rental.Span{Start: last.At, End: sample.At}, int64(math.Round(rise * 1000))})
		}
		last = sample
	}
	return steps, dropped
}

// energyOver returns the millijoules of a span and the time of it over which they were counted. A
// step on a border is split by time, in whole millijoules of which none is lost or counted twice.
func energyOver(steps []step, span rental.Span) (total, knownMS int64) {
	first, _ := slices.BinarySearchFunc(steps, span.Start, endsBy)
	for _, x := range steps[first:] {
		if x.span.Start >= span.End {
			break
		}
		part := x.span.Clip(span)
		total += x.until(part.End) - x.until(part.Start)
		knownMS += part.Duration()
	}
	return total, knownMS
}

// until is the part of a step before a moment in it, floored.
func (x step) until(at rental.Millis) int64 {
	switch at {
	case x.span.Start:
		return 0
	case x.span.End:
		return x.milliJoule
	}
	part := big.NewInt(x.milliJoule)
	part.Mul(part, big.NewInt(int64(at-x.span.Start)))
	return part.Div(part, big.NewInt(x.span.Duration())).Int64()
}
