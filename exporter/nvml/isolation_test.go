//go:build linux && cgo

package nvml

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

func TestACallThatHangsLeavesNoPileOfGoroutines(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, all(8, gpu.OK))
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(6).Delay("", fakenvml.Forever) })
		m.waitForHang(t, 6)
		before := runtime.NumGoroutine()
		m.rounds(t, h100(0), 50)
		if now := runtime.NumGoroutine(); now > before {
			t.Errorf("%d goroutines became %d", before, now)
		}
	})
}

// As where the kernel driver holds one lock for all cards: every worker waits for it.
func TestADriverThatBlocksAsAWholeIsShownWithAges(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		options := quick()
		options.Now = hurried(40)
		m.start(t, options)
		m.wait(t, all(8, gpu.OK))
		m.change(t, func(s *fakenvml.Scenario) { s.Delay("driver", fakenvml.Forever) })
		s := m.wait(t, all(8, gpu.Unresponsive))
		for i := range 8 {
			g := find(t, s, h100(i))
			if !strings.Contains(g.Status.Reason, "has not returned") || !strings.HasPrefix(g.Status.Reason, "nvml") {
				t.Errorf("the reason of GPU %d does not name a call: %q", i, g.Status.Reason)
			}
			if age := s.At.Sub(g.Readings.At); g.Readings.At.IsZero() || age < gpu.UnresponsiveAfter {
				t.Errorf("GPU %d was read %s ago", i, age)
			}
			if _, there := g.Readings.PowerWatts.Get(); there {
				t.Errorf("GPU %d shows readings that are as old", i)
			}
		}
		m.change(t, func(s *fakenvml.Scenario) { s.Unset("driver.delay_ms") })
		m.wait(t, all(8, gpu.OK))
	})
}

// Nobody saw the XIDs: only the driver's own answers tell what is left of the fault.
func TestAnExporterThatStartsAfterTheFaultTellsIt(t *testing.T) {
	s := fakenvml.H100x8()
	s.GPU(0).Set("recovery_action", 2)
	s.GPU(1).Set("remap_pending", 1).Set("remapped_uncorrectable", 1)
	s.GPU(2).Set("remap_failure", 1)
	s.GPU(3).Lost()
	s.GPU(4).Return("nvmlDeviceGetMemoryInfo_v2", fakenvml.ResetRequired)
	inChild(t, s, func(t *testing.T, m *machine) {
		m.start(t, quick())
		want := []gpu.State{gpu.ResetRequired, gpu.OK, gpu.OK, gpu.Lost, gpu.ResetRequired, gpu.OK, gpu.OK, gpu.OK}
		s := m.wait(t, func(s *gpu.Snapshot) error {
			if len(s.GPUs) != len(want) {
				return fmt.Errorf("%d GPUs", len(s.GPUs))
			}
			for i, g := range s.GPUs {
				if g.Status.State != want[i] {
					return fmt.Errorf("GPU %d is %s (%s), want %s", i, g.Status.State, g.Status.Reason, want[i])
				}
			}
			return nil
		})
		if action, _ := s.GPUs[0].Readings.RecoveryAction.Get(); action != 2 || !strings.Contains(s.GPUs[0].Status.Reason, "reboot the node") {
			t.Errorf("the action is %v, the reason %q", action, s.GPUs[0].Status.Reason)
		}
		if pending, _ := s.GPUs[1].Readings.RemapPending.Get(); !pending {
			t.Error("the pending remap is not told")
		}
		if failed, _ := s.GPUs[2].Readings.RemapFailure.Get(); !failed {
			t.Error("the failed remap is not told")
		}
	})
}
