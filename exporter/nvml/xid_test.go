//go:build linux && cgo

package nvml

import (
	"fmt"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// counted wants so many XIDs of a code on a GPU.
func counted(index int, code, want uint64) func(s *gpu.Snapshot) error {
	return func(s *gpu.Snapshot) error {
		if len(s.GPUs) <= index {
			return fmt.Errorf("%d GPUs", len(s.GPUs))
		}
		if got := s.GPUs[index].Readings.XIDs[code].Count; got != want {
			return fmt.Errorf("XID %d was seen %d times on GPU %d, want %d", code, got, index, want)
		}
		return nil
	}
}

// xids returns the codes that were told, in order.
func (m *machine) xids() []uint64 {
	var codes []uint64
	for _, e := range m.told() {
		if code, ok := e.XID.Get(); ok {
			codes = append(codes, code)
		}
	}
	return codes
}

// waitTold waits until these codes were told, no other ones, in this order. A snapshot with
// an XID may be there before the XID is told.
func (m *machine) waitTold(t *testing.T, want string) {
	t.Helper()
	m.wait(t, func(*gpu.Snapshot) error {
		if got := fmt.Sprint(m.xids()); got != want {
			return fmt.Errorf("told %s, want %s", got, want)
		}
		return nil
	})
}

func TestAnXIDThatDriverAndKernelTellIsOne(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, all(8, gpu.OK))
		line := func(code uint64) gpu.XIDReport { // GPU 3
			return gpu.XIDReport{Witness: gpu.WitnessKernel, PCIAddress: "PCI:0000:61:00", Code: code, At: time.Now()}
		}
		m.reader.ReportXID(line(48))
		m.wait(t, counted(3, 48, 1))
		m.change(t, func(s *fakenvml.Scenario) { s.Event(3, 48).Event(3, 79) })
		m.wait(t, counted(3, 79, 1)) // told after the other one
		m.reader.ReportXID(line(79))
		m.reader.ReportXID(line(63)) // the driver's events may be lossy
		s := m.wait(t, counted(3, 63, 1))
		for _, code := range []uint64{48, 79} {
			if err := counted(3, code, 1)(s); err != nil {
				t.Error(err)
			}
		}
		m.waitTold(t, "[48 79 63]")
		for _, e := range m.told() {
			if _, ok := e.XID.Get(); ok && (e.XIDCount != 1 || e.GPU.UUID != h100(3)) {
				t.Errorf("told %+v", e)
			}
		}
	})
}

func TestAnXIDOfTheKernelLogWaitsUntilItsCardSaysItsAddress(t *testing.T) {
	inChild(t, fakenvml.H100x8().Return("nvmlInit_v2", fakenvml.DriverNotLoaded), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, driver(gpu.DriverNotLoaded, "driver not loaded"))
		boot := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
		m.reader.ReportXID(gpu.XIDReport{Witness: gpu.WitnessKernel, PCIAddress: "0000:9d:00", Code: 79, At: boot})
		m.reader.ReportXID(gpu.XIDReport{Witness: gpu.WitnessKernel, PCIAddress: "0000:9d:00", Code: 4711, At: time.Now()})
		m.reader.ReportXID(gpu.XIDReport{Witness: gpu.WitnessKernel, PCIAddress: "no address", Code: 1, At: boot})
		for range 2 * maxStrangers { // of a card that will never be there: they must not pile up
			m.reader.ReportXID(gpu.XIDReport{Witness: gpu.WitnessKernel, PCIAddress: "0000:ff:00", Code: 13, At: boot})
		}
		m.reader.ReportXID(gpu.XIDReport{Witness: gpu.WitnessKernel, PCIAddress: "0000:9d:00", Code: 48, At: boot})
		m.change(t, func(s *fakenvml.Scenario) { s.Unset("nvmlInit_v2.return") })
		s := m.wait(t, counted(4, 48, 1))
		if last := s.GPUs[4].Readings.XIDs[48].Last; !last.Equal(boot) {
			t.Errorf("XID 48 was last seen at %s, want the kernel's time %s", last, boot)
		}
		for _, e := range m.told() {
			if code, ok := e.XID.Get(); ok && !e.Unlisted {
				t.Errorf("told XID %d although all that is left happened before the start", code)
			}
		}
		m.reader.mu.Lock()
		defer m.reader.mu.Unlock()
		if got := len(m.reader.strangers); got != maxStrangers-1 {
			t.Errorf("%d reports of strangers are kept", got)
		}
	})
}

