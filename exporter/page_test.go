package exporter_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/leasewatch/leasewatch/exporter"
	"github.com/leasewatch/leasewatch/exporter/gpu"
	"github.com/leasewatch/leasewatch/exporter/replay"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// simulated is a snapshot of a machine of eight GPUs.
func simulated(t testing.TB, script ...replay.Event) *gpu.Snapshot {
	t.Helper()
	s, err := replay.New(replay.Config{Host: "gpu-a1", GPUs: 8, Start: noon.Add(-time.Hour), Seed: 1, Script: script})
	if err != nil {
		t.Fatal(err)
	}
	return s.At(noon)
}

func find(families []*dto.MetricFamily, name string) *dto.MetricFamily {
	for _, f := range families {
		if f.GetName() == name {
			return f
		}
	}
	return nil
}

func labelsOf(m *dto.Metric) map[string]string {
	out := map[string]string{}
	for _, pair := range m.Label {
		out[pair.GetName()] = pair.GetValue()
	}
	return out
}

func TestEverySeriesSaysWhereItComesFrom(t *testing.T) {
	families := exporter.Families(simulated(t), exporter.Labels{Host: "gpu-a1", Vantage: "guest"})
	for _, f := range families {
		for _, m := range f.Metric {
			labels := labelsOf(m)
			if labels["host"] != "gpu-a1" || labels["vantage"] != "guest" {
				t.Errorf("%s%v: want host and vantage", f.GetName(), labels)
			}
			ofHost := strings.HasPrefix(f.GetName(), "gpu_driver") || slices.Contains([]string{"gpu_snapshot_timestamp_seconds", "leasewatch_exporter_unsupported_calls"}, f.GetName())
			if ofHost == (labels["uuid"] != "" || labels["gpu"] != "") {
				t.Errorf("%s%v: want uuid and gpu where it is about one GPU, and only there", f.GetName(), labels)
			}
			if !slices.IsSortedFunc(m.Label, func(a, b *dto.LabelPair) int { return strings.Compare(a.GetName(), b.GetName()) }) {
				t.Errorf("%s: labels are not sorted", f.GetName())
			}
		}
	}
	if !slices.IsSortedFunc(families, func(a, b *dto.MetricFamily) int { return strings.Compare(a.GetName(), b.GetName()) }) {
		t.Error("families are not sorted")
	}
}

func TestALostGPUKeepsItsStateAndHasNoReadings(t *testing.T) {
	gpu1 := 1
	families := exporter.Families(simulated(t, replay.Event{At: 30 * time.Minute, GPU: &gpu1, Kind: replay.XID, XID: 79}), exporter.Labels{Host: "gpu-a1", Vantage: "host"})
	of := func(name string) (n int, state string, values map[string]float64) {
		values = map[string]float64{}
		if f := find(families, name); f != nil {
			for _, m := range f.Metric {
				if l := labelsOf(m); l["gpu"] == "1" {
					n++
					values[l["xid"]+l["state"]] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
				}
			}
		}
		return n, state, values
	}
	for _, name := range []string{"gpu_info", "gpu_state_since_timestamp_seconds"} {
		if n, _, _ := of(name); n != 1 {
			t.Errorf("%s: %d series of the lost GPU, want 1", name, n)
		}
	}
	if n, _, v := of("gpu_state"); n != 8 || v["lost"] != 1 || v["ok"] != 0 {
		t.Errorf("gpu_state: %v, want a set of 8 with lost = 1", v)
	}
	if _, _, v := of("gpu_xid_errors_total"); v["79"] != 1 || v["48"] != 0 {
		t.Errorf("gpu_xid_errors_total: %v, want 79 once", v)
	}
	for _, name := range []string{"gpu_temperature_celsius", "gpu_power_watts", "gpu_utilization_ratio", "gpu_ecc_errors_total"} {
		if n, _, _ := of(name); n != 0 {
			t.Errorf("%s: a lost GPU has %d series, want none", name, n)
		}
		if f := find(families, name); f == nil || len(f.Metric) < 7 {
			t.Errorf("%s: the other seven GPUs are missing", name)
		}
	}
}

