//go:build linux && cgo

package nvml

import (
	"slices"
	"strconv"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// gpmMetric is one figure, where it goes, and its possible range.
type gpmMetric struct {
	id  nvml.GpmMetricId
	key string // among the calls
	to  func(*gpu.GPM, float64)
	gpmUnit
}

// gpmUnit is the range that the driver's figures can lie in, and what makes base units of them.
type gpmUnit struct{ low, high, scale, most float64 }

var (
	// Two counters that are not read at the very same moment give a little over 100 now and
	// then; that is a full 1. Anything further off is no percentage.
	gpmPercent = gpmUnit{low: 0, high: 101, scale: 0.01, most: 1}
	// MiB per second, up to some times what the fastest link of any card carries.
	gpmTraffic = gpmUnit{low: 0, high: 16 << 20, scale: 1 << 20, most: 16 << 40}
)

// The metrics of a whole card, and of a GPU instance.
var (
	cardMetrics     = slices.Concat(activity("", true), engineMetrics())
	instanceMetrics = activity(",mig", false)
)

// activity lists the metrics that a card and a GPU instance have alike; the suffix tells
// their keys apart, for one may answer what the other does not.
func activity(suffix string, links bool) []gpmMetric {
	percent := func(id nvml.GpmMetricId, to func(*gpu.GPM) *gpu.Maybe[float64]) gpmMetric {
		return gpmMetric{id, gpmKey(id, suffix), func(g *gpu.GPM, v float64) { *to(g) = gpu.Some(v) }, gpmPercent}
	}
	flow := func(id nvml.GpmMetricId, to func(*gpu.GPM) *gpu.Maybe[float64]) gpmMetric {
		return gpmMetric{id, gpmKey(id, suffix), func(g *gpu.GPM, v float64) { *to(g) = gpu.Some(v) }, gpmTraffic}
	}
	metrics := []gpmMetric{
		percent(nvml.GPM_METRIC_GRAPHICS_UTIL, func(g *gpu.GPM) *gpu.Maybe[float64] { return &g.GraphicsActive }),
		percent(nvml.GPM_METRIC_SM_UTIL, func(g *gpu.GPM) *gpu.Maybe[float64] { return &g.SMActive }),
		percent(nvml.GPM_METRIC_SM_OCCUPANCY, func(g *gpu.GPM) *gpu.Maybe[float64] { return &g.SMOccupancy }),
		percent(nvml.GPM_METRIC_DRAM_BW_UTIL, func(g *gpu.GPM) *gpu.Maybe[float64] { return &g.DRAMActive }),
		percent(nvml.GPM_METRIC_ANY_TENSOR_UTIL, func(g *gpu.GPM) *gpu.Maybe[float64] { return &g.TensorActive }),
		percent(nvml.GPM_METRIC_HMMA_TENSOR_UTIL, func(g *gpu.GPM) *gpu.Maybe[float64] { return &g.TensorHMMA }),
		percent(nvml.GPM_METRIC_IMMA_TENSOR_UTIL, func(g *gpu.GPM) *gpu.Maybe[float64] { return &g.TensorIMMA }),
		percent(nvml.GPM_METRIC_DMMA_TENSOR_UTIL, func(g *gpu.GPM) *gpu.Maybe[float64] { return &g.TensorDMMA }),
		percent(nvml.GPM_METRIC_DFMA_TENSOR_UTIL, func(g *gpu.GPM) *gpu.Maybe[float64] { return &g.TensorDFMA }),
		percent(nvml.GPM_METRIC_INTEGER_UTIL, func(g *gpu.GPM) *gpu.Maybe[float64] { return &g.Integer }),
		percent(nvml.GPM_METRIC_FP64_UTIL, func(g *gpu.GPM) *gpu.Maybe[float64] { return &g.FP64 }),
		percent(nvml.GPM_METRIC_FP32_UTIL, func(g *gpu.GPM) *gpu.Maybe[float64] { return &g.FP32 }),
		percent(nvml.GPM_METRIC_FP16_UTIL, func(g *gpu.GPM) *gpu.Maybe[float64] { return &g.FP16 }),
		flow(nvml.GPM_METRIC_PCIE_TX_PER_SEC, func(g *gpu.GPM) *gpu.Maybe[float64] { return &g.PCIeSent }),
		flow(nvml.GPM_METRIC_PCIE_RX_PER_SEC, func(g *gpu.GPM) *gpu.Maybe[float64] { return &g.PCIeReceived }),
		flow(nvml.GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC, func(g *gpu.GPM) *gpu.Maybe[float64] { return &g.NVLinkSent }),
		flow(nvml.GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC, func(g *gpu.GPM) *gpu.Maybe[float64] { return &g.NVLinkReceived }),
	}
	if links {
		metrics = append(metrics,
			flow(nvml.GPM_METRIC_C2C_TOTAL_TX_PER_SEC, func(g *gpu.GPM) *gpu.Maybe[float64] { return &g.C2CSent }),
			flow(nvml.GPM_METRIC_C2C_TOTAL_RX_PER_SEC, func(g *gpu.GPM) *gpu.Maybe[float64] { return &g.C2CReceived }))
	}
	return metrics
}

// engineMetrics lists the fixed-function engines, of which each card has some.
func engineMetrics() []gpmMetric {
	var metrics []gpmMetric
	for _, kind := range []struct {
		name        string
		first, last nvml.GpmMetricId
	}{
		{"decoder", nvml.GPM_METRIC_NVDEC_0_UTIL, nvml.GPM_METRIC_NVDEC_7_UTIL},
		{"encoder", nvml.GPM_METRIC_NVENC_0_UTIL, nvml.GPM_METRIC_NVENC_3_UTIL},
		{"jpeg", nvml.GPM_METRIC_NVJPG_0_UTIL, nvml.GPM_METRIC_NVJPG_7_UTIL},
		{"ofa", nvml.GPM_METRIC_NVOFA_0_UTIL, nvml.GPM_METRIC_NVOFA_1_UTIL},
	} {
		for id := kind.first; id <= kind.last; id++ {
			engine := gpu.Engine{Kind: kind.name, Unit: int(id - kind.first)}
			metrics = append(metrics, gpmMetric{id, gpmKey(id, ""), func(g *gpu.GPM, v float64) {
				if g.Engines == nil {
					g.Engines = map[gpu.Engine]float64{}
				}
				g.Engines[engine] = v
			}, gpmPercent})
		}
	}
	return metrics
}

func gpmKey(id nvml.GpmMetricId, suffix string) string {
	return gpmMetricsCall + "(" + strconv.Itoa(int(id)) + suffix + ")"
}
