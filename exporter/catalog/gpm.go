package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// What all families from the performance counters have in common.
const (
	gpmHardware = "Hopper and later; not with --no-collector.gpm"
	gpmSource   = "nvmlGpmMetricsGet"
)

// gpmFamilies tell what the card's performance counters say of the last interval.
func gpmFamilies() []Family {
	ratio := func(name, help, metric string, get func(*gpu.GPM) gpu.Maybe[float64]) Family {
		return Family{Name: name, Kind: Gauge, Unit: "ratio", Help: help, Hardware: gpmHardware, Source: gpmSource + ", " + metric,
			GPU:      reading(func(r *gpu.Readings) gpu.Maybe[float64] { return get(&r.GPM) }),
			Instance: ofInstance(func(i *gpu.Instance) gpu.Maybe[float64] { return get(&i.Readings.GPM) })}
	}
	return []Family{
		ratio("gpu_graphics_active_ratio", "Share of the last interval in which any kernel or graphics work ran, 0 to 1.",
			"GRAPHICS_UTIL", func(g *gpu.GPM) gpu.Maybe[float64] { return g.GraphicsActive }),
		ratio("gpu_sm_active_ratio", "Share of the multiprocessors that had work, mean of the last interval, 0 to 1: how much of the card the kernels used.",
			"SM_UTIL", func(g *gpu.GPM) gpu.Maybe[float64] { return g.SMActive }),
		ratio("gpu_sm_occupancy_ratio", "Warps resident on the multiprocessors, of the most they can hold, mean of the last interval, 0 to 1.",
			"SM_OCCUPANCY", func(g *gpu.GPM) gpu.Maybe[float64] { return g.SMOccupancy }),
		ratio("gpu_dram_active_ratio", "Memory bandwidth in use, of the theoretical maximum, mean of the last interval, 0 to 1.",
			"DRAM_BW_UTIL", func(g *gpu.GPM) gpu.Maybe[float64] { return g.DRAMActive }),
		ratio("gpu_tensor_active_ratio", "Share of time that the tensor cores were busy, with any kind of number, mean of the last interval, 0 to 1.",
			"ANY_TENSOR_UTIL", func(g *gpu.GPM) gpu.Maybe[float64] { return g.TensorActive }),
		{
			Name: "gpu_tensor_type_active_ratio", Kind: Gauge, Unit: "ratio", Labels: []string{"type"},
			Help:     "The same by kind of number: hmma (half precision), imma (integers), dmma and dfma (double precision).",
			Hardware: gpmHardware, Source: gpmSource + ", HMMA_, IMMA_, DMMA_ and DFMA_TENSOR_UTIL",
			GPU: parts(gpmOfCard, tensorTypes), Instance: parts(gpmOfInstance, tensorTypes),
		},
		{
			Name: "gpu_pipe_active_ratio", Kind: Gauge, Unit: "ratio", Labels: []string{"pipe"},
			Help:     "Share of time that the multiprocessors did other arithmetic, mean of the last interval, 0 to 1: integer, fp64, fp32, fp16.",
			Hardware: gpmHardware, Source: gpmSource + ", INTEGER_, FP64_, FP32_ and FP16_UTIL",
			GPU: parts(gpmOfCard, pipes), Instance: parts(gpmOfInstance, pipes),
		},
		{
			Name: "gpu_engine_active_ratio", Kind: Gauge, Unit: "ratio", Labels: []string{"engine", "unit"},
			Help:     "Share of time that each fixed-function engine was busy, mean of the last interval, 0 to 1: decoder, encoder, jpeg, ofa.",
			Hardware: gpmHardware, Source: gpmSource + ", NVDEC_, NVENC_, NVJPG_ and NVOFA_*_UTIL",
			GPU: engines,
		},
		traffic("gpu_pcie_throughput_bytes_per_second", "PCIe traffic, mean of the last interval", "PCIE_TX_ and PCIE_RX_PER_SEC",
			func(g *gpu.GPM) (sent, received gpu.Maybe[float64]) { return g.PCIeSent, g.PCIeReceived }),
		traffic("gpu_nvlink_throughput_bytes_per_second", "NVLink traffic of all links, mean of the last interval", "NVLINK_TOTAL_TX_ and _RX_PER_SEC",
			func(g *gpu.GPM) (sent, received gpu.Maybe[float64]) { return g.NVLinkSent, g.NVLinkReceived }),
		traffic("gpu_c2c_throughput_bytes_per_second", "Traffic between GPU and CPU on boards that join both by NVLink-C2C, mean of the last interval", "C2C_TOTAL_TX_ and _RX_PER_SEC",
			func(g *gpu.GPM) (sent, received gpu.Maybe[float64]) { return g.C2CSent, g.C2CReceived }),
	}
}

func gpmOfCard(g *gpu.GPU) *gpu.GPM          { return &g.Readings.GPM }
func gpmOfInstance(i *gpu.Instance) *gpu.GPM { return &i.Readings.GPM }

// part is one figure of a family that a label tells apart.
type part struct {
	label string
	get   func(*gpu.GPM) gpu.Maybe[float64]
}

var tensorTypes = []part{
	{"dfma", func(g *gpu.GPM) gpu.Maybe[float64] { return g.TensorDFMA }},
	{"dmma", func(g *gpu.GPM) gpu.Maybe[float64] { return g.TensorDMMA }},
	{"hmma", func(g *gpu.GPM) gpu.Maybe[float64] { return g.TensorHMMA }},
	{"imma", func(g *gpu.GPM) gpu.Maybe[float64] { return g.TensorIMMA }},
}

var pipes = []part{
	{"fp16", func(g *gpu.GPM) gpu.Maybe[float64] { return g.FP16 }},
	{"fp32", func(g *gpu.GPM) gpu.Maybe[float64] { return g.FP32 }},
	{"fp64", func(g *gpu.GPM) gpu.Maybe[float64] { return g.FP64 }},
	{"integer", func(g *gpu.GPM) gpu.Maybe[float64] { return g.Integer }},
}

// parts gives one sample for each part that has a figure.
func parts[T any](of func(*T) *gpu.GPM, all []part) func(*T, Emit) {
	return func(t *T, emit Emit) {
		g := of(t)
		for _, p := range all {
			if v, ok := p.get(g).Get(); ok {
				emit(v, p.label)
			}
		}
	}
}

// traffic is a family of bytes per second by direction, seen from the GPU.
func traffic(name, help, metric string, get func(*gpu.GPM) (sent, received gpu.Maybe[float64])) Family {
	directions := []part{
		{"rx", func(g *gpu.GPM) gpu.Maybe[float64] { _, v := get(g); return v }},
		{"tx", func(g *gpu.GPM) gpu.Maybe[float64] { v, _ := get(g); return v }},
	}
	return Family{
		Name: name, Kind: Gauge, Unit: "bytes_per_second", Labels: []string{"direction"},
		Help:     help + ": tx (sent by the GPU), rx (received).",
		Hardware: gpmHardware, Source: gpmSource + ", " + metric,
		GPU: parts(gpmOfCard, directions), Instance: parts(gpmOfInstance, directions),
	}
}

func engines(g *gpu.GPU, emit Emit) {
	busy := g.Readings.GPM.Engines
	for _, e := range slices.SortedFunc(maps.Keys(busy), func(a, b gpu.Engine) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Unit, b.Unit))
	}) {
		emit(busy[e], e.Kind, strconv.Itoa(e.Unit))
	}
}
