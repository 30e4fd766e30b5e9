//go:build linux && cgo

package nvml

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// gpmBusy wants so many GPUs, each with figures of the performance counters.
func gpmBusy(n int) func(s *gpu.Snapshot) error {
	return func(s *gpu.Snapshot) error {
		if len(s.GPUs) != n {
			return fmt.Errorf("%d GPUs, want %d", len(s.GPUs), n)
		}
		return gpmOfAll(s)
	}
}

func gpmOfAll(s *gpu.Snapshot) error {
	for _, g := range s.GPUs {
		if _, there := g.Readings.GPM.SMActive.Get(); !there {
			return fmt.Errorf("GPU %d tells nothing of its SMs", g.Identity.Index)
		}
	}
	return nil
}

// noMisuse wants a log without calls that overlapped and without samples that do not belong together.
func (m *machine) noMisuse(t *testing.T) {
	t.Helper()
	for _, line := range strings.Split(m.calls(t), "\n") {
		if strings.HasPrefix(line, "gpm overlap") || strings.HasPrefix(line, "gpm misuse") {
			t.Errorf("the driver noted: %s", line)
		}
	}
}

func TestHopperTellsActivityAndTrafficInBaseUnits(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		s := m.wait(t, gpmBusy(8))
		for i, g := range s.GPUs {
			n := float64(i)
			want := gpu.GPM{
				GraphicsActive: some((95 + n/2) * 0.01), SMActive: some((80.5 + n) * 0.01), SMOccupancy: some((40 + n) * 0.01), DRAMActive: some((55.25 + n) * 0.01),
				TensorActive: some((42.5 + n) * 0.01), TensorHMMA: some((42 + n) * 0.01), TensorIMMA: some(0.5 * 0.01), TensorDMMA: some(0), TensorDFMA: some(0),
				Integer: some(12.5 * 0.01), FP64: some(0), FP32: some(6.25 * 0.01), FP16: some(1.5 * 0.01),
				PCIeSent: some((512 + n) * mib), PCIeReceived: some((1024 + n) * mib),
				NVLinkSent: some((102400 + n) * mib), NVLinkReceived: some((204800 + n) * mib),
				Engines: idleEngines(),
			}
			if got := g.Readings.GPM; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("GPU %d:\n %v, want\n %v", i, got, want)
			}
			for _, call := range []string{"nvmlGpmMetricsGet(100)", "nvmlGpmMetricsGet(166)", "nvmlGpmMetricsGet(37)"} {
				if !slices.Contains(g.Unsupported, call) {
					t.Errorf("GPU %d: %s is not listed as unsupported", i, call)
				}
			}
		}
		m.noMisuse(t)
	})
}

// idleEngines are those of an H100, without work.
func idleEngines() map[gpu.Engine]float64 {
	engines := map[gpu.Engine]float64{{Kind: "ofa"}: 0}
	for unit := range 7 {
		engines[gpu.Engine{Kind: "decoder", Unit: unit}] = 0
		engines[gpu.Engine{Kind: "jpeg", Unit: unit}] = 0
	}
	return engines
}

func TestTheFirstIntervalHasNoActivity(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		options := quick()
		options.Fast, options.Slow = time.Hour, time.Hour // one round, and no second one
		m.start(t, options)
		s := m.wait(t, all(8, gpu.OK))
		for _, g := range s.GPUs {
			if fmt.Sprint(g.Readings.GPM) != fmt.Sprint(gpu.GPM{}) {
				t.Errorf("GPU %d tells of an interval that has not ended: %v", g.Identity.Index, g.Readings.GPM)
			}
			if _, there := g.Readings.PowerWatts.Get(); !there {
				t.Errorf("GPU %d has no other readings", g.Identity.Index)
			}
		}
	})
}

func TestACardWithoutCountersIsAskedOnce(t *testing.T) {
	s := fakenvml.H100x8().DeviceCount(2)
	s.GPU(0).Set("gpm_supported", 0)
	s.GPU(1).Return("nvmlGpmQueryDeviceSupport", fakenvml.NotSupported)
	inChild(t, s, func(t *testing.T, m *machine) {
		m.start(t, quick())
		s := m.wait(t, all(2, gpu.OK))
		for i, g := range s.GPUs {
			if fmt.Sprint(g.Readings.GPM) != fmt.Sprint(gpu.GPM{}) || !slices.Contains(g.Unsupported, "nvmlGpmQueryDeviceSupport") {
				t.Errorf("GPU %d: %v, unsupported %v", i, g.Readings.GPM, g.Unsupported)
			}
		}
		m.noMisuse(t)
	})
}

