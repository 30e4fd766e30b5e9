package exporter

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/VictoriaMetrics/metrics"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/leasewatch/leasewatch/exporter/catalog"
)

// bridge gives the instruments of a metrics.Set as families, so that they stand on the same
// page in every format. A Set knows neither types nor help: the catalogue does, and the
// ending of the name where it does not.
type bridge struct {
	set    *metrics.Set
	labels []*dto.LabelPair
	known  map[string]catalog.Family
}

func newBridge(set *metrics.Set, labels []*dto.LabelPair) *bridge {
	b := &bridge{set: set, labels: labels, known: map[string]catalog.Family{}}
	for _, f := range catalog.Self() {
		b.known[f.Name] = f
	}
	return b
}

// Gather returns the families sorted by name. It fails only where an instrument's name is
// not a valid series.
func (b *bridge) Gather() ([]*dto.MetricFamily, error) {
	var raw bytes.Buffer
	b.set.WritePrometheus(&raw)
	parser := expfmt.NewTextParser(model.UTF8Validation)
	parsed, err := parser.TextToMetricFamilies(b.typed(&raw))
	if err != nil {
		return nil, fmt.Errorf("reading the exporter's own instruments: %w", err)
	}
	families := make([]*dto.MetricFamily, 0, len(parsed))
	for _, family := range parsed {
		for _, metric := range family.Metric {
			metric.Label = append(metric.Label, b.labels...)
			slices.SortFunc(metric.Label, func(x, y *dto.LabelPair) int { return strings.Compare(x.GetName(), y.GetName()) })
		}
		families = append(families, family)
	}
	sortFamilies(families)
	return families, nil
}

// typed groups the lines by family and puts HELP and TYPE before each.
func (b *bridge) typed(raw *bytes.Buffer) *bytes.Buffer {
	lines := map[string][]string{}
	histograms := map[string]bool{}
	var order []string
	scanner := bufio.NewScanner(raw)
	var all []string
	for scanner.Scan() {
		line := scanner.Text()
		all = append(all, line)
		if name, ok := strings.CutSuffix(seriesName(line), "_bucket"); ok {
			histograms[name] = true
		}
	}
	for _, line := range all {
		name := seriesName(line)
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if base, ok := strings.CutSuffix(name, suffix); ok && histograms[base] {
				name = base
			}
		}
		if _, there := lines[name]; !there {
			order = append(order, name)
		}
		lines[name] = append(lines[name], line)
	}
	out := new(bytes.Buffer)
	for _, name := range order {
		typ := "gauge"
		switch {
		case histograms[name]:
			typ = "histogram"
		case strings.HasSuffix(name, "_total"):
			typ = "counter"
		}
		if family, ok := b.known[name]; ok {
			fmt.Fprintf(out, "# HELP %s %s\n", name, family.Help)
		}
		fmt.Fprintf(out, "# TYPE %s %s\n%s\n", name, typ, strings.Join(lines[name], "\n"))
	}
	return out
}

func seriesName(line string) string {
	if i := strings.IndexAny(line, "{ "); i >= 0 {
		return line[:i]
	}
	return line
}

func sortFamilies(families []*dto.MetricFamily) {
	slices.SortFunc(families, func(x, y *dto.MetricFamily) int { return strings.Compare(x.GetName(), y.GetName()) })
}
