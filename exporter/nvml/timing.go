//go:build linux && cgo

package nvml

import (
	"fmt"
	"sync"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// callBuckets tell a call that the library answers by itself, one that asks the card, one
// that is slow, and one that hangs. Few, because there is a histogram for each of some fifty calls.
var callBuckets = []float64{0.001, 0.1, 5}

// timing keeps the histograms of driver call times.
type timing struct {
	set   *metrics.Set
	calls sync.Map // name -> *metrics.PrometheusHistogram
}

func (t *timing) observe(call string, took time.Duration) {
	h, known := t.calls.Load(call)
	if !known {
		name := fmt.Sprintf("leasewatch_exporter_driver_call_duration_seconds{call=%q}", call)
		h, _ = t.calls.LoadOrStore(call, t.set.GetOrCreatePrometheusHistogramExt(name, callBuckets))
	}
	h.(*metrics.PrometheusHistogram).Update(took.Seconds())
}
