package exporter

import (
	"math"
	"slices"
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
	b := newBuilder(labels)
	b.build(s)
	return protobuf(b.table)
}

// builder keeps a page's worth of families, made anew from each snapshot. It is used by one
// goroutine at a time. What stays the same between two snapshots, the labels and their
// spelling, is made once; mostly a page has the series of the last one in the same order, so
// that each is found where it was.
type builder struct {
	labels Labels
	table  []*entry
	ofHost []string             // label values of the host's series
	bases  map[baseKey][]string // label values that all series of a card or MIG device begin with
	places []place
	cached int    // series that the entries hold
	round  uint64 // number of the present build
	key    []byte

	// Where the getter that runs now puts its samples.
	entry  *entry
	layout *layout
	base   []string
	emit   catalog.Emit

	// Of the present build:
	series, duplicates, invalid int
}

// entry is a family of the catalogue with what is the same in every snapshot, and with the
// samples of the newest one.
type entry struct {
	catalog.Family
	typ     *dto.MetricType
	whole   layout // of a series of the host or of a card
	part    layout // of a series of a MIG device
	known   map[seriesKey]*series
	samples []sample
	last    int               // how many samples it had in the last build
	heads   [spellings]string // what stands before the samples, in each spelling
}

// sample is one sample of a family.
type sample struct {
	series *series
	value  float64
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
	base, own []string // the values of its labels
	layout    *layout
	labels    []*dto.LabelPair // nil until somebody wants protobuf
	round     uint64           // the last build it was part of
	lines     [spellings]line
}

// seriesKey tells the series of a family apart: where the values of the base labels lie, and
// those of its own.
type seriesKey struct {
	base *string
	own  string
}

// is tells whether a series has these labels. Equal bases are the same piece of memory.
func (s *series) is(base, own []string) bool {
	return &s.base[0] == &base[0] && slices.Equal(s.own, own)
}

func newBuilder(labels Labels) *builder {
	b := &builder{labels: labels, ofHost: []string{labels.Host, labels.Vantage}, bases: map[baseKey][]string{}}
	b.emit = b.add
	for _, f := range catalog.All() {
		b.table = append(b.table, newEntry(f))
	}
	return b
}

func newEntry(f catalog.Family) *entry {
	whole := []string{catalog.LabelHost, catalog.LabelVantage}
	if f.Host == nil {
		whole = append(whole, catalog.LabelUUID, catalog.LabelGPU)
	}
	part := slices.Concat(whole, catalog.InstanceLabels, f.Labels)
	typ := dto.MetricType_GAUGE
	if f.Kind == catalog.Counter {
		typ = dto.MetricType_COUNTER
	}
	return &entry{Family: f, typ: typ.Enum(), known: map[seriesKey]*series{},
		whole: newLayout(append(whole, f.Labels...)...), part: newLayout(part...)}
}

// maxCached bounds the series kept, should labels ever change without end.
const maxCached = 50_000

// build takes the samples of a snapshot.
func (b *builder) build(s *gpu.Snapshot) {
	b.round++
	b.series, b.duplicates, b.invalid = 0, 0, 0
	if b.cached > maxCached {
		b.forget()
	}
	b.locate(s)
	for _, e := range b.table {
		e.last, e.samples = len(e.samples), e.samples[:0]
		b.entry, b.layout, b.base = e, &e.whole, b.ofHost
		if e.Host != nil {
			e.Host(s, b.emit)
		}
		for j := range b.places {
			p := &b.places[j]
			if !e.Stays && !p.answers {
				continue
			}
			if e.GPU != nil {
				b.layout, b.base = &e.whole, p.base
				e.GPU(p.gpu, b.emit)
			}
			if e.Instance != nil {
				b.layout = &e.part
				for k := range p.gpu.Instances {
					b.base = p.instances[k]
					e.Instance(&p.gpu.Instances[k], b.emit)
				}
			}
		}
		b.series += len(e.samples)
	}
}

// forget begins anew, as if there had been no page yet.
func (b *builder) forget() {
	for _, e := range b.table {
		clear(e.known)
		e.samples = nil
	}
	clear(b.bases)
	b.cached = 0
}

// add puts one sample into the present family, unless it is there already or no number.
func (b *builder) add(value float64, own ...string) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		b.invalid++
		return
	}
	e, n := b.entry, len(b.entry.samples)
	var s *series
	if n < e.last && e.samples[:e.last][n].series.is(b.base, own) {
		s = e.samples[:e.last][n].series
	} else {
		s = b.find(own)
	}
	if s.round == b.round {
		b.duplicates++
		return
	}
	s.round = b.round
	e.samples = append(e.samples, sample{s, value})
}

// find returns the series of the present family with these labels.
func (b *builder) find(own []string) *series {
	b.key = b.key[:0]
	for _, v := range own {
		b.key = append(append(b.key, v...), 0xff)
	}
	key := seriesKey{&b.base[0], string(b.key)}
	s, there := b.entry.known[key]
	if !there {
		s = &series{base: b.base, own: slices.Clone(own), layout: b.layout}
		b.entry.known[key] = s
		b.cached++
	}
	return s
}

// pairs are the labels as protobuf has them, sorted by name.
func (s *series) pairs() []*dto.LabelPair {
	if s.labels != nil {
		return s.labels
	}
	return s.layout.pairs(s.base, s.own)
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
