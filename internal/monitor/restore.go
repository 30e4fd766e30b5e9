package monitor

import (
	"context"
	"math"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// forStateMetric is where the engine records since when each alert is active, in seconds.
const forStateMetric = "ALERTS_FOR_STATE"

// maxReplay bounds the evaluations replayed for one rule; for a longer hold they lie further apart.
const maxReplay = 500

// lastEvaluated returns when the previous run of the server last stored anything, or zero for a new store.
func (m *Monitor) lastEvaluated() time.Time {
	last := m.db.Head().MaxTime()
	for _, block := range m.db.BlockMetas() {
		if !block.Compaction.FromOutOfOrder() {
			last = max(last, block.MaxTime-1)
		}
	}
	if last == math.MinInt64 {
		return time.Time{}
	}
	// A pushing host's clock may be ahead of ours.
	return time.UnixMilli(min(last, m.opts.Now().UnixMilli())).UTC()
}

// restoreRules evaluates each alerting rule over the past slots up to the last moment of the
// previous run, so that holds and keep_firing_for go on where they were.
func (m *Monitor) restoreRules(ctx context.Context, last time.Time) {
	if last.IsZero() {
		m.markRestored()
		return
	}
	query := rules.EngineQueryFunc(m.engine, m.db)
	for _, group := range m.rules.RuleGroups() {
		for _, rule := range group.AlertingRules() {
			for _, slot := range slotsBefore(group, rule, last) {
				if ctx.Err() != nil {
					break
				}
				if _, err := rule.Eval(ctx, group.QueryOffset(), slot, query, m.externalURL, group.Limit()); err != nil {
					m.logger.Warn("the state of an alert before the restart could not be computed: its hold starts anew",
						"alert", rule.Name(), "at", slot, "err", err)
					break
				}
			}
			m.keepSince(ctx, rule, last)
		}
	}
	m.markRestored()
}

// markRestored lets every rule write its ALERTS series from its first evaluation on.
func (m *Monitor) markRestored() {
	for _, rule := range m.rules.AlertingRules() {
		rule.SetRestored(true)
	}
}

// slotsBefore returns the group's evaluation times that decide the rule's state at last, and last itself:
// a short run may have evaluated only between two slots, at its start.
func slotsBefore(group *rules.Group, rule *rules.AlertingRule, last time.Time) []time.Time {
	step := group.Interval()
	span := rule.HoldDuration() + rule.KeepFiringFor() + 2*step
	if least := span / maxReplay; step < least {
		step = least.Truncate(step) + step
	}
	steps := int(span/step) + 1
	slots := make([]time.Time, 0, steps+1)
	end := group.EvalTimestamp(last.UnixNano())
	for i := steps - 1; i >= 0; i-- {
		slots = append(slots, end.Add(-time.Duration(i)*step))
	}
	return append(slots, last)
}

// keepSince gives alerts that were active before the replayed slots their recorded beginning back,
// so that an alert's start does not move with each restart.
func (m *Monitor) keepSince(ctx context.Context, rule *rules.AlertingRule, last time.Time) {
	since, err := m.recordedSince(ctx, rule.Name(), last)
	if err != nil {
		m.logger.Warn("the beginning of alerts before the restart could not be read", "alert", rule.Name(), "err", err)
		return
	}
	rule.ForEachActiveAlert(func(a *rules.Alert) {
		began, ok := since[a.Labels.Hash()]
		if !ok || !began.Before(a.ActiveAt) || a.State == rules.StateInactive {
			return
		}
		a.ActiveAt = began
		// It fired when the hold had passed, which may lie before the replayed slots too.
		if fired := began.Add(rule.HoldDuration()); a.State == rules.StateFiring || !fired.After(last) {
			a.State = rules.StateFiring
			a.FiredAt = fired
		}
	})
}

// recordedSince reads for each alert of the rule since when it was active at the end of the previous run.
func (m *Monitor) recordedSince(ctx context.Context, name string, last time.Time) (map[uint64]time.Time, error) {
	querier, err := m.db.Querier(last.Add(-m.opts.Lookback).UnixMilli(), last.UnixMilli())
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := querier.Close(); err != nil {
			m.logger.Warn("closing a querier", "err", err)
		}
	}()
	set := querier.Select(ctx, false, nil,
		labels.MustNewMatcher(labels.MatchEqual, labels.MetricName, forStateMetric),
		labels.MustNewMatcher(labels.MatchEqual, labels.AlertName, name))
	since := map[uint64]time.Time{}
	for set.Next() {
		series := set.At()
		if seconds, ok := lastValue(series); ok {
			alert := series.Labels().DropReserved(func(n string) bool { return n == labels.MetricName })
			since[alert.Hash()] = time.Unix(int64(seconds), 0).UTC()
		}
	}
	return since, set.Err()
}

// lastValue returns the last sample of a series, unless that says that the series ended.
func lastValue(series storage.Series) (float64, bool) {
	last, found := 0.0, false
	it := series.Iterator(nil)
	for it.Next() == chunkenc.ValFloat {
		_, last = it.At()
		found = true
	}
	return last, found && it.Err() == nil && !value.IsStaleNaN(last)
}

// resumeHolds moves the clocks of pending and of kept alerts past the time the server was down: nobody
// saw whether the condition held then, so that time counts neither for a hold nor for keep_firing_for.
func (m *Monitor) resumeHolds(last, now time.Time) {
	down := now.Sub(last)
	if last.IsZero() || down <= 0 {
		return
	}
	for _, rule := range m.rules.AlertingRules() {
		rule.ForEachActiveAlert(func(a *rules.Alert) {
			if a.State == rules.StatePending {
				a.ActiveAt = a.ActiveAt.Add(down)
			}
			if !a.KeepFiringSince.IsZero() {
				a.KeepFiringSince = a.KeepFiringSince.Add(down)
			}
		})
	}
}
