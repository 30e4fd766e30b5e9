package exporter_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The pages of whole hosts, made by the real program on the real binding over a fake driver.
func TestGoldenPages(t *testing.T) {
	for name, test := range map[string]struct {
		scenario *fakenvml.Scenario
		then     func(t *testing.T, h *fakenvml.Host)
		ready    string // what the page shows when it is complete,
		times    int    // and how often: each GPU has its own worker
	}{
		"h100x8":     {fakenvml.H100x8(), nil, `gpu_sm_active_ratio{`, 8}, // from the second round on
		"consumer":   {fakenvml.ConsumerCard(), nil, `gpu_pcie_replays_total{`, 1},
		"old_driver": {fakenvml.OldDriver(), nil, `gpu_pcie_replays_total{`, 4},
		"gb200":      {fakenvml.GB200(), nil, `gpu_sm_active_ratio{`, 4},
		"h100_mig":   {fakenvml.H100MIG(), nil, `gpu_sm_active_ratio{`, 6}, // three cards and three MIG devices that are whole
		"lost": {fakenvml.H100x8(), func(t *testing.T, h *fakenvml.Host) {
			h.Update(t, func(s *fakenvml.Scenario) { s.Event(3, 79); s.GPU(3).Lost() })
		}, `gpu_sm_active_ratio{`, 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := fakenvml.Install(t, test.scenario)
			// A procfs without processes: a process of this machine might have the number of a fake
			// one. The machine around the GPUs has pages of its own in exporter/host.
			p := startProgram(t, host.Env(), "--path.procfs="+t.TempDir(), "--no-collector.host", "--no-collector.kmsg")
			if test.then != nil {
				eventually(t, "the first round is done", func() bool { return strings.Contains(p.page(t), `gpu_remapped_rows_pending{gpu="7"`) })
				test.then(t, host)
			}
			if test.then != nil {
				eventually(t, "the GPU is lost", func() bool {
					return strings.Contains(p.page(t), `,state="lost",uuid="GPU-6f1e2d3c-0000-4a5b-8c9d-000000000003",vantage="host"} 1`)
				})
				eventually(t, "the XID is counted", func() bool {
					return strings.Contains(p.page(t), `uuid="GPU-6f1e2d3c-0000-4a5b-8c9d-000000000003",vantage="host",xid="79"} 1`)
				})
			}
			var raw string
			eventually(t, "the page shows "+test.ready, func() bool {
				raw = p.page(t)
				return strings.Count(raw, test.ready) == test.times
			})
			// What was published a moment ago may not be told yet: the page counts its events.
			eventually(t, "the page has come to rest", func() bool {
				before := normalise(raw)
				time.Sleep(300 * time.Millisecond)
				raw = p.page(t)
				return normalise(raw) == before
			})
			lint(t, raw)
			openMetrics(t, p)
			compare(t, filepath.Join("testdata", "golden", name+".metrics"), normalise(raw))
		})
	}
}

// lint holds the page to the naming rules of the Prometheus project.
func lint(t *testing.T, page string) {
	t.Helper()
	problems, err := promlint.New(strings.NewReader(page)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
}

// openMetrics reads the OpenMetrics page to its end with Prometheus's own parser.
func openMetrics(t *testing.T, p *program) {
	t.Helper()
	body, _, _ := get(t, p.url+"/metrics", "Accept", "application/openmetrics-text;version=1.0.0")
	parser := textparse.NewOpenMetricsParser([]byte(body), labels.NewSymbolTable())
	series := 0
	for {
		entry, err := parser.Next()
		if err != nil {
			if err.Error() != "EOF" {
				t.Fatalf("the OpenMetrics page does not parse after %d series: %v", series, err)
			}
			break
		}
		if entry == textparse.EntrySeries {
			series++
		}
	}
	if series < 50 {
		t.Errorf("only %d series in the OpenMetrics page", series)
	}
}

// What differs between two runs of the same machine, and only that.
var (
	clocks = regexp.MustCompile(`(?m)^((?:gpu_(?:reading|snapshot|state_since)_timestamp_seconds|gpu_state_seconds_total|gpu_energy_joules_total|DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION)\{[^\n]*\}) \S+$`)
	seen   = regexp.MustCompile(`(?m)^(gpu_xid_last_timestamp_seconds\{[^\n]*\}) [1-9]\S*$`)
	own    = regexp.MustCompile(`(?m)^(?:# \w+ )?(?:go_|process_|leasewatch_exporter_(?:build_info|driver_call|scrapes|page_builds))[^\n]*\n`)
)

// normalise replaces times by a word and leaves the program's own figures out.
func normalise(page string) string {
	page = clocks.ReplaceAllString(page, "$1 <time>")
	page = seen.ReplaceAllString(page, "$1 <time>")
	return own.ReplaceAllString(page, "")
}

func compare(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run go test ./exporter -update)", err)
	}
	if got == string(want) {
		return
	}
	wanted, lines := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	there := map[string]bool{}
	for _, line := range lines {
		there[line] = true
	}
	for _, line := range wanted {
		if !there[line] {
			t.Errorf("%s: missing: %s", path, line)
		}
		delete(there, line)
	}
	for _, line := range lines {
		if there[line] {
			t.Errorf("%s: new: %s", path, line)
		}
	}
}
