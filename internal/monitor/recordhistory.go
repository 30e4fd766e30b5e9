package monitor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/storage"
)

// recordWindow is how much time one range query covers: the result of a rule over thousands of
// series must fit into the engine's sample limit.
const recordWindow = 6 * time.Hour

// recordHistory evaluates the recording rules that read what was written, directly or through other
// rules, over its span, and adds the result to the stage. It returns the number of samples.
func (m *Monitor) recordHistory(ctx context.Context, s *stage, written *History, step time.Duration) (int, error) {
	if step <= 0 {
		step = shortest(written.intervals(), m.opts.EvaluationInterval)
	}
	groups, err := m.groupsForHistory()
	if err != nil {
		return 0, err
	}
	total := 0
	for _, level := range ruleLevels(groups, written) {
		recorded := newHistory()
		for _, rule := range level {
			if err := m.recordRule(ctx, s.with(m.db), rule, written.span, step, recorded); err != nil {
				return 0, err
			}
		}
		if recorded.samples == 0 {
			continue
		}
		if err := s.add(recorded); err != nil {
			return 0, err
		}
		total += recorded.samples
	}
	return total, nil
}

// groupsForHistory reads the rule files anew: the groups that run have a state of their own.
func (m *Monitor) groupsForHistory() (map[string]*rules.Group, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	groups, errs := m.rules.LoadGroups(m.opts.EvaluationInterval, m.ruleLabels(), m.opts.ExternalURL, m.evaluateGroup, false, m.files.names()...)
	if len(errs) > 0 {
		return nil, fmt.Errorf("loading the rules: %w", errors.Join(errs...))
	}
	return groups, nil
}

func shortest(intervals map[string]time.Duration, otherwise time.Duration) time.Duration {
	least := time.Duration(0)
	for _, d := range intervals {
		if least == 0 || d < least {
			least = d
		}
	}
	if least == 0 {
		return otherwise
	}
	return least
}

// ruleLevels returns the recording rules that depend on the written metrics: the first level reads
// only those, each further one also what the levels before it recorded.
func ruleLevels(groups map[string]*rules.Group, written *History) [][]*rules.RecordingRule {
	level := map[string]int{}
	for _, s := range written.series {
		level[s.labels.Get(labels.MetricName)] = 0
	}
	all := make([]*rules.Group, 0, len(groups))
	for _, g := range groups {
		all = append(all, g)
	}
	var levels [][]*rules.RecordingRule
	for _, g := range inOrderOfUse(all) {
		for _, r := range g.Rules() {
			rule, ok := r.(*rules.RecordingRule)
			if !ok {
				continue
			}
			depth := -1
			for _, name := range metricsRead(rule.Query()) {
				if known, ok := level[name]; ok {
					depth = max(depth, known)
				}
			}
			if depth < 0 {
				continue
			}
			if len(levels) == depth {
				levels = append(levels, nil)
			}
			levels[depth] = append(levels[depth], rule)
			level[rule.Name()] = max(level[rule.Name()], depth+1)
		}
	}
	return levels
}

// recordRule evaluates one rule over the span.
func (m *Monitor) recordRule(ctx context.Context, q storage.Queryable, rule *rules.RecordingRule, span rental.Span, step time.Duration, into *History) error {
	for from := span.Start; from < span.End; {
		// Windows hold whole steps, so that evaluations stay at the same distance across them.
		steps := max(recordWindow/step, 1)
		last := min(from+rental.Millis((steps-1)*step/time.Millisecond), span.End-1)
		query, err := m.engine.NewRangeQuery(ctx, q, nil, rule.Query().String(), from.Time(), last.Time(), step)
		if err != nil {
			return fmt.Errorf("rule %s: %w", rule.Name(), err)
		}
		err = keepResult(query.Exec(ctx), rule, into)
		query.Close()
		if err != nil {
			return fmt.Errorf("rule %s over the history: %w", rule.Name(), err)
		}
		from += rental.Millis(steps * step / time.Millisecond)
	}
	return nil
}

// keepResult appends the result under the rule's name and labels.
func keepResult(result *promql.Result, rule *rules.RecordingRule, into *History) error {
	if result.Err != nil {
		return result.Err
	}
	matrix, err := result.Matrix()
	if err != nil {
		return err
	}
	builder := labels.NewBuilder(labels.EmptyLabels())
	for _, series := range matrix {
		builder.Reset(series.Metric)
		builder.Set(labels.MetricName, rule.Name())
		rule.Labels().Range(func(l labels.Label) { builder.Set(l.Name, l.Value) })
		id := into.seriesOf(builder.Labels())
		for _, p := range series.Floats {
			// Two rules may record the same series: as when they run live, the first one counts.
			if p.T <= into.series[id].last {
				continue
			}
			if err := into.Append(id, rental.Millis(p.T), p.F); err != nil {
				return err
			}
		}
	}
	return nil
}
