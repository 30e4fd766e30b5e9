//go:build linux && cgo

package nvml

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// mig is the UUID of a MIG device of fakenvml.H100MIG.
func mig(card, index int) string {
	return fmt.Sprintf("MIG-5f1e2d3c-0000-5a5b-8c9d-%06d%06d", card, index)
}

// cut wants a card with these MIG devices and no others, in this order.
func cut(card int, uuids ...string) func(s *gpu.Snapshot) error {
	return func(s *gpu.Snapshot) error {
		for _, g := range s.GPUs {
			if g.Identity.UUID != h100(card) {
				continue
			}
			var found []string
			for _, i := range g.Instances {
				found = append(found, i.UUID)
			}
			if !slices.Equal(found, uuids) {
				return fmt.Errorf("GPU %d has the MIG devices %v, want %v", card, found, uuids)
			}
			return nil
		}
		return fmt.Errorf("no GPU %d", card)
	}
}

// both wants two things at once.
func both(a, b func(s *gpu.Snapshot) error) func(s *gpu.Snapshot) error {
	return func(s *gpu.Snapshot) error {
		if err := a(s); err != nil {
			return err
		}
		return b(s)
	}
}

// busy wants a MIG device of card 0 with figures of the performance counters.
func busy(uuid string) func(s *gpu.Snapshot) error {
	return func(s *gpu.Snapshot) error {
		for _, g := range s.GPUs {
			for _, i := range g.Instances {
				if _, there := i.Readings.GPM.SMActive.Get(); i.UUID == uuid && there {
					return nil
				}
			}
		}
		return fmt.Errorf("%s tells nothing of its SMs", uuid)
	}
}

func TestMIGDevicesAreReadWithProfileAndPlacement(t *testing.T) {
	inChild(t, fakenvml.H100MIG(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		s := m.wait(t, both(all(3, gpu.OK), both(cut(0, mig(0, 0), mig(0, 1), mig(0, 2), mig(0, 4), mig(0, 5)), busy(mig(0, 5)))))
		engines := func(n float64) map[string]float64 {
			return map[string]float64{"copy": n, "decoder": n, "jpeg": n}
		}
		for n, want := range []gpu.Instance{
			{GPUInstance: 2, ComputeInstance: 0, Profile: "1c.3g.40gb", Placement: "4:4", Multiprocessors: some(20), GPUSlices: some(3), ComputeSlices: some(1), Engines: engines(3)},
			{GPUInstance: 2, ComputeInstance: 1, Profile: "2c.3g.40gb", Placement: "4:4", Multiprocessors: some(40), GPUSlices: some(3), ComputeSlices: some(2), Engines: engines(3)},
			{GPUInstance: 3, Profile: "2g.20gb", Placement: "0:2", Multiprocessors: some(32), GPUSlices: some(2), ComputeSlices: some(2), Engines: engines(2)},
			{GPUInstance: 9, Profile: "1g.10gb", Placement: "2:1", Multiprocessors: some(16), GPUSlices: some(1), ComputeSlices: some(1), Engines: engines(1)},
			{GPUInstance: 10, Profile: "1g.10gb+me", Placement: "3:1", Multiprocessors: some(16), GPUSlices: some(1), ComputeSlices: some(1), Engines: engines(1)},
		} {
			got := s.GPUs[0].Instances[n]
			want.UUID, want.Readings = got.UUID, got.Readings
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("MIG device %d is\n %+v, want\n %+v", n, got, want)
			}
		}
		got := s.GPUs[0].Instances[2].Readings
		want := gpu.InstanceReadings{
			MemoryTotalBytes: some(20096 * mib), MemoryUsedBytes: some(3072 * mib), MemoryFreeBytes: some((20096 - 64 - 3072) * mib), MemoryReservedBytes: some(64 * mib), Processes: some(0),
			GPM: gpu.GPM{
				GraphicsActive: percent(92), SMActive: percent(72), SMOccupancy: percent(32), DRAMActive: percent(52),
				TensorActive: percent(42), TensorHMMA: percent(41), TensorIMMA: percent(0.5), TensorDMMA: some(0), TensorDFMA: some(0),
				Integer: percent(10), FP64: some(0), FP32: percent(5), FP16: percent(1),
				PCIeSent: some(66 * mib), PCIeReceived: some(130 * mib),
			},
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("readings are\n %v, want\n %v", got, want)
		}
		for _, part := range s.GPUs[0].Instances[:2] {
			if fmt.Sprint(part.Readings.GPM) != fmt.Sprint(gpu.GPM{}) {
				t.Errorf("%s shows the activity of the GPU instance that it is a part of: %v", part.Profile, part.Readings.GPM)
			}
		}
		m.noMisuse(t)
	})
}

