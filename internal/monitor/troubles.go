package monitor

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/scrape"
)

// Trouble is something that does not work now, and why.
type Trouble struct {
	// Name is the host of a target, its address where it has no label host, or the name of a group of rules.
	Name string
	// Reason is the last error.
	Reason string
}

// FailingTargets returns the targets whose last scrape failed, by name.
func (m *Monitor) FailingTargets() []Trouble {
	var found []Trouble
	b := labels.NewBuilder(labels.EmptyLabels())
	for _, ofJob := range m.scraper.TargetsActive() {
		for _, target := range ofJob {
			if target.Health() != scrape.HealthBad {
				continue
			}
			known := target.Labels(b)
			name := known.Get("host")
			if name == "" {
				name = known.Get("instance")
			}
			found = append(found, Trouble{Name: name, Reason: scrapeReason(target.LastError())})
		}
	}
	slices.SortFunc(found, byName)
	return found
}

// scrapeReason leaves the address out of the error of a request: it may hold a password.
func scrapeReason(err error) string {
	if err == nil {
		return ""
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	return err.Error()
}

// FailingRules returns the groups in which a rule's last evaluation failed, by name, each with the
// first of its errors.
func (m *Monitor) FailingRules() []Trouble {
	var found []Trouble
	for _, group := range m.rules.RuleGroups() {
		failing := func(r rules.Rule) bool { return r.Health() == rules.HealthBad && r.LastError() != nil }
		if i := slices.IndexFunc(group.Rules(), failing); i >= 0 {
			rule := group.Rules()[i]
			found = append(found, Trouble{Name: group.Name(), Reason: rule.Name() + ": " + rule.LastError().Error()})
		}
	}
	slices.SortFunc(found, byName)
	return found
}

func byName(a, b Trouble) int { return strings.Compare(a.Name, b.Name) }
