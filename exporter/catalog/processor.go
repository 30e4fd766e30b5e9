package catalog

import (
	"cmp"
	"slices"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// processorFamilies tell of the processors and of what waits for them.
func processorFamilies() []Family {
	return []Family{
		{
			Name: "host_cpu_seconds_total", Kind: Counter, Unit: "seconds", Labels: []string{"mode"},
			Help:   "Time of all processors together, by mode: user, nice, system, idle, iowait, irq, softirq, steal. Their rates sum to host_cpu_logical.",
			Source: "/proc/stat",
			Host:   hostEach(func(h *gpu.Host) map[string]float64 { return h.CPU.SecondsByMode }),
		},
		{
			Name: "host_cpu_logical", Kind: Gauge,
			Help:   "Processors that are online, as the scheduler counts them.",
			Source: "/proc/stat",
			Host:   hostNumber(func(h *gpu.Host) gpu.Maybe[float64] { return h.CPU.Logical }),
		},
		{
			Name: "host_cpu_cores", Kind: Gauge,
			Help:   "Processor cores.",
			Source: "/proc/cpuinfo", Hardware: "where the kernel tells the topology (x86)",
			Host: hostNumber(func(h *gpu.Host) gpu.Maybe[float64] { return h.CPU.Cores }),
		},
		{
			Name: "host_cpu_sockets", Kind: Gauge,
			Help:   "Processor packages.",
			Source: "/proc/cpuinfo", Hardware: "where the kernel tells the topology (x86)",
			Host: hostNumber(func(h *gpu.Host) gpu.Maybe[float64] { return h.CPU.Sockets }),
		},
		{
			Name: "host_cpu_info", Kind: Info, Labels: []string{"model"},
			Help:   "Model of the processors.",
			Source: "/proc/cpuinfo",
			Host: ofHost(func(h *gpu.Host, emit Emit) {
				if h.CPU.Model != "" {
					emit(1, h.CPU.Model)
				}
			}),
		},
		{
			Name: "host_context_switches_total", Kind: Counter,
			Help:   "Context switches since boot.",
			Source: "/proc/stat",
			Host:   hostNumber(func(h *gpu.Host) gpu.Maybe[float64] { return h.CPU.ContextSwitches }),
		},
		{
			Name: "host_forks_total", Kind: Counter,
			Help:   "Processes and threads made since boot.",
			Source: "/proc/stat",
			Host:   hostNumber(func(h *gpu.Host) gpu.Maybe[float64] { return h.CPU.Forks }),
		},
		{
			Name: "host_tasks_running", Kind: Gauge,
			Help:   "Tasks that run or could run now.",
			Source: "/proc/stat",
			Host:   hostNumber(func(h *gpu.Host) gpu.Maybe[float64] { return h.CPU.Running }),
		},
		{
			Name: "host_tasks_blocked", Kind: Gauge,
			Help:   "Tasks that wait for a disk or a network filesystem now.",
			Source: "/proc/stat",
			Host:   hostNumber(func(h *gpu.Host) gpu.Maybe[float64] { return h.CPU.Blocked }),
		},
		{
			Name: "host_load_average", Kind: Gauge, Labels: []string{"window"},
			Help:   "Tasks that run, could run or wait for I/O, averaged by the kernel over 1m, 5m and 15m.",
			Source: "/proc/loadavg",
			Host:   hostEach(func(h *gpu.Host) map[string]float64 { return h.Load }),
		},
		{
			Name: "host_pressure_seconds_total", Kind: Counter, Unit: "seconds", Labels: []string{"resource", "share"},
			Help:   "Time in which tasks stood still for want of a resource (cpu, memory, io, irq): some of them, or all at once (full).",
			Source: "/proc/pressure", Hardware: "kernels with pressure stall information (4.20 and later; some need psi=1 at boot)",
			Host: ofHost(func(h *gpu.Host, emit Emit) {
				for _, key := range sortedPressure(h.Pressure) {
					emit(h.Pressure[key], key.Resource, key.Share)
				}
			}),
		},
	}
}

func sortedPressure(m map[gpu.PressureKey]float64) []gpu.PressureKey {
	keys := make([]gpu.PressureKey, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b gpu.PressureKey) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Share, b.Share))
	})
	return keys
}

// hostMemoryFamilies tell of memory and swap.
func hostMemoryFamilies() []Family {
	families := []Family{
		{
			Name: "host_huge_pages", Kind: Gauge, Labels: []string{"kind"},
			Help:   "Huge pages of the default size: total, free, reserved, surplus.",
			Source: "/proc/meminfo",
			Host:   hostEach(func(h *gpu.Host) map[string]float64 { return h.Memory.HugePages }),
		},
		{
			Name: "host_huge_page_size_bytes", Kind: Gauge, Unit: "bytes",
			Help:   "Default size of a huge page.",
			Source: "/proc/meminfo",
			Host:   hostNumber(func(h *gpu.Host) gpu.Maybe[float64] { return h.Memory.HugePage }),
		},
		{
			Name: "host_swap_read_bytes_total", Kind: Counter, Unit: "bytes",
			Help:   "Memory brought back from swap since boot.",
			Source: "/proc/vmstat",
			Host:   hostNumber(func(h *gpu.Host) gpu.Maybe[float64] { return h.Memory.SwapIn }),
		},
		{
			Name: "host_swap_written_bytes_total", Kind: Counter, Unit: "bytes",
			Help:   "Memory put out to swap since boot.",
			Source: "/proc/vmstat",
			Host:   hostNumber(func(h *gpu.Host) gpu.Maybe[float64] { return h.Memory.SwapOut }),
		},
		{
			Name: "host_major_faults_total", Kind: Counter,
			Help:   "Page faults that had to read from a disk, since boot.",
			Source: "/proc/vmstat",
			Host:   hostNumber(func(h *gpu.Host) gpu.Maybe[float64] { return h.Memory.MajorFaults }),
		},
		{
			Name: "host_oom_kills_total", Kind: Counter,
			Help:   "Processes that the kernel ended for want of memory, since boot.",
			Source: "/proc/vmstat",
			Host:   hostNumber(func(h *gpu.Host) gpu.Maybe[float64] { return h.Memory.OOMKills }),
		},
	}
	for _, kind := range []struct{ key, help string }{
		{"memory_total", "Memory of the machine."},
		{"memory_available", "Memory that new work can have without swapping, as the kernel estimates it."},
		{"memory_free", "Memory that nothing uses."},
		{"memory_cached", "Memory that holds files' contents."},
		{"memory_buffers", "Memory that holds block devices' contents."},
		{"memory_shared", "Memory of tmpfs and shared segments: where data loaders pass their batches."},
		{"memory_anonymous", "Memory of processes that no file backs."},
		{"memory_unevictable", "Memory that cannot be taken back, pinned buffers for the GPUs among it."},
		{"memory_slab_unreclaimable", "Memory of the kernel's own structures that cannot be taken back."},
		{"memory_dirty", "Memory that waits to be written to a disk."},
		{"memory_writeback", "Memory that is being written to a disk."},
		{"memory_corrupted", "Memory taken out of use because its hardware failed."},
		{"swap_total", "Swap space."},
		{"swap_free", "Swap space that nothing uses."},
	} {
		families = append(families, Family{
			Name: "host_" + kind.key + "_bytes", Kind: Gauge, Unit: "bytes", Help: kind.help, Source: "/proc/meminfo",
			Host: ofHost(func(h *gpu.Host, emit Emit) {
				if v, ok := h.Memory.Bytes[kind.key]; ok {
					emit(v)
				}
			}),
		})
	}
	return families
}
