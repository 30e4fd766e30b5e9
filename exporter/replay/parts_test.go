package replay

import (
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

func TestTrafficOfASimulatedCardGrowsWithItsWorkAndNeverGoesBack(t *testing.T) {
	s, err := New(Config{Host: "gpu-a1", GPUs: 2, Start: start, Seed: 3, Script: []Event{{At: 0, GPU: index(0), Kind: Busy}}})
	if err != nil {
		t.Fatal(err)
	}
	last := [2]map[string]float64{{}, {}}
	for minute := range 120 {
		for i, g := range s.At(start.Add(time.Duration(minute) * time.Minute)).GPUs {
			for direction, bytes := range g.Readings.NVLink.BytesTotal {
				if bytes < last[i][direction] {
					t.Fatalf("GPU %d: %s went from %v back to %v", i, direction, last[i][direction], bytes)
				}
				last[i][direction] = bytes
			}
		}
	}
	const seconds = 119 * 60
	if rate := last[0]["tx"] / seconds; rate < 90e9 || rate > 115e9 {
		t.Errorf("a busy card sent %v bytes per second, want about 110e9", rate)
	}
}

func TestASimulatedCardThatTheFabricDoesNotTakeInSaysSo(t *testing.T) {
	s, err := New(Config{Host: "gpu-a1", GPUs: 1, Start: start, Seed: 1, Script: []Event{{At: time.Minute, GPU: index(0), Kind: FabricIncomplete}}})
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[time.Duration]string{30 * time.Second: gpu.FabricCompleted, 5 * time.Minute: gpu.FabricInProgress} {
		if got := s.At(start.Add(at)).GPUs[0].Readings.Fabric.State; got != want {
			t.Errorf("after %s the fabric is %q, want %q", at, got, want)
		}
	}
}
