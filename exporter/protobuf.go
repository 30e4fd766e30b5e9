package exporter

import (
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"

	"github.com/leasewatch/leasewatch/exporter/catalog"
)

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

// protobuf gives the present samples as protobuf and the push have them, in the order of the
// table. They stay as they are whatever is built next.
func protobuf(table []*entry) []*dto.MetricFamily {
	counters, gauges := 0, 0
	for _, e := range table {
		if e.Kind == catalog.Counter {
			counters += len(e.samples)
		} else {
			gauges += len(e.samples)
		}
	}
	// A page has thousands of samples, which live and die together: two pieces of memory do.
	counter, gauge := make([]counterSample, counters), make([]gaugeSample, gauges)
	families := make([]*dto.MetricFamily, 0, len(table))
	for _, e := range table {
		if len(e.samples) == 0 {
			continue
		}
		f := e.family()
		f.Metric = make([]*dto.Metric, len(e.samples))
		for j, s := range e.samples {
			s.series.labels = s.series.pairs()
			if e.Kind == catalog.Counter {
				c := &counter[0]
				counter = counter[1:]
				c.value = s.value
				c.counter.Value, c.metric.Label, c.metric.Counter = &c.value, s.series.labels, &c.counter
				f.Metric[j] = &c.metric
			} else {
				g := &gauge[0]
				gauge = gauge[1:]
				g.value = s.value
				g.gauge.Value, g.metric.Label, g.metric.Gauge = &g.value, s.series.labels, &g.gauge
				f.Metric[j] = &g.metric
			}
		}
		families = append(families, f)
	}
	return families
}

// family is the family without samples. Where nobody wrote a help text there is none.
func (e *entry) family() *dto.MetricFamily {
	f := &dto.MetricFamily{Name: proto.String(e.Name), Type: e.typ}
	if e.Help != "" {
		f.Help = proto.String(e.Help)
	}
	return f
}
