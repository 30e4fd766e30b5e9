package replay

import (
	"fmt"
	"math"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// The simulated machine: two processors, 2 TiB, a disk for data, one Ethernet and two InfiniBand
// ports. What it does follows what the cards do.
const (
	hostCores        = 96.0
	hostLogical      = 2 * hostCores
	hostMemoryBytes  = 2048.0 * 1024 * mib
	dataDiskBytes    = 14e12
	rootDiskBytes    = 960e9
	ethernetBytes    = 25e9 / 8  // 25 Gbit/s
	infiniBandBytes  = 400e9 / 8 // NDR
	busyBytes        = 9e9       // sent over InfiniBand by a machine whose cards all work
	loaderProcessors = 3.0       // of the processors that the loaders of one busy card keep
)

// collectors are the parts of the machine that are simulated, as the exporter names them.
var collectors = []string{"clock", "cpu", "disk", "filesystem", "files", "infiniband", "link", "load", "memory", "network", "pci", "pressure", "system"}

// machineAt is the machine around the cards at a time. The counters follow the energy that work
// drew, so that they never go back.
func (s *Source) machineAt(t time.Time) *gpu.Host {
	load, work := 0.0, 0.0 // the mean share in use, and the seconds of one card at full power
	for _, c := range s.cards {
		load += c.loadAt(t) / float64(len(s.cards))
		joules, _ := c.counted(t)
		work += joules / c.model.LimitWatts
	}
	elapsed := t.Sub(s.config.Start).Seconds()
	per := work / float64(len(s.cards)) // of the whole machine at full work
	h := &gpu.Host{
		Collectors: map[string]bool{}, BootedAt: gpu.Some(s.config.Start),
		Kernel:   gpu.Kernel{Release: "6.8.0-60-generic", Version: "#63-Ubuntu SMP", Architecture: "x86_64", OS: "Ubuntu 24.04.2 LTS"},
		Hardware: gpu.Hardware{Vendor: "Simulated", Product: "8-GPU server", Board: "baseboard", BIOS: "1.0"},
		Clock:    gpu.Clock{Synchronized: gpu.Some(true), OffsetSeconds: gpu.Some(2e-5), MaxErrorSeconds: gpu.Some(0.004)},
		CPU:      s.processors(work, elapsed),
		Load:     map[string]float64{},
		Pressure: map[gpu.PressureKey]float64{},
		Memory:   memoryAt(load, work),
		Files:    gpu.Some(math.Floor(9000 + 40000*load)), FileLimit: gpu.Some(9.2e18),
		Disks: []gpu.Disk{disk("nvme0n1", rootDiskBytes, per*2e6), disk("nvme1n1", dataDiskBytes, per*1.4e9)},
	}
	for _, name := range collectors {
		h.Collectors[name] = true
	}
	for _, window := range []string{"1m", "5m", "15m"} {
		h.Load[window] = math.Round(100*load*loaderProcessors*float64(len(s.cards))) / 100
	}
	for resource, share := range map[string]float64{"cpu": 0.004, "io": 0.02, "memory": 0.0005} {
		h.Pressure[gpu.PressureKey{Resource: resource, Share: "some"}] = rounded(per * share)
		h.Pressure[gpu.PressureKey{Resource: resource, Share: "full"}] = rounded(per * share / 4)
	}
	h.Filesystems = s.filesystems(t)
	s.network(h, per)
	for _, c := range s.cards {
		h.PCIGPUs = append(h.PCIGPUs, gpu.PCIGPU{PCIAddress: c.identity.PCIAddress, DeviceID: "10de:2330", Driver: "nvidia", NUMANode: fmt.Sprint(c.identity.Index / 4)})
	}
	return h
}

func rounded(v float64) float64 { return math.Round(v*1000) / 1000 }

// processors shares the elapsed time out: the loaders' work, a little of the kernel's, the rest idle.
func (s *Source) processors(work, elapsed float64) gpu.CPU {
	user := work * loaderProcessors
	modes := map[string]float64{"user": rounded(user), "system": rounded(user * 0.12), "iowait": rounded(user * 0.02),
		"nice": 0, "irq": 0, "softirq": rounded(user * 0.01), "steal": 0}
	modes["idle"] = rounded(max(elapsed*hostLogical-user*1.15, 0))
	return gpu.CPU{
		Logical: gpu.Some(hostLogical), Cores: gpu.Some(hostCores), Sockets: gpu.Some(2.0), Model: "Simulated CPU", SecondsByMode: modes,
		ContextSwitches: gpu.Some(math.Floor(elapsed*3000 + work*9000)), Forks: gpu.Some(math.Floor(elapsed * 4)), Running: gpu.Some(2.0), Blocked: gpu.Some(0.0),
	}
}

func memoryAt(load, work float64) gpu.Memory {
	used := hostMemoryBytes * (0.06 + 0.38*load)
	return gpu.Memory{
		Bytes: map[string]float64{"memory_total": hostMemoryBytes, "memory_available": math.Floor(hostMemoryBytes - used), "memory_free": math.Floor((hostMemoryBytes - used) / 2),
			"memory_cached": math.Floor((hostMemoryBytes - used) / 3), "memory_shared": math.Floor(used / 4), "memory_unevictable": math.Floor(used / 8), "memory_corrupted": 0},
		SwapIn: gpu.Some(0.0), SwapOut: gpu.Some(0.0), MajorFaults: gpu.Some(math.Floor(work / 60)), OOMKills: gpu.Some(0.0),
	}
}

func disk(device string, size, bytes float64) gpu.Disk {
	return gpu.Disk{Device: device, SizeBytes: gpu.Some(size), ReadBytes: math.Floor(bytes), WrittenBytes: math.Floor(bytes / 8),
		Reads: math.Floor(bytes / 131072), Writes: math.Floor(bytes / 8 / 131072), ReadSeconds: rounded(bytes / 6e9), WriteSeconds: rounded(bytes / 4e10),
		IOSeconds: rounded(bytes / 7e9), WeightedIOSeconds: rounded(bytes / 5e9)}
}

// filesystems fill within a week, as checkpoints do, and are cleaned then.
func (s *Source) filesystems(t time.Time) []gpu.Filesystem {
	const week = 7 * 24 * 3600
	filled := 0.3 + 0.4*math.Mod(float64(t.Unix())+week*dice(hostSeed(s.config.Seed, s.config.Host), 60), week)/week
	left := func(size, filled float64) gpu.Filesystem {
		free := math.Floor(size * (1 - filled))
		return gpu.Filesystem{Size: size, Free: free, Available: free, Inodes: 60e6, InodesFree: math.Floor(60e6 * (1 - filled/10))}
	}
	root, data := left(rootDiskBytes, 0.21), left(dataDiskBytes, filled)
	root.MountPoint, root.Device, root.Type = "/", "/dev/nvme0n1p2", "ext4"
	data.MountPoint, data.Device, data.Type = "/data", "/dev/nvme1n1", "xfs"
	return []gpu.Filesystem{root, data}
}

// network moves data in by Ethernet and between machines by InfiniBand.
func (s *Source) network(h *gpu.Host, seconds float64) {
	traffic := func(bytes, packet float64) map[gpu.NetworkCounter]float64 {
		out := map[gpu.NetworkCounter]float64{}
		for _, way := range []string{"receive", "transmit"} {
			out[gpu.NetworkCounter{Way: way, What: "bytes"}] = math.Floor(bytes)
			out[gpu.NetworkCounter{Way: way, What: "packets"}] = math.Floor(bytes / packet)
		}
		return out
	}
	ethernet := traffic(1e6+seconds*4e8, 1400)
	for _, way := range []string{"receive", "transmit"} {
		ethernet[gpu.NetworkCounter{Way: way, What: "errors"}] = 0
		ethernet[gpu.NetworkCounter{Way: way, What: "drops"}] = 0
	}
	h.Networks = []gpu.Network{{Device: "eth0", Counters: ethernet}}
	h.Links = []gpu.Link{{Device: "eth0", Address: "02:00:00:00:00:01", Driver: "mlx5_core", PCIAddress: "0000:a1:00.0", NUMANode: "1",
		BytesPerSec: gpu.Some(ethernetBytes), MTU: gpu.Some(9000.0), Carrier: gpu.Some(true), Changes: gpu.Some(1.0)}}
	for i := range 2 {
		h.InfiniBand = append(h.InfiniBand, gpu.InfiniBand{
			Device: fmt.Sprintf("mlx5_%d", i), Board: "MT_0000000838", Firmware: "28.39.1002", HCAType: "MT4129", NodeGUID: fmt.Sprintf("0002:c903:00a1:%04x", i),
			PCIAddress: fmt.Sprintf("0000:%02x:00.0", 0x41+i*0x40), NUMANode: fmt.Sprint(i),
			Ports: []gpu.InfiniBandPort{{Port: "1", LinkLayer: "InfiniBand", State: "active", PhysicalState: "link_up", BytesPerSec: infiniBandBytes,
				Traffic: traffic(4096+seconds*busyBytes/2, 4096),
				Errors:  map[string]float64{"symbol": 0, "link_downed": 0, "link_recovery": 0, "receive": 0, "out_of_sequence": 0}}},
		})
	}
}
