package replay

import (
	"math"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// counters are what the performance counters of a Hopper card say of its work: a training job
// keeps most SMs and the tensor cores busy, inference waits for memory, a job now and then
// leaves much of what the utilization shows unused.
func (c *card) counters(t time.Time) gpu.GPM {
	load := c.loadAt(t)
	use := workOf(c.profile)
	wobble := func(ratio float64, key uint64) gpu.Maybe[float64] {
		v := load * ratio * (1 + 0.06*(c.noise(t, key)-0.5))
		return gpu.Some(math.Round(min(v, 1)*1e4) / 1e4)
	}
	flow := func(bytes float64, key uint64) gpu.Maybe[float64] {
		return gpu.Some(math.Round(load * bytes * (1 + 0.2*(c.noise(t, key)-0.5))))
	}
	none := gpu.Some(0.0)
	g := gpu.GPM{
		GraphicsActive: wobble(0.99, 40), SMActive: wobble(use.sm, 41), SMOccupancy: wobble(use.occupancy, 42), DRAMActive: wobble(use.dram, 43),
		TensorActive: wobble(use.tensor, 44), TensorHMMA: wobble(use.tensor*0.98, 44), TensorIMMA: none, TensorDMMA: none, TensorDFMA: none,
		Integer: wobble(0.11, 45), FP64: none, FP32: wobble(0.08, 46), FP16: wobble(0.02, 47),
		PCIeSent: flow(use.pcie, 48), PCIeReceived: flow(2*use.pcie, 49),
	}
	if c.model.NVLinks > 0 {
		g.NVLinkSent, g.NVLinkReceived = flow(use.nvlink, 50), flow(use.nvlink, 51)
	}
	return g
}

// work is how much of a card a fully loaded one uses: shares from 0 to 1, and bytes per second.
type work struct{ sm, occupancy, dram, tensor, pcie, nvlink float64 }

func workOf(p Profile) work {
	switch p {
	case Inference:
		return work{sm: 0.55, occupancy: 0.24, dram: 0.71, tensor: 0.19, pcie: 0.3e9, nvlink: 9e9}
	case Sparse:
		return work{sm: 0.31, occupancy: 0.15, dram: 0.22, tensor: 0.06, pcie: 0.8e9, nvlink: 0}
	default: // what a script makes busy, too
		return work{sm: 0.86, occupancy: 0.42, dram: 0.58, tensor: 0.47, pcie: 1.2e9, nvlink: 110e9}
	}
}
