package exporter_test

import (
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
)

// The page of a whole host under the names of dcgm-exporter.
func TestGoldenPageOfDCGMsNames(t *testing.T) {
	for name, test := range map[string]struct {
		scenario *fakenvml.Scenario
		times    int // cards and whole MIG devices: each GPU comes by itself, from the second round on
	}{
		"dcgm":     {fakenvml.H100x8(), 8},
		"dcgm_mig": {fakenvml.H100MIG(), 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := fakenvml.Install(t, test.scenario)
			p := startProgram(t, host.Env(), "--exporter.compat=dcgm", "--path.procfs="+t.TempDir(), "--no-collector.host")
			var raw string
			eventually(t, "the page is complete", func() bool {
				raw = p.page(t)
				return strings.Count(raw, "DCGM_FI_PROF_SM_ACTIVE{") == test.times
			})
			lines := regexp.MustCompile(`(?m)^(?:# (?:HELP|TYPE) )?DCGM_.*\n`).FindAllString(raw, -1)
			compare(t, filepath.Join("testdata", "golden", name+".metrics"), normalise(strings.Join(lines, "")))
		})
	}
}

// OpenMetrics gives counters the ending _total: an alias must keep its name in every format.
func TestAliasesHaveOneNameInEveryFormat(t *testing.T) {
	p := start(t, newMachine(simulated(t)), "--exporter.compat=dcgm")
	names := regexp.MustCompile(`(?m)^DCGM_[A-Z0-9_a-z]+`)
	plain, _, _ := get(t, p.url+"/metrics")
	open, kind, _ := get(t, p.url+"/metrics", "Accept", "application/openmetrics-text;version=1.0.0")
	if !strings.HasPrefix(kind, "application/openmetrics-text") {
		t.Fatalf("the page is %s", kind)
	}
	want := distinct(names.FindAllString(plain, -1))
	if got := distinct(names.FindAllString(open, -1)); !slices.Equal(got, want) || len(want) < 30 {
		t.Errorf("OpenMetrics has %v, the text %v", got, want)
	}
	raw, kind, _ := get(t, p.url+"/metrics", "Accept", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited")
	decoder := expfmt.NewDecoder(strings.NewReader(raw), expfmt.ResponseFormat(http.Header{"Content-Type": {kind}}))
	var got []string
	for {
		var f dto.MetricFamily
		if err := decoder.Decode(&f); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(f.GetName(), "DCGM_") {
			got = append(got, f.GetName())
		}
	}
	if got = distinct(got); !slices.Equal(got, want) {
		t.Errorf("protobuf has %v, the text %v", got, want)
	}
}

func TestWithoutTheFlagThereAreNoAliases(t *testing.T) {
	p := start(t, newMachine(simulated(t)))
	if page, _, _ := get(t, p.url+"/metrics"); strings.Contains(page, "DCGM_") {
		t.Error("the page has names of dcgm-exporter that nobody asked for")
	}
}

func distinct(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
