package alertmanagerrules

import (
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/leasewatch/leasewatch/exporter/catalog"
	"github.com/leasewatch/leasewatch/exporter/compat"
)

// placed is a rule and the file it stands in.
type placed struct {
	rulefmt.Rule

	file string
}

func allRules(t *testing.T) []placed {
	t.Helper()
	files := Rules()
	var all []placed
	for _, file := range slices.Sorted(maps.Keys(files)) {
		groups, errs := rulefmt.Parse(files[file], false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
		for _, err := range errs {
			t.Errorf("%s: %v", file, err)
		}
		if groups == nil {
			continue
		}
		for _, group := range groups.Groups {
			if group.Interval == 0 {
				t.Errorf("%s: group %s has no interval: its windows count on one", file, group.Name)
			}
			for _, rule := range group.Rules {
				all = append(all, placed{rule, file})
			}
		}
	}
	if len(all) == 0 {
		t.Fatal("there is no rule")
	}
	return all
}

func alerts(t *testing.T) []placed {
	t.Helper()
	return slices.DeleteFunc(allRules(t), func(r placed) bool { return r.Alert == "" })
}

func TestEveryAlertSaysWhatAPersonNeeds(t *testing.T) {
	chinese := regexp.MustCompile(`\p{Han}`)
	pages := 0
	seen := map[string]bool{}
	for _, r := range alerts(t) {
		if seen[r.Alert] {
			t.Errorf("%s stands there twice", r.Alert)
		}
		seen[r.Alert] = true
		if !strings.HasPrefix(r.Alert, "Leasewatch") {
			t.Errorf("%s: an alert's name begins with Leasewatch", r.Alert)
		}
		if !slices.Contains([]string{"page", "ticket", "notice"}, r.Labels["severity"]) {
			t.Errorf("%s: severity %q, expected page, ticket or notice", r.Alert, r.Labels["severity"])
		}
		if !slices.Contains([]string{"operator", "tenant", "both"}, r.Labels["audience"]) {
			t.Errorf("%s: audience %q, expected operator, tenant or both", r.Alert, r.Labels["audience"])
		}
		for _, label := range []string{"subject", "provider"} {
			if r.Labels[label] == "" {
				t.Errorf("%s: label %s is missing", r.Alert, label)
			}
		}
		for _, name := range []string{"summary", "description", "action"} {
			if r.Annotations[name] == "" || chinese.MatchString(r.Annotations[name]) {
				t.Errorf("%s: annotation %s is missing or not English", r.Alert, name)
			}
			if !chinese.MatchString(r.Annotations[name+"_zh"]) {
				t.Errorf("%s: annotation %s_zh is missing or not Chinese", r.Alert, name)
			}
			if strings.ContainsAny(r.Annotations[name]+r.Annotations[name+"_zh"], "!!") {
				t.Errorf("%s: annotation %s shouts", r.Alert, name)
			}
		}
		if r.Labels["severity"] == "page" {
			pages++
		}
	}
	if pages > 12 {
		t.Errorf("%d alerts page, expected at most 12", pages)
	}
}

func TestEveryRunbookLinkResolvesAndEveryRunbookIsLinked(t *testing.T) {
	const prefix = "{{ $externalLabels.leasewatch_url }}/runbooks/"
	linked := map[string]bool{}
	for _, r := range alerts(t) {
		name, ok := strings.CutPrefix(r.Annotations["runbook_url"], prefix)
		if !ok {
			t.Errorf("%s: runbook_url is %q, expected it to begin with %s", r.Alert, r.Annotations["runbook_url"], prefix)
			continue
		}
		page, err := Runbook(name)
		if err != nil {
			t.Errorf("%s: %v", r.Alert, err)
			continue
		}
		linked[name] = true
		if !strings.Contains(string(page), "\n## 中文\n") {
			t.Errorf("runbook %s has no Chinese section", name)
		}
		for _, section := range []string{"Causes, most likely first", "Look", "Act"} {
			if name != "watchdog" && !strings.Contains(string(page), "\n## "+section+"\n") {
				t.Errorf("runbook %s has no section %q", name, section)
			}
		}
	}
	for _, name := range Runbooks() {
		if !linked[name] {
			t.Errorf("no alert links to runbook %s", name)
		}
	}
}

func TestRunbooksThatTellToResetHaveTheFiveSteps(t *testing.T) {
	tells := regexp.MustCompile(`(?i)\b(reset the card|reset it|drain and reset|restart the host|reset alone|and reset\b)`)
	for _, name := range Runbooks() {
		page, err := Runbook(name)
		if err != nil {
			t.Fatal(err)
		}
		steps := []string{"Save the evidence", "List who is on it", "Drain", "Act", "Verify"}
		if !tells.Match(page) {
			continue
		}
		for i, step := range steps {
			if !strings.Contains(string(page), string(rune('1'+i))+". **"+step) {
				t.Errorf("runbook %s tells to reset or restart without step %d, %q", name, i+1, step)
			}
		}
		for _, command := range []string{"release INDEX", "resume INDEX"} {
			if !strings.Contains(string(page), "`leasewatch-exporter "+command) {
				t.Errorf("runbook %s tells to reset without leasewatch-exporter %s: the exporter holds the card", name, command)
			}
		}
		if strings.Contains(string(page), "\n## When to return the card\n") && !strings.Contains(string(page), "`leasewatch-exporter retire UUID`") {
			t.Errorf("runbook %s tells to return a card without leasewatch-exporter retire: it would count as lost for ever", name)
		}
	}
}

// TestEveryNameInARuleIsGivenOutBySomebody holds the rules to the exporter's catalogue, the
// server's and the engine's series, and to what other rules record; and alerts to recorded series.
func TestEveryNameInARuleIsGivenOutBySomebody(t *testing.T) {
	given := map[string]string{}
	for _, f := range slices.Concat(catalog.All(), catalog.Self()) {
		given[f.Name] = "exporter"
	}
	for _, s := range ServerSeries() {
		given[s.Name] = "server"
	}
	for _, s := range EngineSeries() {
		given[s.Name] = "engine"
	}
	for _, a := range compat.DCGM() {
		given[a.Name] = "dcgm-exporter"
	}
	given["uuid:dcgm_input:info"] = "rule"
	// A scheduler's word, not the driver's: backfill and the scheduler's exporter give it out.
	given["gpu_allocated"] = "scheduler"
	rules := allRules(t)
	for _, r := range rules {
		if r.Record == "" {
			continue
		}
		if r.file == derived {
			continue // our own names from another exporter's, held by TestDCGMInput...
		}
		if by, ok := given[r.Record]; ok && by != "rule" {
			t.Errorf("%s records %s, which the %s gives out", r.file, r.Record, by)
		}
		given[r.Record] = "rule"
	}
	read := map[string]bool{}
	for _, r := range rules {
		for _, name := range namesIn(t, r.Expr) {
			read[name] = true
			by, ok := given[name]
			if !ok {
				t.Errorf("%s: %s%s reads %s, which nobody gives out", r.file, r.Record, r.Alert, name)
			}
			if r.Alert != "" && by != "rule" {
				t.Errorf("%s: %s reads %s of the %s, expected a recorded series", r.file, r.Alert, name, by)
			}
		}
	}
	for _, s := range ServerSeries() {
		if !read[s.Name] {
			t.Errorf("ServerSeries names %s, which no rule reads", s.Name)
		}
	}
}

func namesIn(t *testing.T, expr string) []string {
	t.Helper()
	parsed, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	var names []string
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		selector, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		for _, m := range selector.LabelMatchers {
			if m.Name == model.MetricNameLabel && m.Type == labels.MatchEqual {
				names = append(names, m.Value)
				return nil
			}
		}
		t.Errorf("%s has a selector without a metric name", expr)
		return nil
	})
	return names
}

