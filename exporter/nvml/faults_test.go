//go:build linux && cgo

package nvml

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

func TestALostGPUStaysWhileTheOthersGoOnAndHealsByAReset(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		before := find(t, m.wait(t, all(8, gpu.OK)), h100(3))
		m.change(t, func(s *fakenvml.Scenario) {
			// Some getters still answer, as they do in life.
			s.GPU(3).Lost().Return("nvmlDeviceGetUUID", fakenvml.Success).Return("nvmlDeviceGetTemperature", fakenvml.Success)
			s.GPU(4).Set("util_gpu", 11)
		})
		s := m.wait(t, one(h100(3), gpu.Lost))
		lost := find(t, s, h100(3))
		if lost.Identity != before.Identity {
			t.Errorf("the identity of the lost GPU became %+v", lost.Identity)
		}
		if !strings.Contains(lost.Status.Reason, "GPU is lost") || !strings.Contains(lost.Status.Reason, "nvmlDevice") {
			t.Errorf("reason is %q", lost.Status.Reason)
		}
		if _, there := lost.Readings.TemperatureCelsius.Get(); there {
			t.Error("a lost GPU still has a temperature")
		}
		m.wait(t, func(s *gpu.Snapshot) error {
			if v, _ := s.GPUs[4].Readings.UtilizationRatio.Get(); v != 0.11 {
				return fmt.Errorf("GPU 4 is at %v: the others stopped", v)
			}
			return nil
		})
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(3).Heal(2) })
		healed := find(t, m.wait(t, all(8, gpu.OK)), h100(3))
		if _, there := healed.Readings.PowerWatts.Get(); !there {
			t.Error("the healed GPU has no readings")
		}
		if healed.Status.Seconds[gpu.Lost] <= 0 {
			t.Error("no time was counted as lost")
		}
		m.waitChanges(t, h100(3), "unknown>ok ok>lost lost>ok")
		if got := strings.Count(m.calls(t), "nvmlInit"); got != 1 {
			t.Errorf("the library was started %d times in one life of the driver", got)
		}
	})
}

func TestAnXIDIsToldAtOnceAndHasItsGPUAsked(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		options := quick()
		options.Fast, options.Slow, options.Identity = time.Hour, time.Hour, time.Hour // only the event can bring the news
		m.start(t, options)
		m.wait(t, all(8, gpu.OK))
		m.change(t, func(s *fakenvml.Scenario) {
			s.GPU(5).Lost()
			s.Event(5, 79).Event(5, 79).Event(2, 13)
		})
		s := m.wait(t, func(s *gpu.Snapshot) error {
			if err := one(h100(5), gpu.Lost)(s); err != nil {
				return err
			}
			if s.GPUs[5].Readings.XIDs[79].Count != 2 || s.GPUs[2].Readings.XIDs[13].Count != 1 {
				return fmt.Errorf("XIDs are %v and %v", s.GPUs[5].Readings.XIDs, s.GPUs[2].Readings.XIDs)
			}
			return nil
		})
		if s.GPUs[5].Readings.XIDs[79].Last.IsZero() || len(s.GPUs[0].Readings.XIDs) != 0 {
			t.Errorf("XIDs are %v and %v", s.GPUs[5].Readings.XIDs, s.GPUs[0].Readings.XIDs)
		}
		m.waitTold(t, "[79 79 13]")
		for _, e := range m.told() {
			if code, ok := e.XID.Get(); ok {
				if want := map[uint64]string{79: h100(5), 13: h100(2)}[code]; e.GPU.UUID != want || e.GPU.Serial == "" {
					t.Errorf("XID %d is told of %+v", code, e.GPU)
				}
			}
		}
	})
}

func TestXIDsAreToldAfterAResetToo(t *testing.T) {
	inChild(t, fakenvml.H100x8().DeviceCount(2), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, all(2, gpu.OK))
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(1).Lost() })
		m.wait(t, one(h100(1), gpu.Lost))
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(1).Heal(2) })
		m.wait(t, all(2, gpu.OK))
		m.change(t, func(s *fakenvml.Scenario) { s.Event(1, 119) })
		m.wait(t, func(s *gpu.Snapshot) error {
			if s.GPUs[1].Readings.XIDs[119].Count != 1 {
				return fmt.Errorf("XIDs are %v", s.GPUs[1].Readings.XIDs)
			}
			return nil
		})
	})
}

// hurried is a clock that runs so much faster than life.
func hurried(times time.Duration) func() time.Time {
	start := time.Now()
	return func() time.Time { return start.Add(times * time.Since(start)) }
}

