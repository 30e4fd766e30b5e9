package alertmanagerrules

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/leasewatch/leasewatch/exporter/catalog"
	"github.com/leasewatch/leasewatch/exporter/compat"
)

// derived is the file whose rules record the exporter's own names.
const derived = "dcgm-input.yaml"

// TestDCGMInputGivesFamiliesOfTheExporterWithTheirLabels: what is derived must look as if an
// exporter of ours had told it, or no rule would find it.
func TestDCGMInputGivesFamiliesOfTheExporterWithTheirLabels(t *testing.T) {
	own := map[string][]string{}
	for _, f := range catalog.All() {
		own[f.Name] = f.Labels
	}
	for _, r := range allRules(t) {
		if r.file != derived || strings.Contains(r.Record, ":") {
			continue
		}
		labels, known := own[r.Record]
		if !known {
			t.Errorf("%s records %s, which the exporter does not have", derived, r.Record)
		}
		for _, name := range slices.Sorted(maps.Keys(r.Labels)) {
			if name != "vantage" && !slices.Contains(labels, name) {
				t.Errorf("%s records %s with label %s, the exporter's has %v", derived, r.Record, name, labels)
			}
		}
		if r.Labels["vantage"] != "host" {
			t.Errorf("%s records %s without vantage host", derived, r.Record)
		}
	}
}

// TestDCGMInputGoesTheWayOfTheAliasesBack: --exporter.compat=dcgm makes dcgm-exporter's names from
// ours, these rules make ours from its: a factor of one must be that of the other.
func TestDCGMInputGoesTheWayOfTheAliasesBack(t *testing.T) {
	factors := map[string]float64{}
	for _, a := range compat.DCGM() {
		factors[a.Name] = a.Unit.Over / a.Unit.Times
	}
	compared := 0
	for _, r := range allRules(t) {
		if r.file != derived || r.Record == "gpu_memory_total_bytes" || r.Record == "gpu_xid_last_timestamp_seconds" {
			continue
		}
		expr, err := parser.NewParser(parser.Options{}).ParseExpr(r.Expr)
		if err != nil {
			t.Fatal(err)
		}
		names := slices.DeleteFunc(namesIn(t, r.Expr), func(name string) bool { return !strings.HasPrefix(name, "DCGM_") })
		if len(names) != 1 {
			t.Errorf("%s is made of %v, expected one name of dcgm-exporter", r.Record, names)
			continue
		}
		factor := 1.0
		parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
			op, ok := node.(*parser.BinaryExpr)
			if !ok {
				return nil
			}
			number, ok := op.RHS.(*parser.NumberLiteral)
			switch {
			case ok && op.Op == parser.MUL:
				factor = number.Val
			case ok && op.Op == parser.DIV:
				factor = 1 / number.Val
			case ok && op.Op == parser.POW: // an info: the value is 1
				factor = factors[names[0]]
			}
			return nil
		})
		if want, known := factors[names[0]]; !known || factor/want < 0.999999 || factor/want > 1.000001 {
			t.Errorf("%s is %s times %g, the alias goes back by %g", r.Record, names[0], factor, want)
		}
		compared++
	}
	if compared < 40 {
		t.Errorf("%d rules compared, expected the whole list", compared)
	}
}
