package monitor

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
)

// blockLength is the longest block of history. It is one of the lengths that the store itself compacts to
// (2 h times a power of 3), and blocks begin and end where the store's do, so written blocks stay as they are.
const blockLength = 54 * time.Hour

// samplesPerChunk is what the store itself aims at.
const samplesPerChunk = 120

// History collects samples of the past, compressed as they come, before they are written as blocks.
// It is not safe for concurrent use.
type History struct {
	series  []*historySeries
	ids     map[uint64][]SeriesID
	span    rental.Span
	samples int
}

// SeriesID names a series within one History.
type SeriesID int

type historySeries struct {
	labels   labels.Labels
	done     map[int64][]chunks.Meta // by start of their block
	open     *chunkenc.XORChunk
	appender chunkenc.Appender
	meta     chunks.Meta
	last     int64
	first    int64
	count    int
	gap      int64 // the shortest distance of two samples
}

func newHistory() *History {
	return &History{ids: map[uint64][]SeriesID{}, span: rental.Span{Start: math.MaxInt64, End: math.MinInt64}}
}

// Series returns the id of the series with these labels, __name__ among them; it is made if it is new.
func (h *History) Series(l map[string]string) (SeriesID, error) {
	set := labels.FromMap(l)
	if set.Get(labels.MetricName) == "" {
		return 0, fmt.Errorf("series %s: no metric name: expected a label %q", set, labels.MetricName)
	}
	return h.seriesOf(set), nil
}

func (h *History) seriesOf(set labels.Labels) SeriesID {
	hash := set.Hash()
	for _, id := range h.ids[hash] {
		if labels.Equal(h.series[id].labels, set) {
			return id
		}
	}
	id := SeriesID(len(h.series))
	h.series = append(h.series, &historySeries{labels: set, done: map[int64][]chunks.Meta{}, last: math.MinInt64, gap: math.MaxInt64})
	h.ids[hash] = append(h.ids[hash], id)
	return id
}

// Append adds one sample; each series' samples must come in order of time.
func (h *History) Append(id SeriesID, at rental.Millis, v float64) error {
	s, t := h.series[id], int64(at)
	if t <= s.last {
		return fmt.Errorf("series %s: sample at %s does not come after the one at %s", s.labels, at, rental.Millis(s.last))
	}
	if err := s.append(t, v); err != nil {
		return fmt.Errorf("series %s: %w", s.labels, err)
	}
	h.span.Start, h.span.End = min(h.span.Start, at), max(h.span.End, at+1)
	h.samples++
	return nil
}

func (s *historySeries) append(t int64, v float64) error {
	if s.count == 0 {
		s.first = t
	} else {
		s.gap = min(s.gap, t-s.last)
	}
	if s.open == nil || s.open.NumSamples() >= samplesPerChunk || blockStart(t) != blockStart(s.meta.MinTime) {
		s.cut()
		s.open = chunkenc.NewXORChunk()
		appender, err := s.open.Appender()
		if err != nil {
			return err
		}
		s.appender, s.meta = appender, chunks.Meta{Chunk: s.open, MinTime: t}
	}
	s.appender.Append(0, t, v)
	s.meta.MaxTime, s.last = t, t
	s.count++
	return nil
}

// cut closes the open chunk.
func (s *historySeries) cut() {
	if s.open == nil {
		return
	}
	s.open.Compact()
	start := blockStart(s.meta.MinTime)
	s.done[start] = append(s.done[start], s.meta)
	s.open, s.appender = nil, nil
}

// blocks returns the series of each block, sorted as a block holds them, by the block's start.
func (h *History) blocks() map[int64]*memoryBlock {
	sorted := slices.Clone(h.series)
	slices.SortFunc(sorted, func(a, b *historySeries) int { return labels.Compare(a.labels, b.labels) })
	all := map[int64]*memoryBlock{}
	for _, s := range sorted {
		s.cut()
		for start, metas := range s.done {
			block, ok := all[start]
			if !ok {
				block = &memoryBlock{first: math.MaxInt64, last: math.MinInt64}
				all[start] = block
			}
			block.first = min(block.first, metas[0].MinTime)
			block.last = max(block.last, metas[len(metas)-1].MaxTime)
			block.series = append(block.series, memorySeries{labels: s.labels, chunks: metas})
		}
	}
	return all
}

// intervals guesses the interval of each metric: the shortest distance of two samples of one series.
func (h *History) intervals() map[string]time.Duration {
	shortest := map[string]int64{}
	for _, s := range h.series {
		if s.count < 2 {
			continue
		}
		name := s.labels.Get(labels.MetricName)
		if known, ok := shortest[name]; !ok || s.gap < known {
			shortest[name] = s.gap
		}
	}
	guess := make(map[string]time.Duration, len(shortest))
	for name, gap := range shortest {
		guess[name] = time.Duration(gap) * time.Millisecond
	}
	return guess
}

// blockStart returns the start of the block that holds the moment.
func blockStart(t int64) int64 {
	length := blockLength.Milliseconds()
	start := t - t%length
	if t < 0 && start != t {
		start -= length
	}
	return start
}

// starts returns the keys in order.
func starts(blocks map[int64]*memoryBlock) []int64 { return slices.Sorted(maps.Keys(blocks)) }