func TestACallThatHangsCostsItsGPUOnly(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		options := quick()
		options.Now = hurried(40) // a minute in one and a half seconds
		m.start(t, options)
		m.wait(t, all(8, gpu.OK))
		goroutines := runtime.NumGoroutine()
		m.change(t, func(s *fakenvml.Scenario) {
			s.GPU(6).Delay("nvmlDeviceGetPowerUsage", fakenvml.Forever)
			s.GPU(1).Set("util_gpu", 7)
		})
		s := m.wait(t, func(s *gpu.Snapshot) error {
			if s.GPUs[6].Status.State != gpu.Unresponsive {
				return fmt.Errorf("GPU 6 is %s", s.GPUs[6].Status.State)
			}
			return nil
		})
		stuck := s.GPUs[6]
		if !strings.Contains(stuck.Status.Reason, "nvmlDeviceGetPowerUsage") || stuck.Status.Call != "nvmlDeviceGetPowerUsage" {
			t.Errorf("the state does not name the call: %+v", stuck.Status)
		}
		if _, there := stuck.Readings.UtilizationRatio.Get(); there {
			t.Error("a GPU that hangs still shows its last readings")
		}
		if held := s.At.Sub(stuck.Status.Since); held < gpu.UnresponsiveAfter {
			t.Errorf("unresponsive for %v: the state does not count from the call's beginning", held)
		}
		if got := runtime.NumGoroutine(); got > goroutines {
			t.Errorf("%d goroutines became %d", goroutines, got)
		}
		// The others are still read.
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(1).Set("util_gpu", 8) })
		m.wait(t, func(s *gpu.Snapshot) error {
			if v, _ := s.GPUs[1].Readings.UtilizationRatio.Get(); v != 0.08 {
				return fmt.Errorf("GPU 1 is at %v", v)
			}
			return nil
		})
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(6).Unset("nvmlDeviceGetPowerUsage.delay_ms") })
		m.wait(t, all(8, gpu.OK))
	})
}

func TestCallsThatEachTakeLongMakeAGPUUnresponsive(t *testing.T) {
	inChild(t, fakenvml.H100x8().DeviceCount(2), func(t *testing.T, m *machine) {
		options := quick()
		options.Now = hurried(40)
		m.start(t, options)
		m.wait(t, all(2, gpu.OK))
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(0).Delay("", 1125*time.Millisecond) }) // 45 s of this clock
		m.wait(t, func(s *gpu.Snapshot) error {
			if s.GPUs[0].Status.State != gpu.Unresponsive {
				return fmt.Errorf("GPU 0 is %s", s.GPUs[0].Status.State)
			}
			return nil
		})
		if s := m.reader.Snapshot(); !strings.HasPrefix(s.GPUs[0].Status.Reason, "nvml") {
			t.Errorf("the reason does not name the call: %q", s.GPUs[0].Status.Reason)
		}
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(0).Unset("delay_ms") })
		m.wait(t, all(2, gpu.OK))
	})
}

func TestStopDoesNotWaitForACallThatHangs(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		m.start(t, quick()) // its cleanup waits for Run
		m.wait(t, all(8, gpu.OK))
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(2).Delay("", fakenvml.Forever) })
		m.waitForHang(t, 2)
	})
}

func TestInitThatNeverReturnsIsSaidAndDoesNotBlock(t *testing.T) {
	inChild(t, fakenvml.H100x8().Delay("nvmlInit_v2", fakenvml.Forever), func(t *testing.T, m *machine) {
		options := quick()
		options.Now = hurried(20)
		m.start(t, options)
		s := m.wait(t, func(s *gpu.Snapshot) error {
			if !strings.Contains(s.Driver.Reason, "nvmlInit_v2 has not returned") {
				return fmt.Errorf("driver is %+v", s.Driver)
			}
			return nil
		})
		if s.Driver.State != gpu.DriverInitFailed || s.Driver.Call != "nvmlInit_v2" || len(s.GPUs) != 0 {
			t.Errorf("driver is %+v", s.Driver)
		}
		m.change(t, func(s *fakenvml.Scenario) { s.Unset("nvmlInit_v2.delay_ms") })
		if s = m.wait(t, all(8, gpu.OK)); s.Driver.State != gpu.DriverOK || s.Driver.Reason != "" {
			t.Errorf("driver is %+v", s.Driver)
		}
	})
}

func TestADriverThatComesLaterIsTaken(t *testing.T) {
	inChild(t, fakenvml.H100x8().Return("nvmlInit_v2", fakenvml.DriverNotLoaded), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, driver(gpu.DriverNotLoaded, "driver not loaded"))
		m.change(t, func(s *fakenvml.Scenario) { s.Return("nvmlInit_v2", fakenvml.VersionMismatch) })
		m.wait(t, driver(gpu.DriverMismatch, "finish the driver upgrade"))
		m.change(t, func(s *fakenvml.Scenario) { s.Return("nvmlInit_v2", fakenvml.UnknownError) })
		m.wait(t, driver(gpu.DriverInitFailed, "unknown error"))
		m.change(t, func(s *fakenvml.Scenario) { s.Unset("nvmlInit_v2.return") })
		s := m.wait(t, all(8, gpu.OK))
		if s.Driver.State != gpu.DriverOK || s.Driver.Reason != "" {
			t.Errorf("driver is %+v", s.Driver)
		}
	})
}