func TestWhatACardDoesNotTellWhileMIGIsOnIsAbsent(t *testing.T) {
	inChild(t, fakenvml.H100MIG(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		s := m.wait(t, all(3, gpu.OK))
		for i, g := range s.GPUs {
			_, used := g.Readings.UtilizationRatio.Get()
			_, power := g.Readings.PowerWatts.Get()
			if on := i < 2; used == on || !power || (g.Identity.MIGMode == "enabled") != on {
				t.Errorf("GPU %d, MIG %s: utilisation there %v, power there %v", i, g.Identity.MIGMode, used, power)
			}
		}
		for i, want := range []gpu.Maybe[float64]{some(5), some(0), {}} {
			if got := s.GPUs[i].Readings.MIGInstances; got != want || len(s.GPUs[i].Instances) != int(valueOf(want)) {
				t.Errorf("GPU %d has %v MIG devices, want %v: %v", i, got, want, s.GPUs[i].Instances)
			}
		}
	})
}

// percent is reckoned when the test runs, as the reader does: a constant would be rounded differently.
func percent(v float64) gpu.Maybe[float64] { return some(v * 0.01) }

func valueOf(m gpu.Maybe[float64]) float64 {
	v, _ := m.Get()
	return v
}

func TestMIGIsSwitchedOnAndOffInMidRun(t *testing.T) {
	inChild(t, fakenvml.H100MIG(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		whole := func(s *gpu.Snapshot) error {
			g := s.GPUs[0]
			if _, used := g.Readings.UtilizationRatio.Get(); !used || g.Identity.MIGMode != "disabled" || g.Readings.MIGInstances != (gpu.Maybe[float64]{}) {
				return fmt.Errorf("MIG %s, utilisation there %v, %v MIG devices", g.Identity.MIGMode, used, g.Readings.MIGInstances)
			}
			return nil
		}
		inParts := func(s *gpu.Snapshot) error {
			g := s.GPUs[0]
			if _, used := g.Readings.UtilizationRatio.Get(); used || g.Identity.MIGMode != "enabled" {
				return fmt.Errorf("MIG %s, utilisation there %v", g.Identity.MIGMode, used)
			}
			return nil
		}
		five := cut(0, mig(0, 0), mig(0, 1), mig(0, 2), mig(0, 4), mig(0, 5))
		m.wait(t, both(all(3, gpu.OK), both(five, inParts)))
		for range 2 {
			m.change(t, func(s *fakenvml.Scenario) { s.GPU(0).Set("mig_mode", 0) })
			m.wait(t, both(cut(0), whole))
			m.change(t, func(s *fakenvml.Scenario) { s.GPU(0).Set("mig_mode", 1) })
			m.wait(t, both(five, both(inParts, busy(mig(0, 4)))))
		}
		for _, g := range m.reader.Snapshot().GPUs {
			if g.Status.State != gpu.OK {
				t.Errorf("GPU %d is %s: to switch MIG is no failure", g.Identity.Index, g.Status.State)
			}
		}
		if changes := len(m.told()); changes != 3 {
			t.Errorf("%d changes of state were told, want one for each GPU that was found", changes)
		}
		m.noMisuse(t)
	})
}

func TestMIGDevicesComeAndGoInMidRun(t *testing.T) {
	inChild(t, fakenvml.H100MIG(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, cut(0, mig(0, 0), mig(0, 1), mig(0, 2), mig(0, 4), mig(0, 5)))
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(0).MIG(4).Unset("uuid") })
		m.wait(t, cut(0, mig(0, 0), mig(0, 1), mig(0, 2), mig(0, 5)))
		const fresh = "MIG-77777777-0000-5a5b-8c9d-000000000004"
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(0).MIG(4).Set("uuid", fresh) })
		m.wait(t, both(cut(0, mig(0, 0), mig(0, 1), mig(0, 2), fresh, mig(0, 5)), busy(fresh)))
		m.change(t, func(s *fakenvml.Scenario) {
			for index := range 6 {
				s.GPU(0).MIG(index).Unset("uuid")
			}
		})
		m.wait(t, cut(0))
		m.change(t, func(s *fakenvml.Scenario) { s.Set("driver.generation", 2) })
		m.wait(t, startedAgain)
		if log := m.calls(t); !strings.Contains(log, "gpm samples=0\n") {
			t.Errorf("buffers of MIG devices that are gone are left:\n%s", log)
		}
		m.noMisuse(t)
	})
}

