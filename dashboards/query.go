package dashboards

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
)

// The kinds of data source that dashboards ask.
const (
	Prometheus = "prometheus"
	Leasewatch = "leasewatch-gpu-datasource"
)

// Query is one query of one panel. For Prometheus Expr is PromQL; for Leasewatch Type, Lease,
// Step and Metric are as the data source has them, and Lease may be "$lease", the variable.
type Query struct {
	// Dashboard and Panel are titles; MayBeEmpty says when no data is right, "" where never.
	Dashboard, Panel, MayBeEmpty string

	RefID      string
	Datasource string

	Expr    string // PromQL
	Legend  string
	Instant bool
	Table   bool // rows of labels rather than series

	Type, Lease, Step, Metric string
}

var _ variants.Dataquery = target{}

// target is a query as a dashboard's JSON has it.
type target struct {
	RefID      string            `json:"refId"`
	Datasource map[string]string `json:"datasource"`

	Expr         string `json:"expr,omitempty"`
	LegendFormat string `json:"legendFormat,omitempty"`
	Instant      bool   `json:"instant,omitempty"`
	Range        bool   `json:"range,omitempty"`
	Format       string `json:"format,omitempty"`
	EditorMode   string `json:"editorMode,omitempty"`

	Type   string `json:"type,omitempty"`
	Lease  string `json:"lease,omitempty"`
	Step   string `json:"step,omitempty"`
	Metric string `json:"metric,omitempty"`
}

// Build makes the target; its error says what a query lacks.
func (q Query) Build() (variants.Dataquery, error) {
	t := target{
		RefID: q.RefID, Datasource: map[string]string{"type": q.Datasource, "uid": "${" + variable + "}"},
		Expr: q.Expr, LegendFormat: q.Legend, Type: q.Type, Lease: q.Lease, Step: q.Step, Metric: q.Metric,
	}
	if q.Datasource == Prometheus {
		t.Instant, t.Range, t.Format, t.EditorMode = q.Instant, !q.Instant, "time_series", "code"
		if q.Table {
			t.Format = "table"
		}
	}
	return t, t.Validate()
}

// ImplementsDataqueryVariant marks a target as a query for the SDK.
func (target) ImplementsDataqueryVariant() {}

// DataqueryType is the kind of data source.
func (t target) DataqueryType() string { return t.Datasource["type"] }

// Equals tells whether two queries are the same.
func (t target) Equals(other variants.Dataquery) bool {
	o, ok := other.(target)
	return ok && fmt.Sprint(t) == fmt.Sprint(o)
}

// Validate tells whether the query asks anything.
func (t target) Validate() error {
	if (t.DataqueryType() == Prometheus) != (t.Expr != "") || t.RefID == "" {
		return fmt.Errorf("query %q of %s: expected PromQL for Prometheus and none for others, and a refId", t.RefID, t.DataqueryType())
	}
	return nil
}

// prom is a query over time, at is one of the present moment.
func prom(ref, legend, expr string) Query {
	return Query{RefID: ref, Datasource: Prometheus, Legend: legend, Expr: expr}
}

func at(ref, legend, expr string) Query {
	q := prom(ref, legend, expr)
	q.Instant = true
	return q
}

// rows is a query of the present moment whose labels become columns.
func rows(ref, expr string) Query {
	q := at(ref, "", expr)
	q.Table = true
	return q
}

// emptyWhen says when no data is right.
func (q Query) emptyWhen(reason string) Query {
	q.MayBeEmpty = reason
	return q
}

// lease is a query of the chosen lease, or with kind "leases" of all.
func lease(ref, kind, metric string) Query {
	q := Query{RefID: ref, Datasource: Leasewatch, Type: kind, Metric: metric}
	if kind != "leases" {
		q.Lease = "$lease"
	}
	return q
}
