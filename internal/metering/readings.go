package metering

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// perCardQueries is up to how many cards are asked for one by one; beyond, all are read at once.
const perCardQueries = 32

// cardReadings is what the samples say of one card.
type cardReadings struct {
	use, held, working holds
	energy             []step
}

type readings struct {
	cards map[string]*cardReadings
	none  cardReadings
}

func (r *readings) card(uuid string) *cardReadings {
	if c, ok := r.cards[uuid]; ok {
		return c
	}
	return &r.none
}

// readings reads what the chunk's records need, one metric after the other.
func (s *Service) readings(ctx context.Context, chunk rental.Span, assignments []rental.Assignment) (*readings, error) {
	r := &readings{cards: map[string]*cardReadings{}}
	for _, a := range assignments {
		r.cards[a.UUID] = &cardReadings{}
	}
	if len(r.cards) == 0 {
		return r, nil
	}
	recorded, err := s.ledger.SampleIntervals(ctx, rental.Span{Start: chunk.Start - hour, End: chunk.End + hour})
	if err != nil {
		return nil, err
	}
	grid := grid{standard: s.o.Interval.Milliseconds(), recorded: recorded}
	margin := rental.Millis(2 * grid.widest())
	around := rental.Span{Start: max(0, chunk.Start-margin), End: chunk.End + margin + 1}
	for _, m := range []struct {
		metric string
		put    func(c *cardReadings, h holds)
	}{
		{utilization, func(c *cardReadings, h holds) { c.use = h }},
		{allocated, func(c *cardReadings, h holds) { c.held = h }},
		{smActive, func(c *cardReadings, h holds) { c.working = h }},
	} {
		series, err := s.selectCards(ctx, m.metric, around, r.cards)
		if err != nil {
			return nil, err
		}
		for uuid, copies := range series {
			samples, dropped := merge(hostFirst(copies))
			s.dropped.Add(int64(dropped))
			m.put(r.cards[uuid], grid.hold(samples))
		}
	}
	far := rental.Span{Start: max(0, chunk.Start-maxGap), End: chunk.End + maxGap}
	series, err := s.selectCards(ctx, energy, far, r.cards)
	if err != nil {
		return nil, err
	}
	for uuid, copies := range series {
		steps, dropped := energySteps(hostFirst(copies))
		s.dropped.Add(int64(dropped))
		r.cards[uuid].energy = steps
	}
	return r, nil
}

// selectCards returns the series of a metric by card; a card may have several copies, scraped
// and pushed.
func (s *Service) selectCards(ctx context.Context, metric string, span rental.Span, cards map[string]*cardReadings) (map[string][]rental.Series, error) {
	by := map[string][]rental.Series{}
	add := func(matchers map[string]string) error {
		series, err := s.samples.Select(ctx, metric, matchers, span)
		if err != nil {
			return err
		}
		for _, one := range series {
			if uuid := one.Labels["uuid"]; cards[uuid] != nil {
				by[uuid] = append(by[uuid], one)
			}
		}
		return nil
	}
	if len(cards) > perCardQueries {
		return by, add(nil)
	}
	for uuid := range cards {
		if err := add(map[string]string{"uuid": uuid}); err != nil {
			return nil, err
		}
	}
	return by, nil
}

// merge makes one line of samples of all copies: one a moment, the highest where copies differ,
// as the recorded series has it. Ratios outside of 0 to 1 are sentinels or errors of the driver;
// they are dropped and counted, and so is what is no number.
func merge(copies []rental.Series) (samples []rental.Sample, dropped int) {
	total := 0
	for _, c := range copies {
		total += len(c.Samples)
	}
	samples = make([]rental.Sample, 0, total)
	for _, c := range copies {
		for _, sample := range c.Samples {
			if !(sample.Value >= 0 && sample.Value <= 1) {
				dropped++
				continue
			}
			samples = append(samples, sample)
		}
	}
	if len(copies) > 1 {
		slices.SortStableFunc(samples, func(a, b rental.Sample) int {
			return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(b.Value, a.Value))
		})
		samples = slices.CompactFunc(samples, func(a, b rental.Sample) bool { return a.At == b.At })
	}
	return samples, dropped
}

// grid says how far apart samples are at each moment, in milliseconds.
type grid struct {
	standard int64
	recorded []rental.SampleInterval // in order of time
}

func (g grid) widest() int64 {
	widest := g.standard
	for _, r := range g.recorded {
		widest = max(widest, r.IntervalMS)
	}
	return widest
}

// at returns the interval that holds at a moment, and the recorded span that it comes from.
func (g grid) at(m rental.Millis) (int64, rental.Span) {
	for _, r := range g.recorded {
		if r.Span.Contains(m) {
			return r.IntervalMS, r.Span
		}
	}
	return g.standard, rental.Span{}
}

// held is a reading and the span for which it counts.
type held struct {
	span       rental.Span
	millionths int64
}

// holds are readings in order of time without overlaps.
type holds []held

// hold lets each sample count until the next, where that is at most two intervals away (rule 8
// of the design). In loaded history, whose grid is known, the last sample counts for its slot.
func (g grid) hold(samples []rental.Sample) holds {
	all := make(holds, 0, len(samples))
	for i, sample := range samples {
		interval, loaded := g.at(sample.At)
		end := sample.At
		if i+1 < len(samples) && int64(samples[i+1].At-sample.At) <= 2*interval {
			end = samples[i+1].At
		} else if slot := sample.At + rental.Millis(interval); slot >= loaded.End {
			end = max(end, loaded.End)
		}
		if end > sample.At {
			all = append(all, held{rental.Span{Start: sample.At, End: end}, int64(math.Round(sample.Value * 1e6))})
		}
	}
	return all
}

// over calls fn for every part of a reading within the span.
func (h holds) over(span rental.Span, fn func(ms, millionths int64)) {
	first, _ := slices.BinarySearchFunc(h, span.Start, func(x held, at rental.Millis) int {
		if x.span.End <= at {
			return -1
		}
		return 1
	})
	for _, x := range h[first:] {
		if x.span.Start >= span.End {
			return
		}
		fn(x.span.Clip(span).Duration(), x.millionths)
	}
}
