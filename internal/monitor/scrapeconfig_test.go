package monitor

import (
	"strings"
	"testing"
)

func TestConfigurationErrorsSayWhereAndWhat(t *testing.T) {
	const target = "\n  static_configs: [{targets: ['a:1']}]\n"
	for name, c := range map[string]struct {
		config Config
		words  []string
	}{
		"an unknown field keeps the line of the file": {
			Config{ScrapeConfigs: []byte("\n\n\n- job_name: a\n  scrap_interval: 5s" + target), ScrapeConfigsFile: "leasewatch.yaml"},
			[]string{"leasewatch.yaml:5: ", "scrap_interval"},
		},
		"an interval over the limit says why": {
			Config{ScrapeConfigs: []byte("- job_name: slow\n  scrape_interval: 26s" + target)},
			[]string{`"slow"`, "26s", "25s", "1m0s"},
		},
		"a job that takes our own name": {Config{ScrapeConfigs: []byte("- job_name: leasewatch" + target)}, []string{"leasewatch", "own metrics"}},
		"two jobs of one name":          {Config{ScrapeConfigs: []byte("- job_name: a" + target + "- job_name: a" + target)}, []string{"job name", `"a"`}},
		"not a list":                    {Config{ScrapeConfigs: []byte("scrape_configs: []\nrule_files: []\n")}, []string{"scrape_configs:1: ", "not a list", "job_name"}},
		"not YAML":                      {Config{ScrapeConfigs: []byte("- {")}, []string{"scrape_configs:1: "}},
		"a target with a path":          {Config{ScrapeConfigs: []byte("- job_name: a\n  static_configs: [{targets: ['http://a/metrics']}]\n")}, []string{"http://a/metrics"}},
		"an unknown field of a rule": {
			Config{RuleFiles: map[string][]byte{"gpu.yaml": []byte("groups:\n- name: g\n  rules:\n  - alert: A\n    expr: up\n    forr: 5m\n")}},
			[]string{"gpu.yaml", "line 6", "forr"},
		},
		"a broken expression": {
			Config{RuleFiles: map[string][]byte{"gpu.yaml": []byte("groups:\n- name: g\n  rules:\n  - alert: A\n    expr: sum(up\n")}},
			[]string{"gpu.yaml", "parse error"},
		},
		"an experimental function": {
			Config{RuleFiles: map[string][]byte{"gpu.yaml": []byte("groups:\n- name: g\n  rules:\n  - alert: A\n    expr: info(up)\n")}},
			[]string{"gpu.yaml", "info"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := CheckConfig(c.config)
			if err == nil {
				t.Fatal("expected an error")
			}
			for _, word := range c.words {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not say %q", err, word)
				}
			}
		})
	}
}

func TestAllBrokenFilesAreNamedAtOnce(t *testing.T) {
	broken := []byte("groups: 5\n")
	err := CheckConfig(Config{ScrapeConfigs: []byte("- {"), RuleFiles: map[string][]byte{"a.yaml": broken, "b.yaml": broken}})
	for _, word := range []string{"scrape_configs", "a.yaml", "b.yaml"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%v does not name %s", err, word)
		}
	}
}

func TestAConfigurationOfPrometheusIsTaken(t *testing.T) {
	jobs := `
  # from leasewatch.yaml: the list is indented there
  - job_name: gpus
    scrape_interval: 5s
    basic_auth: {username: scraper, password_file: secrets/scraper}
    file_sd_configs: [{files: ['targets/*.json']}]
    relabel_configs: [{source_labels: [__address__], regex: '([^:]+):.*', target_label: host}]
  - job_name: dns
    dns_sd_configs: [{names: [gpus.example], type: A, port: 9400}]
  - job_name: http
    http_sd_configs: [{url: 'http://sd.example/targets'}]
`
	if err := CheckConfig(Config{ScrapeConfigs: []byte(jobs), ScrapeConfigsFile: "/etc/leasewatch/leasewatch.yaml"}); err != nil {
		t.Error(err)
	}
	if err := CheckConfig(Config{}); err != nil {
		t.Errorf("an empty configuration: %v", err)
	}
	o := Options{Config: Config{ScrapeConfigs: []byte(jobs), ScrapeConfigsFile: "/etc/leasewatch/leasewatch.yaml"}}.withDefaults()
	cfg, err := parseScrape(o)
	if err != nil {
		t.Fatal(err)
	}
	if got := cfg.ScrapeConfigs[0].HTTPClientConfig.BasicAuth.PasswordFile; got != "/etc/leasewatch/secrets/scraper" {
		t.Errorf("password file %q, expected it beside the configuration", got)
	}
}

func FuzzScrapeConfig(f *testing.F) {
	f.Add([]byte("- job_name: a\n  static_configs: [{targets: ['a:1']}]\n"))
	f.Add([]byte("[]"))
	f.Add([]byte("- *a"))
	f.Fuzz(func(_ *testing.T, raw []byte) {
		_ = CheckConfig(Config{ScrapeConfigs: raw}) // must not panic
	})
}
