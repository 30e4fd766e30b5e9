package alertmanagerrules

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/leasewatch/leasewatch/internal/testenv"
)

// expectation is one expression of a promtool unit test, and what it should give.
type expectation struct {
	Expr    string     `yaml:"expr"`
	Samples []struct{} `yaml:"exp_samples"`
}

func readTests(t *testing.T) []expectation {
	t.Helper()
	paths, err := filepath.Glob("tests/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files in tests/: %v", err)
	}
	var all []expectation
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Tests []struct {
				Exprs []expectation `yaml:"promql_expr_test"`
			} `yaml:"tests"`
		}
		if err := yaml.Unmarshal(data, &file); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, test := range file.Tests {
			all = append(all, test.Exprs...)
		}
	}
	return all
}

// tool returns a pinned tool that tools/build.sh built, or skips the test.
func tool(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("LEASEWATCH_TOOLS_DIR")
	if dir == "" {
		dir = filepath.Join(testenv.Root(t), "bin", "tools")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		testenv.Skip(t, name+" is not in "+dir+" (run tools/build.sh "+name+")")
	}
	return path
}

func run(t *testing.T, program string, args ...string) {
	t.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		t.Errorf("%s %s: %v\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
}

func files(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		t.Fatalf("no files match %s: %v", pattern, err)
	}
	return found
}

func TestPinnedPromtoolRunsEveryCase(t *testing.T) {
	promtool := tool(t, "promtool")
	for _, file := range files(t, "tests/*.yaml") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			run(t, promtool, "test", "rules", file)
		})
	}
}

func TestPinnedPromtoolFindsNothingToSayOfTheRules(t *testing.T) {
	run(t, tool(t, "promtool"), append([]string{"check", "rules", "--lint=all", "--lint-fatal"}, files(t, "rules/*.yaml")...)...)
}

func TestOldPromtoolReadsTheRules(t *testing.T) {
	run(t, testenv.Binary(t, "promtool"), append([]string{"check", "rules"}, files(t, "rules/*.yaml")...)...)
}

func TestPinnedAmtoolReadsTheRouting(t *testing.T) {
	run(t, tool(t, "amtool"), "check-config", "alertmanager.yaml")
}

func TestOldAmtoolReadsTheRouting(t *testing.T) {
	run(t, testenv.Binary(t, "amtool"), "check-config", "alertmanager.yaml")
}

// TestVmalertReadsTheRules has vmalert, as a site runs it, check expressions and templates.
func TestVmalertReadsTheRules(t *testing.T) {
	run(t, tool(t, "vmalert"), "-dryRun", "-rule=rules/*.yaml", "-external.label=leasewatch_url=https://leasewatch.example",
		"-rule.validateExpressions", "-rule.validateTemplates")
}

func TestVmalertReadsTheRulesAndAgrees(t *testing.T) {
	run(t, tool(t, "vmalert-tool"), "unittest", "--files=testdata/vmalert_test.yaml")
}

func TestAmtoolRoutesByWhoMustAct(t *testing.T) {
	amtool := tool(t, "amtool")
	for name, c := range map[string]struct {
		receiver string
		labels   []string
	}{
		"a page goes to leasewatch":          {"leasewatch", []string{"alertname=LeasewatchGPULost", "severity=page"}},
		"a notice goes to leasewatch":        {"leasewatch", []string{"alertname=LeasewatchLeaseIdle", "severity=notice"}},
		"the watchdog goes to the heartbeat": {"heartbeat", []string{"alertname=LeasewatchWatchdog", "severity=notice"}},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, amtool, append([]string{"config", "routes", "test", "--config.file=alertmanager.yaml", "--verify.receivers=" + c.receiver}, c.labels...)...)
		})
	}
}
