package exporter

import (
	"bytes"
	"cmp"
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
// general parser of the format would be a large part of what a scrape costs. It is used by one
// goroutine at a time.
type bridge struct {
	set    *metrics.Set
	labels []*dto.LabelPair
	known  map[string]catalog.Family

	raw bytes.Buffer
	// What lines were found to be, by all of them but the value: an instrument is read once.
	counters map[string]instrument
	entries  map[string]*entry // by name

	// Of the present reading:
	table      []*entry // sorted by name
	histograms []*dto.MetricFamily
}

// instrument is a counter or a gauge.
type instrument struct {
	*entry
	*series
}

func newBridge(set *metrics.Set, labels []*dto.LabelPair) *bridge {
	b := &bridge{set: set, labels: labels, known: map[string]catalog.Family{}, counters: map[string]instrument{}, entries: map[string]*entry{}}
	for _, f := range catalog.Self() {
		b.known[f.Name] = f
	}
	return b
}

// Gather returns the families sorted by name. It fails only where an instrument's name is
// not a valid series.
func (b *bridge) Gather() ([]*dto.MetricFamily, error) {
	if err := b.read(); err != nil {
		return nil, err
	}
	families := append(protobuf(b.table), b.histograms...)
	sortFamilies(families)
	return families, nil
}

// read takes what the instruments say now.
func (b *bridge) read() error {
	b.raw.Reset()
	b.set.WritePrometheus(&b.raw)
	for _, e := range b.table {
		e.samples = e.samples[:0]
	}
	b.table, b.histograms = b.table[:0], nil
	g := gathering{bridge: b, families: map[string]*dto.MetricFamily{}, histograms: map[string]*dto.Metric{}}
	for text := range bytes.Lines(b.raw.Bytes()) {
		text = bytes.TrimSuffix(text, []byte("\n"))
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		if err := g.line(text); err != nil {
			return fmt.Errorf("reading the exporter's own instrument %q: %w", text, err)
		}
	}
	slices.SortFunc(b.table, func(x, y *entry) int { return cmp.Compare(x.Name, y.Name) })
	for _, family := range g.families {
		b.histograms = append(b.histograms, family)
	}
	return nil
}

// gathering is one reading of a Set.
type gathering struct {
	*bridge
	families   map[string]*dto.MetricFamily // the histograms
	histograms map[string]*dto.Metric       // by name and labels but le
}

// line takes one series: name{labels} value.
func (g *gathering) line(line []byte) error {
	end := bytes.LastIndexByte(line, ' ')
	if end < 0 {
		return fmt.Errorf("no value")
	}
	value, err := strconv.ParseFloat(string(line[end+1:]), 64)
	if err != nil {
		return fmt.Errorf("the value: %w", err)
	}
	known, there := g.counters[string(line[:end])]
	if !there {
		text := string(line[:end])
		name, labels, _ := strings.Cut(text, "{")
		own, err := pairs(strings.TrimSuffix(labels, "}"))
		if err != nil {
			return err
		}
		if part, err := g.part(name, own, value); part || err != nil {
			return err
		}
		known = instrument{g.entry(name), &series{labels: g.sorted(own)}}
		g.counters[text] = known
	}
	if len(known.samples) == 0 {
		g.table = append(g.table, known.entry)
	}
	known.samples = append(known.samples, sample{known.series, value})
	return nil
}

// entry returns the entry of a counter or a gauge.
func (b *bridge) entry(name string) *entry {
	e, there := b.entries[name]
	if !there {
		family := b.known[name]
		family.Name, family.Kind = name, catalog.Gauge
		if strings.HasSuffix(name, "_total") {
			family.Kind = catalog.Counter
		}
		e = newEntry(family)
		b.entries[name] = e
	}
	return e
}

// part takes a line that is part of a histogram, and tells whether it is one.
func (g *gathering) part(name string, own []*dto.LabelPair, value float64) (bool, error) {
	if base, ok := strings.CutSuffix(name, "_bucket"); ok {
		return true, g.bucket(base, own, value)
	}
	if base, ok := strings.CutSuffix(name, "_sum"); ok && g.families[base] != nil {
		g.histogram(base, own).Histogram.SampleSum = proto.Float64(value)
		return true, nil
	}
	if base, ok := strings.CutSuffix(name, "_count"); ok && g.families[base] != nil {
		g.histogram(base, own).Histogram.SampleCount = proto.Uint64(uint64(value))
		return true, nil
	}
	return false, nil
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
		family := g.family(name)
		family.Metric = append(family.Metric, metric)
	}
	return metric
}

func (g *gathering) family(name string) *dto.MetricFamily {
	family, there := g.families[name]
	if !there {
		family = &dto.MetricFamily{Name: &name, Type: dto.MetricType_HISTOGRAM.Enum()}
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
