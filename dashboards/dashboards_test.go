package dashboards_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/leasewatch/leasewatch/dashboards"
	"github.com/leasewatch/leasewatch/internal/testenv"
)

var update = flag.Bool("update", false, "write json/ anew, as go generate does")

func all(t *testing.T) []dashboards.Dashboard {
	t.Helper()
	found, err := dashboards.All()
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestTheGeneratedFilesAreCurrent(t *testing.T) {
	var names []string
	for _, d := range all(t) {
		file := filepath.Join("json", d.Name+".json")
		names = append(names, file)
		if *update {
			if err := os.WriteFile(file, d.JSON, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(d.JSON) {
			t.Errorf("%s is not what the code says: run go generate ./dashboards", file)
		}
	}
	files, err := filepath.Glob("json/*")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	if !slices.Equal(files, names) {
		t.Errorf("json/ holds %v, expected %v", files, names)
	}
}

// TestCopiesFromFilesLinkToEachOther: a link from a copy to the app's own leads nowhere in a Grafana
// without the app.
func TestCopiesFromFilesLinkToEachOther(t *testing.T) {
	link := regexp.MustCompile(`/d/(leasewatch-[a-z-]+)\?`)
	links := 0
	for _, d := range all(t) {
		for _, m := range link.FindAllSubmatch(d.Provisioned(), -1) {
			links++
			if !strings.HasSuffix(string(m[1]), "-file") {
				t.Errorf("the copy of %s links to %s", d.Name, m[1])
			}
		}
	}
	if links == 0 {
		t.Error("no dashboard links to another")
	}
}

func TestTheSameCodeGivesTheSameBytes(t *testing.T) {
	first := all(t)
	for range 20 {
		for i, d := range all(t) {
			if string(d.JSON) != string(first[i].JSON) {
				t.Fatalf("%s differs from run to run", d.Name)
			}
		}
	}
}

// TestNamesNeverChange pins what Grafana, links and messages hold on to.
func TestNamesNeverChange(t *testing.T) {
	want := map[string][2]string{
		"fleet":      {"leasewatch-fleet", "Leasewatch: fleet"},
		"host":       {"leasewatch-host", "Leasewatch: host and GPU"},
		"lease-cost": {"leasewatch-lease-cost", "Leasewatch: lease cost against use"},
	}
	found := all(t)
	if len(found) != len(want) {
		t.Fatalf("%d dashboards, expected %d", len(found), len(want))
	}
	for _, d := range found {
		if got := [2]string{d.UID, d.Title}; got != want[d.Name] {
			t.Errorf("%s: uid and title are %q, expected %q: Grafana loses a bundled dashboard whose title changes", d.Name, got, want[d.Name])
		}
	}
}

type ref struct{ Type, UID string }

type shape struct {
	Revision   int
	Templating struct {
		List []struct {
			Name, Type string
			Query      any
			Datasource *ref
		}
	}
	Panels []struct {
		ID                       int
		Type, Title, Description string
		Datasource               ref
		Targets                  []struct {
			RefID      string
			Datasource ref
		}
		GridPos     struct{ X, Y, W, H int }
		FieldConfig struct {
			Defaults struct {
				Unit, NoValue string
				Thresholds    struct{ Steps []struct{ Color string } }
			}
		}
	}
}

func TestEveryPanelIsWhole(t *testing.T) {
	for _, d := range all(t) {
		var s shape
		if err := json.Unmarshal(d.JSON, &s); err != nil {
			t.Fatal(err)
		}
		if s.Revision < 1 || len(s.Panels) == 0 {
			t.Errorf("%s: revision %d, %d panels", d.Name, s.Revision, len(s.Panels))
		}
		ids, queries := map[int]bool{}, 0
		for _, p := range s.Panels {
			defaults := p.FieldConfig.Defaults
			if !strings.HasSuffix(p.Title, "?") || len(p.Description) < 40 || !strings.HasSuffix(p.Description, ".") {
				t.Errorf("%s, %q: a title is a question and a description says in sentences what is shown: %q", d.Name, p.Title, p.Description)
			}
			if defaults.Unit == "" || defaults.NoValue == "" || len(defaults.Thresholds.Steps) == 0 {
				t.Errorf("%s, %q: unit %q, no value %q, %d threshold colours; each is mandatory", d.Name, p.Title, defaults.Unit, defaults.NoValue, len(defaults.Thresholds.Steps))
			}
			if len(p.Targets) == 0 || ids[p.ID] || p.GridPos.W == 0 || p.GridPos.X+p.GridPos.W > 24 {
				t.Errorf("%s, %q: %d queries, id %d, place %+v", d.Name, p.Title, len(p.Targets), p.ID, p.GridPos)
			}
			ids[p.ID] = true
			queries += len(p.Targets)
			for _, target := range p.Targets {
				if target.Datasource.UID != "${ds}" || target.Datasource != p.Datasource || target.RefID == "" {
					t.Errorf("%s, %q: query %q asks %+v, expected the variable", d.Name, p.Title, target.RefID, target.Datasource)
				}
			}
		}
		if queries != len(d.Queries) {
			t.Errorf("%s: %d queries in JSON, %d in Queries", d.Name, queries, len(d.Queries))
		}
		for _, v := range s.Templating.List {
			if v.Type != "datasource" && (v.Datasource == nil || v.Datasource.UID != "${ds}") {
				t.Errorf("%s: variable %s is bound to a data source of its own", d.Name, v.Name)
			}
		}
		if first := s.Templating.List[0]; first.Type != "datasource" || first.Name != "ds" {
			t.Errorf("%s: the first variable is %+v, expected the data source", d.Name, first)
		}
		if strings.Contains(string(d.JSON), "__inputs") || strings.Contains(string(d.JSON), "${DS_") {
			t.Errorf("%s: provisioning from files does not resolve __inputs", d.Name)
		}
	}
}

func TestAnEmptyPanelIsAnnounced(t *testing.T) {
	for _, d := range all(t) {
		for _, q := range d.Queries {
			if q.Dashboard != d.Title || q.Panel == "" {
				t.Errorf("a query of %s does not say whose it is: %+v", d.Name, q)
			}
			if q.MayBeEmpty != "" && !strings.Contains(string(d.JSON), "mpty ") {
				t.Errorf("%s, %q may be empty, its description does not say when", d.Name, q.Panel)
			}
		}
	}
}

// TestPromQLReadsRecordedSeriesOnly: a raw series is there twice where a GPU is scraped and
// pushed, and names that no rule records are typing errors.
func TestPromQLReadsRecordedSeriesOnly(t *testing.T) {
	recorded := map[string]bool{"ALERTS": true}
	for _, file := range []string{"dedup.yaml", "place.yaml", "shown.yaml"} {
		rules, err := os.ReadFile(filepath.Join(testenv.Root(t), "alertmanager-rules", "rules", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`record: (\S+)`).FindAllStringSubmatch(string(rules), -1) {
			recorded[m[1]] = true
		}
	}
	queries, err := dashboards.PrometheusQueries()
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range queries {
		expr, err := parser.NewParser(parser.Options{}).ParseExpr(q.Expr)
		if err != nil {
			t.Errorf("%q: %v", q.Panel, err)
			continue
		}
		parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
			if selector, ok := n.(*parser.VectorSelector); ok && !recorded[selector.Name] {
				t.Errorf("%q reads %s, which none of dedup.yaml, place.yaml and shown.yaml records", q.Panel, selector.Name)
			}
			return nil
		})
	}
}

func TestLeasewatchQueriesAreOnesThatThePluginAnswers(t *testing.T) {
	queries, err := dashboards.LeasewatchQueries()
	if err != nil {
		t.Fatal(err)
	}
	if len(queries) < 6 {
		t.Fatalf("%d queries", len(queries))
	}
	for _, q := range queries {
		if !slices.Contains([]string{"leases", "usage", "sla", "downtime"}, q.Type) || (q.Type == "leases") != (q.Lease == "") || q.Expr != "" {
			t.Errorf("%q: %+v", q.Panel, q)
		}
	}
}
