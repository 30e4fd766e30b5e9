//go:build linux && cgo

package nvml

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
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
			c := newCaller(time.Now, &timing{set: metrics.NewSet()}, time.Minute)
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