// The driver makes a MIG device's uuid from its place: cut anew, it may be the same with another size.
func TestAMIGDeviceThatIsCutAnewUnderItsOldUUIDHasItsNewSize(t *testing.T) {
	inChild(t, fakenvml.H100MIG(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, busy(mig(0, 4)))
		m.change(t, func(s *fakenvml.Scenario) {
			s.GPU(0).MIG(4).Set("profile", "1g.20gb").Set("memory_total", 20096*mib).Set("placement_size", 2)
		})
		m.wait(t, func(s *gpu.Snapshot) error {
			i := s.GPUs[0].Instances[3]
			if i.UUID != mig(0, 4) || i.Profile != "1g.20gb" || i.Placement != "2:2" || valueOf(i.Readings.MemoryTotalBytes) != 20096*mib {
				return fmt.Errorf("it is still %+v", i)
			}
			return nil
		})
		m.wait(t, busy(mig(0, 4)))
	})
}

func TestAnUnprivilegedReaderGetsNoPlacementAndAllElse(t *testing.T) {
	s := fakenvml.H100MIG()
	s.GPU(0).Return("nvmlDeviceGetGpuInstanceById", fakenvml.NoPermission)
	inChild(t, s, func(t *testing.T, m *machine) {
		m.start(t, quick())
		s := m.wait(t, busy(mig(0, 2)))
		if i := s.GPUs[0].Instances[2]; i.Placement != "" || i.Profile != "2g.20gb" || valueOf(i.Multiprocessors) != 32 {
			t.Errorf("the MIG device is %+v", i)
		}
		if !slices.Contains(s.GPUs[0].Unsupported, "nvmlDeviceGetGpuInstanceById") {
			t.Errorf("unsupported is %v", s.GPUs[0].Unsupported)
		}
	})
}

func TestAMIGDeviceThatRefusesCostsItselfAlone(t *testing.T) {
	inChild(t, fakenvml.H100MIG(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, busy(mig(0, 2)))
		m.change(t, func(s *fakenvml.Scenario) {
			s.GPU(0).MIG(2).Return("nvmlDeviceGetMemoryInfo_v2", fakenvml.InvalidArgument).Return("nvmlDeviceGetMemoryInfo", fakenvml.InvalidArgument)
			s.GPU(0).MIG(5).Return("", fakenvml.UnknownError)
		})
		s := m.wait(t, both(cut(0, mig(0, 0), mig(0, 1), mig(0, 2), mig(0, 4)), func(s *gpu.Snapshot) error {
			if _, there := s.GPUs[0].Instances[2].Readings.MemoryUsedBytes.Get(); there {
				return fmt.Errorf("the memory of %s is still there", mig(0, 2))
			}
			return nil
		}))
		if _, there := s.GPUs[0].Instances[3].Readings.MemoryUsedBytes.Get(); !there || s.GPUs[0].Status.State != gpu.OK {
			t.Errorf("the card is %s, memory of another MIG device there: %v", s.GPUs[0].Status.State, there)
		}
		m.change(t, func(s *fakenvml.Scenario) {
			s.GPU(0).MIG(2).Unset("nvmlDeviceGetMemoryInfo_v2.return").Unset("nvmlDeviceGetMemoryInfo.return")
			s.GPU(0).MIG(5).Unset("return")
		})
		m.wait(t, both(cut(0, mig(0, 0), mig(0, 1), mig(0, 2), mig(0, 4), mig(0, 5)), func(s *gpu.Snapshot) error {
			if _, there := s.GPUs[0].Instances[2].Readings.MemoryUsedBytes.Get(); !there {
				return fmt.Errorf("the memory of %s has not come back: %v", mig(0, 2), s.GPUs[0].Unsupported)
			}
			return nil
		}))
	})
}

func TestOneUUIDIsNeverTwoThings(t *testing.T) {
	s := fakenvml.H100MIG()
	s.GPU(0).MIG(2).Set("uuid", h100(0)) // the card's own
	s.GPU(0).MIG(5).Set("uuid", mig(0, 4))
	inChild(t, s, func(t *testing.T, m *machine) {
		m.start(t, quick())
		s := m.wait(t, cut(0, mig(0, 0), mig(0, 1), mig(0, 4)))
		if s.GPUs[0].Dropped[migUUIDKey] < 2 {
			t.Errorf("dropped is %v", s.GPUs[0].Dropped)
		}
	})
}

func TestTheMIGDevicesOfALostCardStayWithoutReadings(t *testing.T) {
	inChild(t, fakenvml.H100MIG(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, both(all(3, gpu.OK), busy(mig(0, 2))))
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(0).Lost() })
		s := m.wait(t, both(one(h100(0), gpu.Lost), cut(0, mig(0, 0), mig(0, 1), mig(0, 2), mig(0, 4), mig(0, 5))))
		for _, i := range s.GPUs[0].Instances {
			if fmt.Sprint(i.Readings) != fmt.Sprint(gpu.InstanceReadings{}) || i.Profile == "" {
				t.Errorf("a MIG device of a lost card is %+v", i)
			}
		}
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(0).Heal(2) })
		m.wait(t, both(all(3, gpu.OK), busy(mig(0, 2))))
		m.noMisuse(t)
	})
}

