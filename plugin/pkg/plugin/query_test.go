package plugin_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana-plugin-sdk-go/data"

	"github.com/leasewatch/leasewatch/plugin/pkg/plugin"
	"github.com/leasewatch/leasewatch/plugin/pkg/seeded"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s differs (run with -update and look at the diff):\n%s", file, got)
	}
}

func TestEveryQueryTypeGivesItsFrame(t *testing.T) {
	s := newStage(t)
	for name, query := range map[string]string{
		"leases":            `{"type":"leases"}`,
		"leases-by-default": `{}`,
		"leases-one-metric": `{"type":"leases","metric":"idle_cost"}`,
		"usage-by-day":      `{"type":"usage","lease":"acme-train","step":"day"}`,
		"usage-one-metric":  `{"type":"usage","lease":"acme-train","step":"day","metric":"utilization"}`,
		"usage-unmeasured":  `{"type":"usage","lease":"acme-dark","step":"day"}`,
		"cards":             `{"type":"cards","lease":"acme-train"}`,
		"cards-one-metric":  `{"type":"cards","lease":"acme-train","metric":"utilization"}`,
		"cards-unmeasured":  `{"type":"cards","lease":"acme-dark"}`,
		"sla":               `{"type":"sla","lease":"acme-train"}`,
		"sla-past-month":    `{"type":"sla","lease":"acme-train","month":"2026-04"}`,
		"sla-one-metric":    `{"type":"sla","lease":"acme-train","metric":"availability_low"}`,
		"sla-no-objective":  `{"type":"sla","lease":"acme-idle"}`,
		"downtime":          `{"type":"downtime","lease":"acme-train"}`,
		"downtime-none":     `{"type":"downtime","lease":"acme-idle"}`,
	} {
		t.Run(name, func(t *testing.T) {
			res := s.ask(t, s.as(t, viewer, seeded.TokenAcme, plugin.Settings{}), nil, query)
			if res.Error != nil || len(res.Frames) != 1 {
				t.Fatalf("error %v, %d frames", res.Error, len(res.Frames))
			}
			frame := res.Frames[0]
			if frame.RefID != "A" || frame.Meta == nil || frame.Meta.Type == "" || frame.Meta.TypeVersion != (data.FrameTypeVersion{0, 1}) {
				t.Errorf("refId %q, meta %+v: expected the query's refId and a frame type with its version", frame.RefID, frame.Meta)
			}
			out, err := json.MarshalIndent(frame, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".json", append(out, '\n'))
		})
	}
}

