//go:build linux && cgo

package nvml

import (
	"slices"
	"testing"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/VictoriaMetrics/metrics"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// counters answers the calls of GPM that a window makes. Whatever is asked is 50 percent.
type counters struct {
	nvml.Interface
	samples int
	refuse  nvml.Return // what a request for metrics is refused with, if it is
}

var (
	_ nvml.Interface = (*counters)(nil)
	_ gpmMetrics     = (*counters)(nil)
)

// buffer is one of its samples.
type buffer struct{ nvml.GpmSample }

func (k *counters) GpmSampleAlloc() (nvml.GpmSample, nvml.Return) { return &buffer{}, nvml.SUCCESS }

func (k *counters) between(_, _ nvml.GpmSample, _ []*gpmMetric) nvml.Return { return k.refuse }

func (k *counters) answer(int) (nvml.Return, float64) { return nvml.SUCCESS, 50 }

// clocked is a window with a clock that a test moves.
type clocked struct {
	now    time.Time
	c      *caller
	api    *counters
	window gpmWindow
	sample nvml.Return // what taking a sample answers
}

func newClocked() *clocked {
	k := &clocked{now: time.Unix(1000, 0), api: &counters{}}
	k.c = newCaller(func() time.Time { return k.now }, newTiming(metrics.NewSet()), time.Second)
	k.c.begin(&library{has: map[string]bool{gpmAllocCall: true, gpmSampleCall: true, gpmMetricsCall: true}})
	return k
}

// after moves the clock and reads.
func (k *clocked) after(d time.Duration) gpu.GPM {
	k.now = k.now.Add(d)
	take := func(nvml.GpmSample) nvml.Return {
		k.api.samples++
		return k.sample
	}
	return k.window.read(k.c, k.api, newGPMGate(time.Second, k.api), 10*time.Second, gpmQuestion{gpmSampleCall, take, cardMetrics})
}

func active(g gpu.GPM) bool {
	v, ok := g.SMActive.Get()
	return ok && v == 0.5
}

func TestAWindowIsTheTimeBetweenTwoSamples(t *testing.T) {
	k := newClocked()
	if active(k.after(0)) {
		t.Error("there are values after one sample")
	}
	if !active(k.after(5 * time.Second)) {
		t.Error("there are none after two samples")
	}
	if k.window.newest == k.window.older {
		t.Error("both samples are in one buffer")
	}
}

func TestAWindowIsNeverShorterThanTheDriverRenewsItsCounters(t *testing.T) {
	k := newClocked()
	k.after(0)
	k.after(5 * time.Second)
	if !active(k.after(99 * time.Millisecond)) {
		t.Error("the result of the window before is gone")
	}
	if k.api.samples != 2 {
		t.Errorf("%d samples were taken, want 2", k.api.samples)
	}
}

func TestAWindowThatNobodyLookedInIsNone(t *testing.T) {
	for name, pause := range map[string]time.Duration{"a long pause": 11 * time.Second, "a clock that was set back": -time.Hour} {
		k := newClocked()
		k.after(0)
		k.after(5 * time.Second)
		if active(k.after(pause)) {
			t.Errorf("%s: there are values", name)
		}
		if !active(k.after(5 * time.Second)) {
			t.Errorf("%s: there are no values after the next interval either", name)
		}
	}
}

func TestAfterASampleThatWasRefusedTheWindowBeginsAnew(t *testing.T) {
	k := newClocked()
	k.after(0)
	k.sample = nvml.ERROR_UNKNOWN
	if active(k.after(5 * time.Second)) {
		t.Error("there are values without a second sample")
	}
	k.sample = nvml.SUCCESS
	if active(k.after(5 * time.Second)) {
		t.Error("the window reaches over the refusal")
	}
	if !active(k.after(5 * time.Second)) {
		t.Error("there are no values after the next interval either")
	}
}

func TestACallThatIsRefusedWhateverIsAskedIsNotAboutTheMetrics(t *testing.T) {
	k := newClocked()
	k.api.refuse = nvml.ERROR_INVALID_ARGUMENT
	k.after(0)
	k.after(5 * time.Second)
	var unsupported []string
	for call := range k.c.unsupported {
		unsupported = append(unsupported, call)
	}
	if !slices.Equal(unsupported, []string{gpmMetricsCall}) {
		t.Errorf("unsupported is %v, want the call alone", unsupported)
	}
}
