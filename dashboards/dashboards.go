// Package dashboards is Leasewatch's dashboards for Grafana as Go code. The JSON below json/
// is generated from it and is what the plugin bundles and Grafana provisions.
package dashboards

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

//go:generate go run ./gen

// revision rises with every change of what a dashboard shows: Grafana takes a bundled
// dashboard anew only then.
const revision = 2

// Dashboard is one dashboard with all its queries.
type Dashboard struct {
	// Name is the file's name without .json. Neither it, nor the title, nor the uid ever
	// changes: Grafana matches bundled dashboards by the title.
	Name string
	// UID is stable: links and Slack messages hold it.
	UID   string
	Title string
	JSON  []byte
	// Queries are those of all panels, in the order of the screen.
	Queries []Query
}

// All returns every dashboard. An error is a mistake in this package.
func All() ([]Dashboard, error) {
	var all []Dashboard
	for _, make := range []func() (string, *dashboard.DashboardBuilder, []card){fleet, hostAndGPU, leaseCost} {
		name, builder, cards := make()
		built, err := builder.Build()
		if err != nil {
			return nil, fmt.Errorf("dashboard %s: %w", name, err)
		}
		raw, err := json.MarshalIndent(built, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("dashboard %s as JSON: %w", name, err)
		}
		d := Dashboard{Name: name, UID: *built.Uid, Title: *built.Title, JSON: append(raw, '\n')}
		for _, c := range cards {
			for _, q := range c.queries {
				q.Dashboard, q.Panel = d.Title, c.title
				d.Queries = append(d.Queries, q)
			}
		}
		all = append(all, d)
	}
	return all, nil
}

// Provisioned returns the JSON for a copy that Grafana reads from a file: its uid is another
// than that of the copy that the app brings, else both would fight over one dashboard; so are
// the links from one to the other.
func (d Dashboard) Provisioned() []byte {
	copied := bytes.ReplaceAll(d.JSON, []byte(`"uid": "`+d.UID+`"`), []byte(`"uid": "`+d.UID+`-file"`))
	return bytes.ReplaceAll(copied, []byte("/d/"+hostUID+"?"), []byte("/d/"+hostUID+"-file?"))
}

// PrometheusQueries returns the PromQL of every panel; "$host" stands for the name of a host.
func PrometheusQueries() ([]Query, error) { return queriesOf(Prometheus) }

// LeasewatchQueries returns every query of the Leasewatch data source; "$lease" stands for a
// lease's name.
func LeasewatchQueries() ([]Query, error) { return queriesOf(Leasewatch) }

func queriesOf(kind string) ([]Query, error) {
	all, err := All()
	if err != nil {
		return nil, err
	}
	var queries []Query
	for _, d := range all {
		for _, q := range d.Queries {
			if q.Datasource == kind {
				queries = append(queries, q)
			}
		}
	}
	return queries, nil
}
