//go:build linux && cgo

package nvml

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/VictoriaMetrics/metrics"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// listing answers as a card would that has these lists; every other call is out of reach.
type listing struct {
	device
	compute, graphics, mps []nvml.ProcessInfo
}

func (l listing) GetComputeRunningProcesses() ([]nvml.ProcessInfo, nvml.Return) {
	return l.compute, nvml.SUCCESS
}
func (l listing) GetGraphicsRunningProcesses() ([]nvml.ProcessInfo, nvml.Return) {
	return l.graphics, nvml.SUCCESS
}
func (l listing) GetMPSComputeRunningProcesses() ([]nvml.ProcessInfo, nvml.Return) {
	return l.mps, nvml.SUCCESS
}

func TestProcessLists(t *testing.T) {
	const gib, absent = 1 << 30, 0xFFFFFFFF
	on := func(pid uint32, memory uint64) nvml.ProcessInfo {
		return nvml.ProcessInfo{Pid: pid, UsedGpuMemory: memory, GpuInstanceId: absent, ComputeInstanceId: absent}
	}
	with := func(pid uint32, memory float64) gpu.Process {
		return gpu.Process{PID: pid, MemoryBytes: some(memory)}
	}
	for name, test := range map[string]struct {
		card    listing
		want    []gpu.Process
		dropped map[string]uint64
		none    bool
	}{
		"no process": {card: listing{}},
		"a process that computes and draws is one": {
			card: listing{compute: []nvml.ProcessInfo{on(7, gib)}, graphics: []nvml.ProcessInfo{on(7, gib), on(5, 1)}},
			want: []gpu.Process{with(5, 1), with(7, gib)},
		},
		"memory that the driver does not tell is absent": {
			card:    listing{compute: []nvml.ProcessInfo{on(7, 1<<64-1)}},
			want:    []gpu.Process{{PID: 7}},
			dropped: map[string]uint64{"nvmlDeviceGetComputeRunningProcesses(memory)": 1},
		},
		"more memory than the card has is absent": {
			card:    listing{compute: []nvml.ProcessInfo{on(7, 81*gib), on(8, 80*gib)}},
			want:    []gpu.Process{{PID: 7}, with(8, 80*gib)},
			dropped: map[string]uint64{"nvmlDeviceGetComputeRunningProcesses(memory)": 1},
		},
		"fields that changed their places": {
			card:    listing{compute: []nvml.ProcessInfo{on(7, gib), on(gib, 8)}, mps: []nvml.ProcessInfo{on(9, gib)}},
			want:    []gpu.Process{with(9, gib)},
			dropped: map[string]uint64{"nvmlDeviceGetComputeRunningProcesses": 1},
		},
		"entries of another length": {
			card:    listing{compute: []nvml.ProcessInfo{on(7, gib), {Pid: 0, UsedGpuMemory: 8}}},
			want:    []gpu.Process{},
			dropped: map[string]uint64{"nvmlDeviceGetComputeRunningProcesses": 1},
		},
		"a process on a MIG instance": {
			card: listing{compute: []nvml.ProcessInfo{{Pid: 7, UsedGpuMemory: gib, GpuInstanceId: 3, ComputeInstanceId: 0}}},
			want: []gpu.Process{{PID: 7, MemoryBytes: some(gib), GPUInstance: gpu.Some[uint32](3), ComputeInstance: gpu.Some[uint32](0)}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCaller(time.Now, newTiming(metrics.NewSet()), time.Minute)
			c.begin(&library{has: map[string]bool{processLists[0]: true, processLists[1]: true, processLists[2]: true}})
			r := gpu.Readings{MemoryTotalBytes: some(80 * gib)}
			got, ok := readProcesses(c, test.card, &r)
			if !ok || len(got) != len(test.want) || len(got) > 0 && !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v (%v), want %+v", got, ok, test.want)
			}
			if n, ok := r.Processes.Get(); !ok || n != float64(len(test.want)) {
				t.Errorf("counted %v (%v), want %d", n, ok, len(test.want))
			}
			if len(c.dropped) != len(test.dropped) || len(c.dropped) > 0 && !reflect.DeepEqual(c.dropped, test.dropped) {
				t.Errorf("dropped %v, want %v", c.dropped, test.dropped)
			}
		})
	}
}

func TestAListOfSwappedFieldsIsDroppedAndItsGPUIsWell(t *testing.T) {
	s := fakenvml.H100x8().DeviceCount(2)
	s.GPU(1).Set("process_shape", 1).Unset("mps_processes").Unset("graphics_processes")
	inChild(t, s, func(t *testing.T, m *machine) {
		m.start(t, quick())
		s := m.wait(t, func(s *gpu.Snapshot) error {
			if err := all(2, gpu.OK)(s); err != nil {
				return err
			}
			if s.GPUs[1].Dropped["nvmlDeviceGetComputeRunningProcesses"] == 0 {
				return fmt.Errorf("dropped %v", s.GPUs[1].Dropped)
			}
			return nil
		})
		if n, there := s.GPUs[1].Readings.Processes.Get(); there {
			t.Errorf("%v processes counted in a list that cannot be", n)
		}
		if n, there := s.GPUs[0].Readings.Processes.Get(); !there || n != 1 {
			t.Errorf("GPU 0 has %v processes (%v), want 1", n, there)
		}
	})
}

