package push

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/prometheus/prompb"
)

// Label is one label of a series.
type Label struct{ Name, Value string }

// Sample is one value of one series at one time.
type Sample struct {
	Name   string
	Labels []Label
	Value  float64
	At     time.Time
}

// Batch is a ready-made request: its body as remote write 1.0 spells it, not yet compressed.
type Batch struct {
	body    []byte
	samples int
}

// NewBatch makes a batch of samples. It fails only where they cannot be encoded.
func NewBatch(samples []Sample) (Batch, error) {
	series := make([]prompb.TimeSeries, 0, len(samples))
	for _, s := range samples {
		labels := make([]prompb.Label, 0, len(s.Labels)+1)
		labels = append(labels, prompb.Label{Name: "__name__", Value: s.Name})
		for _, l := range s.Labels {
			if l.Value != "" { // an empty label is no label
				labels = append(labels, prompb.Label{Name: l.Name, Value: l.Value})
			}
		}
		slices.SortFunc(labels, func(a, b prompb.Label) int { return cmp.Compare(a.Name, b.Name) })
		series = append(series, prompb.TimeSeries{Labels: labels, Samples: []prompb.Sample{{Value: s.Value, Timestamp: s.At.UnixMilli()}}})
	}
	return encodeSeries(series)
}

// Samples gives every series of the families, as a scrape at that time would have read
// them. The extra labels are those that a scraper adds.
func Samples(families []*dto.MetricFamily, extra []Label, at time.Time) []Sample {
	var out []Sample
	for _, family := range families {
		for _, metric := range family.Metric {
			labels := make([]Label, 0, len(metric.Label)+len(extra)+1)
			for _, pair := range metric.Label {
				labels = append(labels, Label{pair.GetName(), pair.GetValue()})
			}
			s := series{name: family.GetName(), labels: append(labels, extra...), at: at}
			out = s.append(out, metric)
		}
	}
	return out
}

// series turns one metric into the samples a text page would have shown.
type series struct {
	name   string
	labels []Label
	at     time.Time
}

func (s series) append(out []Sample, m *dto.Metric) []Sample {
	switch {
	case m.Gauge != nil:
		return append(out, s.sample("", m.Gauge.GetValue()))
	case m.Counter != nil:
		return append(out, s.sample("", m.Counter.GetValue()))
	case m.Untyped != nil:
		return append(out, s.sample("", m.Untyped.GetValue()))
	case m.Summary != nil:
		for _, q := range m.Summary.Quantile {
			out = append(out, s.sample("", q.GetValue(), Label{"quantile", spell(q.GetQuantile())}))
		}
		return append(out, s.sample("_sum", m.Summary.GetSampleSum()), s.sample("_count", float64(m.Summary.GetSampleCount())))
	case m.Histogram != nil:
		infinite := false
		for _, b := range m.Histogram.Bucket {
			le := spell(b.GetUpperBound())
			infinite = infinite || le == "+Inf"
			out = append(out, s.sample("_bucket", float64(b.GetCumulativeCount()), Label{"le", le}))
		}
		count := float64(m.Histogram.GetSampleCount())
		if !infinite {
			out = append(out, s.sample("_bucket", count, Label{"le", "+Inf"}))
		}
		return append(out, s.sample("_sum", m.Histogram.GetSampleSum()), s.sample("_count", count))
	}
	return out
}

func (s series) sample(suffix string, value float64, more ...Label) Sample {
	labels := s.labels
	if len(more) > 0 {
		labels = slices.Concat(s.labels, more)
	}
	return Sample{Name: s.name + suffix, Labels: labels, Value: value, At: s.at}
}

func spell(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
