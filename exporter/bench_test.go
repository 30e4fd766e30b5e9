package exporter_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/leasewatch/leasewatch/exporter"
	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// BenchmarkScrape measures the real program over the fake driver: the CPU time of the whole
// process for each scrape as Prometheus does it, with the collection that goes on meanwhile
// spread over the scrapes of a 15 s interval, and its memory afterwards.
func BenchmarkScrape(b *testing.B) {
	host := fakenvml.Install(b, fakenvml.H100x8())
	p := startProgram(b, host.Env())
	bench(b, p, 8)
}

// BenchmarkScrapeMIG is the same for sixteen cards, each cut into seven MIG devices.
func BenchmarkScrapeMIG(b *testing.B) {
	host := fakenvml.Install(b, fakenvml.H100x16MIG())
	p := startProgram(b, host.Env())
	bench(b, p, 16+16*7)
}

// bench begins when the second round of the fast tier has brought the activity of so many
// cards and MIG devices: by then all series are there.
func bench(b *testing.B, p *program, active int) {
	eventually(b, "all GPUs are on the page", func() bool {
		body, _, _ := get(b, p.url+"/metrics")
		return strings.Count(body, "\ngpu_sm_active_ratio{") == active
	})
	scrape(b, p.url)
	idleFrom, idleStart := p.cpu(b), time.Now()
	const idle = 10 * time.Second // two rounds of the fast tier, with nobody scraping
	time.Sleep(idle)
	collecting := (p.cpu(b) - idleFrom).Seconds() / time.Since(idleStart).Seconds()

	from, began, series := p.cpu(b), time.Now(), 0
	b.ResetTimer()
	for range b.N {
		series = scrape(b, p.url)
	}
	b.StopTimer()
	spent, took := (p.cpu(b) - from).Seconds(), time.Since(began).Seconds()
	scraping := max(spent-collecting*took, 0) / float64(b.N)
	const interval = 15.0
	b.ReportMetric(1000*(scraping+collecting*interval), "cpu-ms/scrape")
	b.ReportMetric(1000*scraping, "page-ms/scrape")
	b.ReportMetric(1000*collecting*interval, "collect-ms/scrape")
	b.ReportMetric(p.rss(b)/(1<<20), "rss-MB")
	b.ReportMetric(float64(series), "series")
}

// scrape asks for the page as Prometheus does and returns its number of series.
func scrape(b *testing.B, url string) int {
	request, err := http.NewRequest(http.MethodGet, url+"/metrics", nil)
	if err != nil {
		b.Fatal(err)
	}
	request.Header.Set("Accept", "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5")
	request.Header.Set("Accept-Encoding", "gzip")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	unzipped, err := gzip.NewReader(response.Body)
	if err != nil {
		b.Fatal(err)
	}
	body, err := io.ReadAll(unzipped)
	if err != nil {
		b.Fatal(err)
	}
	return strings.Count(string(body), "\n") - strings.Count(string(body), "\n#") - 1
}

// BenchmarkPage measures the parts of a scrape inside one process.
func BenchmarkPage(b *testing.B) {
	snapshots := []*gpu.Snapshot{simulated(b), simulated(b)}
	b.Run("build", func(b *testing.B) {
		source := newMachine(snapshots[0])
		page := exporter.NewPage(source, exporter.Labels{Host: "gpu-a1", Vantage: "host"}, metrics.NewSet())
		b.ReportAllocs()
		for i := range b.N {
			source.set(snapshots[i%2])
			page.GPUs()
		}
	})
	b.Run("yardstick", func(b *testing.B) { constMetrics(b, snapshots[0]) })
	page := exporter.NewPage(newMachine(snapshots[0]), exporter.Labels{Host: "gpu-a1", Vantage: "host"}, metrics.NewSet())
	b.Run("protobuf", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			if _, err := page.Gather(); err != nil {
				b.Fatal(err)
			}
		}
	})
	families, err := page.Gather()
	if err != nil {
		b.Fatal(err)
	}
	for name, format := range map[string]expfmt.Format{
		"text": expfmt.NewFormat(expfmt.TypeTextPlain), "openmetrics": expfmt.NewFormat(expfmt.TypeOpenMetrics),
	} {
		b.Run("encode/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				encoder := expfmt.NewEncoder(io.Discard, format)
				for _, family := range families {
					if err := encoder.Encode(family); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// constMetrics is what a page of the same series costs the usual way: a collector that makes
// const metrics anew at each scrape. Machines differ; the ratio to it does not.
func constMetrics(b *testing.B, s *gpu.Snapshot) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(&usual{families: exporter.Families(s, exporter.Labels{Host: "gpu-a1", Vantage: "host"})})
	b.ReportAllocs()
	for range b.N {
		if _, err := registry.Gather(); err != nil {
			b.Fatal(err)
		}
	}
}

type usual struct{ families []*dto.MetricFamily }

func (u *usual) Describe(chan<- *prometheus.Desc) {}

func (u *usual) Collect(out chan<- prometheus.Metric) {
	for _, family := range u.families {
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