func TestSwitchedOffNoCallOfTheCountersIsMade(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		options := quick()
		options.NoGPM = true
		m.start(t, options)
		m.wait(t, rounds(3))
		m.change(t, func(s *fakenvml.Scenario) { s.Set("driver.generation", 2) })
		m.wait(t, startedAgain)
		if log := m.calls(t); strings.Contains(log, "gpm") || !strings.Contains(log, "nvmlShutdown") {
			t.Errorf("the log is\n%s", log)
		}
	})
}

// rounds wants so many rounds of every GPU since it was first called.
func rounds(n int) func(s *gpu.Snapshot) error {
	seen := map[string]int{}
	last := map[string]time.Time{}
	return func(s *gpu.Snapshot) error {
		if len(s.GPUs) == 0 {
			return errors.New("no GPU yet")
		}
		for _, g := range s.GPUs {
			if at := g.Readings.At; at.After(last[g.Identity.UUID]) {
				last[g.Identity.UUID] = at
				seen[g.Identity.UUID]++
			}
			if seen[g.Identity.UUID] <= n {
				return fmt.Errorf("GPU %d has had %d rounds", g.Identity.Index, seen[g.Identity.UUID])
			}
		}
		return nil
	}
}

// startedAgain wants GPUs that are back after the driver went.
func startedAgain(s *gpu.Snapshot) error {
	for _, g := range s.GPUs {
		if g.Status.Seconds[gpu.DriverDown] == 0 || g.Status.State != gpu.OK {
			return fmt.Errorf("GPU %d is %s", g.Identity.Index, g.Status.State)
		}
	}
	return nil
}

func TestImpossibleActivityIsDroppedAndCounted(t *testing.T) {
	s := fakenvml.H100x8().DeviceCount(1)
	s.GPU(0).GPM(1, 100.6).GPM(2, math.NaN()).GPM(3, math.Inf(1)).GPM(5, -0.5).GPM(10, 1e9).GPM(20, 1e12).
		Set("gpm.12.return", fakenvml.UnknownError).Set("gpm.21.return", fakenvml.NotSupported)
	inChild(t, s, func(t *testing.T, m *machine) {
		m.start(t, quick())
		g := m.wait(t, func(s *gpu.Snapshot) error {
			if len(s.GPUs) == 0 || s.GPUs[0].Readings.GPM.TensorHMMA == (gpu.Maybe[float64]{}) {
				return errors.New("nothing is read")
			}
			return nil
		}).GPUs[0]
		r := g.Readings.GPM
		if v, _ := r.GraphicsActive.Get(); v != 1 {
			t.Errorf("100.6 percent is %v, want a full 1", v)
		}
		for call, v := range map[string]gpu.Maybe[float64]{
			"nvmlGpmMetricsGet(2)": r.SMActive, "nvmlGpmMetricsGet(3)": r.SMOccupancy, "nvmlGpmMetricsGet(5)": r.TensorActive,
			"nvmlGpmMetricsGet(10)": r.DRAMActive, "nvmlGpmMetricsGet(20)": r.PCIeSent, "nvmlGpmMetricsGet(12)": r.FP32,
		} {
			if v, there := v.Get(); there || g.Dropped[call] == 0 {
				t.Errorf("%s gave %v (there: %v), dropped %d times", call, v, there, g.Dropped[call])
			}
		}
		if _, there := r.PCIeReceived.Get(); there || g.Dropped["nvmlGpmMetricsGet(21)"] != 0 || !slices.Contains(g.Unsupported, "nvmlGpmMetricsGet(21)") {
			t.Errorf("what is not supported: there %v, dropped %v, unsupported %v", there, g.Dropped, g.Unsupported)
		}
	})
}

