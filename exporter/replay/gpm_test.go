package replay

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

func TestActivityFollowsTheLoadAndNeverExceedsTheUse(t *testing.T) {
	for _, profile := range []Profile{Training, Inference, Sparse, Unused} {
		s := machine(t, profile, Event{At: 100 * time.Hour, Kind: Busy, For: time.Hour}, Event{At: 101 * time.Hour, Kind: Idle, For: time.Hour})
		busy, idle := s.At(start.Add(100*time.Hour + 30*time.Minute)).GPUs[0].Readings, s.At(start.Add(101*time.Hour + 30*time.Minute)).GPUs[0].Readings
		if sm := value(t, busy.GPM.SMActive); sm < 0.25 {
			t.Errorf("%s: SM activity at full work is %v", profile, sm)
		}
		for name, v := range map[string]gpu.Maybe[float64]{"SMs": idle.GPM.SMActive, "tensor": idle.GPM.TensorActive, "PCIe": idle.GPM.PCIeReceived} {
			if n := value(t, v); n != 0 {
				t.Errorf("%s: %s without work are %v", profile, name, n)
			}
		}
		rapid.Check(t, func(t *rapid.T) {
			after := time.Duration(rapid.Int64Range(0, int64(99*time.Hour)).Draw(t, "after"))
			r := s.At(start.Add(after)).GPUs[rapid.IntRange(0, 7).Draw(t, "gpu")].Readings
			graphics, _ := r.GPM.GraphicsActive.Get()
			sm, _ := r.GPM.SMActive.Get()
			tensor, _ := r.GPM.TensorActive.Get()
			if tensor < 0 || tensor > sm || sm > graphics || graphics > 1 {
				t.Fatalf("tensor %v, SMs %v, any work %v: want each at most the next, from 0 to 1", tensor, sm, graphics)
			}
		})
	}
}
