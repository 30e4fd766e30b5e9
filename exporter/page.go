package exporter

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/VictoriaMetrics/metrics"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"

	"github.com/leasewatch/leasewatch/exporter/catalog"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// Page gives what the exporter knows: the families of the newest snapshot, the exporter's
// own instruments, and a few figures of its process. The families of one snapshot are made
// once and shared by all scrapes of it; no scrape ever calls the driver.
type Page struct {
	source gpu.Source
	own    *bridge
	more   []More

	// reading is held while the page reads its own instruments, some of which want mu.
	reading  sync.Mutex
	sections []section     // used again for each page
	out      *bufio.Writer // likewise

	mu      sync.Mutex
	builder *builder
	made    *gpu.Snapshot       // what the builder and the others hold
	others  []*dto.MetricFamily // of those who give more
	whole   []*dto.MetricFamily // all as protobuf, nil until somebody wants it so

	scrapes, builds, duplicates, invalid *metrics.Counter
}

var _ prometheus.Gatherer = (*Page)(nil)

// More gives further families of a snapshot, whose names no others have.
type More interface {
	Families(s *gpu.Snapshot) []*dto.MetricFamily
}

// NewPage returns the page of a source. Its own instruments join those in set.
func NewPage(source gpu.Source, labels Labels, set *metrics.Set, more ...More) *Page {
	p := &Page{
		source: source,
		more:   more,
		own: newBridge(set, []*dto.LabelPair{
			{Name: proto.String(catalog.LabelHost), Value: proto.String(labels.Host)},
			{Name: proto.String(catalog.LabelVantage), Value: proto.String(labels.Vantage)},
		}),
		out:        bufio.NewWriterSize(nil, 32<<10),
		builder:    newBuilder(labels),
		scrapes:    set.NewCounter("leasewatch_exporter_scrapes_total"),
		builds:     set.NewCounter("leasewatch_exporter_page_builds_total"),
		duplicates: set.NewCounter("leasewatch_exporter_duplicate_series_total"),
		invalid:    set.NewCounter("leasewatch_exporter_invalid_samples_total"),
	}
	addProcess(set)
	set.NewGauge("leasewatch_exporter_series", func() float64 {
		p.mu.Lock()
		defer p.mu.Unlock()
		return float64(p.series())
	})
	return p
}

// series counts those of the newest snapshot. The lock must be held.
func (p *Page) series() int {
	n := p.builder.series
	for _, f := range p.others {
		n += len(f.Metric)
	}
	return n
}

// Gather returns the whole page. Families must not be changed by the caller. Where a part
// fails, the rest is returned with the error.
func (p *Page) Gather() ([]*dto.MetricFamily, error) {
	p.scrapes.Inc()
	snapshot := p.GPUs()
	p.reading.Lock()
	defer p.reading.Unlock()
	own, err := p.own.Gather()
	families := slices.Concat(snapshot, own)
	sortFamilies(families)
	return families, err
}

// GPUs returns the families of the newest snapshot.
func (p *Page) GPUs() []*dto.MetricFamily {
	p.refresh()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.whole == nil {
		p.whole = append(protobuf(p.builder.table), p.others...)
	}
	return p.whole
}

// refresh takes the newest snapshot in.
func (p *Page) refresh() {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.source.Snapshot()
	if s == p.made {
		return
	}
	p.builder.build(s)
	p.others = nil
	for _, more := range p.more {
		p.others = append(p.others, more.Families(s)...)
	}
	p.made, p.whole = s, nil
	p.builds.Inc()
	p.duplicates.Add(p.builder.duplicates)
	p.invalid.Add(p.builder.invalid)
}

// spell writes the whole page in a text format, as a registry's handler would: sorted by name,
// each family once. Where a part fails, the rest is there, and the error tells of it. Nobody
// else gets the page meanwhile: w must not make it wait.
func (p *Page) spell(w io.Writer, in spelling) error {
	p.scrapes.Inc()
	p.reading.Lock()
	defer p.reading.Unlock()
	p.refresh()
	errs := []error{p.own.read()}

	p.mu.Lock()
	defer p.mu.Unlock()
	p.sections = p.sections[:0]
	for _, e := range p.builder.table {
		p.sections = append(p.sections, section{name: e.Name, entry: e})
	}
	for _, e := range p.own.table {
		p.sections = append(p.sections, section{name: e.Name, entry: e})
	}
	for _, families := range [][]*dto.MetricFamily{p.own.histograms, p.others} {
		for _, f := range families {
			p.sections = append(p.sections, section{name: f.GetName(), family: f})
		}
	}
	slices.SortFunc(p.sections, func(x, y section) int { return strings.Compare(x.name, y.name) })
	p.out.Reset(w)
	for _, s := range p.sections {
		if err := s.spell(p.out, in); err != nil {
			errs = append(errs, err)
		}
	}
	if in == openMetrics {
		_, _ = p.out.WriteString("# EOF\n")
	}
	return errors.Join(append(errs, p.out.Flush())...)
}

// section is one family's part of the page: an entry, or a family that somebody else made.
type section struct {
	name   string
	entry  *entry
	family *dto.MetricFamily
}

func (s *section) spell(page *bufio.Writer, in spelling) error {
	if s.entry != nil {
		return s.entry.spell(page, in)
	}
	return in.library(page, s.family)
}
