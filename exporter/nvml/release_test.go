//go:build linux && cgo

package nvml

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// handles counts how often the library was asked for the handle of a GPU.
func (m *machine) handles(t *testing.T, index int) int {
	t.Helper()
	return strings.Count(m.calls(t), fmt.Sprintf("nvmlDeviceGetHandleByIndex_v2 gpu=%d\n", index))
}

// rounds waits until another GPU was read so many times more.
func (m *machine) rounds(t *testing.T, uuid string, n int) {
	t.Helper()
	last := find(t, m.reader.Snapshot(), uuid).Readings.At
	m.wait(t, func(s *gpu.Snapshot) error {
		if now := find(t, s, uuid).Readings.At; now.After(last) {
			last, n = now, n-1
		}
		if n > 0 {
			return fmt.Errorf("GPU %s is not read", uuid)
		}
		return nil
	})
}

func TestAReleasedGPUIsLetGoOfAndTheOthersGoOn(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, all(8, gpu.OK))
		if err := m.reader.Release(t.Context(), h100(3)); err != nil {
			t.Fatal(err)
		}
		calls := m.calls(t)
		if strings.Count(calls, "nvmlShutdown inside=0") != 1 { // the library closes device files only then
			t.Errorf("the library's life was\n%s", calls)
		}
		asked := m.handles(t, 3)
		m.wait(t, func(*gpu.Snapshot) error { return m.lives(t, 2) })
		m.rounds(t, h100(2), 3) // a handle has its events told once it is fetched anew
		// Whatever it says now is of no interest.
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(3).Lost(); s.Event(2, 13) })
		m.wait(t, counted(2, 13, 1)) // the others tell their events again
		m.rounds(t, h100(4), 5)
		s := m.wait(t, one(h100(3), gpu.Released))
		released := find(t, s, h100(3))
		if _, there := released.Readings.PowerWatts.Get(); there || released.Identity.Serial == "" {
			t.Errorf("the released GPU is %+v", released)
		}
		if got := m.handles(t, 3); got != asked {
			t.Errorf("the handle of the released GPU was asked for %d times more", got-asked)
		}
		if err := m.lives(t, 2); err != nil {
			t.Error(err)
		}
		for i := range 8 {
			if got := m.changes(h100(i)); i != 3 && got != "unknown>ok" {
				t.Errorf("of GPU %d was told %q", i, got)
			}
		}
		if err := m.reader.Release(t.Context(), h100(3)); err != nil {
			t.Errorf("a second release: %v", err)
		}
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(3).Heal(2) })
		if err := m.reader.Resume(t.Context(), h100(3)); err != nil {
			t.Fatal(err)
		}
		m.wait(t, all(8, gpu.OK))
		m.waitChanges(t, h100(3), "unknown>ok ok>released released>ok")
	})
}

func TestAGPUPassedThroughToAVirtualMachineIsReleasedAndNotLost(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, all(8, gpu.OK))
		if err := m.reader.Release(t.Context(), h100(2)); err != nil {
			t.Fatal(err)
		}
		m.change(t, func(s *fakenvml.Scenario) { s.Order(0, 1, 3, 4, 5, 6, 7) })
		s := m.wait(t, func(s *gpu.Snapshot) error {
			if g := find(t, s, h100(7)); g.Identity.Index != 6 || s.Driver.Listed != 7 {
				return fmt.Errorf("GPU 7 has the index %d, %d GPUs are listed", g.Identity.Index, s.Driver.Listed)
			}
			return one(h100(2), gpu.Released)(s)
		})
		for i := range 8 {
			if v, ok := find(t, s, h100(i)).Readings.PCIeReplaysTotal.Get(); i != 2 && (!ok || v != float64(i)) {
				t.Errorf("GPU %d has the readings of another one: %v replays", i, v)
			}
		}
		// The virtual machine gives it back: it is released until someone takes it back.
		asked := m.handles(t, 2)
		m.change(t, func(s *fakenvml.Scenario) { s.DeviceCount(8) })
		m.wait(t, func(s *gpu.Snapshot) error {
			if g := find(t, s, h100(7)); g.Identity.Index != 7 {
				return fmt.Errorf("GPU 7 still has the index %d", g.Identity.Index)
			}
			if err := one(h100(2), gpu.Released)(s); err != nil {
				return err
			}
			return m.lives(t, 3) // who came was found out by a handle, which is given back
		})
		m.rounds(t, h100(7), 5)
		if got := m.handles(t, 2) - asked; got > 1 {
			t.Errorf("the handle of the released GPU was asked for %d times", got)
		}
		if err := m.reader.Resume(t.Context(), h100(2)); err != nil {
			t.Fatal(err)
		}
		m.wait(t, all(8, gpu.OK))
		m.waitChanges(t, h100(2), "unknown>ok ok>released released>ok")
	})
}

func TestAReleasedGPUStaysSoOverARestart(t *testing.T) {
	inChild(t, fakenvml.H100x8().DeviceCount(4), func(t *testing.T, m *machine) {
		options := quick()
		options.Known = before(gpu.OK, gpu.Released, gpu.OK, gpu.OK)
		m.start(t, options)
		s := m.wait(t, one(h100(1), gpu.Released))
		m.rounds(t, h100(0), 3)
		if got := m.handles(t, 1); got != 0 {
			t.Errorf("the handle of the released GPU was asked for %d times", got)
		}
		if g := find(t, s, h100(1)); !g.Status.Since.Equal(options.Known.GPUs[1].Status.Since) {
			t.Errorf("released since %s", g.Status.Since)
		}
		if err := m.reader.Resume(t.Context(), h100(1)); err != nil {
			t.Fatal(err)
		}
		m.wait(t, all(4, gpu.OK))
	})
}

