package monitor

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

func TestWhatFailsIsNamedWithItsReason(t *testing.T) {
	_, good := target(t, "gpu_temperature_celsius{gpu=\"0\"} 41\ngpu_temperature_celsius{gpu=\"1\"} 42\n")
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(refusing.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	jobs := job("good", good) + job("refusing", strings.TrimPrefix(refusing.URL, "http://")) +
		"- job_name: gone\n  scrape_interval: 200ms\n  scrape_timeout: 200ms\n  params: {key: [hunter2]}\n  static_configs: [{targets: ['" +
		strings.TrimPrefix(gone.URL, "http://") + "'], labels: {host: gpu-a17}}]\n"
	m := start(t, Options{Config: Config{ScrapeConfigs: []byte(jobs), RuleFiles: map[string][]byte{"r.yaml": []byte(`
groups:
  - {name: fine, interval: 200ms, rules: [{record: 'a:b:max', expr: 'max(gpu_temperature_celsius)'}]}
  - {name: broken, interval: 200ms, rules: [{record: 'a:b:twice', expr: 'gpu_temperature_celsius * on (job) gpu_temperature_celsius'}]}
`)}}})
	eventually(t, "both targets fail", func() bool { return len(m.FailingTargets()) == 2 })
	eventually(t, "the broken group fails", func() bool { return len(m.FailingRules()) == 1 })
	targets := m.FailingTargets()
	i := slices.IndexFunc(targets, func(one Trouble) bool { return one.Name == "gpu-a17" })
	if i < 0 || !strings.Contains(targets[i].Reason, "connection refused") {
		t.Errorf("failing targets %+v, expected gpu-a17 that refuses the connection", targets)
	}
	if !slices.ContainsFunc(targets, func(one Trouble) bool { return strings.Contains(one.Reason, "403") }) {
		t.Errorf("failing targets %+v, expected one that answers 403", targets)
	}
	for _, one := range targets {
		if strings.Contains(one.Reason, "hunter2") {
			t.Errorf("the reason holds what the address holds: %s", one.Reason)
		}
	}
	if broken := m.FailingRules()[0]; broken.Name != "broken" || !strings.HasPrefix(broken.Reason, "a:b:twice: ") || !strings.Contains(broken.Reason, "many-to-many") {
		t.Errorf("failing group %+v, expected broken with its rule and error", broken)
	}
}
