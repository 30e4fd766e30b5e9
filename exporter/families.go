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

// builder makes families from snapshots. It may be used again, by one goroutine at a time.
type builder struct {
	labels Labels
	table  []entry
	pairs  map[pairKey]*dto.LabelPair // label pairs are shared between series and snapshots
	seen   map[string]struct{}
	key    []byte
}

type pairKey struct{ name, value string }

// entry is a family of the catalogue with what is the same in every snapshot.
type entry struct {
	catalog.Family
	order []int // where each value (base labels first, then the family's own) stands once sorted by name
	names []string
	typ   *dto.MetricType
}

func newBuilder(labels Labels) *builder {
	b := &builder{labels: labels, pairs: map[pairKey]*dto.LabelPair{}, seen: map[string]struct{}{}}
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
	return entry{Family: f, order: order, names: names, typ: typ.Enum()}
}

// maxPairs bounds the shared label pairs, should labels ever change without end.
const maxPairs = 20_000

func (b *builder) build(s *gpu.Snapshot) built {
	if len(b.pairs) > maxPairs {
		clear(b.pairs)
	}
	gpus := slices.Clone(s.GPUs)
	slices.SortStableFunc(gpus, func(x, y gpu.GPU) int { return cmp.Compare(x.Identity.Index, y.Identity.Index) })
	out := built{families: make([]*dto.MetricFamily, 0, len(b.table))}
	for i := range b.table {
		e := &b.table[i]
		clear(b.seen)
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
	pairs := make([]*dto.LabelPair, len(e.order))
	for i, position := range e.order {
		v := ""
		if i < len(base) {
			v = base[i]
		} else if i-len(base) < len(own) {
			v = own[i-len(base)]
		}
		pairs[position] = b.pair(e.names[i], v)
	}
	b.key = b.key[:0]
	for _, pair := range pairs {
		b.key = append(append(b.key, *pair.Value...), 0xff)
	}
	if _, twice := b.seen[string(b.key)]; twice {
		out.duplicates++
		return
	}
	b.seen[string(b.key)] = struct{}{}
	metric := &dto.Metric{Label: pairs}
	if e.Kind == catalog.Counter {
		metric.Counter = &dto.Counter{Value: &value}
	} else {
		metric.Gauge = &dto.Gauge{Value: &value}
	}
	family.Metric = append(family.Metric, metric)
}

func (b *builder) pair(name, value string) *dto.LabelPair {
	key := pairKey{name, value}
	pair, ok := b.pairs[key]
	if !ok {
		pair = &dto.LabelPair{Name: proto.String(name), Value: proto.String(strings.ToValidUTF8(value, "\uFFFD"))}
		b.pairs[key] = pair
	}
	return pair
}
