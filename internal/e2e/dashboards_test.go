package e2e

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"

	"github.com/leasewatch/leasewatch/dashboards"
	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/plugin/pkg/plugin"
)

// TestTheDemoEndsByItself lets the demo run for a short time: it tells a page by then, and ends
// with code 0.
func TestTheDemoEndsByItself(t *testing.T) {
	t.Parallel() // the demos' time is waiting, mostly
	bin, data := programs(t), t.TempDir()
	demo := start(t, filepath.Join(bin, "leasewatch"), nil, "demo", "--for=90s", "--data-dir="+data, "--web.listen-address="+freeAddress(t))
	eventually(t, "the demo ends", demo.log, demo.ended)
	if code := demo.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the demo ended with code %d:\n%s", code, demo.log())
	}
	if out := demo.out.String(); !strings.Contains(out, "--- Slack, new message ---") || !strings.Contains(out, "✕ PAGE") {
		t.Errorf("no page was told:\n%s", demo.log())
	}
}

// TestTheDemoFillsEveryPanel runs the real demo and asks every query of every panel: the
// fleet's by PromQL, the leases' through the plugin's backend over gRPC.
func TestTheDemoFillsEveryPanel(t *testing.T) {
	t.Parallel()
	bin, address := programs(t), freeAddress(t)
	demo := start(t, filepath.Join(bin, "leasewatch"), nil, "demo", "--for=10m", "--web.listen-address="+address)
	eventually(t, "the demo's history is loaded; a page and the idle lease were told", demo.log, func() bool {
		out := demo.out.String()
		if demo.ended() {
			t.Fatalf("the demo ended early:\n%s", demo.log())
		}
		return strings.Contains(out, "History is loaded") && strings.Contains(out, "✕ PAGE") && strings.Contains(out, "Lease lotus-idle idle for 120 minutes")
	})
	t.Run("the fleet's panels, by PromQL", func(t *testing.T) { promQueries(t, demo, "http://"+address) })
	t.Run("the leases' panels, through the plugin", func(t *testing.T) { pluginQueries(t, "http://"+address) })
	t.Run("the five leases cost, are used and are judged", func(t *testing.T) { fiveLeases(t, "http://"+address) })
	if code := demo.stop(); code != 0 {
		t.Errorf("the demo ended with code %d:\n%s", code, demo.log())
	}
}

func promQueries(t *testing.T, demo *process, address string) {
	queries, err := dashboards.PrometheusQueries()
	if err != nil {
		t.Fatal(err)
	}
	if len(queries) == 0 {
		t.Fatal("no dashboard asks Prometheus anything")
	}
	for _, q := range queries {
		expr := filled(q.Expr)
		found := 0
		// A recording rule may be a round behind: it is asked again for a while.
		eventually(t, q.Dashboard+": "+q.Panel+": "+expr+" gives data", demo.log, func() bool {
			found = instant(t, address, expr)
			return found > 0 || q.MayBeEmpty != ""
		})
	}
}

// filled puts values for Grafana's own variables.
func filled(text string) string {
	return strings.NewReplacer("$__rate_interval", "5m", "$__interval", "1m", "$__range", "1h",
		`"$host"`, `".+"`, "$host", ".+", "$lease", "acme-train").Replace(text)
}

// instant returns how many series an expression gives now; one that fails fails the test.
func instant(t testing.TB, address, expr string) int {
	t.Helper()
	res, err := http.Get(address + "/prometheus/api/v1/query?" + url.Values{"query": {expr}}.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var answer struct {
		Status, Error string
		Data          struct{ Result []json.RawMessage }
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	if answer.Status != "success" {
		t.Fatalf("%s: %s", expr, answer.Error)
	}
	return len(answer.Data.Result)
}

func pluginQueries(t *testing.T, address string) {
	queries, err := dashboards.LeasewatchQueries()
	if err != nil {
		t.Fatal(err)
	}
	month := backend.TimeRange{From: time.Now().AddDate(0, 0, -30), To: time.Now()}
	for _, q := range queries {
		body, err := json.Marshal(plugin.Query{Type: q.Type, Lease: q.Lease, Step: q.Step, Metric: q.Metric})
		if err != nil {
			t.Fatal(err)
		}
		answer, answered := askPlugin(t, address, backend.DataQuery{
			RefID: q.RefID, JSON: json.RawMessage(filled(string(body))), TimeRange: month,
		})[q.RefID]
		if !answered {
			t.Errorf("%s: %s: no answer", q.Dashboard, q.Panel)
		}
		if answer.Error != nil {
			t.Errorf("%s: %s: %v", q.Dashboard, q.Panel, answer.Error)
			continue
		}
		rows := 0
		for _, frame := range answer.Frames {
			rows += frame.Rows()
		}
		if rows == 0 && q.MayBeEmpty == "" {
			t.Errorf("%s: %s is empty: %s", q.Dashboard, q.Panel, body)
		}
	}
}

// fiveLeases checks that the demo shows what it promises.
func fiveLeases(t *testing.T, address string) {
	client, err := api.New(address, api.Secret{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	leases, err := client.Leases(t.Context(), api.LeaseQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if len(leases) != 5 {
		t.Fatalf("%d leases, expected five", len(leases))
	}
	for _, l := range leases {
		if l.Cost.Minor <= 0 || l.Utilisation == nil || l.Coverage == nil || *l.Coverage < 0.95 {
			t.Errorf("lease %s: cost %s %s, utilisation %v, coverage %v", l.ID, l.Cost.Currency, l.Cost.Decimal, l.Utilisation, l.Coverage)
		}
	}
}
