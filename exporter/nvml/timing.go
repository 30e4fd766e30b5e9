//go:build linux && cgo

package nvml

import (
	"fmt"
	"sync"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// callBuckets tell a call that the library answers by itself, one that asks the card, one
// that is slow, and one that hangs.
var callBuckets = []float64{0.00001, 0.0001, 0.001, 0.01, 0.1, 1, 5}

// timing keeps how long driver calls take: their spread over all calls, and number and time
// of each. A spread of each of some hundred calls would be a fifth of the page.
type timing struct {
	set    *metrics.Set
	spread *metrics.PrometheusHistogram
	calls  sync.Map // name -> callTime
}

// callTime is one call's number and time.
type callTime struct {
	count   *metrics.Counter
	seconds *metrics.FloatCounter
}

func newTiming(set *metrics.Set) *timing {
	return &timing{
		set:    set,
		spread: set.GetOrCreatePrometheusHistogramExt("leasewatch_exporter_driver_call_duration_seconds", callBuckets),
	}
}

func (t *timing) observe(call string, took time.Duration) {
	known, there := t.calls.Load(call)
	if !there {
		known, _ = t.calls.LoadOrStore(call, callTime{
			count:   t.set.GetOrCreateCounter(fmt.Sprintf("leasewatch_exporter_driver_calls_total{call=%q}", call)),
			seconds: t.set.GetOrCreateFloatCounter(fmt.Sprintf("leasewatch_exporter_driver_call_seconds_total{call=%q}", call)),
		})
	}
	one := known.(callTime)
	one.count.Inc()
	one.seconds.Add(took.Seconds())
	t.spread.Update(took.Seconds())
}
