package exporter_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/push"
)

// A day without a receiver must fit the spool's default cap, with all that the real program tells
// of a host of eight H100s, the host and itself at the default interval. An hour of it is measured
// on disk.
func TestADayOfOutageFitsTheDefaultCap(t *testing.T) {
	t.Parallel()
	const interval = 15 * time.Second
	defaultCap := int64(0)
	if _, err := fmt.Sscan(regexp.MustCompile(`--push\.spool-max-bytes=(\d+)MiB`).FindStringSubmatch(help(t))[1], &defaultCap); err != nil {
		t.Fatal(err)
	}
	defaultCap <<= 20
	page := ""
	p := startProgram(t, fakenvml.Install(t, fakenvml.H100x8()).Env())
	eventually(t, "the page is whole", func() bool {
		page = p.page(t)
		return strings.Count(page, "\ngpu_sm_active_ratio{") == 8 && strings.Contains(page, "\ngpu_remapped_rows_pending{")
	})
	parser := expfmt.NewTextParser(model.UTF8Validation)
	byName, err := parser.TextToMetricFamilies(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	families := slices.Collect(maps.Values(byName))
	dir := t.TempDir()
	pusher, err := push.New(push.Config{URL: "http://127.0.0.1:1/write", SpoolDir: dir, SpoolMaxBytes: defaultCap,
		Now: time.Now, Log: promslog.NewNopLogger(), Metrics: metrics.NewSet()})
	if err != nil {
		t.Fatal(err)
	}
	scraped := []push.Label{{Name: "job", Value: "leasewatch-exporter"}, {Name: "instance", Value: "gpu-a1"}}
	series := 0
	for at := noon; at.Before(noon.Add(time.Hour)); at = at.Add(interval) {
		samples := push.Samples(families, scraped, at)
		batch, err := push.NewBatch(samples)
		if err != nil {
			t.Fatal(err)
		}
		series = len(samples)
		pusher.Push(batch)
	}
	if err := pusher.Close(); err != nil {
		t.Fatal(err)
	}
	hour := sizeOf(t, filepath.Join(dir, "segments"))
	t.Logf("%d series: %.1f MiB an hour, %.0f MiB a day", series, float64(hour)/(1<<20), float64(24*hour)/(1<<20))
	if day := 24 * hour; hour == 0 || day > defaultCap {
		t.Errorf("a day of %d series takes %d bytes, the default cap holds %d", series, day, defaultCap)
	}
}

func sizeOf(t *testing.T, dir string) int64 {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no segments in %s: %v", dir, err)
	}
	size := int64(0)
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	return size
}
