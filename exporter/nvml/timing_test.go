//go:build linux && cgo

package nvml

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

func TestDriverCallTimesAreAPrometheusHistogramAndCountedByCall(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, all(8, gpu.OK))
		var page bytes.Buffer
		m.set.WritePrometheus(&page)
		parser := expfmt.NewTextParser(model.UTF8Validation)
		if _, err := parser.TextToMetricFamilies(strings.NewReader(page.String())); err != nil {
			t.Fatalf("the histograms do not parse: %v", err)
		}
		for _, want := range []string{
			`leasewatch_exporter_driver_call_duration_seconds_bucket{le="0.001"}`,
			`leasewatch_exporter_driver_call_seconds_total{call="nvmlDeviceGetPowerUsage"}`,
			"leasewatch_exporter_driver_calls_total{call=\"nvmlInit_v2\"} 1\n",
		} {
			if !strings.Contains(page.String(), want) {
				t.Errorf("no %s in\n%s", want, page.String())
			}
		}
	})
}

func processCPU(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkRound is one round of the fast tier of eight GPUs, publishing included, at driver
// calls of about a microsecond.
func BenchmarkRound(b *testing.B) {
	host := fakenvml.Install(b, fakenvml.H100x8())
	for _, entry := range host.Env() {
		name, value, _ := strings.Cut(entry, "=")
		b.Setenv(name, value)
	}
	r, err := New(Options{LibraryPath: filepath.Clean(host.Library()), Fast: time.Hour, Slow: time.Hour, Identity: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx, func(gpu.Event) {}) }()
	b.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
	})
	for all(8, gpu.OK)(r.Snapshot()) != nil {
		time.Sleep(time.Millisecond)
	}
	b.ReportAllocs()
	before := processCPU(b)
	for b.Loop() {
		for _, s := range r.slots {
			s.visit()
		}
		r.publish()
	}
	b.ReportMetric(float64((processCPU(b)-before).Microseconds())/float64(b.N), "cpu-us/op")
}