// A card that fell off before the exporter started is listed no more: only the log has seen it.
func TestAnXIDOfACardThatTheDriverDoesNotListIsToldOfItsAddress(t *testing.T) {
	inChild(t, fakenvml.H100x8().Order(0, 1, 2, 4), func(t *testing.T, m *machine) {
		options := quick()
		options.Now = hurried(40)
		m.start(t, options)
		boot := options.Now().Add(-time.Hour).Truncate(time.Millisecond)
		report := func(address string, code uint64) {
			m.reader.ReportXID(gpu.XIDReport{Witness: gpu.WitnessKernel, PCIAddress: address, Code: code, At: boot})
		}
		report("0000:61:00", 79) // GPU 3
		report("0000:1b:00", 63) // GPU 0, which has not said its address yet, or has
		m.wait(t, all(4, gpu.OK))
		lost := gpu.StrangerXID{PCIAddress: "0000:61:00.0", Code: 79}
		s := m.wait(t, func(s *gpu.Snapshot) error {
			if s.Strangers[lost].Count != 1 {
				return fmt.Errorf("strangers are %v", s.Strangers)
			}
			return counted(0, 63, 1)(s)
		})
		if len(s.Strangers) != 1 || !s.Strangers[lost].Last.Equal(boot) {
			t.Errorf("strangers are %v", s.Strangers)
		}
		m.waitTold(t, "[79]")
		for _, e := range m.told() {
			if _, ok := e.XID.Get(); ok && (!e.Unlisted || e.GPU != (gpu.Identity{PCIAddress: lost.PCIAddress}) || !e.Since.Equal(boot) || e.XIDCount != 1) {
				t.Errorf("told %+v", e)
			}
		}
		report("0000:61:00", 79)
		m.waitTold(t, "[79 79]")
		// A reset brought it back: what was counted of its address is the card's.
		m.change(t, func(s *fakenvml.Scenario) { s.DeviceCount(8) })
		m.wait(t, func(s *gpu.Snapshot) error {
			if len(s.Strangers) != 0 {
				return fmt.Errorf("strangers are %v", s.Strangers)
			}
			return counted(3, 79, 2)(s) // by index: the list is whole again
		})
	})
}

// After a new start some drivers tell again what they told before.
func TestAnXIDToldAgainAfterANewStartOfTheDriverIsNotCountedAgain(t *testing.T) {
	inChild(t, fakenvml.H100x8().DeviceCount(2).Set("events_replay", 1), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, all(2, gpu.OK))
		m.change(t, func(s *fakenvml.Scenario) { s.Event(1, 79).Event(1, 79) })
		m.wait(t, counted(1, 79, 2))
		m.change(t, func(s *fakenvml.Scenario) { s.Set("driver.generation", 2) })
		m.wait(t, func(*gpu.Snapshot) error { return m.lives(t, 2) })
		m.wait(t, all(2, gpu.OK))
		// What is new shows that the old ones have been told by now.
		m.change(t, func(s *fakenvml.Scenario) { s.Event(1, 48) })
		if err := counted(1, 79, 2)(m.wait(t, counted(1, 48, 1))); err != nil {
			t.Error(err)
		}
		m.waitTold(t, "[79 79 48]")
	})
}

func TestACodeThatNobodyKnowsIsCountedAsANumber(t *testing.T) {
	inChild(t, fakenvml.H100x8().DeviceCount(2), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, all(2, gpu.OK))
		m.change(t, func(s *fakenvml.Scenario) { s.Event(0, 4711) })
		s := m.wait(t, counted(0, 4711, 1))
		if s.GPUs[0].Status.State != gpu.OK {
			t.Errorf("a code alone made the GPU %s", s.GPUs[0].Status.State)
		}
		m.waitTold(t, "[4711]")
	})
}

func TestAnXIDIsToldOfAHandleThatCannotBeAskedWhoItIsAnyMore(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, all(8, gpu.OK))
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(6).Lost() })
		m.wait(t, one(h100(6), gpu.Lost))
		m.change(t, func(s *fakenvml.Scenario) { s.Event(6, 79) })
		m.wait(t, counted(6, 79, 1))
		for _, e := range m.told() {
			if _, ok := e.XID.Get(); ok && e.GPU.UUID != h100(6) {
				t.Errorf("told of %+v", e.GPU)
			}
		}
	})
}
