package monitor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// Select returns the raw samples of the metric in the span, for series whose labels equal all
// matchers (an empty value matches an absent label). Markers that say a series ended are left out:
// a reading's end is told by its distance to the next. Series are sorted by their labels.
func (m *Monitor) Select(ctx context.Context, metric string, matchers map[string]string, span rental.Span) ([]rental.Series, error) {
	if metric == "" {
		return nil, errors.New("select: no metric named")
	}
	if span.Empty() {
		return nil, nil
	}
	querier, err := m.db.Querier(int64(span.Start), int64(span.End-1))
	if err != nil {
		return nil, fmt.Errorf("select %s: %w", metric, err)
	}
	selected, err := readSeries(querier.Select(ctx, true, nil, equalMatchers(metric, matchers)...))
	if err = errors.Join(err, querier.Close()); err != nil {
		return nil, fmt.Errorf("select %s: %w", metric, err)
	}
	return selected, nil
}

func equalMatchers(metric string, matchers map[string]string) []*labels.Matcher {
	all := []*labels.Matcher{labels.MustNewMatcher(labels.MatchEqual, labels.MetricName, metric)}
	for name, value := range matchers {
		all = append(all, labels.MustNewMatcher(labels.MatchEqual, name, value))
	}
	return all
}

func readSeries(set storage.SeriesSet) ([]rental.Series, error) {
	var all []rental.Series
	var it chunkenc.Iterator
	for set.Next() {
		series := set.At()
		one := rental.Series{Labels: withoutName(series.Labels())}
		it = series.Iterator(it)
		for kind := it.Next(); kind != chunkenc.ValNone; kind = it.Next() {
			if kind != chunkenc.ValFloat {
				continue
			}
			if t, v := it.At(); !value.IsStaleNaN(v) {
				one.Samples = append(one.Samples, rental.Sample{At: rental.Millis(t), Value: v})
			}
		}
		if err := it.Err(); err != nil {
			return nil, err
		}
		if len(one.Samples) > 0 {
			all = append(all, one)
		}
	}
	return all, set.Err()
}

// Query evaluates a PromQL expression at one moment: a vector gives one sample a series, a scalar one
// series without labels. Times are those of the evaluation.
func (m *Monitor) Query(ctx context.Context, expr string, at time.Time) ([]rental.Series, error) {
	query, err := m.engine.NewInstantQuery(ctx, m.db, nil, expr, at)
	if err != nil {
		return nil, fmt.Errorf("query %q: %w", expr, err)
	}
	return execute(ctx, expr, query)
}

// QueryRange evaluates a PromQL expression at span.Start, each step after it, and before span.End.
func (m *Monitor) QueryRange(ctx context.Context, expr string, span rental.Span, step time.Duration) ([]rental.Series, error) {
	if step < time.Millisecond {
		return nil, fmt.Errorf("query %q: step is %s: expected at least 1ms", expr, step)
	}
	if span.Empty() {
		return nil, nil
	}
	query, err := m.engine.NewRangeQuery(ctx, m.db, nil, expr, span.Start.Time(), (span.End - 1).Time(), step)
	if err != nil {
		return nil, fmt.Errorf("query %q: %w", expr, err)
	}
	return execute(ctx, expr, query)
}

// execute runs the query and copies its result out of the engine's memory.
func execute(ctx context.Context, expr string, query promql.Query) ([]rental.Series, error) {
	defer query.Close()
	result := query.Exec(ctx)
	if result.Err != nil {
		return nil, fmt.Errorf("query %q: %w", expr, result.Err)
	}
	var all []rental.Series
	switch got := result.Value.(type) {
	case promql.Scalar:
		all = []rental.Series{{Labels: map[string]string{}, Samples: []rental.Sample{{At: rental.Millis(got.T), Value: got.V}}}}
	case promql.Vector:
		for _, s := range got {
			if s.H == nil {
				all = append(all, rental.Series{Labels: withoutName(s.Metric), Samples: []rental.Sample{{At: rental.Millis(s.T), Value: s.F}}})
			}
		}
	case promql.Matrix:
		for _, s := range got {
			one := rental.Series{Labels: withoutName(s.Metric), Samples: make([]rental.Sample, 0, len(s.Floats))}
			for _, p := range s.Floats {
				one.Samples = append(one.Samples, rental.Sample{At: rental.Millis(p.T), Value: p.F})
			}
			all = append(all, one)
		}
	default:
		return nil, fmt.Errorf("query %q gives a %s: expected numbers", expr, got.Type())
	}
	sortSeries(all)
	return all, nil
}

func withoutName(l labels.Labels) map[string]string {
	m := l.Map()
	delete(m, labels.MetricName)
	return m
}

// sortSeries puts series in the order of their labels, so that results are the same each time.
func sortSeries(all []rental.Series) {
	slices.SortStableFunc(all, func(a, b rental.Series) int {
		return strings.Compare(labels.FromMap(a.Labels).String(), labels.FromMap(b.Labels).String())
	})
}
