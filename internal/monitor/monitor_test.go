package monitor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// told collects what a monitor tells.
type told struct {
	mu     sync.Mutex
	alerts []Alert
}

func (c *told) notify(_ context.Context, alerts []Alert) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.alerts = append(c.alerts, alerts...)
}

func (c *told) find(match func(Alert) bool) (Alert, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.IndexFunc(c.alerts, match); i >= 0 {
		return c.alerts[i], true
	}
	return Alert{}, false
}

// page is a scrape target whose text may change.
type page struct {
	mu   sync.Mutex
	text string
}

func (p *page) set(text string) { p.mu.Lock(); p.text = text; p.mu.Unlock() }

func (p *page) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	_, _ = w.Write([]byte(p.text))
}

// target serves a page and returns it with its host:port.
func target(t *testing.T, text string) (*page, string) {
	t.Helper()
	p := &page{text: text}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	return p, strings.TrimPrefix(server.URL, "http://")
}

func job(name, address string) string {
	return fmt.Sprintf("- job_name: %s\n  scrape_interval: 200ms\n  scrape_timeout: 200ms\n  static_configs: [{targets: ['%s']}]\n", name, address)
}

func open(t *testing.T, o Options) *Monitor {
	t.Helper()
	if o.DataDir == "" {
		o.DataDir = t.TempDir()
	}
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, m) })
	return m
}

func start(t *testing.T, o Options) *Monitor {
	t.Helper()
	m := open(t, o)
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-m.Ready():
	case <-time.After(30 * time.Second):
		t.Fatal("not ready after 30 s")
	}
	return m
}

func stop(t *testing.T, m *Monitor) {
	t.Helper()
	if err := m.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

// eventually polls until the condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatal("never: " + what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// value1 is the single value of an instant query now; found is false where there is none.
func value1(t *testing.T, m *Monitor, expr string) (v float64, found bool) {
	t.Helper()
	got, err := m.Query(t.Context(), expr, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if len(got) == 0 {
		return 0, false
	}
	return got[0].Samples[0].Value, true
}

const lostRule = `
groups:
- name: record
  interval: 200ms
  rules:
  - record: uuid:gpu_state:max
    expr: max without (job, instance) (gpu_state)
- name: alerts
  interval: 200ms
  rules:
  - alert: GPULost
    expr: uuid:gpu_state:max{state="lost"} == 1
    labels: {severity: page, subject: "{{ $labels.host }}"}
    annotations: {summary: "GPU {{ $labels.uuid }} is lost"}
`

func TestALostGPUIsToldAndTheHealedOneIsToldOnce(t *testing.T) {
	gpu, address := target(t, `gpu_state{uuid="GPU-1",host="a",state="lost"} 1`+"\n")
	var got told
	m := start(t, Options{
		Config: Config{ScrapeConfigs: []byte(job("gpus", address)), RuleFiles: map[string][]byte{"lost.yaml": []byte(lostRule)}},
		Notify: got.notify, ExternalURL: "http://leasewatch.example",
	})

	// Ready comes after one full evaluation, the recording rule ahead of the alert that reads it.
	first, ok := got.find(func(a Alert) bool { return a.Labels["alertname"] == "GPULost" })
	if !ok {
		t.Fatal("ready, but the alert was not told")
	}
	if first.Labels["subject"] != "a" || first.Annotations["summary"] != "GPU GPU-1 is lost" {
		t.Errorf("told %v %v", first.Labels, first.Annotations)
	}
	if !first.EndsAt.IsZero() || !first.ValidUntil.After(first.StartsAt.Add(3*time.Minute)) {
		t.Errorf("ends at %v, valid until %v: expected a firing alert", first.EndsAt, first.ValidUntil)
	}
	if !strings.HasPrefix(first.GeneratorURL, "http://leasewatch.example/") {
		t.Errorf("generator URL %q", first.GeneratorURL)
	}
	if active := m.ActiveAlerts(); len(active) != 1 {
		t.Errorf("%d active alerts, expected 1", len(active))
	}

	gpu.set(`gpu_state{uuid="GPU-1",host="a",state="lost"} 0` + "\n")
	eventually(t, "the alert is told as ended", func() bool {
		_, ended := got.find(func(a Alert) bool { return !a.EndsAt.IsZero() })
		return ended
	})
}

func TestATargetThatAnswersRubbishLeavesTheOthersAlone(t *testing.T) {
	_, good := target(t, "gpu_temperature_celsius 41\n")
	_, bad := target(t, "<html>{{{ not metrics\x00\n")
	m := start(t, Options{Config: Config{ScrapeConfigs: []byte(job("good", good) + job("bad", bad))}})
	eventually(t, "the good target is up", func() bool { v, ok := value1(t, m, `up{job="good"}`); return ok && v == 1 })
	eventually(t, "the bad target is down", func() bool { v, ok := value1(t, m, `up{job="bad"}`); return ok && v == 0 })
	if v, ok := value1(t, m, "gpu_temperature_celsius"); !ok || v != 41 {
		t.Errorf("temperature %v %v, expected 41", v, ok)
	}
}

func TestTheServersOwnSeriesAreScrapedAndEndAtOnce(t *testing.T) {
	reg := prometheus.NewRegistry()
	leases := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "lease_info", Help: "Leases."}, []string{"lease"})
	reg.MustRegister(leases)
	leases.WithLabelValues("l1").Set(1)
	m := start(t, Options{Self: reg, SelfInterval: 200 * time.Millisecond})
	if v, ok := value1(t, m, `lease_info{lease="l1",job="leasewatch",instance="self"}`); !ok || v != 1 {
		t.Fatalf("own series: %v %v, expected 1", v, ok)
	}
	leases.DeleteLabelValues("l1")
	eventually(t, "the ended lease's series ends long before the lookback", func() bool {
		_, ok := value1(t, m, "lease_info")
		return !ok
	})
}