// These drivers write longer entries than they have room for.
func TestListsOfDriversWithLongerEntriesAreNeverAskedFor(t *testing.T) {
	s := fakenvml.H100x8().DeviceCount(1).Set("driver.version", "535.54.03").Without("nvmlDeviceGetRunningProcessDetailList")
	for _, call := range processLists {
		s.GPU(0).Return(call+"_v3", fakenvml.GPUIsLost) // so a call would show
	}
	inChild(t, s, func(t *testing.T, m *machine) {
		m.start(t, quick())
		g := m.wait(t, all(1, gpu.OK)).GPUs[0]
		if n, there := g.Readings.Processes.Get(); there {
			t.Errorf("%v processes counted", n)
		}
		for _, call := range processLists {
			if !slices.Contains(g.Unsupported, call) {
				t.Errorf("%s is not listed as unsupported in %s", call, strings.Join(g.Unsupported, " "))
			}
		}
	})
}

// clerk notes whose processes it is asked for, and says that cards whose name it knows are held.
type clerk struct {
	held string // the UUID of what somebody holds

	mu   sync.Mutex
	pids map[string][]uint32 // by UUID, of the last round
}

var (
	_ Workloads = (*clerk)(nil)
	_ Scheduler = (*clerk)(nil)
)

func (c *clerk) Attribute(uuid string, processes []gpu.Process) gpu.Occupancy {
	c.mu.Lock()
	defer c.mu.Unlock()
	pids := []uint32{}
	for _, p := range processes {
		pids = append(pids, p.PID)
	}
	c.pids[uuid] = pids
	return gpu.Occupancy{Containers: some(float64(len(pids)))}
}

func (c *clerk) Card(card *gpu.Identity) gpu.Allocation { return c.allocation(card.UUID) }

func (c *clerk) Instance(_ *gpu.Identity, i *gpu.Instance) gpu.Allocation {
	return c.allocation(i.UUID)
}

func (c *clerk) allocation(uuid string) gpu.Allocation {
	if !strings.HasPrefix(uuid, "MIG-") {
		return gpu.Allocation{} // of cards nobody says anything
	}
	return gpu.Allocation{Allocated: gpu.Some(uuid == c.held)}
}

func TestProcessesAndHoldersOfMIGDevicesStandUnderTheirUUIDs(t *testing.T) {
	s := fakenvml.H100MIG()
	s.GPU(0).Set("processes", 3).Set("process_gpu_instance", 2).Set("process_compute_instance", 0)
	inChild(t, s, func(t *testing.T, m *machine) {
		c := &clerk{pids: map[string][]uint32{}}
		options := quick()
		options.Workloads, options.Scheduler = c, c
		m.start(t, options)
		s := m.wait(t, func(s *gpu.Snapshot) error {
			if err := all(3, gpu.OK)(s); err != nil {
				return err
			}
			if n := len(s.GPUs[0].Instances); n != 5 {
				return fmt.Errorf("%d MIG devices", n)
			}
			return nil
		})
		// The processes are on the GPU instances 2, 3 and 4, and there is no 4.
		card := s.GPUs[0]
		for n, want := range []float64{1, 0, 1, 0, 0} {
			i := card.Instances[n]
			if i.Readings.Processes != some(want) || i.Readings.Occupancy.Containers != some(want) {
				t.Errorf("MIG device %d.%d: %+v, want %v", i.GPUInstance, i.ComputeInstance, i.Readings, want)
			}
		}
		if card.Readings.Processes != some(3) || card.Readings.Occupancy.Containers != some(1) {
			t.Errorf("the card has %v processes, of which %v are not on its MIG devices", card.Readings.Processes, card.Readings.Occupancy.Containers)
		}
		c.mu.Lock()
		if got := c.pids[card.Instances[2].UUID]; !slices.Equal(got, []uint32{4001}) {
			t.Errorf("processes of GPU instance 3: %v, want 4001", got)
		}
		c.mu.Unlock()
		if card.Allocation.Allocated != gpu.Some(false) || s.GPUs[2].Allocation.Allocated != (gpu.Maybe[bool]{}) {
			t.Errorf("allocated: %+v and %+v, want no and nothing", card.Allocation, s.GPUs[2].Allocation)
		}
	})
}

func TestACardOfWhichAPartIsHeldIsAllocated(t *testing.T) {
	g := gpu.GPU{Identity: gpu.Identity{UUID: "GPU-1"}, Instances: []gpu.Instance{{UUID: "MIG-1"}, {UUID: "MIG-2"}}}
	before := g.Instances
	allocate(&g, &clerk{held: "MIG-1"})
	if g.Allocation.Allocated != gpu.Some(true) || g.Instances[0].Allocation.Allocated != gpu.Some(true) || g.Instances[1].Allocation.Allocated != gpu.Some(false) {
		t.Errorf("got %+v", g)
	}
	if before[0].Allocation.Allocated != (gpu.Maybe[bool]{}) {
		t.Error("the MIG devices of the last snapshot were changed")
	}
}
