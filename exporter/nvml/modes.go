//go:build linux && cgo

package nvml

import (
	"strconv"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

var computeModes = map[nvml.ComputeMode]string{
	nvml.COMPUTEMODE_DEFAULT: "default", nvml.COMPUTEMODE_EXCLUSIVE_THREAD: "exclusive_thread",
	nvml.COMPUTEMODE_PROHIBITED: "prohibited", nvml.COMPUTEMODE_EXCLUSIVE_PROCESS: "exclusive_process",
}

var virtualizationModes = map[nvml.GpuVirtualizationMode]string{
	nvml.GPU_VIRTUALIZATION_MODE_NONE: "none", nvml.GPU_VIRTUALIZATION_MODE_PASSTHROUGH: "passthrough",
	nvml.GPU_VIRTUALIZATION_MODE_VGPU: guestMode, nvml.GPU_VIRTUALIZATION_MODE_HOST_VGPU: hostMode,
	nvml.GPU_VIRTUALIZATION_MODE_HOST_VSGA: "host_vsga",
}

const guestMode, hostMode = "vgpu", "host_vgpu"

func readModes(c *caller, d device, r *gpu.Readings) {
	if mode, ok := value(c, "nvmlDeviceGetPersistenceMode", d.GetPersistenceMode); ok {
		r.Persistence = gpu.Some(mode == nvml.FEATURE_ENABLED)
	}
	const ecc, mig, compute, virtual = "nvmlDeviceGetEccMode", "nvmlDeviceGetMigMode", "nvmlDeviceGetComputeMode", "nvmlDeviceGetVirtualizationMode"
	if mode, ok := pairOf(c, ecc, d.GetEccMode); ok {
		r.Modes.ECC, r.Modes.ECCPending = truth(c, ecc, uint32(mode.first)), truth(c, ecc, uint32(mode.second))
	}
	if mode, ok := pairOf(c, mig, d.GetMigMode); ok {
		r.Modes.MIG, r.Modes.MIGPending = truth(c, mig, uint32(mode.first)), truth(c, mig, uint32(mode.second))
	}
	if mode, ok := value(c, compute, d.GetComputeMode); ok {
		r.Modes.Compute = named(c, compute, computeModes, mode)
	}
	if mode, ok := value(c, virtual, d.GetVirtualizationMode); ok {
		r.Modes.Virtualization = named(c, virtual, virtualizationModes, mode)
	}
}

// pair is the answer of a call with two: a mode now and after the next reset, a range.
type pair[T any] struct{ first, second T }

func pairOf[T any](c *caller, call string, f func() (T, T, nvml.Return)) (pair[T], bool) {
	return value(c, call, func() (p pair[T], ret nvml.Return) {
		p.first, p.second, ret = f()
		return p, ret
	})
}

// named gives the driver's number its name; one without a name is dropped.
func named[T comparable](c *caller, call string, names map[T]string, v T) string {
	name, known := names[v]
	if !known {
		c.drop(call)
	}
	return name
}

// readConfidential reads whether confidential computing is on, which holds for the whole host.
func readConfidential(c *caller) gpu.Maybe[bool] {
	const call = "nvmlSystemGetConfComputeState"
	state, ok := value(c, call, c.lib.api.SystemGetConfComputeState)
	if !ok {
		return gpu.Maybe[bool]{}
	}
	return truth(c, call, state.CcFeature)
}

var licensedFeatures = map[uint32]string{
	uint32(nvml.GRID_LICENSE_FEATURE_CODE_VGPU): "vgpu", uint32(nvml.GRID_LICENSE_FEATURE_CODE_NVIDIA_RTX): "rtx",
	uint32(nvml.GRID_LICENSE_FEATURE_CODE_GAMING): "gaming", uint32(nvml.GRID_LICENSE_FEATURE_CODE_COMPUTE): "compute",
	uint32(nvml.GRID_LICENSE_FEATURE_CODE_VGAMEDEV): "vgamedev",
}

// maxVGPUs bounds the virtual GPUs of one card.
const maxVGPUs = 1024

// readVirtual reads what there is of virtual GPUs: how many run, on their host; the licence,
// in their guest. Other machines are not asked.
func readVirtual(c *caller, d device, mode string) gpu.VGPU {
	// The layout of the answer is that of version 4, which go-nvml calls where it is there.
	const active, licenses = "nvmlDeviceGetActiveVgpus", "nvmlDeviceGetGridLicensableFeatures_v4"
	var v gpu.VGPU
	switch mode {
	case hostMode:
		if running, ok := value(c, active, d.GetActiveVgpus); ok {
			v.Instances = c.within(active, float64(len(running)), 0, maxVGPUs)
		}
	case guestMode:
		if features, ok := value(c, licenses, d.GetGridLicensableFeatures); ok && features.IsGridLicenseSupported != 0 {
			v.Licenses = licensesOf(features)
		}
	}
	return v
}

func licensesOf(features nvml.GridLicensableFeatures) []gpu.License {
	count := min(int(features.LicensableFeaturesCount), len(features.GridLicensableFeatures))
	var licenses []gpu.License
	for _, f := range features.GridLicensableFeatures[:count] {
		name, known := licensedFeatures[f.FeatureCode]
		if !known {
			name = strconv.Itoa(int(f.FeatureCode))
		}
		l := gpu.License{Feature: name, Product: clean(text(f.ProductName[:])), Licensed: f.FeatureState != 0}
		if e := f.LicenseExpiry; e.Status == nvml.GRID_LICENSE_EXPIRY_VALID {
			l.Expires = time.Date(int(e.Year), time.Month(e.Month), int(e.Day), int(e.Hour), int(e.Min), int(e.Sec), 0, time.UTC)
		}
		licenses = append(licenses, l)
	}
	return licenses
}

// text reads a C string of a fixed place.
func text(chars []int8) string {
	bytes := make([]byte, 0, len(chars))
	for _, b := range chars {
		if b == 0 {
			break
		}
		bytes = append(bytes, byte(b))
	}
	return string(bytes)
}