func TestMissedAndFailedEvaluationsAreCounted(t *testing.T) {
	reg := prometheus.NewRegistry()
	start(t, Options{Config: Config{RuleFiles: map[string][]byte{"r.yaml": []byte(lostRule)}}, Registerer: reg, Self: reg, SelfInterval: 200 * time.Millisecond})
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"prometheus_rule_evaluation_failures_total", "prometheus_rule_group_iterations_missed_total", "prometheus_tsdb_head_series"} {
		if !slices.ContainsFunc(families, func(f *dto.MetricFamily) bool { return f.GetName() == name }) {
			t.Errorf("no metric %s", name)
		}
	}
}

func TestReloadChecksEverythingAndThenSwaps(t *testing.T) {
	_, address := target(t, "m 1\n")
	m := start(t, Options{Config: Config{ScrapeConfigs: []byte(job("one", address))}})
	bad := Config{ScrapeConfigs: []byte(job("two", address)), RuleFiles: map[string][]byte{"bad.yaml": []byte("groups:\n- name: g\n  rules:\n  - record: a\n    expr: sum(\n")}}
	if err := m.Reload(t.Context(), bad); err == nil || !strings.Contains(err.Error(), "bad.yaml") {
		t.Fatalf("a bad rule file: %v, expected an error that names it", err)
	}
	if v, ok := value1(t, m, `up{job="one"}`); !ok || v != 1 {
		t.Error("the refused reload changed the scrape configuration")
	}
	good := Config{ScrapeConfigs: []byte(job("two", address)), RuleFiles: map[string][]byte{"r.yaml": []byte(lostRule)}}
	if err := m.Reload(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the new job is scraped", func() bool { v, ok := value1(t, m, `up{job="two"}`); return ok && v == 1 })
	if left := m.scraper.TargetsActive()["one"]; len(left) != 0 {
		t.Errorf("the old job still has targets: %v", left)
	}
	if groups := m.rules.RuleGroups(); len(groups) != 2 {
		t.Errorf("%d rule groups, expected 2", len(groups))
	}
}

func TestASecondServerOnTheDataDirectoryIsRefused(t *testing.T) {
	dir := t.TempDir()
	open(t, Options{DataDir: dir})
	_, err := New(Options{DataDir: dir})
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), dir) {
		t.Fatalf("%v, expected ErrInUse that names %s", err, dir)
	}
}

func TestADataDirectoryThatCannotBeUsedIsOneClearError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{DataDir: file}); !errors.Is(err, ErrNotWritable) || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a file: %v", err)
	}
	for cause, words := range map[error]string{
		syscall.ENOSPC: "free some", syscall.EROFS: "read-write", syscall.EACCES: "owner",
	} {
		err := storeError("/data", fmt.Errorf("write: %w", cause))
		if !errors.Is(err, ErrNotWritable) || !errors.Is(err, cause) || !strings.Contains(err.Error(), words) {
			t.Errorf("%v: %v, expected ErrNotWritable with %q", cause, err, words)
		}
	}
	if _, err := New(Options{}); err == nil {
		t.Error("no data directory: expected an error")
	}
}

func TestStopBeforeStartAndDuringTheFirstScrapeEnds(t *testing.T) {
	stop(t, open(t, Options{}))
	never := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(never.Close)
	m := open(t, Options{Config: Config{
		ScrapeConfigs: []byte("- job_name: slow\n  scrape_interval: 20s\n  scrape_timeout: 20s\n  static_configs: [{targets: ['" + strings.TrimPrefix(never.URL, "http://") + "']}]\n"),
		RuleFiles:     map[string][]byte{"r.yaml": []byte(lostRule)},
	}})
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop(t, m)
	stop(t, m)
}

func TestSelectReturnsRawSamplesOfTheHalfOpenSpan(t *testing.T) {
	m := open(t, Options{Now: func() time.Time { return time.UnixMilli(100_000) }})
	put(t, m, map[string]string{"__name__": "g", "uuid": "1"}, 10_000, 5_000, 1, 2, 3)
	put(t, m, map[string]string{"__name__": "g", "uuid": "2"}, 10_000, 5_000, 7)
	got, err := m.Select(t.Context(), "g", map[string]string{"uuid": "1"}, rental.Span{Start: 10_000, End: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || len(got[0].Samples) != 2 || got[0].Samples[1] != (rental.Sample{At: 15_000, Value: 2}) || got[0].Labels["__name__"] != "" {
		t.Errorf("%+v, expected two samples of uuid 1", got)
	}
	if all, err := m.Select(t.Context(), "g", nil, rental.Span{Start: 0, End: 100_000}); err != nil || len(all) != 2 {
		t.Errorf("%v %v, expected both series", all, err)
	}
}

// put appends samples of one series from a moment on, at even distances.
func put(t *testing.T, m *Monitor, labelMap map[string]string, from, step int64, values ...float64) {
	t.Helper()
	app := m.db.Appender(t.Context())
	for i, v := range values {
		if _, err := app.Append(0, labelsOf(labelMap), from+int64(i)*step, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := app.Commit(); err != nil {
		t.Fatal(err)
	}
}