func TestAnUnsetStepFitsTheSpan(t *testing.T) {
	s := newStage(t)
	for days, points := range map[int]int{1: 24, 8: 192, 9: 9, 14: 14} {
		from := may.To.AddDate(0, 0, -days).Truncate(24 * 3600e9)
		res, err := s.client.QueryData(t.Context(), &backend.QueryDataRequest{
			PluginContext: s.as(t, viewer, seeded.TokenAcme, plugin.Settings{}),
			Queries: []backend.DataQuery{{
				RefID: "A", TimeRange: backend.TimeRange{From: from, To: from.AddDate(0, 0, days)}, JSON: []byte(`{"type":"usage","lease":"acme-train"}`),
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Responses["A"].Frames[0].Rows(); got != points {
			t.Errorf("%d days give %d points, expected %d", days, got, points)
		}
	}
}

// TestAnAlertGetsOneNumberALease holds the dataplane contract for alerting: with a metric
// chosen there is exactly one numeric column, and no two rows or series have the same labels.
func TestAnAlertGetsOneNumberALease(t *testing.T) {
	s := newStage(t)
	for kind, metrics := range map[string][]string{
		"leases": {"gpus", "cost", "idle_cost", "utilization", "coverage", "useful_hour_cost"},
		"usage":  {"cost", "idle_cost", "utilization", "coverage", "held"},
		"sla": {"availability_low", "availability_high", "target_percent", "coverage", "down_seconds", "unknown_seconds",
			"excluded_seconds", "budget_left_seconds", "credit"},
	} {
		for _, metric := range metrics {
			query := fmt.Sprintf(`{"type":%q,"lease":"acme-train","metric":%q}`, kind, metric)
			res := s.ask(t, s.as(t, viewer, seeded.TokenFinance, plugin.Settings{}), nil, query)
			if res.Error != nil {
				t.Errorf("%s %s: %v", kind, metric, res.Error)
				continue
			}
			frame, numbers := res.Frames[0], 0
			for _, f := range frame.Fields {
				if f.Type().Numeric() {
					numbers++
				}
			}
			want := data.FrameTypeNumericLong
			if kind == "usage" {
				want = data.FrameTypeTimeSeriesWide
			}
			if numbers != 1 || frame.Meta.Type != want {
				t.Errorf("%s %s: %d numeric columns in a frame of type %s, expected 1 in %s", kind, metric, numbers, frame.Meta.Type, want)
			}
		}
	}
}

func TestAWrongQuerySaysWhatWasExpected(t *testing.T) {
	s := newStage(t)
	for query, want := range map[string]struct {
		status backend.Status
		text   string
	}{
		`[]`:                               {backend.StatusValidationFailed, "not readable"},
		`{"type":"bills"}`:                 {backend.StatusValidationFailed, `"bills": expected usage, leases, cards, sla or downtime`},
		`{"type":"usage"}`:                 {backend.StatusValidationFailed, "choose a lease"},
		`{"type":"sla","lease":"  "}`:      {backend.StatusValidationFailed, "choose a lease"},
		`{"type":"leases","step":"week"}`:  {backend.StatusValidationFailed, `"week": expected hour, day or nothing`},
		`{"type":"leases","metric":"tax"}`: {400, `"tax": expected gpus, cost`},
		`{"type":"usage","lease":"acme-train","metric":"tax"}`:   {400, `"tax": expected cost, idle_cost`},
		`{"type":"sla","lease":"acme-train","metric":"outcome"}`: {400, `"outcome": expected availability_low`},
		`{"type":"sla","lease":"acme-idle","metric":"coverage"}`: {422, "no availability objective"},
		`{"type":"sla","lease":"acme-train","month":"May"}`:      {422, "query.month"},
		`{"type":"usage","lease":"nobody"}`:                      {404, "nobody"},
		`{"type":"usage","lease":".."}`:                          {422, "expected the name of a lease"},
		`{"type":"usage","lease":"../../whoami?x=#"}`:            {404, "no such lease"},
	} {
		res := s.ask(t, s.as(t, viewer, seeded.TokenAcme, plugin.Settings{}), nil, query)
		if res.Error == nil || res.Status != want.status || !strings.Contains(res.Error.Error(), want.text) {
			t.Errorf("%s: status %d, %v; expected %d and %q", query, res.Status, res.Error, want.status, want.text)
		}
	}
}

func TestOneFailingQueryLeavesTheOthersTheirAnswers(t *testing.T) {
	s := newStage(t)
	res, err := s.client.QueryData(t.Context(), &backend.QueryDataRequest{
		PluginContext: s.as(t, viewer, seeded.TokenAcme, plugin.Settings{}),
		Queries: []backend.DataQuery{
			{RefID: "A", TimeRange: may, JSON: []byte(`{"type":"sla","lease":"nobody"}`)},
			{RefID: "B", TimeRange: may, JSON: []byte(`{"type":"leases"}`)},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if a := res.Responses["A"]; a.Error == nil || a.ErrorSource != backend.ErrorSourceDownstream {
		t.Errorf("A: %v from %q, expected the server's error as downstream", a.Error, a.ErrorSource)
	}
	if b := res.Responses["B"]; b.Error != nil || len(b.Frames) != 1 {
		t.Errorf("B: %v, %d frames", b.Error, len(b.Frames))
	}
}

func TestAServerThatIsAwayOrRefusesIsADownstreamError(t *testing.T) {
	s := newStage(t)
	for name, c := range map[string]struct {
		pctx backend.PluginContext
		want backend.Status
	}{
		"away":           {s.as(t, viewer, seeded.TokenAcme, plugin.Settings{URL: "http://127.0.0.1:1"}), backend.StatusBadGateway},
		"unknown token":  {s.as(t, viewer, seeded.TokenWrong, plugin.Settings{}), 401},
		"role push":      {s.as(t, viewer, seeded.TokenPush, plugin.Settings{}), 403},
		"another server": {s.as(t, viewer, seeded.TokenAcme, plugin.Settings{URL: s.url + "/elsewhere"}), 404},
	} {
		res := s.ask(t, c.pctx, nil, `{"type":"leases"}`)
		if res.Error == nil || res.Status != c.want || res.ErrorSource != backend.ErrorSourceDownstream {
			t.Errorf("%s: status %d, source %q, %v; expected %d, downstream", name, res.Status, res.ErrorSource, res.Error, c.want)
		}
		if res.Error != nil && strings.Contains(res.Error.Error(), "do-not-print") {
			t.Errorf("%s: the error holds the token: %v", name, res.Error)
		}
	}
}
