//go:build linux && cgo

package nvml

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// waitMade waits until a call was made so often.
func (m *machine) waitMade(t *testing.T, call string, times int) {
	t.Helper()
	m.wait(t, func(*gpu.Snapshot) error {
		if n := m.made(t, call); n < times {
			return fmt.Errorf("%s was made %d times, want %d", call, n, times)
		}
		return nil
	})
}

// The tiers are counted on the driver's side: what moves in every round, errors in every tenth,
// the identity once.
func TestEachTierIsReadAtItsOwnPace(t *testing.T) {
	const moves, errs, stays = "nvmlDeviceGetPowerUsage", "nvmlDeviceGetRowRemapperHistogram", "nvmlDeviceGetSerial"
	inChild(t, fakenvml.H100x8().DeviceCount(2), func(t *testing.T, m *machine) {
		options := quick()
		options.Slow, options.Identity = 10*options.Fast, time.Hour
		m.start(t, options)
		m.wait(t, all(2, gpu.OK))
		m.waitMade(t, errs, 2*4)
		m.waitMade(t, moves, 2*30)
		many, some, few := m.made(t, moves), m.made(t, errs), m.made(t, stays)
		if few != 2 {
			t.Errorf("%s was made %d times for two cards", stays, few)
		}
		if some <= few || many <= 3*some { // rounds that a busy machine drops make the slow tier seem faster
			t.Errorf("%s was made %d times, %s %d, %s %d: want many, some, few", moves, many, errs, some, stays, few)
		}
	})
}

func TestAFlashedVBIOSAppearsWithTheNextIdentity(t *testing.T) {
	inChild(t, fakenvml.H100x8().DeviceCount(2), func(t *testing.T, m *machine) {
		options := quick()
		options.Identity = 200 * time.Millisecond
		m.start(t, options)
		m.wait(t, all(2, gpu.OK))
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(1).Set("vbios", "96.00.A5.00.01") })
		s := m.wait(t, func(s *gpu.Snapshot) error {
			if got := s.GPUs[1].Identity.VBIOS; got != "96.00.A5.00.01" {
				return fmt.Errorf("the VBIOS is %s", got)
			}
			return nil
		})
		if got := s.GPUs[0].Identity.VBIOS; got != "96.00.89.00.01" {
			t.Errorf("the other card's VBIOS is %s", got)
		}
	})
}

// What a card does not answer is asked once with each identity, listed, and in no log.
func TestAnUnsupportedCallIsAskedOnceAndNotLogged(t *testing.T) {
	const call = "nvmlDeviceGetModuleId"
	s := fakenvml.H100x8().DeviceCount(2)
	s.GPU(0).Return(call, fakenvml.NotSupported)
	s.GPU(1).Return(call, fakenvml.NotSupported)
	for i := range 2 {
		s.GPU(i).Return("nvmlDeviceGetUtilizationRates", fakenvml.NotSupported)
	}
	inChild(t, s, func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, all(2, gpu.OK))
		m.waitMade(t, "nvmlDeviceGetPowerUsage", 2*50)
		for _, asked := range []string{call, "nvmlDeviceGetUtilizationRates"} {
			if n := m.made(t, asked); n != 2 {
				t.Errorf("%s was made %d times for two cards that do not answer it", asked, n)
			}
			if lines := m.said.of(asked); len(lines) != 0 {
				t.Errorf("it is in the log: %q", lines)
			}
			if listed := find(t, m.reader.Snapshot(), h100(1)).Unsupported; !strings.Contains(strings.Join(listed, " "), asked) {
				t.Errorf("the list lacks %s: %q", asked, listed)
			}
		}
	})
}

func TestWhatWasUnsupportedIsTriedAgainWithTheNextIdentity(t *testing.T) {
	s := fakenvml.H100x8().DeviceCount(1)
	s.GPU(0).Return("nvmlDeviceGetUtilizationRates", fakenvml.NotSupported)
	inChild(t, s, func(t *testing.T, m *machine) {
		options := quick()
		options.Identity = 200 * time.Millisecond
		m.start(t, options)
		m.wait(t, all(1, gpu.OK))
		m.waitMade(t, "nvmlDeviceGetUtilizationRates", 2)
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(0).Unset("nvmlDeviceGetUtilizationRates.return") })
		m.wait(t, func(s *gpu.Snapshot) error {
			if _, there := s.GPUs[0].Readings.UtilizationRatio.Get(); !there {
				return fmt.Errorf("there is no utilisation")
			}
			return nil
		})
	})
}

// As after a reset of the card, or a new start of the driver: what the driver counts is passed on.
func TestCountersThatGoBackAreTheLowerOnesAndNothingIsFrozen(t *testing.T) {
	s := fakenvml.H100x8().DeviceCount(1)
	s.GPU(0).Set("ecc.corrected.volatile.dram", 900).Set("nvlink_replay", 70).Set("pcie_replays", 50)
	inChild(t, s, func(t *testing.T, m *machine) {
		options := quick()
		options.Frozen = 200 * time.Millisecond
		m.start(t, options)
		dram := gpu.ECCKey{Type: "corrected", Counter: "volatile", Location: "dram"}
		seen := func(ecc, replays, pcie, most float64) func(s *gpu.Snapshot) error {
			return func(s *gpu.Snapshot) error {
				if err := all(1, gpu.OK)(s); err != nil {
					return err
				}
				r := s.GPUs[0].Readings
				energy, there := r.EnergyJoulesTotal.Get()
				replayed, _ := r.PCIeReplaysTotal.Get()
				if r.ECCErrors[dram] != ecc || r.NVLinkErrors["replay"] != replays || replayed != pcie || !there || energy > most {
					return fmt.Errorf("ECC %v, NVLink %v, PCIe %v, energy %v", r.ECCErrors[dram], r.NVLinkErrors["replay"], replayed, energy)
				}
				return nil
			}
		}
		m.wait(t, seen(900, 70, 50, 1e9))
		m.change(t, func(s *fakenvml.Scenario) {
			s.GPU(0).Set("energy_mj", 1000).Set("ecc.corrected.volatile.dram", 2).Set("nvlink_replay", 1).Set("pcie_replays", 3)
		})
		began := m.wait(t, seen(2, 1, 3, 1e6)).At
		// For as long as would make it frozen if the lower counter were taken for one that stands still.
		s := m.wait(t, func(s *gpu.Snapshot) error {
			if s.At.Sub(began) < 2*options.Frozen {
				return fmt.Errorf("not long enough")
			}
			return seen(2, 1, 3, 1e6)(s)
		})
		for _, dropped := range []string{frozenPage, frozenEnergy} {
			if n := s.GPUs[0].Dropped[dropped]; n != 0 {
				t.Errorf("%s: %d", dropped, n)
			}
		}
		if got := m.changes(h100(0)); got != "unknown>ok" {
			t.Errorf("the card's changes are %q", got)
		}
	})
}