func TestAnUnresponsiveGPUIsOnThePageWithTheNameOfTheCall(t *testing.T) {
	s := *simulated(t)
	s.GPUs = slices.Clone(s.GPUs)
	s.GPUs[2].Status = gpu.Status{State: gpu.Unresponsive, Since: noon, Call: "nvmlDeviceGetPowerUsage"}
	f := find(exporter.Families(&s, exporter.Labels{Host: "gpu-a1", Vantage: "host"}), "gpu_hanging_call_info")
	if f == nil || len(f.Metric) != 1 {
		t.Fatalf("the page has %v, want one series", f)
	}
	if l := labelsOf(f.Metric[0]); l["gpu"] != "2" || l["call"] != "nvmlDeviceGetPowerUsage" || f.Metric[0].GetGauge().GetValue() != 1 {
		t.Errorf("the page has %v", f.Metric[0])
	}
}

func TestReadingsLeaveThePageWithTheStateEvenWhereTheSourceKeepsThem(t *testing.T) {
	s := simulated(t)
	s.GPUs[0].Status.State = gpu.Unresponsive
	families := exporter.Families(s, exporter.Labels{Host: "a", Vantage: "host"})
	if f := find(families, "gpu_temperature_celsius"); len(f.Metric) != 7 {
		t.Errorf("%d temperatures, want 7: a reading of an unresponsive GPU is stale", len(f.Metric))
	}
}

