package exporter_test

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/sys/unix"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
)

// interval is how often Prometheus comes by default with us.
const interval = 15 * time.Second

// core turns off what the program reads beside the driver's plain figures: what is left are the
// families that every exporter of GPUs has.
var core = []string{"--no-collector.host", "--no-collector.kmsg", "--no-collector.gpm", "--no-collector.containers", "--no-collector.pod-resources"}

// BenchmarkScrape measures the real program over the fake driver as Prometheus meets it: the CPU
// time of the whole process from one scrape to the next, 15 s later, with all that it collects
// meanwhile, and its memory. page-ms is the part of it that a scrape costs where many follow each
// other at once. The programs run side by side, so that their figures are of the same minute.
// The one with nothing to read tells what it costs here to wake a sleeping process at all.
func BenchmarkScrape(b *testing.B) {
	type subject struct {
		name   string
		args   []string
		active int // series of activity that a complete page has
		*program
	}
	eight, sixteen := fakenvml.Install(b, fakenvml.H100x8()), fakenvml.Install(b, fakenvml.H100x16MIG())
	subjects := []*subject{
		{name: "nothing", args: append([]string{"--nvml.library=" + filepath.Join(b.TempDir(), fakenvml.LibraryName)}, core...)},
		{name: "8xGPU", active: 8}, {name: "8xGPU/core", args: core}, {name: "16x7MIG", active: 16 + 16*7},
	}
	for _, s := range subjects {
		host := eight
		if s.name == "16x7MIG" {
			host = sixteen
		}
		s.program = startProgram(b, host.Env(), s.args...)
	}
	for _, s := range subjects {
		eventually(b, s.name+" is complete", func() bool {
			body, _, _ := get(b, s.url+"/metrics")
			return strings.Count(body, "\ngpu_sm_active_ratio{") == s.active && (s.name == "nothing" || strings.Contains(body, "\ngpu_remapped_rows_pending{"))
		})
		scrape(b, s.url)
	}
	const times = 4
	rest, spent := map[*subject]float64{}, map[*subject]time.Duration{}
	for _, s := range subjects {
		rest[s], spent[s] = s.memory(b, "VmRSS"), -s.cpu(b)
	}
	for range times {
		time.Sleep(interval)
		for _, s := range subjects {
			scrape(b, s.url)
		}
	}
	for _, s := range subjects {
		spent[s] += s.cpu(b)
	}
	for _, s := range subjects {
		b.Run(s.name, func(b *testing.B) {
			series, from := 0, s.cpu(b)
			for range b.N {
				series = scrape(b, s.url)
			}
			perScrape := 1000 * spent[s].Seconds() / times
			b.ReportMetric(perScrape, "cpu-ms/scrape")
			b.ReportMetric(1000*perScrape/float64(series), "cpu-ms/1000-series")
			b.ReportMetric(1000*(s.cpu(b)-from).Seconds()/float64(b.N), "page-ms/scrape")
			b.ReportMetric(float64(series), "series")
			b.ReportMetric(rest[s]/(1<<20), "rest-rss-MB")
			b.ReportMetric(s.memory(b, "VmRSS")/(1<<20), "rss-MB")
			b.ReportMetric(s.memory(b, "RssAnon")/(1<<20), "anon-MB")
			b.ReportMetric(0, "ns/op") // how long the machine took says nothing
		})
	}
}

// BenchmarkWake measures what it costs this machine to wake a thread that then does nothing: the
// yardstick for programs that mostly sleep. BenchmarkScrape's wake some 80 times between scrapes.
func BenchmarkWake(b *testing.B) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	spent := func() time.Duration {
		var u unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	from, pause := spent(), unix.NsecToTimespec(int64(50*time.Millisecond))
	for range b.N {
		_ = unix.Nanosleep(&pause, nil) // one that is cut short is a wake as well
	}
	b.ReportMetric(float64((spent()-from).Nanoseconds())/1000/float64(b.N), "cpu-us/wake")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkScrapeWhileAGPUHangs measures how long scrapes take while every call for one of eight
// GPUs takes 45 s.
func BenchmarkScrapeWhileAGPUHangs(b *testing.B) {
	host := fakenvml.Install(b, fakenvml.H100x8())
	p := startProgram(b, host.Env())
	eventually(b, "all GPUs are on the page", func() bool { return strings.Count(p.page(b), "\ngpu_sm_active_ratio{") == 8 })
	host.Update(b, func(s *fakenvml.Scenario) { s.GPU(3).Delay("", 45*time.Second) })
	eventually(b, "the GPU hangs", func() bool { return strings.Count(p.page(b), "\ngpu_sm_active_ratio{") == 7 })
	took := make([]time.Duration, 0, b.N)
	for range b.N {
		began := time.Now()
		scrape(b, p.url)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	at := func(share float64) float64 {
		return float64(took[int(share*float64(len(took)-1))].Microseconds()) / 1000
	}
	b.ReportMetric(at(0.5), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
	b.ReportMetric(at(1), "max-ms")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkSoak scrapes without pause, and tells memory and goroutines on the way: a leak shows
// in figures that grow. Run it with -benchtime 100000x.
func BenchmarkSoak(b *testing.B) { soak(b, 0) }

// BenchmarkHour is BenchmarkSoak as Prometheus scrapes, with -benchtime 240x for an hour.
func BenchmarkHour(b *testing.B) { soak(b, interval) }

func soak(b *testing.B, pause time.Duration) {
	if b.N == 1 {
		return // the try before the real run
	}
	host := fakenvml.Install(b, fakenvml.H100x8())
	p := startProgram(b, host.Env())
	eventually(b, "all GPUs are on the page", func() bool { return strings.Count(p.page(b), "\ngpu_sm_active_ratio{") == 8 })
	from := p.cpu(b)
	for n := 1; n <= b.N; n++ {
		time.Sleep(pause)
		fetch(b, p.url, io.Discard)
		if percent := 100 * n / b.N; n == b.N || percent != 100*(n-1)/b.N && (percent == 10 || percent == 50) {
			b.ReportMetric(p.memory(b, "VmRSS")/(1<<20), fmt.Sprintf("rss-MB@%d%%", percent))
			b.ReportMetric(number(b, p.page(b), "go_goroutines"), fmt.Sprintf("goroutines@%d%%", percent))
			b.ReportMetric(number(b, p.page(b), "process_open_fds"), fmt.Sprintf("files@%d%%", percent))
		}
	}
	b.ReportMetric(1000*(p.cpu(b)-from).Seconds()/float64(b.N), "cpu-ms/scrape")
	b.ReportMetric(0, "ns/op")
}

// scrape asks for the page as Prometheus does and returns its number of series.
func scrape(b testing.TB, url string) int {
	var zipped, body strings.Builder
	fetch(b, url, &zipped)
	unzipped, err := gzip.NewReader(strings.NewReader(zipped.String()))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := io.Copy(&body, unzipped); err != nil {
		b.Fatal(err)
	}
	return strings.Count(body.String(), "\n") - strings.Count(body.String(), "\n#") - 1
}

// fetch asks for the page as Prometheus does.
func fetch(b testing.TB, url string, into io.Writer) {
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
	if _, err := io.Copy(into, response.Body); err != nil || response.StatusCode != http.StatusOK {
		b.Fatalf("status %d, %v", response.StatusCode, err)
	}
}

// number is the value of a series of the page.
func number(t testing.TB, page, family string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(sample(page, family), 64)
	if err != nil {
		t.Fatalf("the page does not tell %s: %v", family, err)
	}
	return v
}
