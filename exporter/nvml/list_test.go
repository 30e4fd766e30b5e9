//go:build linux && cgo

package nvml

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

func TestAGPUThatIsNoLongerListedIsLostThoughTheOthersMoveUp(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, all(8, gpu.OK))
		m.change(t, func(s *fakenvml.Scenario) { s.Order(0, 1, 3, 4, 5, 6, 7) })
		s := m.wait(t, func(s *gpu.Snapshot) error {
			if err := one(h100(2), gpu.Lost)(s); err != nil {
				return err
			}
			if g := find(t, s, h100(7)); g.Identity.Index != 6 {
				return fmt.Errorf("GPU 7 still has the index %d", g.Identity.Index)
			}
			return nil
		})
		gone := find(t, s, h100(2))
		if gone.Identity.Serial != "1651324000002" || !strings.Contains(gone.Status.Reason, "lists 7 GPUs") {
			t.Errorf("the GPU that went is %+v, %+v", gone.Identity, gone.Status)
		}
		for i := range 8 {
			if v, ok := find(t, s, h100(i)).Readings.PCIeReplaysTotal.Get(); i != 2 && (!ok || v != float64(i)) {
				t.Errorf("GPU %d has the readings of another one: %v replays", i, v)
			}
		}
		m.change(t, func(s *fakenvml.Scenario) { s.DeviceCount(8) })
		m.wait(t, all(8, gpu.OK))
	})
}

func TestAnotherCardInTheSameSlotIsAnotherGPU(t *testing.T) {
	const replacement = "GPU-77777777-0000-4a5b-8c9d-000000000002"
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, all(8, gpu.OK))
		m.change(t, func(s *fakenvml.Scenario) {
			s.Set("driver.generation", 2).GPU(2).Set("uuid", replacement).Set("serial", "1659999999999")
		})
		s := m.wait(t, func(s *gpu.Snapshot) error {
			if len(s.GPUs) != 9 {
				return fmt.Errorf("%d GPUs", len(s.GPUs))
			}
			return one(h100(2), gpu.Lost)(s)
		})
		if old, fresh := find(t, s, h100(2)), find(t, s, replacement); old.Identity.Serial != "1651324000002" ||
			fresh.Identity.Serial != "1659999999999" || fresh.Identity.Index != 2 {
			t.Errorf("the old card is %+v, the new one %+v", old.Identity, fresh.Identity)
		}
	})
}

func TestAGPUWhoseHandleIsRefusedIsLost(t *testing.T) {
	for name, code := range map[string]int{"GPU is lost": fakenvml.GPUIsLost, "not found": fakenvml.NotFound} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			s := fakenvml.H100x8()
			s.GPU(2).Return("nvmlDeviceGetHandleByIndex_v2", code)
			inChild(t, s, func(t *testing.T, m *machine) {
				m.start(t, quick())
				// It was never seen, so there is no more to say of it than its index.
				s := m.wait(t, one("", gpu.Lost))
				if g := find(t, s, ""); g.Identity.Index != 2 || !strings.Contains(g.Status.Reason, name) {
					t.Errorf("the lost GPU is %+v, %+v", g.Identity, g.Status)
				}
				m.change(t, func(s *fakenvml.Scenario) { s.GPU(2).Unset("nvmlDeviceGetHandleByIndex_v2.return") })
				if s = m.wait(t, all(8, gpu.OK)); s.GPUs[2].Identity.UUID != h100(2) {
					t.Errorf("GPU 2 is %+v", s.GPUs[2].Identity)
				}
			})
		})
	}
}

func TestAResetThatTheDriverAsksForIsAState(t *testing.T) {
	tests := map[string]struct {
		set    func(c fakenvml.Card)
		clear  string
		reason string
	}{
		"by a return code":          {func(c fakenvml.Card) { c.Return("nvmlDeviceGetUtilizationRates", fakenvml.ResetRequired) }, "nvmlDeviceGetUtilizationRates.return", "requires a reset"},
		"by the action reset":       {func(c fakenvml.Card) { c.Set("recovery_action", 1) }, "", "reset the GPU"},
		"by the action reboot":      {func(c fakenvml.Card) { c.Set("recovery_action", 2) }, "", "reboot the node"},
		"by the action bus reset":   {func(c fakenvml.Card) { c.Set("recovery_action", 6) }, "", "reset the GPU's bus"},
		"by the action of a system": {func(c fakenvml.Card) { c.Set("recovery_action", 7) }, "", "reboot the system"},
	}
	for name, test := range tests {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
				m.start(t, quick())
				m.wait(t, all(8, gpu.OK))
				m.change(t, func(s *fakenvml.Scenario) { test.set(s.GPU(4)) })
				s := m.wait(t, one(h100(4), gpu.ResetRequired))
				if reason := s.GPUs[4].Status.Reason; !strings.Contains(reason, test.reason) {
					t.Errorf("reason is %q", reason)
				}
				if _, there := s.GPUs[4].Readings.RecoveryAction.Get(); test.clear == "" && !there {
					t.Error("the action itself is gone")
				}
				m.change(t, func(s *fakenvml.Scenario) {
					s.GPU(4).Set("recovery_action", 0)
					if test.clear != "" {
						s.GPU(4).Unset(test.clear)
					}
				})
				m.wait(t, all(8, gpu.OK))
			})
		})
	}
}

