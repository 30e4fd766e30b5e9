package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/server"
)

// files writes files into a new folder and makes it the current one, so that errors name
// them as a person would.
func files(t *testing.T, content map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, body := range content {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheDocumentedConfigurationIsTakenAndReadAsWritten(t *testing.T) {
	files(t, map[string]string{"leasewatch.yaml": `
global:
  scrape_interval: 5s
  evaluation_interval: 10s
  external_url: https://leasewatch.example.net
  language: zh
scrape_configs:
  - job_name: leasewatch-exporter
    honor_labels: true
    static_configs:
      - targets: [gpu-a17:19400, gpu-a18:19400]
rule_files: [extra/*.yaml]
slack:
  channel: C0123456789
  bot_token_file: secrets/bot
  app_token_file: secrets/app
  people:
    U0123456789: {name: Wang Li, role: oncall}
access:
  required: true
metering: {running: 0s}
witnesses:
  interval: 10s
  ways: [icmp, "tcp:22"]
  paths:
    - {name: office, source: 192.0.2.10, reference: 192.0.2.1}
    - {name: lte, reference: "198.51.100.1:443"}
  bmc:
    - {user: leasewatch, password_file: secrets/bmc, session: true, insecure_skip_verify: true}
thresholds:
  - {name: temperature_margin_celsius, value: 80, site: oslo}
`, "secrets/bot": "xoxb-1", "secrets/app": "xapp-1", "secrets/bmc": "swordfish", "extra/one.yaml": "groups: []\n"})
	if err := server.CheckConfig("leasewatch.yaml"); err != nil {
		t.Fatal(err)
	}
	cfg, err := server.LoadConfig("leasewatch.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if time.Duration(cfg.Global.ScrapeInterval) != 5*time.Second || time.Duration(cfg.Global.EvaluationInterval) != 10*time.Second ||
		cfg.Global.Language != "zh" || !cfg.Access.Required || cfg.Metering.Running != 0 ||
		cfg.Slack.People["U0123456789"] != (server.Person{Name: "Wang Li", Role: "oncall"}) {
		t.Errorf("read as %+v", cfg)
	}
}

func TestAnEmptyFileHoldsTheDefaults(t *testing.T) {
	files(t, map[string]string{"leasewatch.yaml": "# nothing yet\n"})
	cfg, err := server.LoadConfig("leasewatch.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if time.Duration(cfg.Global.ScrapeInterval) != 15*time.Second || cfg.Global.Language != "en" || cfg.Access.Required ||
		cfg.Slack.APIURL != "https://slack.com/api/" {
		t.Errorf("defaults are %+v", cfg)
	}
}

func TestAWrongConfigurationIsToldWithPlaceFoundAndExpected(t *testing.T) {
	const name = "lw.yaml"
	for title, c := range map[string]struct{ yaml, want string }{
		"an unknown section": {"globl: {}\n", `lw.yaml:1: unknown field "globl" (see docs/configuration.md for the fields)`},
		"an unknown field":   {"slack:\n  chanel: C1\n", `lw.yaml:2: unknown field "chanel" (see docs/configuration.md for the fields)`},
		"text for a yes":     {"access: {required: maybe}\n", `lw.yaml:1: found text "maybe", expected true or false`},
		"text for a list":    {"rule_files: a.yaml\n", `lw.yaml:1: found text "a.yaml", expected a list`},
		"text for a mapping": {"\nslack: on\n", `lw.yaml:2: found text "on", expected a mapping of fields`},
		"a list for text":    {"slack: {channel: [a]}\n", `lw.yaml:1: found a list, expected text`},
		"a length that is none": {
			"global:\n  scrape_interval: fast\n  language: en\n",
			`lw.yaml:2: found "fast", expected a length of time such as 15s`,
		},
		"a length without a unit": {"metering: {running: 5}\n", `lw.yaml:1: found "5", expected a length of time such as 15s`},
		"a field twice":           {"rule_files: []\nrule_files: []\n", `lw.yaml:2: mapping key "rule_files" already defined at line 1`},
		"no YAML":                 {"a: [\n", `lw.yaml:1: did not find expected node content`},
		"an interval over a reading's life": {
			"global: {scrape_interval: 30s}\n",
			`lw.yaml:1: global.scrape_interval: found "30s", expected more than 0s and at most 25s: a reading counts for two intervals, and no reading older than a minute is shown as live`,
		},
		"no evaluation":              {"global: {evaluation_interval: 0s}\n", `lw.yaml:1: global.evaluation_interval: found "0s", expected more than 0s`},
		"a look too seldom":          {"witnesses: {interval: 1m}\n", `lw.yaml:1: witnesses.interval: found "1m", expected 5s to 30s: a reading counts for two intervals, and none older than a minute is shown as live`},
		"a way that is none":         {"witnesses: {ways: [icmp, 'udp:53']}\n", `lw.yaml:1: witnesses.ways[1]: found "udp:53", expected icmp or tcp:PORT, such as tcp:22`},
		"a path without a reference": {"witnesses: {paths: [{name: a}]}\n", `lw.yaml:1: witnesses.paths[0].reference: found "", expected what answers whenever the path works, such as its gateway: while it does not, hosts that are silent are not taken for down`},
		"two paths of one name":      {"witnesses: {paths: [{name: a, reference: b}, {name: a, reference: c}]}\n", `lw.yaml:1: witnesses.paths[1].name: found "a", expected another name than an earlier path's: two paths are told apart by it`},
		"a source that is none":      {"witnesses: {paths: [{name: a, source: eth0, reference: b}]}\n", `lw.yaml:1: witnesses.paths[0].source: found "eth0", expected an address of this machine, such as 192.0.2.10, or nothing`},
		"a BMC's password nowhere":   {"witnesses: {bmc: [{user: u, password_file: none}]}\n", `lw.yaml:1: witnesses.bmc[0].password_file: expected a file that holds the secret and that this user can read: open none: no such file or directory`},
		"another language":           {"global: {language: de}\n", `lw.yaml:1: global.language: found "de", expected en or zh`},
		"Slack in another":           {"slack: {language: de}\n", `lw.yaml:1: slack.language: found "de", expected en or zh`},
		"an API without /":           {"slack: {api_url: 'http://127.0.0.1:1/api'}\n", `lw.yaml:1: slack.api_url: found "http://127.0.0.1:1/api", expected an http:// or https:// address that ends in "/"`},
		"a token, no place":          {"slack: {bot_token_file: bot}\n", `lw.yaml:1: slack.channel: found "", expected the id of a channel, such as C0123456789, beside slack.bot_token_file`},
		"people's roles, in order": {
			"slack: {people: {U2: {name: b, role: boss}, U1: {name: a, role: tenant}}}\n",
			"lw.yaml:1: slack.people.U1.role: found \"tenant\", expected oncall, operator or admin\n" +
				"lw.yaml:1: slack.people.U2.role: found \"boss\", expected oncall, operator or admin",
		},
		"a threshold without a name": {"thresholds: [{value: 1}]\n", `lw.yaml:1: thresholds[0].name: found "", expected one of clock_correction_seconds, clock_offset_seconds, double_bit_pages, dropped_readings, filesystem_left_ratio, heat_throttle_ratio, idle_coverage_ratio, idle_ratio, infiniband_errors, infiniband_link_downs, memory_stalled_ratio, network_errors, nvlink_crc_errors, nvlink_errors, nvlink_missing_links, pcie_busy_ratio, pcie_errors, push_waiting_seconds, remapped_rows, retired_pages, rule_failures, spool_used_ratio, temperature_margin_celsius, undelivered_seconds, unleased_use_ratio`},
		"a threshold of two scopes": {
			"thresholds: [{name: temperature_margin_celsius, value: 1, site: a, lease: b}]\n",
			`lw.yaml:1: thresholds[0]: found "more than one of lease, sku and site", expected at most one`,
		},
		"a threshold of the installation for one site": {
			"thresholds: [{name: network_errors, value: 1, site: a}]\n",
			`lw.yaml:1: thresholds[0]: found "network_errors of a site", expected none of lease, sku and site: it holds for the whole installation`,
		},
		"a job's unknown field": {
			"\nscrape_configs:\n\n  # ours\n  - job_name: a\n    honour_labels: true\naccess: {}\n",
			`lw.yaml:6: unknown field "honour_labels", expected one of Prometheus's scrape_configs`,
		},
		"jobs in one line":   {"scrape_configs: [{job_nam: a}]\n", `lw.yaml:1: unknown field "job_nam", expected one of Prometheus's scrape_configs`},
		"jobs that are none": {"scrape_configs: a\n", `lw.yaml:1: scrape_configs is not a list: expected jobs, each starting with "- job_name: NAME"`},
		"a job of our name": {
			"scrape_configs: [{job_name: leasewatch}]\n",
			`lw.yaml:1: job_name "leasewatch" is taken by the server's own metrics: choose another name`,
		},
		"no rule file": {"rule_files: [nowhere.yaml]\n", `lw.yaml:1: rule_files: "nowhere.yaml": no such file; expected a rule file or a pattern that matches some`},
		"a broken rule": {
			"rule_files: [broken.yaml]\n",
			`broken.yaml: 5:15: group "x", rule 1, "A": could not parse expression: 1:5: parse error: unclosed left parenthesis`,
		},
		"no routing":               {"paging: {config_file: nowhere.yaml}\n", `lw.yaml:1: paging.config_file: open nowhere.yaml: no such file or directory`},
		"a list for a length":      {"global:\n  scrape_interval: [1]\n", `lw.yaml:2: found a list, expected a length of time such as 15s`},
		"text for a number":        {"thresholds:\n  - {name: idle_ratio, value: abc}\n", `lw.yaml:2: found text "abc", expected a number`},
		"a threshold that is none": {"thresholds:\n  - name: idle_ratio\n    value: .nan\n", `lw.yaml:3: thresholds[0].value: found "NaN", expected a number of 0 or more`},
		"a negative threshold":     {"thresholds:\n  - {name: temperature_margin_celsius, value: -1}\n", `lw.yaml:2: thresholds[0].value: found "-1", expected a number of 0 or more`},
		"a share above one":        {"thresholds:\n  - {name: idle_ratio, value: 2}\n", `lw.yaml:2: thresholds[0].value: found "2", expected a share between 0 and 1`},
		"a link that runs a script": {
			"\nglobal:\n  external_url: javascript:alert(1)\n",
			`lw.yaml:3: global.external_url: found "javascript:alert(1)", expected an address that begins with http:// or https://, such as https://leasewatch.example.net`,
		},
		"another database": {"ledger:\n  dsn: mysql://u:p@db/x\n", `lw.yaml:2: ledger.dsn: found "mysql:...", expected postgres://USER@HOST/DATABASE or sqlite:PATH`},
		"a path for a DSN": {"ledger:\n  dsn: /var/lib/x\n", `lw.yaml:2: ledger.dsn: found "text without a scheme", expected postgres://USER@HOST/DATABASE or sqlite:PATH`},
		"no zone":          {"slack:\n  time_zone: Mars/X\n", `lw.yaml:2: slack.time_zone: found "Mars/X", expected an IANA zone such as Europe/Oslo`},
		"nobody to call":   {"slack:\n  mention: '@ada'\n", `lw.yaml:2: slack.mention: found "@ada", expected here, channel, none, or the id of a user (U...) or user group (S...)`},
		"a channel's name": {
			"slack:\n  channel: '#gpu-pages'\n",
			`lw.yaml:2: slack.channel: found "#gpu-pages", expected the id of a channel, such as C0123456789: Slack shows it at the end of the channel's details`,
		},
		"a person's name":   {"slack:\n  people:\n    ada: {role: oncall}\n", `lw.yaml:3: slack.people.ada: found "ada", expected the id of a user in Slack, such as U0123456789`},
		"a second document": {"global: {}\n---\naccess: {required: true}\n", `lw.yaml:2: found a second document, expected one: put its fields above the ---`},
		"an empty secret": {
			"slack:\n  channel: C0123\n  bot_token_file: empty\n",
			`lw.yaml:3: slack.bot_token_file: expected a file that holds the secret, found nothing in empty`,
		},
		"the second rule file": {
			"rule_files:\n  - fine.yaml\n  - nowhere.yaml\n",
			`lw.yaml:3: rule_files: "nowhere.yaml": no such file; expected a rule file or a pattern that matches some`,
		},
		"a job's interval that is none": {
			"scrape_configs:\n  - job_name: a\n    scrape_interval: soon\n",
			`lw.yaml:3: found "soon", expected a length of time such as 15s`,
		},
		"a job's interval that is too long": {
			"scrape_configs:\n  - job_name: a\n  - job_name: b\n    scrape_interval: 1m\n",
			`lw.yaml:4: job "b": scrape_interval is 1m0s, the longest allowed is 25s: queries look back 1m0s, so that a dead GPU is not shown as live, and two samples must fit into that`,
		},
		"a job's timeout over its interval": {
			"scrape_configs:\n  - job_name: a\n    scrape_interval: 5s\n    scrape_timeout: 9s\n",
			`lw.yaml:4: scrape timeout greater than scrape interval for scrape config with job name "a"`,
		},
		"two jobs of one name": {
			"scrape_configs:\n  - job_name: a\n\n  - job_name: a\n",
			`lw.yaml:4: found multiple scrape configs with job name "a", expected each name once`,
		},
		"routing with an unknown field": {
			"paging: {config_file: routing.yaml}\n",
			`routing.yaml:3: unknown field "group_bye", expected one of Alertmanager's configuration`,
		},
		"a step to nobody": {
			"paging:\n  config_file: duty.yaml\n  next:\n    - {receiver: phon, undelivered_after: 2m}\n",
			`lw.yaml:4: paging.next[0].receiver: found "phon", expected the name of a receiver in duty.yaml`,
		},
		"a step to leasewatch itself": {
			"paging:\n  config_file: duty.yaml\n  next: [{receiver: leasewatch, undelivered_after: 2m}]\n",
			`lw.yaml:3: paging.next[0].receiver: found "leasewatch", expected a receiver with a way to people in duty.yaml, such as pagerduty_configs, email_configs or webhook_configs; this one is leasewatch itself or empty`,
		},
		"a step that never comes": {
			"paging:\n  config_file: duty.yaml\n  next: [{receiver: phone}]\n",
			`lw.yaml:3: paging.next[0]: found "neither undelivered_after nor unacknowledged_after", expected one of them or both, such as undelivered_after: 2m`,
		},
		"a step twice": {
			"paging:\n  config_file: duty.yaml\n  next:\n    - {receiver: phone, undelivered_after: 2m}\n    - {receiver: phone, unacknowledged_after: 2m}\n",
			`lw.yaml:5: paging.next[1].receiver: found "phone", expected each receiver once`,
		},
		"no secret": {
			"slack: {app_token_file: nowhere}\n",
			`lw.yaml:1: slack.app_token_file: expected a file that holds the secret and that this user can read: open nowhere: no such file or directory`,
		},
	} {
		t.Run(title, func(t *testing.T) {
			files(t, map[string]string{
				name: c.yaml, "broken.yaml": "groups:\n  - name: x\n    rules:\n      - alert: A\n        expr: sum(\n",
				"duty.yaml": "route: {receiver: leasewatch}\nreceivers:\n" +
					"  - {name: leasewatch, webhook_configs: [{url: 'http://127.0.0.1/api/v1/webhook/alertmanager'}]}\n" +
					"  - {name: phone, pagerduty_configs: [{routing_key: k}]}\n",
				"fine.yaml": "groups: []\n", "empty": "\n", "routing.yaml": "route:\n  receiver: a\n  group_bye: [x]\nreceivers: [{name: a}]\n",
			})
			err := server.CheckConfig(name)
			if err == nil {
				t.Fatalf("accepted, expected %q", c.want)
			}
			if err.Error() != c.want {
				t.Errorf("said     %s\nexpected %s", err, c.want)
			}
		})
	}
}

func TestErrorsOfTheConfigurationHoldNoSecret(t *testing.T) {
	const secret = "hunter2hunter2"
	for title, yaml := range map[string]string{
		"a DSN that is a list":        "ledger: {dsn: ['postgres://u:" + secret + "@db/x']}\n",
		"a DSN beside a fault":        "ledger: {dsn: 'postgres://u:" + secret + "@db/x'}\nglobal: {language: de}\n",
		"a job's password":            "scrape_configs: [{job_name: a, basic_auth: {username: u, password: " + secret + "}, static_configs: [{targets: ['http://a/b']}]}]\n",
		"a secret file beside it":     "slack: {channel: C1, bot_token_file: bot, language: de}\n",
		"a job's authorization twice": "scrape_configs: [{job_name: a, bearer_token: " + secret + ", authorization: {credentials: " + secret + "}}]\n",
	} {
		t.Run(title, func(t *testing.T) {
			files(t, map[string]string{"lw.yaml": yaml, "bot": secret})
			err := server.CheckConfig("lw.yaml")
			if err == nil {
				t.Fatal("accepted")
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error holds the secret: %s", err)
			}
		})
	}
}

func TestWithoutAccessTheServerListensOnLoopbackOnly(t *testing.T) {
	const refusal = " is not on loopback, and access is not configured: set access.required: true in the configuration file and make tokens with `leasewatch token create`, or listen on 127.0.0.1"
	for address, want := range map[string]string{
		"127.0.0.1:8080":    "",
		"127.8.9.1:0":       "",
		"[::1]:8080":        "",
		"localhost:8080":    "",
		"0.0.0.0:8080":      `--web.listen-address "0.0.0.0:8080"` + refusal,
		":8080":             `--web.listen-address ":8080"` + refusal,
		"[::]:8080":         `--web.listen-address "[::]:8080"` + refusal,
		"192.0.2.7:8080":    `--web.listen-address "192.0.2.7:8080"` + refusal,
		"host.example:8080": `--web.listen-address "host.example:8080"` + refusal,
		"127.0.0.1":         `--web.listen-address "127.0.0.1": expected HOST:PORT, such as 127.0.0.1:8080`,
	} {
		t.Run(address, func(t *testing.T) {
			open := server.DefaultConfig()
			got := ""
			if err := open.CheckListen(address); err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("said     %q\nexpected %q", got, want)
			}
			guarded := server.DefaultConfig()
			guarded.Access.Required = true
			if err := guarded.CheckListen(address); err != nil {
				t.Errorf("with access configured: %v", err)
			}
		})
	}
}