func TestDuplicatesAndNonsenseAreLeftOutAndCounted(t *testing.T) {
	s := simulated(t)
	s.GPUs = append(s.GPUs, s.GPUs[0])
	s.GPUs[1].Readings.PowerWatts = gpu.Some(math.NaN())
	s.GPUs[2].Identity.Name = "bad \xff name\n\"quoted\""
	set := metrics.NewSet()
	page := exporter.NewPage(newMachine(s), exporter.Labels{Host: "a", Vantage: "host"}, set)
	families, err := page.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if f := find(families, "gpu_power_watts"); len(f.Metric) != 7 {
		t.Errorf("%d powers, want 7: one is no number, one is there twice", len(f.Metric))
	}
	again, err := page.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if v := find(again, "leasewatch_exporter_duplicate_series_total").Metric[0].GetCounter().GetValue(); v < 100 {
		t.Errorf("%v duplicates counted, want those of a whole GPU", v)
	}
	if v := find(again, "leasewatch_exporter_invalid_samples_total").Metric[0].GetCounter().GetValue(); v != 1 {
		t.Errorf("%v invalid samples counted, want 1", v)
	}
	var text bytes.Buffer
	for _, f := range again {
		if _, err := expfmt.MetricFamilyToText(&text, f); err != nil {
			t.Fatal(err)
		}
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	if _, err := parser.TextToMetricFamilies(&text); err != nil {
		t.Errorf("the page does not parse: %v", err)
	}
}

func TestScrapesOfOneSnapshotShareOnePage(t *testing.T) {
	source := newMachine(simulated(t))
	page := exporter.NewPage(source, exporter.Labels{Host: "a", Vantage: "host"}, metrics.NewSet())
	done := make(chan []*dto.MetricFamily, 8)
	for range 8 {
		go func() { done <- page.GPUs() }()
	}
	first := <-done
	for range 7 {
		if next := <-done; &next[0] != &first[0] {
			t.Fatal("two scrapes of one snapshot got two pages")
		}
	}
	source.set(simulated(t))
	if next := page.GPUs(); &next[0] == &first[0] {
		t.Error("a new snapshot still gives the old page")
	}
}

func TestThePageIsServedInEveryFormat(t *testing.T) {
	p := start(t, newMachine(simulated(t)))
	for name, test := range map[string]struct{ accept, want string }{
		"text":        {"", "text/plain"},
		"OpenMetrics": {"application/openmetrics-text;version=1.0.0", "application/openmetrics-text"},
		"protobuf":    {"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited", "application/vnd.google.protobuf"},
	} {
		body, contentType, status := get(t, p.url+"/metrics", "Accept", test.accept)
		if status != http.StatusOK || !strings.HasPrefix(contentType, test.want) || len(body) < 10_000 {
			t.Errorf("%s: status %d, type %s, %d bytes", name, status, contentType, len(body))
		}
		if name == "OpenMetrics" && !strings.HasSuffix(body, "# EOF\n") {
			t.Error("the OpenMetrics page does not end in # EOF")
		}
	}
	zipped, _, _ := get(t, p.url+"/metrics", "Accept-Encoding", "gzip")
	if !strings.HasPrefix(zipped, "\x1f\x8b") {
		t.Error("gzip was asked for and not given")
	}
}

func TestBothWaysOfServingGiveTheSamePage(t *testing.T) {
	p := start(t, newMachine(simulated(t)), "--no-collector.host", "--no-collector.kmsg")
	for _, accept := range []string{"", "application/openmetrics-text;version=1.0.0"} {
		quick, quickType, _ := get(t, p.url+"/metrics", "Accept", accept)
		general, generalType, _ := get(t, p.url+"/metrics?general", "Accept", accept)
		if quickType != generalType {
			t.Errorf("types %q and %q", quickType, generalType)
		}
		want := strings.Split(normalise(general), "\n")
		for i, line := range strings.Split(normalise(quick), "\n") {
			if i >= len(want) || line != want[i] {
				t.Fatalf("with Accept %q line %d is %s", accept, i+1, line)
			}
		}
	}
	one, _, _ := get(t, p.url+"/metrics?name[]=gpu_driver_state")
	if !strings.Contains(one, "\ngpu_driver_state{") || strings.Contains(one, "\ngpu_state{") {
		t.Errorf("one name was asked for and this came:\n%s", one)
	}
}

func TestThePageIsLintFree(t *testing.T) {
	p := start(t, newMachine(simulated(t)))
	body, _, _ := get(t, p.url+"/metrics")
	problems, err := promlint.New(strings.NewReader(body)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
}

func TestProbesDoNotDependOnTheDriver(t *testing.T) {
	source := newMachine(&gpu.Snapshot{})
	p := start(t, source)
	if _, _, status := get(t, p.url+"/-/healthy"); status != http.StatusOK {
		t.Errorf("liveness is %d before the first round", status)
	}
	if _, _, status := get(t, p.url+"/-/ready"); status != http.StatusServiceUnavailable {
		t.Errorf("readiness is %d before the first round, want 503", status)
	}
	source.set(&gpu.Snapshot{At: noon, Driver: gpu.Driver{State: gpu.DriverNoLibrary}})
	body, _, status := get(t, p.url+"/-/ready")
	if status != http.StatusOK || !strings.Contains(body, "driver no_library") {
		t.Errorf("readiness is %d %q without a driver, want 200 and the driver's state", status, body)
	}
	if body, _, _ := get(t, p.url+"/metrics"); !strings.Contains(body, `gpu_driver_state{host="gpu-a1",state="no_library",vantage="host"} 1`) {
		t.Error("the page does not tell the driver's state")
	}
	if body, _, status := get(t, p.url+"/"); status != http.StatusOK || !strings.Contains(body, "/metrics") {
		t.Errorf("the landing page answers %d", status)
	}
}

func TestTheProgramStopsWhileADriverCallHangs(t *testing.T) {
	source := newMachine(simulated(t))
	source.hang = true
	p := start(t, source)
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d, want 0:\n%s", code, p.log)
	}
	if _, err := http.Get(p.url + "/-/healthy"); err == nil {
		t.Error("the port is still served")
	}
	if !strings.Contains(p.log.String(), "hangs") {
		t.Errorf("the log does not say that a call was left behind:\n%s", p.log)
	}
}

func TestWrongCommandLinesAreOneErrorWithARemedy(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "web.yml")
	if err := os.WriteFile(bad, []byte("tls_server_config: {cert_fil: x}"), 0o600); err != nil {
		t.Fatal(err)
	}
	lines := filepath.Join(t.TempDir(), "ticket")
	if err := os.WriteFile(lines, []byte("hunter2\nhunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		args []string
		code int
		want string
	}{
		"an unknown flag":               {[]string{"--web.port=1"}, 2, "unknown long flag"},
		"an unknown command":            {[]string{"serv"}, 2, "unexpected"},
		"an unknown vantage":            {[]string{"--vantage=moon"}, 2, "host,guest"},
		"a receiver without a spool":    {[]string{"--push.url=http://127.0.0.1:1/api/v1/write"}, 2, "--push.spool-dir"},
		"a receiver that is no URL":     {[]string{"--push.url=localhost:9090"}, 2, "--push.url"},
		"a password in the URL":         {[]string{"--push.url=http://u:hunter2@localhost/w"}, 2, "--push.bearer-token-file"},
		"a hasty push":                  {[]string{"--push.url=http://localhost/w", "--push.interval=1ms"}, 2, "at least 1s"},
		"readings without a pause":      {[]string{"--collector.interval=99ms"}, 2, "want 100ms to 15s"},
		"readings older than a scrape":  {[]string{"--collector.interval=16s"}, 2, "want 100ms to 15s"},
		"a host that is no UTF-8":       {[]string{"--host.name=\xff"}, 2, "--host.name"},
		"a tiny spool":                  {[]string{"--push.url=http://localhost/w", "--push.spool-dir=x", "--push.spool-max-bytes=1KB"}, 2, "1MiB"},
		"a header that holds the token": {[]string{"--push.url=http://localhost/w", "--push.spool-dir=x", "--push.header=authorization=Bearer hunter2"}, 2, "--push.bearer-token-file"},
		"a header of two lines":         {[]string{"--push.url=http://localhost/w", "--push.spool-dir=x", "--push.header=X-Scope-OrgID=a\nb"}, 2, "NAME=VALUE"},
		"an enrolment in the clear":     {[]string{"enroll", "--server=http://192.0.2.7", "--token-file=" + bad}, 2, "https://"},
		"an enrolment without a server": {[]string{"enroll", "--token-file=" + bad}, 2, "--server"},
		"a one-time token of two lines": {[]string{"enroll", "--server=http://127.0.0.1:1", "--token-file=" + lines}, 3, "want one line"},
		"a wrong web configuration":     {[]string{"--web.config.file=" + bad}, 3, "cert_fil"},
		"a port that is no port":        {[]string{"--web.listen-address=127.0.0.1:99999"}, 1, "--web.listen-address"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := exporter.Run(context.Background(), test.args, &stdout, &stderr, exporter.Options{
				Sources: map[string]exporter.NewSource{"nvml": func(exporter.SourceConfig) (gpu.Source, error) { return newMachine(&gpu.Snapshot{}), nil }},
			})
			if code != test.code || !strings.Contains(stderr.String(), test.want) {
				t.Errorf("exit code %d, want %d; stderr, want %q:\n%s", code, test.code, test.want, stderr.String())
			}
			if strings.Contains(stderr.String(), "hunter2") {
				t.Error("the error shows a password")
			}
		})
	}
}

func TestTheSourceIsToldHowOftenToRead(t *testing.T) {
	for _, test := range []struct {
		args []string
		want time.Duration
	}{
		{nil, 5 * time.Second},
		{[]string{"--collector.interval=250ms"}, 250 * time.Millisecond},
	} {
		var told time.Duration
		exporter.Run(context.Background(), test.args, io.Discard, io.Discard, exporter.Options{
			Sources: map[string]exporter.NewSource{"nvml": func(c exporter.SourceConfig) (gpu.Source, error) {
				told = c.Interval
				return nil, errors.New("enough")
			}},
		})
		if told != test.want {
			t.Errorf("%v: the source reads every %s, want %s", test.args, told, test.want)
		}
	}
}

func TestHelpAndVersionSucceed(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"version"}} {
		var stdout, stderr bytes.Buffer
		code := exporter.Run(context.Background(), args, &stdout, &stderr, exporter.Options{
			Sources: map[string]exporter.NewSource{"nvml": nil},
		})
		if code != 0 || !strings.Contains(stdout.String(), "leasewatch-exporter") {
			t.Errorf("%v: exit code %d, stdout %q, stderr %q", args, code, stdout.String(), stderr.String())
		}
	}
}
