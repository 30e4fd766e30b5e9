package exporter_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
)

func TestThePageAnswersWithAgesWhileTheWholeDriverHangs(t *testing.T) {
	t.Parallel()
	host := fakenvml.Install(t, fakenvml.H100x8())
	p := startProgram(t, host.Env(), "--no-collector.host")
	eventually(t, "all GPUs were read", func() bool { return readingOf(p.page(t), "0") != "" && readingOf(p.page(t), "7") != "" })
	host.Update(t, func(s *fakenvml.Scenario) { s.Delay("driver", fakenvml.Forever) })
	taken := func() string { return sample(p.page(t), "gpu_snapshot_timestamp_seconds") }
	// From the second page on that is put together from here, no reading can be from after.
	pages := func(n int) {
		for range n {
			last := taken()
			eventually(t, "a page is put together", func() bool { return taken() != last })
		}
	}
	pages(2)
	read := []string{readingOf(p.page(t), "0"), readingOf(p.page(t), "7")}
	pages(1)
	if now := []string{readingOf(p.page(t), "0"), readingOf(p.page(t), "7")}; fmt.Sprint(now) != fmt.Sprint(read) || read[0] == "" {
		t.Errorf("the GPUs were read at %v and then at %v although the driver hangs", read, now)
	}
	eventually(t, "the page names the call", func() bool {
		return sample(p.page(t), "gpu_driver_hanging_call_info", `call="nvmlDeviceGetCount_v2"`) == "1"
	})
	p.stop(t) // with exit code 0, in the middle of eight calls that hang
	listener, err := net.Listen("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		t.Fatalf("the port is not free: %v", err)
	}
	listener.Close()
}

// While a call hangs, scrapes and beats leave nothing behind: no goroutine, no file.
func TestScrapesWhileACallHangsLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	host := fakenvml.Install(t, fakenvml.H100x8())
	p := startProgram(t, host.Env(), "--no-collector.host", "--no-collector.kmsg")
	eventually(t, "all GPUs were read", func() bool { return strings.Count(p.page(t), "\ngpu_sm_active_ratio{") == 8 })
	before := p.page(t)
	host.Update(t, func(s *fakenvml.Scenario) { s.GPU(3).Delay("", fakenvml.Forever) })
	eventually(t, "the GPU's readings are gone", func() bool { return readingsOf(p.page(t)) == 7 })
	for range 300 {
		p.page(t)
	}
	for _, family := range []string{"go_goroutines", "process_open_fds"} {
		// One more may be about to end: the connection's of the last scrape, for one.
		eventually(t, family+" is no more than before", func() bool { return number(t, p.page(t), family) <= number(t, before, family) })
	}
}

// readingsOf counts the GPUs whose readings are on the page.
func readingsOf(page string) int { return strings.Count(page, "\ngpu_power_watts{") }

func TestScrapersAtOnceGetWholePages(t *testing.T) {
	source := newMachine(simulated(t))
	p := start(t, source)
	var scrapers sync.WaitGroup
	for range 8 {
		scrapers.Go(func() {
			for range 10 {
				response, err := http.Get(p.url + "/metrics")
				if err != nil {
					t.Error(err)
					return
				}
				parser := expfmt.NewTextParser(model.UTF8Validation)
				families, err := parser.TextToMetricFamilies(response.Body)
				response.Body.Close()
				if err != nil || len(families["gpu_state"].GetMetric()) != 8*8 {
					t.Errorf("a page with %d states: %v", len(families["gpu_state"].GetMetric()), err)
				}
				fresh := *source.Snapshot()
				source.set(&fresh) // the next scrape makes a new page while the others read theirs
			}
		})
	}
	scrapers.Wait()
}