func TestAReleasedGPUThatIsGoneTakesNoOtherOnesPlaceAfterARestart(t *testing.T) {
	inChild(t, fakenvml.H100x8().Order(0, 2, 3), func(t *testing.T, m *machine) {
		options := quick()
		options.Known = before(gpu.OK, gpu.Released, gpu.OK, gpu.OK)
		// As it was told after the card had left: the others have moved up.
		options.Known.Driver.Listed = 3
		options.Known.GPUs[2].Identity.Index, options.Known.GPUs[3].Identity.Index = 1, 2
		m.start(t, options)
		m.wait(t, one(h100(1), gpu.Released))
		m.rounds(t, h100(2), 2)
	})
}

func TestAReleaseThatACallHoldsUpIsRefusedAndDoneLater(t *testing.T) {
	for name, hanging := range map[string]int{"its own call": 3, "the call of another GPU": 5} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
				m.start(t, quick())
				m.wait(t, all(8, gpu.OK))
				m.change(t, func(s *fakenvml.Scenario) { s.GPU(hanging).Delay("nvmlDeviceGetPowerUsage", fakenvml.Forever) })
				m.waitForHang(t, hanging)
				err := m.reader.Release(t.Context(), h100(3))
				if !errors.Is(err, gpu.ErrRefused) || !strings.Contains(err.Error(), "GPU "+fmt.Sprint(hanging)+" in nvmlDeviceGetPowerUsage") {
					t.Errorf("error is %v", err)
				}
				m.wait(t, one(h100(3), gpu.Released))
				m.rounds(t, h100(0), 3) // the others are read as before
				if calls := m.calls(t); strings.Contains(calls, "nvmlShutdown") {
					t.Errorf("shut down under a call:\n%s", calls)
				}
				m.change(t, func(s *fakenvml.Scenario) { s.GPU(hanging).Unset("nvmlDeviceGetPowerUsage.delay_ms") })
				m.wait(t, func(*gpu.Snapshot) error { return m.lives(t, 2) })
				m.wait(t, one(h100(3), gpu.Released))
				if calls := m.calls(t); strings.Count(calls, "nvmlShutdown inside=0") != 1 {
					t.Errorf("the library's life was\n%s", calls)
				}
			})
		})
	}
}

func TestAGPUIsReleasedWhileTheDriverIsDown(t *testing.T) {
	inChild(t, fakenvml.H100x8().DeviceCount(2), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, all(2, gpu.OK))
		m.change(t, func(s *fakenvml.Scenario) { s.Return("driver", fakenvml.DriverNotLoaded) })
		m.wait(t, all(2, gpu.DriverDown))
		if err := m.reader.Release(t.Context(), h100(1)); err != nil {
			t.Fatal(err)
		}
		m.wait(t, func(s *gpu.Snapshot) error {
			if got := find(t, s, h100(1)).Status.State; got != gpu.Released {
				return fmt.Errorf("it is %s", got)
			}
			return nil
		})
		m.change(t, func(s *fakenvml.Scenario) { s.Unset("driver.return").Set("driver.generation", 2) })
		m.wait(t, one(h100(1), gpu.Released))
	})
}

func TestACardThatWasSentBackCanBeRetired(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, all(8, gpu.OK))
		if err := m.reader.Retire(t.Context(), h100(7)); !errors.Is(err, gpu.ErrRefused) {
			t.Errorf("retiring a card that is there: %v", err)
		}
		m.change(t, func(s *fakenvml.Scenario) { s.DeviceCount(7) })
		m.wait(t, one(h100(7), gpu.Lost))
		if err := m.reader.Retire(t.Context(), h100(7)); err != nil {
			t.Fatal(err)
		}
		m.wait(t, all(7, gpu.OK))
		for name, act := range map[string]func(context.Context, string) error{
			"release": m.reader.Release, "resume": m.reader.Resume, "retire": m.reader.Retire,
		} {
			if err := act(t.Context(), h100(7)); !errors.Is(err, gpu.ErrNotFound) {
				t.Errorf("%s of a GPU that is gone: %v", name, err)
			}
		}
		m.change(t, func(s *fakenvml.Scenario) { s.DeviceCount(8) }) // back from the workshop
		m.wait(t, all(8, gpu.OK))
	})
}

func TestStopDoesNotWaitForARelease(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, all(8, gpu.OK))
		m.change(t, func(s *fakenvml.Scenario) { s.Return("nvmlInit_v2", fakenvml.DriverNotLoaded) })
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if err := m.reader.Release(ctx, h100(0)); err != nil { // and then the driver does not come back
			t.Error(err)
		}
		m.wait(t, func(s *gpu.Snapshot) error {
			if got := find(t, s, h100(1)).Status.State; got != gpu.DriverDown {
				return fmt.Errorf("GPU 1 is %s", got)
			}
			return nil
		})
	})
}
