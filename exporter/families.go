package exporter

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"

	"github.com/leasewatch/leasewatch/exporter/catalog"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// Labels are what every series of one exporter carries.
type Labels struct {
	Host string
	// Vantage is "host", or "guest" inside a passthrough machine or a rented container.
	Vantage string
}

// Families turns a snapshot into metric families, sorted by name, without timestamps.
// A series that is there already and a value that is no number are left out.
func Families(s *gpu.Snapshot, labels Labels) []*dto.MetricFamily {
	return newBuilder(labels).build(s).families
}

// built is one page's worth of families, and what was left out of it.
type built struct {
	families            []*dto.MetricFamily
	series              int
	duplicates, invalid int
}

// builder makes families from snapshots. It may be used again, by one goroutine at a time:
// what stays the same between two snapshots, the labels, is made once.
type builder struct {
	labels Labels
	table  []entry
	cached int    // series that the entries hold
	round  uint64 // number of the present build
	key    []byte
}

// entry is a family of the catalogue with what is the same in every snapshot.
type entry struct {
	catalog.Family
	order  []int // where each value (base labels first, then the family's own) stands once sorted by name
	names  []string
	typ    *dto.MetricType
	series map[string]*series // by the values of their labels
}

// series is one series of a family.
type series struct {
	labels []*dto.LabelPair
	round  uint64 // the last build it was part of
}

// gaugeSample and counterSample hold what one sample points to in one piece of memory.
type gaugeSample struct {
	metric dto.Metric
	gauge  dto.Gauge
	value  float64
}

type counterSample struct {
	metric  dto.Metric
	counter dto.Counter
	value   float64
}

// add puts further families to the page, and counts their series.
func (b *built) add(families []*dto.MetricFamily) {
	b.families = append(b.families, families...)
	for _, f := range families {
		b.series += len(f.Metric)
	}
}

func newBuilder(labels Labels) *builder {
	b := &builder{labels: labels}
	for _, f := range catalog.All() {
		b.table = append(b.table, newEntry(f))
	}
	return b
}

func newEntry(f catalog.Family) entry {
	names := []string{catalog.LabelHost, catalog.LabelVantage}
	if f.GPU != nil {
		names = append(names, catalog.LabelUUID, catalog.LabelGPU)
	}
	names = append(names, f.Labels...)
	sorted := slices.Sorted(slices.Values(names))
	order := make([]int, len(names))
	for i, name := range names {
		order[i] = slices.Index(sorted, name)
	}
	typ := dto.MetricType_GAUGE
	if f.Kind == catalog.Counter {
		typ = dto.MetricType_COUNTER
	}
	return entry{Family: f, order: order, names: names, typ: typ.Enum(), series: map[string]*series{}}
}

// maxCached bounds the series kept, should labels ever change without end.
const maxCached = 50_000

func (b *builder) build(s *gpu.Snapshot) built {
	b.round++
	if b.cached > maxCached {
		for i := range b.table {
			clear(b.table[i].series)
		}
		b.cached = 0
	}
	gpus := slices.Clone(s.GPUs)
	slices.SortStableFunc(gpus, func(x, y gpu.GPU) int { return cmp.Compare(x.Identity.Index, y.Identity.Index) })
	out := built{families: make([]*dto.MetricFamily, 0, len(b.table))}
	for i := range b.table {
		e := &b.table[i]
		family := &dto.MetricFamily{Name: proto.String(e.Name), Help: proto.String(e.Help), Type: e.typ}
		emitTo := func(base []string) catalog.Emit {
			return func(value float64, own ...string) { b.add(&out, family, e, value, base, own) }
		}
		if e.Host != nil {
			e.Host(s, emitTo([]string{b.labels.Host, b.labels.Vantage}))
		} else {
			for j := range gpus {
				g := &gpus[j]
				if e.Stays || catalog.Answers(g.Status.State) {
					e.GPU(g, emitTo([]string{b.labels.Host, b.labels.Vantage, g.Identity.UUID, strconv.Itoa(g.Identity.Index)}))
				}
			}
		}
		if len(family.Metric) > 0 {
			out.families = append(out.families, family)
			out.series += len(family.Metric)
		}
	}
	return out
}

// add puts one sample into the family, unless it is there already or no number.
func (b *builder) add(out *built, family *dto.MetricFamily, e *entry, value float64, base, own []string) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		out.invalid++
		return
	}
	b.key = b.key[:0]
	for _, values := range [][]string{base, own} {
		for _, v := range values {
			b.key = append(append(b.key, v...), 0xff)
		}
	}
	known, there := e.series[string(b.key)]
	if !there {
		known = &series{labels: e.pairs(base, own)}
		e.series[string(b.key)] = known
		b.cached++
	}
	if known.round == b.round {
		out.duplicates++
		return
	}
	known.round = b.round
	family.Metric = append(family.Metric, e.sample(known.labels, value))
}

func (e *entry) sample(labels []*dto.LabelPair, value float64) *dto.Metric {
	if e.Kind == catalog.Counter {
		s := &counterSample{value: value}
		s.counter.Value, s.metric.Label, s.metric.Counter = &s.value, labels, &s.counter
		return &s.metric
	}
	s := &gaugeSample{value: value}
	s.gauge.Value, s.metric.Label, s.metric.Gauge = &s.value, labels, &s.gauge
	return &s.metric
}

// pairs puts the labels in the order of their names. What is no UTF-8 would spoil the page.
func (e *entry) pairs(base, own []string) []*dto.LabelPair {
	pairs := make([]*dto.LabelPair, len(e.order))
	for i, position := range e.order {
		v := ""
		if i < len(base) {
			v = base[i]
		} else if i-len(base) < len(own) {
			v = own[i-len(base)]
		}
		pairs[position] = &dto.LabelPair{Name: &e.names[i], Value: proto.String(strings.ToValidUTF8(v, "\uFFFD"))}
	}
	return pairs
}
