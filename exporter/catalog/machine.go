package catalog

import (
	"slices"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// machineFamilies tell of the machine around the GPUs: what can starve them, and what it is.
func machineFamilies() []Family {
	return slices.Concat(systemFamilies(), processorFamilies(), hostMemoryFamilies(), diskFamilies(),
		filesystemFamilies(), networkFamilies(), infiniBandFamilies(), sxidFamilies())
}

// ofHost is a getter that is asked only where the machine was looked at.
func ofHost(get func(*gpu.Host, Emit)) func(*gpu.Snapshot, Emit) {
	return func(s *gpu.Snapshot, emit Emit) {
		if s.Host != nil {
			get(s.Host, emit)
		}
	}
}

// hostNumber is one number that may be absent.
func hostNumber(get func(*gpu.Host) gpu.Maybe[float64]) func(*gpu.Snapshot, Emit) {
	return ofHost(func(h *gpu.Host, emit Emit) {
		if v, ok := get(h).Get(); ok {
			emit(v)
		}
	})
}

// hostEach gives one sample per key of a map, in the order of the keys.
func hostEach(get func(*gpu.Host) map[string]float64) func(*gpu.Snapshot, Emit) {
	return ofHost(func(h *gpu.Host, emit Emit) {
		values := get(h)
		for _, key := range sortedKeys(values) {
			emit(values[key], key)
		}
	})
}

// systemFamilies tell which machine this is, and how its own instruments do.
func systemFamilies() []Family {
	return []Family{
		{
			Name: "leasewatch_exporter_collector_up", Kind: Gauge, Labels: []string{"collector"},
			Help:   "1 where the last reading of this part of the machine came, 0 where it failed or hangs: the log says why. Absent where it is turned off or the machine has no such part.",
			Source: "the exporter's collectors",
			Host: ofHost(func(h *gpu.Host, emit Emit) {
				for _, name := range sortedKeys(h.Collectors) {
					emit(number(h.Collectors[name]), name)
				}
			}),
		},
		{
			Name: "host_kernel_info", Kind: Info, Labels: []string{"release", "version", "architecture", "os"},
			Help:   "Kernel and distribution of the machine.",
			Source: "uname, /etc/os-release",
			Host: ofHost(func(h *gpu.Host, emit Emit) {
				if k := h.Kernel; k != (gpu.Kernel{}) {
					emit(1, k.Release, k.Version, k.Architecture, k.OS)
				}
			}),
		},
		{
			Name: "host_hardware_info", Kind: Info, Labels: []string{"vendor", "product", "serial", "board", "bios"},
			Help:   "The machine as its firmware describes it; serial is empty where only root may read it.",
			Source: "/sys/class/dmi/id",
			Host: ofHost(func(h *gpu.Host, emit Emit) {
				if d := h.Hardware; d != (gpu.Hardware{}) {
					emit(1, d.Vendor, d.Product, d.Serial, d.Board, d.BIOS)
				}
			}),
		},
		{
			Name: "host_boot_timestamp_seconds", Kind: Gauge, Unit: "seconds",
			Help:   "When the machine was started, in seconds since 1970.",
			Source: "/proc/stat",
			Host: ofHost(func(h *gpu.Host, emit Emit) {
				if at, ok := h.BootedAt.Get(); ok {
					emit(seconds(at))
				}
			}),
		},
		{
			Name: "host_clock_synchronized", Kind: Gauge,
			Help:   "1 where the kernel's clock is kept in step by a time service. Times of a host whose clock is free are weak evidence.",
			Source: "adjtimex",
			Host: ofHost(func(h *gpu.Host, emit Emit) {
				if v, ok := h.Clock.Synchronized.Get(); ok {
					emit(number(v))
				}
			}),
		},
		{
			Name: "host_clock_offset_seconds", Kind: Gauge, Unit: "seconds",
			Help:   "What the kernel still has to correct of its clock, as its time service told it.",
			Source: "adjtimex",
			Host:   hostNumber(func(h *gpu.Host) gpu.Maybe[float64] { return h.Clock.OffsetSeconds }),
		},
		{
			Name: "host_clock_max_error_seconds", Kind: Gauge, Unit: "seconds",
			Help:   "The most by which the clock may be wrong, by the kernel's own estimate; it grows while no time service speaks.",
			Source: "adjtimex",
			Host:   hostNumber(func(h *gpu.Host) gpu.Maybe[float64] { return h.Clock.MaxErrorSeconds }),
		},
		{
			Name: "host_open_files", Kind: Gauge,
			Help:   "Files that are open on the whole machine.",
			Source: "/proc/sys/fs/file-nr",
			Host:   hostNumber(func(h *gpu.Host) gpu.Maybe[float64] { return h.Files }),
		},
		{
			Name: "host_open_files_limit", Kind: Gauge,
			Help:   "The most files that may be open on the whole machine.",
			Source: "/proc/sys/fs/file-nr",
			Host:   hostNumber(func(h *gpu.Host) gpu.Maybe[float64] { return h.FileLimit }),
		},
		{
			Name: "host_pci_gpu_info", Kind: Info, Labels: []string{"pci_address", "device_id", "driver", "numa_node"},
			Help:   "A GPU that the PCI bus lists, whether the driver does or not: driver is the kernel driver that holds it (nvidia, vfio-pci for a passthrough), empty for none.",
			Source: "/sys/bus/pci/devices",
			Host: ofHost(func(h *gpu.Host, emit Emit) {
				for _, g := range h.PCIGPUs {
					emit(1, g.PCIAddress, g.DeviceID, g.Driver, g.NUMANode)
				}
			}),
		},
	}
}
