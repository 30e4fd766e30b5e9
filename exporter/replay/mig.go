package replay

import (
	"fmt"
	"math"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// cut is one MIG device of a card that is split: its profile, the place of its memory, and its
// part of the card, in sevenths of the compute and eighths of the memory.
type cut struct {
	profile, placement string
	instance           int
	compute, memory    float64
}

// cuts is how an H100 is split here: three tenants of three sizes.
var cuts = []cut{
	{"3g.40gb", "4:4", 1, 3, 4},
	{"2g.20gb", "0:2", 3, 2, 2},
	{"1g.10gb", "2:1", 9, 1, 1},
}

// multiprocessors of one seventh of an H100.
const multiprocessors = 16

// instances are the MIG devices of the card, each with work of its own that follows the day.
func (c *card) instances(t time.Time, read bool) []gpu.Instance {
	var out []gpu.Instance
	for i, cut := range cuts {
		key := mix(c.seed, uint64(c.identity.Index), 70, uint64(i))
		one := gpu.Instance{
			UUID:        fmt.Sprintf("MIG-%08x-%04x-5%03x-8%03x-%012x", key>>32, key>>16&0xffff, key&0xfff, key>>48&0xfff, key&0xffffffffffff),
			GPUInstance: cut.instance, Profile: cut.profile, Placement: cut.placement,
			Multiprocessors: gpu.Some(multiprocessors * cut.compute), GPUSlices: gpu.Some(cut.compute), ComputeSlices: gpu.Some(cut.compute),
			Engines: map[string]float64{"copy": cut.compute, "decoder": cut.compute},
		}
		if read {
			one.Readings = c.instanceReadings(t, key, cut)
		}
		out = append(out, one)
	}
	return out
}

func (c *card) instanceReadings(t time.Time, key uint64, cut cut) gpu.InstanceReadings {
	load := level(Inference, c.seed, key%1024, blockOf(t))
	total := math.Floor(c.model.MemoryBytes * cut.memory / 8)
	used := math.Floor(total * (0.2 + 0.6*load))
	use := workOf(Inference)
	share := func(ratio float64, kind uint64) gpu.Maybe[float64] {
		return gpu.Some(math.Round(min(load*ratio*(1+0.06*(c.noise(t, kind+key%97)-0.5)), 1)*1e4) / 1e4)
	}
	return gpu.InstanceReadings{
		MemoryTotalBytes: gpu.Some(total), MemoryUsedBytes: gpu.Some(used), MemoryFreeBytes: gpu.Some(total - used), MemoryReservedBytes: gpu.Some(0.0),
		Processes: gpu.Some(1.0), Occupancy: occupancy("inference", fmt.Sprintf("mig-%s", cut.profile), 1, used),
		GPM: gpu.GPM{GraphicsActive: share(0.99, 80), SMActive: share(use.sm, 81), SMOccupancy: share(use.occupancy, 82), DRAMActive: share(use.dram, 83), TensorActive: share(use.tensor, 84)},
	}
}

// occupancy is one pod that uses a card, or none.
func occupancy(namespace, pod string, processes, bytes float64) gpu.Occupancy {
	o := gpu.Occupancy{Containers: gpu.Some(0.0), Summed: gpu.Some(0.0)}
	if processes == 0 {
		return o
	}
	o.Containers = gpu.Some(1.0)
	o.Uses = []gpu.Use{{Workload: gpu.Workload{Runtime: "containerd", Namespace: namespace, Pod: pod, Container: "main",
		ContainerID: fmt.Sprintf("%012x", mix(1, uint64(len(pod)), uint64(len(namespace)))&0xffffffffffff)}, Processes: processes, MemoryBytes: gpu.Some(bytes)}}
	return o
}