func TestDedupRulesTakeTheMaximumWithoutTheWayOfTheSample(t *testing.T) {
	form := regexp.MustCompile(`^max without \(job, instance\) \(([a-z_]+)(\{[^}]*\})?\)$`)
	for _, r := range allRules(t) {
		if r.file != "dedup.yaml" && r.file != "shown.yaml" {
			continue
		}
		match := form.FindStringSubmatch(r.Expr)
		if match == nil {
			t.Errorf("%s is %s, expected max without (job, instance) (metric)", r.Record, r.Expr)
			continue
		}
		level, rest, _ := strings.Cut(r.Record, ":")
		if rest != match[1]+":max" || !slices.Contains([]string{"uuid", "host", "lease"}, level) {
			t.Errorf("%s records %s, expected uuid, host or lease, then %s:max", r.Record, match[1], match[1])
		}
	}
}

func TestEveryAlertHasACaseThatFiresAndOneThatDoesNot(t *testing.T) {
	cases := readTests(t)
	matcher := regexp.MustCompile(`alertname=~?"([^"]*)"`)
	for _, r := range alerts(t) {
		fires, holds := false, false
		for _, c := range cases {
			match := matcher.FindStringSubmatch(c.Expr)
			mentions := match != nil && regexp.MustCompile("^(?:"+match[1]+")$").MatchString(r.Alert)
			silent := len(c.Samples) == 0
			if mentions && !silent {
				fires = true
			}
			if mentions && silent || silent && r.Labels["severity"] == "page" && strings.Contains(c.Expr, `severity="page"`) {
				holds = true
			}
		}
		if !fires {
			t.Errorf("no case in tests/ expects %s to fire", r.Alert)
		}
		if !holds && r.Alert != "LeasewatchWatchdog" {
			t.Errorf("no case in tests/ expects %s not to fire", r.Alert)
		}
	}
}
