package exporter

import (
	"bytes"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/VictoriaMetrics/metrics"
	"github.com/prometheus/common/expfmt"
	"pgregory.net/rapid"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// still is a source whose snapshot a test sets.
type still struct {
	gpu.Source
	snapshot *gpu.Snapshot
}

func (s *still) Snapshot() *gpu.Snapshot { return s.snapshot }

// machineOf draws a machine whose strings and numbers are as awkward as they come.
func machineOf(t *rapid.T) *gpu.Snapshot {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a", "b", "\xff", "back\\slash", "\"quoted\"", "two\nlines"}))
	number := rapid.OneOf(rapid.Float64(), rapid.Map(rapid.Int64Range(-2e6, 2e6), func(n int64) float64 { return float64(n) }),
		rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, -1, 999_999, 1e6, 1e21, math.NaN(), math.Inf(1)}))
	some := rapid.Custom(func(t *rapid.T) gpu.Maybe[float64] {
		if rapid.Bool().Draw(t, "absent") {
			return gpu.Maybe[float64]{}
		}
		return gpu.Some(number.Draw(t, "number"))
	})
	named := rapid.MapOfN(text, number, 0, 3)
	s := &gpu.Snapshot{GPUs: make([]gpu.GPU, rapid.IntRange(0, 4).Draw(t, "GPUs"))}
	for i := range s.GPUs {
		g := &s.GPUs[i]
		g.Identity = gpu.Identity{Index: rapid.IntRange(0, 2).Draw(t, "index"), UUID: text.Draw(t, "uuid"), Name: text.Draw(t, "name")}
		g.Status.State = rapid.SampledFrom(gpu.States).Draw(t, "state")
		g.Readings.PowerWatts, g.Readings.EnergyJoulesTotal = some.Draw(t, "power"), some.Draw(t, "energy")
		g.Readings.ClockHertz = named.Draw(t, "clocks")
		g.Readings.ThrottleSecondsTotal = named.Draw(t, "throttle")
		for range rapid.IntRange(0, 2).Draw(t, "instances") {
			g.Instances = append(g.Instances, gpu.Instance{UUID: text.Draw(t, "MIG uuid"), GPUInstance: rapid.IntRange(0, 2).Draw(t, "instance"),
				Profile: text.Draw(t, "profile"), Multiprocessors: some.Draw(t, "multiprocessors")})
		}
	}
	return s
}

func TestThePageIsSpelledAsTheLibrarySpellsIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := &still{}
		page := NewPage(source, Labels{Host: "a", Vantage: "host"}, metrics.NewSet())
		for range 4 { // what was spelled for one snapshot is used for the next
			source.snapshot = machineOf(t)
			for in, format := range map[spelling]expfmt.Format{plainText: expfmt.FmtText, openMetrics: expfmt.FmtOpenMetrics_1_0_0} {
				var want bytes.Buffer
				library := expfmt.NewEncoder(&want, format)
				for _, f := range Families(source.snapshot, Labels{Host: "a", Vantage: "host"}) {
					if err := library.Encode(f); err != nil {
						t.Fatal(err)
					}
				}
				lines := strings.Split(want.String(), "\n")
				for i, line := range strings.Split(ofGPUs(t, page, in), "\n") {
					if i >= len(lines) || line != lines[i] {
						t.Fatalf("line %d of the page in %s is\n%s\nof\n%s", i+1, format, line, want.String())
					}
				}
			}
		}
	})
}

// ofGPUs is the page without the program's own figures.
func ofGPUs(t *rapid.T, page *Page, in spelling) string {
	var text, kept strings.Builder
	if err := page.spell(&text, in); err != nil {
		t.Fatal(err)
	}
	for family := range strings.SplitSeq(text.String(), "# HELP ") {
		name, _, _ := strings.Cut(family, " ")
		if strings.HasPrefix(name, "gpu_") || name == "leasewatch_exporter_unsupported_calls" {
			kept.WriteString("# HELP " + family)
		}
	}
	return kept.String()
}

func TestScrapersThatWantNoGzipGetNone(t *testing.T) {
	for header, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "deflate, gzip;q=0.5": true, "gzip; q=1.0": true, "gzip;q=0": false, "gzip; Q=0.0, br": false,
		"identity": false, "gzip;level=9": true, "x-gzip": false,
	} {
		if got := takesGzip(http.Header{"Accept-Encoding": {header}}); got != want {
			t.Errorf("Accept-Encoding %q: %v, want %v", header, got, want)
		}
	}
}

// A scrape of a snapshot that was scraped already makes what its own figures take, however many
// series the snapshot has: what a leak or a line that is made anew would show in.
func TestAFurtherScrapeOfASnapshotMakesNoSeriesAnew(t *testing.T) {
	allocations := func(gpus int) float64 {
		s := &gpu.Snapshot{GPUs: make([]gpu.GPU, gpus)}
		for i := range s.GPUs {
			s.GPUs[i].Identity, s.GPUs[i].Status.State = gpu.Identity{Index: i, UUID: strconv.Itoa(i)}, gpu.OK
			s.GPUs[i].Readings = gpu.Readings{PowerWatts: gpu.Some(100.0), ClockHertz: map[string]float64{"sm": 1e9}}
		}
		page := NewPage(&still{snapshot: s}, Labels{Host: "a", Vantage: "host"}, metrics.NewSet())
		return testing.AllocsPerRun(20, func() {
			if err := page.spell(io.Discard, openMetrics); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := allocations(1), allocations(64); many > few+8 {
		t.Errorf("a scrape of 64 GPUs makes %v objects, of one %v: want the same", many, few)
	}
}

// Another snapshot with the same series makes none of them anew either.
func TestASnapshotWithTheSameSeriesIsTakenInWithoutMakingThemAnew(t *testing.T) {
	snapshot := func(watts float64) *gpu.Snapshot {
		s := &gpu.Snapshot{GPUs: make([]gpu.GPU, 64)}
		for i := range s.GPUs {
			s.GPUs[i].Identity, s.GPUs[i].Status.State = gpu.Identity{Index: i, UUID: strconv.Itoa(i)}, gpu.OK
			s.GPUs[i].Readings.PowerWatts = gpu.Some(watts + float64(i))
		}
		return s
	}
	b := newBuilder(Labels{Host: "a", Vantage: "host"})
	b.build(snapshot(100))
	known := b.cached
	b.build(snapshot(200))
	if b.cached != known || b.series == 0 {
		t.Fatalf("%d series are known after the second snapshot, want the %d of the first", b.cached, known)
	}
	for _, e := range b.table {
		if e.Name == "gpu_power_watts" && e.samples[63].value != 263 {
			t.Errorf("the last card draws %v W, want the 263 of the second snapshot", e.samples[63].value)
		}
	}
}
