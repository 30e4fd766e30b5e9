package monitor

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/testenv"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"
)

// unitTests is the part of promtool's format for unit tests of rules that the pack uses.
type unitTests struct {
	RuleFiles          []string       `yaml:"rule_files"`
	EvaluationInterval model.Duration `yaml:"evaluation_interval"`
	Tests              []unitTest     `yaml:"tests"`
}

type unitTest struct {
	Name        string         `yaml:"name"`
	Interval    model.Duration `yaml:"interval"`
	InputSeries []struct {
		Series string `yaml:"series"`
		Values string `yaml:"values"`
	} `yaml:"input_series"`
	ExprTests []struct {
		Expr       string         `yaml:"expr"`
		EvalTime   model.Duration `yaml:"eval_time"`
		ExpSamples []struct {
			Labels string  `yaml:"labels"`
			Value  float64 `yaml:"value"`
		} `yaml:"exp_samples"`
	} `yaml:"promql_expr_test"`
}

// TestThePacksUnitTestsHoldInOurEngine runs what promtool runs. promtool evaluates the groups in the
// order that the file gives; here they come in the order that the engine finds at its start.
func TestThePacksUnitTestsHoldInOurEngine(t *testing.T) {
	dir := filepath.Join(testenv.Root(t), "alertmanager-rules", "tests")
	for _, name := range []string{"fast_test.yaml", "self_test.yaml"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		var file unitTests
		if err := yaml.Unmarshal(text, &file); err != nil {
			t.Fatal(err)
		}
		if len(file.Tests) == 0 {
			t.Fatalf("%s holds no tests", name)
		}
		ruleFiles := map[string][]byte{}
		for _, rel := range file.RuleFiles {
			if ruleFiles[rel], err = os.ReadFile(filepath.Join(dir, rel)); err != nil {
				t.Fatal(err)
			}
		}
		for _, test := range file.Tests {
			t.Run(name+"/"+test.Name, func(t *testing.T) {
				runUnitTest(t, test, ruleFiles, time.Duration(file.EvaluationInterval))
			})
		}
	}
}

func runUnitTest(t *testing.T, test unitTest, ruleFiles map[string][]byte, interval time.Duration) {
	t.Helper()
	m := open(t, Options{Config: Config{RuleFiles: ruleFiles}, Now: func() time.Time { return time.Unix(0, 0) }})
	m.before = time.Time{}
	if err := m.loadRules(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { go m.rules.Run(); m.rules.Stop() })
	m.markRestored()
	putSeries(t, m, test)

	end := time.Duration(0)
	for _, e := range test.ExprTests {
		end = max(end, time.Duration(e.EvalTime))
	}
	for at := time.Duration(0); at <= end; at += interval {
		m.evaluateAll(t.Context(), time.Unix(0, 0).Add(at))
		for _, rule := range m.rules.Rules() {
			if err := rule.LastError(); err != nil {
				t.Fatalf("rule %s at %s: %v", rule.Name(), at, err)
			}
		}
	}
	for _, e := range test.ExprTests {
		expected := map[string]float64{}
		for _, s := range e.ExpSamples {
			set, err := m.parser.ParseMetric(s.Labels)
			if err != nil {
				t.Fatal(err)
			}
			expected[set.DropReserved(isName).String()] = s.Value
		}
		series, err := m.Query(t.Context(), e.Expr, time.Unix(0, 0).Add(time.Duration(e.EvalTime)))
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, s := range series {
			got[labels.FromMap(s.Labels).String()] = s.Samples[0].Value
		}
		if !maps.Equal(got, expected) {
			t.Errorf("%s at %s:\ngot      %v\nexpected %v", e.Expr, e.EvalTime, got, expected)
		}
	}
}

func isName(name string) bool { return name == labels.MetricName }

// putSeries appends the input in the order of time, from the moment 0 on.
func putSeries(t *testing.T, m *Monitor, test unitTest) {
	t.Helper()
	type input struct {
		labels labels.Labels
		values []parser.SequenceValue
	}
	var all []input
	longest := 0
	for _, s := range test.InputSeries {
		set, values, err := m.parser.ParseSeriesDesc(s.Series + " " + s.Values)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, input{set, values})
		longest = max(longest, len(values))
	}
	app := m.db.Appender(t.Context())
	for i := range longest {
		at := (time.Duration(i) * time.Duration(test.Interval)).Milliseconds()
		for _, s := range all {
			if i >= len(s.values) || s.values[i].Omitted {
				continue
			}
			if _, err := app.Append(0, s.labels, at, s.values[i].Value); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := app.Commit(); err != nil {
		t.Fatal(err)
	}
}

func TestTheWholePackLoads(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testenv.Root(t), "alertmanager-rules", "rules", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v %v: expected rule files", files, err)
	}
	pack := map[string][]byte{}
	for _, file := range slices.Sorted(slices.Values(files)) {
		if pack[filepath.Base(file)], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	if err := CheckConfig(Config{RuleFiles: pack}); err != nil {
		t.Error(err)
	}
}