func driver(state gpu.DriverState, reason string) func(s *gpu.Snapshot) error {
	return func(s *gpu.Snapshot) error {
		if s.Driver.State != state || !strings.Contains(s.Driver.Reason, reason) {
			return fmt.Errorf("driver is %+v, want %s for %q", s.Driver, state, reason)
		}
		return nil
	}
}

func TestALibraryThatIsMissingIsSaidAndTakenWhenItComes(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		later := filepath.Join(t.TempDir(), fakenvml.LibraryName)
		options := quick()
		options.LibraryPath = later
		m.start(t, options)
		s := m.wait(t, driver(gpu.DriverNoLibrary, later))
		if len(s.GPUs) != 0 {
			t.Errorf("GPUs without a library: %v", s.GPUs)
		}
		if err := os.WriteFile(later, bytes.Repeat([]byte("this is no library"), 100), 0o600); err != nil {
			t.Fatal(err)
		}
		m.wait(t, driver(gpu.DriverNoLibrary, "invalid ELF header"))
		if err := os.Remove(later); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(os.Getenv("LD_LIBRARY_PATH"), fakenvml.LibraryName), later); err != nil {
			t.Fatal(err)
		}
		m.wait(t, all(8, gpu.OK))
	})
}

func TestAReloadedDriverIsStartedAgainOnce(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, all(8, gpu.OK))
		m.change(t, func(s *fakenvml.Scenario) {
			s.Return("driver", fakenvml.DriverNotLoaded)
		})
		s := m.wait(t, all(8, gpu.DriverDown))
		if s.Driver.State != gpu.DriverNotLoaded {
			t.Errorf("driver is %+v", s.Driver)
		}
		for _, g := range s.GPUs {
			if _, there := g.Readings.PowerWatts.Get(); there || g.Identity.Serial == "" {
				t.Errorf("GPU %d: %+v", g.Identity.Index, g)
			}
		}
		m.change(t, func(s *fakenvml.Scenario) {
			s.Unset("driver.return").Set("driver.generation", 2).Set("driver.version", "580.82.07")
		})
		s = m.wait(t, all(8, gpu.OK))
		if s.Driver.Version != "580.82.07" || s.Driver.Changes != 1 {
			t.Errorf("driver is %+v", s.Driver)
		}
		calls := m.calls(t)
		for _, line := range strings.Split(strings.TrimSpace(calls), "\n") {
			if strings.HasPrefix(line, "nvmlShutdown") && line != "nvmlShutdown inside=0" {
				t.Errorf("shut down while calls were inside: %s", line)
			}
		}
		if strings.Count(calls, "nvmlInit") != 2 || strings.Count(calls, "nvmlShutdown") != 1 {
			t.Errorf("the library's life was\n%s", calls)
		}
	})
}

func TestAnUpgradeUnderTheLibraryIsAMismatch(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, all(8, gpu.OK))
		m.change(t, func(s *fakenvml.Scenario) { s.Return("driver", fakenvml.VersionMismatch) })
		m.wait(t, all(8, gpu.DriverDown))
		m.wait(t, driver(gpu.DriverMismatch, "of two versions"))
	})
}

// As in a container after its manager reloaded: every call is refused without a reason.
func TestUnknownErrorsOfEverythingSayNothingOfTheCards(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		options := quick()
		options.Now = hurried(40)
		m.start(t, options)
		m.wait(t, all(8, gpu.OK))
		m.change(t, func(s *fakenvml.Scenario) { s.Return("driver", fakenvml.UnknownError) })
		s := m.wait(t, all(8, gpu.Unknown))
		if s.Driver.State != gpu.DriverOK || !strings.Contains(s.GPUs[0].Status.Reason, "unknown error") {
			t.Errorf("driver is %+v, GPU 0 %+v", s.Driver, s.GPUs[0].Status)
		}
		m.change(t, func(s *fakenvml.Scenario) { s.Unset("driver.return") })
		m.wait(t, all(8, gpu.OK))
		if got := strings.Count(m.calls(t), "nvmlInit"); got != 1 {
			t.Errorf("the library was started %d times though the driver was not loaded anew", got)
		}
	})
}

func TestADriverIsNotShutDownUnderACallThatHangs(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, all(8, gpu.OK))
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(7).Delay("", fakenvml.Forever) })
		m.waitForHang(t, 7)
		m.change(t, func(s *fakenvml.Scenario) { s.Set("driver.generation", 2) })
		m.wait(t, all(8, gpu.DriverDown))
		if calls := m.calls(t); strings.Contains(calls, "nvmlShutdown") {
			t.Errorf("shut down under a call:\n%s", calls)
		}
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(7).Unset("delay_ms") })
		m.wait(t, all(8, gpu.OK))
		if calls := m.calls(t); strings.Count(calls, "nvmlShutdown inside=0") != 1 {
			t.Errorf("the library's life was\n%s", calls)
		}
	})
}
