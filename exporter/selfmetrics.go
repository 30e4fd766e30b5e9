package exporter

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/VictoriaMetrics/metrics"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"

	"github.com/leasewatch/leasewatch/exporter/catalog"
)

// bridge gives the instruments of a metrics.Set as families, so that they stand on the same
// page in every format. A Set knows neither types nor help: the catalogue does, and the
// ending of the name where it does not. It reads the Set's own text itself, because the
// general parser of the format would be a large part of what a scrape costs.
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
	g := gathering{bridge: b, families: map[string]*dto.MetricFamily{}, histograms: map[string]*dto.Metric{}}
	for text := raw.String(); text != ""; {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if err := g.line(line); err != nil {
			return nil, fmt.Errorf("reading the exporter's own instrument %q: %w", line, err)
		}
	}
	families := make([]*dto.MetricFamily, 0, len(g.families))
	for _, family := range g.families {
		families = append(families, family)
	}
	sortFamilies(families)
	return families, nil
}

// gathering is one reading of a Set.
type gathering struct {
	*bridge
	families   map[string]*dto.MetricFamily
	histograms map[string]*dto.Metric // by name and labels but le
}

// line takes one series: name{labels} value.
func (g *gathering) line(line string) error {
	series, spelled, ok := strings.Cut(line, "} ")
	name, labels, labelled := strings.Cut(series, "{")
	if !ok {
		labelled = false
		if name, spelled, ok = strings.Cut(line, " "); !ok {
			return fmt.Errorf("no value")
		}
	}
	value, err := strconv.ParseFloat(spelled, 64)
	if err != nil {
		return fmt.Errorf("the value: %w", err)
	}
	var own []*dto.LabelPair
	if labelled {
		if own, err = pairs(labels); err != nil {
			return err
		}
	}
	if base, ok := strings.CutSuffix(name, "_bucket"); ok {
		return g.bucket(base, own, value)
	}
	for _, part := range []string{"_sum", "_count"} {
		base, ok := strings.CutSuffix(name, part)
		if family := g.families[base]; ok && family != nil && family.GetType() == dto.MetricType_HISTOGRAM {
			h := g.histogram(base, own).Histogram
			if part == "_sum" {
				h.SampleSum = proto.Float64(value)
			} else {
				h.SampleCount = proto.Uint64(uint64(value))
			}
			return nil
		}
	}
	metric := &dto.Metric{Label: g.sorted(own)}
	typ := dto.MetricType_GAUGE
	if strings.HasSuffix(name, "_total") {
		typ = dto.MetricType_COUNTER
		metric.Counter = &dto.Counter{Value: &value}
	} else {
		metric.Gauge = &dto.Gauge{Value: &value}
	}
	family := g.family(name, typ)
	family.Metric = append(family.Metric, metric)
	return nil
}

// bucket takes one bucket of a histogram; the Set writes them before its sum and count.
func (g *gathering) bucket(name string, own []*dto.LabelPair, value float64) error {
	i := slices.IndexFunc(own, func(p *dto.LabelPair) bool { return p.GetName() == "le" })
	if i < 0 {
		return fmt.Errorf("a bucket without le")
	}
	bound, err := strconv.ParseFloat(own[i].GetValue(), 64)
	if err != nil {
		return fmt.Errorf("the bound of a bucket: %w", err)
	}
	h := g.histogram(name, slices.Delete(own, i, i+1)).Histogram
	if !math.IsInf(bound, 1) { // the count says the same
		h.Bucket = append(h.Bucket, &dto.Bucket{UpperBound: &bound, CumulativeCount: proto.Uint64(uint64(value))})
	}
	return nil
}

func (g *gathering) histogram(name string, own []*dto.LabelPair) *dto.Metric {
	var key strings.Builder
	key.WriteString(name)
	for _, pair := range own {
		key.WriteString("\xff" + pair.GetName() + "\xff" + pair.GetValue())
	}
	metric, there := g.histograms[key.String()]
	if !there {
		metric = &dto.Metric{Label: g.sorted(own), Histogram: &dto.Histogram{}}
		g.histograms[key.String()] = metric
		family := g.family(name, dto.MetricType_HISTOGRAM)
		family.Metric = append(family.Metric, metric)
	}
	return metric
}

func (g *gathering) family(name string, typ dto.MetricType) *dto.MetricFamily {
	family, there := g.families[name]
	if !there {
		family = &dto.MetricFamily{Name: &name, Type: typ.Enum()}
		if known, ok := g.known[name]; ok {
			family.Help = proto.String(known.Help)
		}
		g.families[name] = family
	}
	return family
}

// sorted adds the exporter's labels to an instrument's own.
func (g *gathering) sorted(own []*dto.LabelPair) []*dto.LabelPair {
	all := slices.Concat(own, g.labels)
	slices.SortFunc(all, func(x, y *dto.LabelPair) int { return strings.Compare(x.GetName(), y.GetName()) })
	return all
}

// pairs reads name="value",... with values quoted as Go and Prometheus both spell them.
func pairs(text string) ([]*dto.LabelPair, error) {
	var out []*dto.LabelPair
	for text != "" {
		name, rest, ok := strings.Cut(text, "=")
		quoted, err := strconv.QuotedPrefix(rest)
		if !ok || err != nil {
			return nil, fmt.Errorf("labels %q: want name=\"value\"", text)
		}
		value, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, fmt.Errorf("label %s: %w", name, err)
		}
		out = append(out, &dto.LabelPair{Name: &name, Value: &value})
		text = strings.TrimPrefix(rest[len(quoted):], ",")
	}
	return out, nil
}

func sortFamilies(families []*dto.MetricFamily) {
	slices.SortFunc(families, func(x, y *dto.MetricFamily) int { return strings.Compare(x.GetName(), y.GetName()) })
}