// To cut a card anew, an operator has the exporter let go of it.
func TestACardIsReleasedCutAnewAndTakenBack(t *testing.T) {
	inChild(t, fakenvml.H100MIG(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, both(all(3, gpu.OK), busy(mig(0, 2))))
		if err := m.reader.Release(t.Context(), h100(0)); err != nil {
			t.Fatal(err)
		}
		m.wait(t, both(one(h100(0), gpu.Released), cut(0)))
		m.change(t, func(s *fakenvml.Scenario) {
			s.GPU(0).Heal(2)
			for _, index := range []int{0, 1, 4, 5} {
				s.GPU(0).MIG(index).Unset("uuid")
			}
		})
		if err := m.reader.Resume(t.Context(), h100(0)); err != nil {
			t.Fatal(err)
		}
		m.wait(t, both(all(3, gpu.OK), both(cut(0, mig(0, 2)), busy(mig(0, 2)))))
		m.noMisuse(t)
	})
}

func TestSixteenCardsInSevenPartsEach(t *testing.T) {
	inChild(t, fakenvml.H100x16MIG(), func(t *testing.T, m *machine) {
		options := quick()
		options.Fast, options.Slow = 200*time.Millisecond, time.Second
		m.start(t, options)
		m.wait(t, both(all(16, gpu.OK), func(s *gpu.Snapshot) error {
			seen := map[string]bool{}
			for _, g := range s.GPUs {
				for _, i := range g.Instances {
					if err := busy(i.UUID)(s); err != nil {
						return err
					}
					seen[i.UUID] = true
				}
			}
			if len(seen) != 112 {
				return fmt.Errorf("%d MIG devices, want 112", len(seen))
			}
			return nil
		}))
		m.noMisuse(t)
	})
}

func TestAProfileThatTheDriverDoesNotNameIsReckoned(t *testing.T) {
	for want, test := range map[string]struct {
		card             float64 // MiB
		gpuSlices, parts uint32
		memory           uint64 // MiB
	}{
		"1g.5gb":     {40536, 1, 1, 4864},
		"3g.20gb":    {40536, 3, 3, 19968},
		"7g.40gb":    {40536, 7, 7, 40192},
		"1g.10gb":    {81559, 1, 1, 9984},
		"1g.20gb":    {81559, 1, 1, 20096},
		"3g.40gb":    {81559, 3, 3, 40448},
		"1c.3g.40gb": {81559, 3, 1, 40448},
		"7g.80gb":    {81559, 7, 7, 81152},
		"1g.18gb":    {143771, 1, 1, 16384},
		"3g.71gb":    {143771, 3, 3, 71424},
		"1g.6gb":     {24258, 1, 1, 5952},
		"":           {0, 1, 1, 4864},
	} {
		got := profileOf(nvml.DeviceAttributes{GpuInstanceSliceCount: test.gpuSlices, ComputeInstanceSliceCount: test.parts, MemorySizeMB: test.memory}, test.card*mib)
		if got != want {
			t.Errorf("%d MiB of %.0f MiB in %d slices: %q, want %q", test.memory, test.card, test.gpuSlices, got, want)
		}
	}
	for name, want := range map[string]string{
		"NVIDIA H100 80GB HBM3 MIG 1g.10gb+me": "1g.10gb+me", "NVIDIA A100-SXM4-40GB MIG 1c.3g.20gb": "1c.3g.20gb", "NVIDIA H100 80GB HBM3": "", "": "",
	} {
		if got := profileIn(name); got != want {
			t.Errorf("the profile in %q is %q, want %q", name, got, want)
		}
	}
}

func FuzzProfile(f *testing.F) {
	spelled := regexp.MustCompile(`^(\d+c\.)?\d+g\.\d+gb$`)
	f.Add("NVIDIA H100 80GB HBM3 MIG 1g.10gb+me", uint32(1), uint32(1), uint64(9984), 81559.0*mib)
	f.Add(" MIG  MIG ", uint32(7), uint32(0), uint64(1<<63), -1.0)
	f.Fuzz(func(t *testing.T, name string, slices, parts uint32, memory uint64, card float64) {
		if profile := profileIn(clean(name)); strings.TrimSpace(profile) != profile || clean(profile) != profile {
			t.Errorf("the profile in %q is %q", name, profile)
		}
		profile := profileOf(nvml.DeviceAttributes{GpuInstanceSliceCount: slices, ComputeInstanceSliceCount: parts, MemorySizeMB: memory}, card)
		if profile != "" && !spelled.MatchString(profile) {
			t.Errorf("%d slices of %v bytes are %q", slices, card, profile)
		}
	})
}
