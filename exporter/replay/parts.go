package replay

import (
	"math"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

const mib = 1 << 20

// parts is what a card tells of itself beside its work, its heat and its errors. The single
// links and banks of a real card are left out: a demo of many machines has no need of them.
func (c *card) parts(r *gpu.Readings, t time.Time) {
	r.JPEGRatio, r.OFARatio = gpu.Some(0.0), gpu.Some(0.0)
	r.BAR1 = gpu.BAR1{TotalBytes: gpu.Some(131072.0 * mib), UsedBytes: gpu.Some(4.0 * mib), FreeBytes: gpu.Some(131068.0 * mib)}
	r.TemperatureOffsets = temperatureOffsets
	r.PowerAverageWatts, r.PowerInstantWatts = r.PowerWatts, instant(r.PowerWatts, c.noise(t, 33))
	r.ClockCustomerMaxHertz = map[string]float64{"graphics": c.model.SMHertz, "memory": c.model.MemoryHertz}
	r.SRAM.ThresholdExceeded = gpu.Some(false)
	r.Repair.ChannelPending, r.Repair.TPCPending, r.Repair.UnrepairableMemory = gpu.Some(false), gpu.Some(false), gpu.Some(false)
	r.Modes = gpu.Modes{ECC: gpu.Some(true), ECCPending: gpu.Some(true), MIG: gpu.Some(false), MIGPending: gpu.Some(false),
		Compute: "default", Virtualization: "none", Confidential: gpu.Some(false)}
	r.InfoROMValid = gpu.Some(true)
	c.traffic(r, t)
	if c.model.NVLinks > 0 {
		r.Fabric = gpu.Fabric{State: gpu.FabricCompleted, Status: gpu.Some(0.0), Health: gpu.FabricHealthy}
		if statusAt(c.spans, c.start, t).State == gpu.FabricIncomplete {
			r.Fabric = gpu.Fabric{State: gpu.FabricInProgress}
		}
	}
}

// temperatureOffsets are the margins at which an H100 begins to slow down and to shut down.
var temperatureOffsets = map[string]float64{"shutdown": -8, "slowdown": -2, "memory_max": 0, "gpu_max": 0}

// instant is the power at the moment, which moves about its mean.
func instant(average gpu.Maybe[float64], noise float64) gpu.Maybe[float64] {
	watts, ok := average.Get()
	if !ok {
		return average
	}
	return gpu.Some(math.Round(watts*(1+0.04*(noise-0.5))*1000) / 1000)
}

// traffic counts bytes. They follow the energy that work drew, so that they never go back.
func (c *card) traffic(r *gpu.Readings, t time.Time) {
	joules, _ := c.counted(t)
	use := workOf(c.profile)
	seconds := joules / c.model.LimitWatts // at full power
	count := func(bytesPerSecond float64) float64 { return math.Floor(seconds * bytesPerSecond) }
	r.PCIeBytesTotal = map[string]float64{"tx": count(use.pcie), "rx": count(2 * use.pcie)}
	if c.model.NVLinks > 0 {
		r.NVLink.BytesTotal = map[string]float64{"tx": count(use.nvlink), "rx": count(use.nvlink)}
		r.NVLink.SpeedBytesPerSec = gpu.Some(26562e6)
	}
}