// What the driver would like and the card works without is on the page, and no downtime.
func TestARecoveryThatLeavesTheCardUsableIsToldAndIsNoState(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, all(8, gpu.OK))
		actions := map[int]float64{1: 3, 2: 4, 3: 5, 4: 8, 5: 23}
		m.change(t, func(s *fakenvml.Scenario) {
			for i, action := range actions {
				s.GPU(i).Set("recovery_action", action)
			}
			s.GPU(7).Set("recovery_action", 1) // once this one is seen, so were the others
		})
		m.wait(t, one(h100(7), gpu.ResetRequired))
		s := m.wait(t, func(s *gpu.Snapshot) error {
			for i, want := range actions {
				if got, _ := s.GPUs[i].Readings.RecoveryAction.Get(); got != want {
					return fmt.Errorf("GPU %d asks for %v, want %v", i, got, want)
				}
			}
			return nil
		})
		if err := one(h100(7), gpu.ResetRequired)(s); err != nil {
			t.Error(err)
		}
		for i := range actions {
			if got := m.changes(h100(i)); got != "unknown>ok" {
				t.Errorf("of GPU %d was told %q", i, got)
			}
		}
	})
}

func TestAFabricThatHasNotTakenAGPUInIsAState(t *testing.T) {
	s := fakenvml.H100x8()
	s.GPU(0).Set("fabric_state", 2)
	inChild(t, s, func(t *testing.T, m *machine) {
		m.start(t, quick())
		s := m.wait(t, one(h100(0), gpu.FabricIncomplete))
		if _, there := s.GPUs[0].Readings.PowerWatts.Get(); !there {
			t.Error("a GPU outside the fabric still works, but has no readings")
		}
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(0).Set("fabric_state", 3).Set("fabric_status", 999) })
		m.wait(t, func(s *gpu.Snapshot) error {
			if err := one(h100(0), gpu.FabricIncomplete)(s); err != nil {
				return err
			}
			if !strings.Contains(s.GPUs[0].Status.Reason, "registration failed") {
				return fmt.Errorf("reason is %q", s.GPUs[0].Status.Reason)
			}
			return nil
		})
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(0).Set("fabric_status", 0) })
		m.wait(t, all(8, gpu.OK))
	})
}

func TestOneCallThatIsRefusedIsNoStateAndAllOfThemAreUnknown(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		options := quick()
		options.Now = hurried(40)
		m.start(t, options)
		m.wait(t, all(8, gpu.OK))
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(1).Return("nvmlDeviceGetPowerUsage", fakenvml.UnknownError) })
		s := m.wait(t, func(s *gpu.Snapshot) error {
			if s.GPUs[1].Dropped["nvmlDeviceGetPowerUsage"] < 3 {
				return fmt.Errorf("dropped %v", s.GPUs[1].Dropped)
			}
			return nil
		})
		if _, there := s.GPUs[1].Readings.PowerWatts.Get(); there || s.GPUs[1].Status.State != gpu.OK {
			t.Errorf("GPU 1 is %+v", s.GPUs[1].Status)
		}
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(1).Return("", fakenvml.UnknownError) })
		s = m.wait(t, func(s *gpu.Snapshot) error {
			if s.GPUs[1].Status.State != gpu.Unknown {
				return fmt.Errorf("GPU 1 is %s", s.GPUs[1].Status.State)
			}
			return nil
		})
		if !strings.Contains(s.GPUs[1].Status.Reason, "unknown error") {
			t.Errorf("reason is %q", s.GPUs[1].Status.Reason)
		}
	})
}
