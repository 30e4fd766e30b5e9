package exporter

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/promslog"

	"github.com/leasewatch/leasewatch/exporter/gpu"
	"github.com/leasewatch/leasewatch/exporter/replay"
)

// BenchmarkPage measures the parts of a scrape inside one process. Machines differ; the ratios to
// the yardstick do not: it is what a page of the same series costs the usual way, a collector
// that makes const metrics anew at each scrape.
func BenchmarkPage(b *testing.B) {
	simulated, err := replay.New(replay.Config{Host: "gpu-a1", GPUs: 8, Start: time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC), Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	snapshots := []*gpu.Snapshot{simulated.At(noon), simulated.At(noon.Add(15 * time.Second))}
	source, labels := &still{snapshot: snapshots[0]}, Labels{Host: "gpu-a1", Vantage: "host"}
	page := NewPage(source, labels, metrics.NewSet())
	ours, err := newScrapes(page, promslog.NewNopLogger())
	if err != nil {
		b.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(usual(Families(snapshots[0], labels)))
	options := promhttp.HandlerOpts{EnableOpenMetrics: true}
	for _, way := range []struct {
		name    string
		handler http.Handler
	}{
		{"ours", ours}, {"general", promhttp.HandlerFor(page, options)}, {"yardstick", promhttp.HandlerFor(registry, options)},
	} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				source.snapshot = snapshots[i%2] // 15 s later, every scrape meets another snapshot
				request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
				request.Header.Set("Accept", "application/openmetrics-text;version=1.0.0")
				request.Header.Set("Accept-Encoding", "gzip")
				way.handler.ServeHTTP(httptest.NewRecorder(), request)
			}
		})
	}
	b.Run("build", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			page.builder.build(snapshots[i%2])
		}
	})
}

// usual is a collector that makes const metrics.
type usual []*dto.MetricFamily

func (usual) Describe(chan<- *prometheus.Desc) {}

func (u usual) Collect(out chan<- prometheus.Metric) {
	for _, family := range u {
		for _, metric := range family.Metric {
			names, values := make([]string, len(metric.Label)), make([]string, len(metric.Label))
			for i, pair := range metric.Label {
				names[i], values[i] = pair.GetName(), pair.GetValue()
			}
			desc := prometheus.NewDesc(family.GetName(), family.GetHelp(), names, nil)
			out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, metric.GetGauge().GetValue()+metric.GetCounter().GetValue(), values...)
		}
	}
}
