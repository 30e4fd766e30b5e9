package catalog

import (
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// SpecimenHost is a machine that tells everything, which no real one does.
func SpecimenHost() *gpu.Host {
	some := gpu.Some[float64]
	bytes := map[string]float64{}
	for _, key := range []string{"total", "available", "free", "cached", "buffers", "shared", "anonymous", "unevictable",
		"slab_unreclaimable", "dirty", "writeback", "corrupted"} {
		bytes["memory_"+key] = 1
	}
	bytes["swap_total"], bytes["swap_free"] = 1, 1
	traffic := map[gpu.NetworkCounter]float64{}
	for _, way := range []string{"receive", "transmit"} {
		for _, what := range []string{"bytes", "packets", "errors", "drops"} {
			traffic[gpu.NetworkCounter{Way: way, What: what}] = 1
		}
	}
	return &gpu.Host{
		Collectors: map[string]bool{"cpu": true},
		Kernel:     gpu.Kernel{Release: "6.8.0"}, Hardware: gpu.Hardware{Vendor: "Supermicro"},
		Clock:    gpu.Clock{Synchronized: gpu.Some(true), OffsetSeconds: some(0), MaxErrorSeconds: some(0.01)},
		BootedAt: gpu.Some(time.Unix(10, 0)),
		CPU: gpu.CPU{Logical: some(2), Cores: some(2), Sockets: some(1), Model: "EPYC", SecondsByMode: map[string]float64{"user": 1},
			ContextSwitches: some(1), Forks: some(1), Running: some(1), Blocked: some(0)},
		Load:     map[string]float64{"1m": 1},
		Pressure: map[gpu.PressureKey]float64{{Resource: "cpu", Share: "some"}: 1},
		Memory: gpu.Memory{Bytes: bytes, HugePages: map[string]float64{"total": 0}, HugePage: some(2 << 20),
			SwapIn: some(0), SwapOut: some(0), MajorFaults: some(1), OOMKills: some(0)},
		Files: some(1), FileLimit: some(2),
		Disks:       []gpu.Disk{{Device: "nvme0n1", SizeBytes: some(1)}},
		Filesystems: []gpu.Filesystem{{MountPoint: "/", Device: "/dev/nvme0n1p2", Type: "ext4"}},
		Networks:    []gpu.Network{{Device: "eth0", Counters: traffic}},
		Links:       []gpu.Link{{Device: "eth0", BytesPerSec: some(1), MTU: some(1500), Carrier: gpu.Some(true), Changes: some(1)}},
		InfiniBand: []gpu.InfiniBand{{Device: "mlx5_0", Ports: []gpu.InfiniBandPort{{Port: "1", State: "active", PhysicalState: "link_up",
			Traffic: traffic, Errors: map[string]float64{"symbol": 0}, Congestion: map[string]float64{"cnp_sent": 0}, TransmitWait: some(0)}}}},
		PCIGPUs: []gpu.PCIGPU{{PCIAddress: "0000:1b:00.0"}},
		SXIDs:   map[gpu.SXID]gpu.XID{{Switch: "0000:c1:00.0", Code: 20034, Severity: gpu.SXIDFatal}: {Count: 1, Last: time.Unix(98, 0)}},
	}
}
