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

	gauges   slab[gaugeSample]
	counters slab[counterSample]
}

// entry is a family of the catalogue with what is the same in every snapshot.
type entry struct {
	catalog.Family
	typ    *dto.MetricType
	whole  layout             // of a series of the host or of a card
	part   layout             // of a series of a MIG device
	series map[string]*series // by the values of their labels
	last   int                // how many samples it had in the last build
}

// layout says how the labels of a series lie: the base labels first, then the family's own.
type layout struct {
	names []string
	order []int // where each stands once sorted by name
}

func newLayout(names ...string) layout {
	sorted := slices.Sorted(slices.Values(names))
	l := layout{names: names, order: make([]int, len(names))}
	for i, name := range names {
		l.order[i] = slices.Index(sorted, name)
	}
	return l
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
	whole := []string{catalog.LabelHost, catalog.LabelVantage}
	if f.Host == nil {
		whole = append(whole, catalog.LabelUUID, catalog.LabelGPU)
	}
	part := slices.Concat(whole, catalog.InstanceLabels, f.Labels)
	typ := dto.MetricType_GAUGE
	if f.Kind == catalog.Counter {
		typ = dto.MetricType_COUNTER
	}
	return entry{Family: f, typ: typ.Enum(), series: map[string]*series{},
		whole: newLayout(append(whole, f.Labels...)...), part: newLayout(part...)}
}

// maxCached bounds the series kept, should labels ever change without end.
const maxCached = 50_000

func (b *builder) build(s *gpu.Snapshot) built {
	b.round++
	b.gauges.renew()
	b.counters.renew()
	if b.cached > maxCached {
		for i := range b.table {
			clear(b.table[i].series)
		}
		b.cached = 0
	}
	ofHost, places := []string{b.labels.Host, b.labels.Vantage}, b.places(s)
	out := built{families: make([]*dto.MetricFamily, 0, len(b.table))}
	for i := range b.table {
		e := &b.table[i]
		family := &dto.MetricFamily{Name: proto.String(e.Name), Help: proto.String(e.Help), Type: e.typ, Metric: make([]*dto.Metric, 0, e.last)}
		emitTo := func(l *layout, base []string) catalog.Emit {
			return func(value float64, own ...string) { b.add(&out, family, e, l, value, base, own) }
		}
		if e.Host != nil {
			e.Host(s, emitTo(&e.whole, ofHost))
		}
		for j := range places {
			p := &places[j]
			if !e.Stays && !catalog.Answers(p.gpu.Status.State) {
				continue
			}
			if e.GPU != nil {
				e.GPU(p.gpu, emitTo(&e.whole, p.base))
			}
			if e.Instance != nil {
				for k := range p.gpu.Instances {
					e.Instance(&p.gpu.Instances[k], emitTo(&e.part, p.instances[k]))
				}
			}
		}
		e.last = len(family.Metric)
		if e.last > 0 {
			out.families = append(out.families, family)
			out.series += len(family.Metric)
		}
	}
	return out
}

// place is one card with the base labels of its series and of those of its MIG devices.
type place struct {
	gpu       *gpu.GPU
	base      []string
	instances [][]string
}

// places lists the cards in the order of the page.
func (b *builder) places(s *gpu.Snapshot) []place {
	places := make([]place, len(s.GPUs))
	for i := range s.GPUs {
		g := &s.GPUs[i]
		index := strconv.Itoa(g.Identity.Index)
		p := place{gpu: g, base: []string{b.labels.Host, b.labels.Vantage, g.Identity.UUID, index}}
		for j := range g.Instances {
			p.instances = append(p.instances, append([]string{b.labels.Host, b.labels.Vantage, g.Instances[j].UUID, index},
				catalog.InstanceValues(g, &g.Instances[j])...))
		}
		places[i] = p
	}
	slices.SortStableFunc(places, func(x, y place) int { return cmp.Compare(x.gpu.Identity.Index, y.gpu.Identity.Index) })
	return places
}

// add puts one sample into the family, unless it is there already or no number.
func (b *builder) add(out *built, family *dto.MetricFamily, e *entry, l *layout, value float64, base, own []string) {
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
		known = &series{labels: l.pairs(base, own)}
		e.series[string(b.key)] = known
		b.cached++
	}
	if known.round == b.round {
		out.duplicates++
		return
	}
	known.round = b.round
	family.Metric = append(family.Metric, b.sample(e.Kind, known.labels, value))
}

func (b *builder) sample(kind catalog.Kind, labels []*dto.LabelPair, value float64) *dto.Metric {
	if kind == catalog.Counter {
		s := b.counters.take()
		s.value = value
		s.counter.Value, s.metric.Label, s.metric.Counter = &s.value, labels, &s.counter
		return &s.metric
	}
	s := b.gauges.take()
	s.value = value
	s.gauge.Value, s.metric.Label, s.metric.Gauge = &s.value, labels, &s.gauge
	return &s.metric
}

// pairs puts the labels in the order of their names. What is no UTF-8 would spoil the page.
func (l *layout) pairs(base, own []string) []*dto.LabelPair {
	pairs := make([]*dto.LabelPair, len(l.order))
	for i, position := range l.order {
		v := ""
		if i < len(base) {
			v = base[i]
		} else if i-len(base) < len(own) {
			v = own[i-len(base)]
		}
		pairs[position] = &dto.LabelPair{Name: &l.names[i], Value: proto.String(strings.ToValidUTF8(v, "\uFFFD"))}
	}
	return pairs
}