func TestAMetricThatTheDriverDoesNotKnowDoesNotTakeTheOthersAlong(t *testing.T) {
	s := fakenvml.H100x8().DeviceCount(1)
	s.GPU(0).Set("gpm_limit", 60) // before NVLink, C2C and the encoders
	inChild(t, s, func(t *testing.T, m *machine) {
		m.start(t, quick())
		g := m.wait(t, gpmBusy(1)).GPUs[0]
		if _, there := g.Readings.GPM.PCIeSent.Get(); !there {
			t.Error("PCIe is gone with NVLink")
		}
		if _, there := g.Readings.GPM.NVLinkSent.Get(); there || !slices.Contains(g.Unsupported, "nvmlGpmMetricsGet(61)") {
			t.Errorf("NVLink: there %v, unsupported %v", there, g.Unsupported)
		}
		if slices.Contains(g.Unsupported, "nvmlGpmMetricsGet") {
			t.Error("the call as a whole is listed as unsupported")
		}
		m.noMisuse(t)
	})
}

// The calls take so long that eight workers would be in them together if nothing kept them apart.
func TestCallsOfTheCountersNeverOverlap(t *testing.T) {
	s := fakenvml.H100x8()
	for _, call := range []string{"nvmlGpmQueryDeviceSupport", "nvmlGpmSampleAlloc", "nvmlGpmSampleGet", "nvmlGpmMetricsGet"} {
		s.Delay(call, 6*time.Millisecond)
	}
	inChild(t, s, func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, gpmBusy(8))
		m.change(t, func(s *fakenvml.Scenario) { s.Set("driver.generation", 2) })
		m.wait(t, startedAgain)
		m.wait(t, gpmBusy(8))
		m.noMisuse(t)
	})
}

func TestACallOfTheCountersThatHangsCostsItsGPUAlone(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, gpmBusy(8))
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(3).Delay("nvmlGpmSampleGet", fakenvml.Forever) })
		m.waitForHang(t, 3)
		more := rounds(3)
		s := m.wait(t, func(s *gpu.Snapshot) error {
			others := *s
			others.GPUs = slices.DeleteFunc(slices.Clone(s.GPUs), func(g gpu.GPU) bool { return g.Identity.Index == 3 })
			return more(&others)
		})
		for _, g := range s.GPUs {
			if g.Identity.Index == 3 {
				continue
			}
			if _, there := g.Readings.PowerWatts.Get(); !there {
				t.Errorf("GPU %d has lost its other readings", g.Identity.Index)
			}
			if v, there := g.Readings.GPM.SMActive.Get(); there {
				t.Errorf("GPU %d still shows %v of its SMs", g.Identity.Index, v)
			}
			if g.Dropped[gpmTurn] == 0 {
				t.Errorf("GPU %d does not count the samples that it missed: %v", g.Identity.Index, g.Dropped)
			}
		}
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(3).Unset("nvmlGpmSampleGet.delay_ms") })
		m.wait(t, all(8, gpu.OK))
		m.wait(t, gpmBusy(8))
		m.noMisuse(t)
	})
}

// made tells how often a call was made.
func (m *machine) made(t *testing.T, call string) int {
	t.Helper()
	var page strings.Builder
	m.set.WritePrometheus(&page)
	_, rest, found := strings.Cut(page.String(), fmt.Sprintf("leasewatch_exporter_driver_calls_total{call=%q} ", call))
	if !found {
		return 0
	}
	number, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSampleBuffersAreMadeOnceAndGivenBack(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, gpmBusy(8))
		m.wait(t, rounds(20))
		if n := m.made(t, "nvmlGpmSampleAlloc"); n != 16 {
			t.Errorf("%d buffers were made for 8 GPUs, want 16", n)
		}
		m.change(t, func(s *fakenvml.Scenario) { s.Set("driver.generation", 2) })
		m.wait(t, startedAgain)
		if log := m.calls(t); !strings.Contains(log, "gpm samples=0\n") {
			t.Errorf("buffers are left at the end of the driver's life:\n%s", log)
		}
	})
}

func TestAResetBetweenTwoSamplesIsNoInterval(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, gpmBusy(8))
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(2).Lost() })
		m.wait(t, one(h100(2), gpu.Lost))
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(2).Heal(2) })
		m.wait(t, all(8, gpu.OK))
		m.wait(t, gpmBusy(8))
		m.noMisuse(t)
	})
}
