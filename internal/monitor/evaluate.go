package monitor

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/util/strutil"
)

// evaluateGroup is one iteration of a rule group: Prometheus's own, and then the alerts of rules
// whose query failed are told again unchanged. A failed rule says nothing about its alerts, and
// without being repeated they would pass their ValidUntil and look resolved.
//
// While the store takes no samples no alert is judged at all: the readings only seem to have ended.
// Each host would look silent and each fault healed. What fires goes on to, but for alerts that read
// no series, such as the watchdog's: they say that rules are evaluated, and these are not.
func (m *Monitor) evaluateGroup(ctx context.Context, g *rules.Group, at time.Time) {
	blind := m.health.read().Failing && len(g.AlertingRules()) > 0
	if !blind {
		rules.DefaultEvalIterationFunc(ctx, g, at)
	}
	for _, rule := range g.AlertingRules() {
		if blind && len(metricsRead(rule.Query())) == 0 {
			continue
		}
		if !blind && (rule.Health() != rules.HealthBad || rule.LastError() == nil) {
			continue
		}
		if held := holdAlerts(rule, at, g.Interval()); len(held) > 0 {
			m.notify(ctx, rule.Query().String(), held...)
		}
	}
}

// holdAlerts prolongs the firing alerts of the rule by the time the engine grants a fresh one,
// and returns those that are due to be told again.
func holdAlerts(rule *rules.AlertingRule, at time.Time, interval time.Duration) []*rules.Alert {
	var held []*rules.Alert
	rule.ForEachActiveAlert(func(a *rules.Alert) {
		if a.State != rules.StateFiring || at.Sub(a.LastSentAt) < resendDelay {
			return
		}
		a.LastSentAt = at
		a.ValidUntil = at.Add(4 * max(interval, resendDelay))
		held = append(held, new(*a))
	})
	return held
}

// notify hands alerts of the rule manager on.
func (m *Monitor) notify(ctx context.Context, expr string, alerts ...*rules.Alert) {
	if len(alerts) == 0 || m.opts.Notify == nil {
		return
	}
	told := make([]Alert, 0, len(alerts))
	for _, a := range alerts {
		told = append(told, m.toAlert(expr, a))
	}
	m.opts.Notify(ctx, told)
}

func (m *Monitor) toAlert(expr string, a *rules.Alert) Alert {
	return Alert{
		Labels:      a.Labels.Map(),
		Annotations: a.Annotations.Map(),
		StartsAt:    a.FiredAt,
		EndsAt:      a.ResolvedAt,
		ValidUntil:  a.ValidUntil,

		GeneratorURL: m.opts.ExternalURL + strutil.TableLinkForExpression(expr),
	}
}

// ActiveAlerts returns the alerts that fire now, sorted by nothing in particular.
func (m *Monitor) ActiveAlerts() []Alert {
	var active []Alert
	for _, rule := range m.rules.AlertingRules() {
		expr := rule.Query().String()
		rule.ForEachActiveAlert(func(a *rules.Alert) {
			if a.State == rules.StateFiring {
				active = append(active, m.toAlert(expr, a))
			}
		})
	}
	return active
}

// evaluateAll evaluates every group once, each after those whose series it reads.
func (m *Monitor) evaluateAll(ctx context.Context, at time.Time) {
	for _, g := range inOrderOfUse(m.rules.RuleGroups()) {
		if ctx.Err() != nil {
			return
		}
		m.evaluateGroup(ctx, g, at)
	}
}

// inOrderOfUse sorts groups so that one that records a series comes before those that read it.
// Groups that read each other in a circle stay in their order.
func inOrderOfUse(groups []*rules.Group) []*rules.Group {
	recordedBy := map[string][]*rules.Group{}
	for _, g := range groups {
		for _, rule := range g.Rules() {
			if _, ok := rule.(*rules.RecordingRule); ok && !slices.Contains(recordedBy[rule.Name()], g) {
				recordedBy[rule.Name()] = append(recordedBy[rule.Name()], g)
			}
		}
	}
	sorted := make([]*rules.Group, 0, len(groups))
	seen := map[*rules.Group]bool{}
	var visit func(g *rules.Group)
	visit = func(g *rules.Group) {
		if seen[g] {
			return
		}
		seen[g] = true
		for _, rule := range g.Rules() {
			for _, name := range metricsRead(rule.Query()) {
				for _, source := range recordedBy[name] {
					visit(source)
				}
			}
		}
		sorted = append(sorted, g)
	}
	for _, g := range groups {
		visit(g)
	}
	return sorted
}

// metricsRead returns the names of the metrics that an expression selects by equality.
func metricsRead(expr parser.Expr) []string {
	var names []string
	for _, selectors := range parser.ExtractSelectors(expr) {
		for _, matcher := range selectors {
			if matcher.Name == labels.MetricName && matcher.Type == labels.MatchEqual {
				names = append(names, matcher.Value)
			}
		}
	}
	return names
}
