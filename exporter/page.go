package exporter

import (
	"slices"
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

	mu      sync.Mutex
	builder *builder
	made    *gpu.Snapshot // what current was made from
	current built

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
		return float64(p.current.series)
	})
	return p
}

// Gather returns the whole page. Families must not be changed by the caller. Where a part
// fails, the rest is returned with the error.
func (p *Page) Gather() ([]*dto.MetricFamily, error) {
	p.scrapes.Inc()
	snapshot := p.GPUs()
	own, err := p.own.Gather()
	families := slices.Concat(snapshot, own)
	sortFamilies(families)
	return families, err
}

// GPUs returns the families of the newest snapshot.
func (p *Page) GPUs() []*dto.MetricFamily {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.source.Snapshot(); s != p.made {
		p.current = p.builder.build(s)
		for _, more := range p.more {
			p.current.add(more.Families(s))
		}
		p.made = s
		p.builds.Inc()
		p.duplicates.Add(p.current.duplicates)
		p.invalid.Add(p.current.invalid)
	}
	return p.current.families
}
