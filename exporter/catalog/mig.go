package catalog

import (
	"strconv"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// InstanceLabels are what the series of a MIG device carry beside host, vantage, its own uuid
// and the card's gpu. Without the first, gpu_uuid="", a query is about cards alone.
var InstanceLabels = []string{"gpu_uuid", "gpu_instance", "compute_instance", "profile"}

// InstanceValues are the values of InstanceLabels.
func InstanceValues(g *gpu.GPU, i *gpu.Instance) []string {
	return []string{g.Identity.UUID, strconv.Itoa(i.GPUInstance), strconv.Itoa(i.ComputeInstance), i.Profile}
}

// instanceFamilies tell what a card is cut into. What a MIG device reads stands in the families
// of the cards, so that whoever asks for a uuid need not know what it is the uuid of.
func instanceFamilies() []Family {
	const hardware = "Ampere and later, while MIG is on"
	return []Family{
		{
			Name: "gpu_mig_info", Kind: Info, Stays: true, Labels: []string{"placement"},
			Help:     "A MIG device and the card that it is a part of. placement is the first memory slice of its GPU instance and their number, empty where the driver does not tell.",
			Hardware: hardware, Source: "nvmlDeviceGetMigDeviceHandleByIndex, nvmlDeviceGetGpuInstanceId, ...ComputeInstanceId, nvmlDeviceGetName, nvmlGpuInstanceGetInfo",
			Instance: func(i *gpu.Instance, emit Emit) { emit(1, i.Placement) },
		},
		{
			Name: "gpu_mig_instances", Kind: Gauge,
			Help:     "MIG devices of the card, 0 where MIG is on and nothing is cut.",
			Hardware: hardware, Source: "nvmlDeviceGetMigDeviceHandleByIndex",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.MIGInstances }),
		},
		{
			Name: "gpu_mig_multiprocessors", Kind: Gauge,
			Help:     "Multiprocessors of the MIG device.",
			Hardware: hardware, Source: "nvmlDeviceGetAttributes_v2",
			Instance: ofInstance(func(i *gpu.Instance) gpu.Maybe[float64] { return i.Multiprocessors }),
		},
		{
			Name: "gpu_mig_slices", Kind: Gauge, Labels: []string{"of"},
			Help:     "Compute slices of the MIG device's gpu_instance, and those of its own compute_instance.",
			Hardware: hardware, Source: "nvmlDeviceGetAttributes_v2",
			Instance: func(i *gpu.Instance, emit Emit) {
				if v, ok := i.ComputeSlices.Get(); ok {
					emit(v, "compute_instance")
				}
				if v, ok := i.GPUSlices.Get(); ok {
					emit(v, "gpu_instance")
				}
			},
		},
		{
			Name: "gpu_mig_engines", Kind: Gauge, Labels: []string{"engine"},
			Help:     "Engines of the MIG device's GPU instance: copy, decoder, encoder, jpeg, ofa.",
			Hardware: hardware, Source: "nvmlDeviceGetAttributes_v2",
			Instance: func(i *gpu.Instance, emit Emit) {
				for _, engine := range sortedKeys(i.Engines) {
					emit(i.Engines[engine], engine)
				}
			},
		},
	}
}

// ofInstance is a gauge of one number of a MIG device that may be absent.
func ofInstance(get func(*gpu.Instance) gpu.Maybe[float64]) func(*gpu.Instance, Emit) {
	return func(i *gpu.Instance, emit Emit) {
		if v, ok := get(i).Get(); ok {
			emit(v)
		}
	}
}
