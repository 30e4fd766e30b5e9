package monitor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// endRecorded ends the recorded series that the evaluation at the given moment did not record
// again. A running server does that by itself; a series from before a restart would go on for
// the lookback, and with it an alert on what has healed meanwhile.
func (m *Monitor) endRecorded(ctx context.Context, at time.Time) (err error) {
	querier, err := m.db.Querier(at.Add(-m.opts.Lookback).UnixMilli(), at.UnixMilli())
	if err != nil {
		return fmt.Errorf("recorded series from before the restart: %w", err)
	}
	defer func() { err = errors.Join(err, querier.Close()) }()
	app := m.db.Appender(ctx)
	seen := map[string]bool{}
	for _, group := range m.rules.RuleGroups() {
		for _, rule := range group.Rules() {
			if _, recording := rule.(*rules.RecordingRule); !recording || seen[rule.Name()] {
				continue
			}
			seen[rule.Name()] = true
			set := querier.Select(ctx, false, nil, labels.MustNewMatcher(labels.MatchEqual, labels.MetricName, rule.Name()))
			for set.Next() {
				series := set.At()
				last, ended := int64(math.MinInt64), false
				it := series.Iterator(nil)
				for it.Next() == chunkenc.ValFloat {
					when, v := it.At()
					last, ended = when, value.IsStaleNaN(v)
				}
				if ended || last >= at.UnixMilli() {
					continue
				}
				if _, err := app.Append(0, series.Labels(), at.UnixMilli(), math.Float64frombits(value.StaleNaN)); err != nil {
					return errors.Join(fmt.Errorf("ending series %s: %w", series.Labels(), err), app.Rollback())
				}
			}
			if err := set.Err(); err != nil {
				return errors.Join(fmt.Errorf("series recorded as %s: %w", rule.Name(), err), app.Rollback())
			}
		}
	}
	return app.Commit()
}
