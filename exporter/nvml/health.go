//go:build linux && cgo

package nvml

import (
	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// health is the slow tier: errors and links, and what the fabric says until the next time.
type health struct {
	readings gpu.Readings
	answer   gpu.Answer
	reason   string
}

func readHealth(c *caller, d device, id gpu.Identity, f *fixed) health {
	h := health{answer: gpu.AnswerOK}
	r := &h.readings
	if id.ECCMode == "enabled" {
		r.ECCErrors = readECC(c, d)
		r.SRAM = readSRAM(c, d)
	}
	readRows(c, d, f, r)
	readRepair(c, d, r)
	readPCIe(c, d, f, r)
	readLinks(c, d, f, r)
	readModes(c, d, r)
	r.Video = readVideo(c, d)
	r.VGPU = readVirtual(c, d, r.Modes.Virtualization)
	const bar1 = "nvmlDeviceGetBAR1MemoryInfo"
	if m, ok := value(c, bar1, d.GetBAR1MemoryInfo); ok {
		r.BAR1 = gpu.BAR1{
			TotalBytes: c.within(bar1, float64(m.Bar1Total), 1, maxMemoryBytes),
			UsedBytes:  c.within(bar1, float64(m.Bar1Used), 0, float64(m.Bar1Total)),
			FreeBytes:  c.within(bar1, float64(m.Bar1Free), 0, float64(m.Bar1Total)),
		}
	}
	r.Module.PowerLimits = map[string]float64{}
	f.module.read(c, d, r)
	r.ClockApplicationHertz = readClockSet(c, "nvmlDeviceGetApplicationsClock", d.GetApplicationsClock)
	r.Fabric, h.answer, h.reason = readFabric(c, d)
	return h
}

const maxUint32 = 1<<32 - 1

var (
	eccTypes     = map[string]nvml.MemoryErrorType{"corrected": nvml.MEMORY_ERROR_TYPE_CORRECTED, "uncorrected": nvml.MEMORY_ERROR_TYPE_UNCORRECTED}
	eccCounters  = map[string]nvml.EccCounterType{"volatile": nvml.VOLATILE_ECC, "aggregate": nvml.AGGREGATE_ECC}
	eccLocations = map[string]nvml.MemoryLocation{
		"l1": nvml.MEMORY_LOCATION_L1_CACHE, "l2": nvml.MEMORY_LOCATION_L2_CACHE, "dram": nvml.MEMORY_LOCATION_DRAM,
		"register_file": nvml.MEMORY_LOCATION_REGISTER_FILE, "texture": nvml.MEMORY_LOCATION_TEXTURE_MEMORY,
		"shared": nvml.MEMORY_LOCATION_TEXTURE_SHM, "cbu": nvml.MEMORY_LOCATION_CBU, "sram": nvml.MEMORY_LOCATION_SRAM,
	}
)

func readECC(c *caller, d device) map[gpu.ECCKey]float64 {
	errors := map[gpu.ECCKey]float64{}
	for typeName, kind := range eccTypes {
		for counterName, counter := range eccCounters {
			suffix := "(" + typeName + "," + counterName + ")"
			total := func() (uint64, nvml.Return) { return d.GetTotalEccErrors(kind, counter) }
			const totals, places = "nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetMemoryErrorCounter"
			if n, ok := keyedNumber(c, totals, totals+suffix, total, 0, maxCount, 1).Get(); ok {
				errors[gpu.ECCKey{Type: typeName, Counter: counterName, Location: "total"}] = n
			}
			for locationName, location := range eccLocations {
				place := func() (uint64, nvml.Return) { return d.GetMemoryErrorCounter(kind, counter, location) }
				// Which places a card has is the same for all kinds but one (CBU has no corrected
				// errors), so that each key has its kind.
				key := places + "(" + typeName + "," + counterName + "," + locationName + ")"
				if n, ok := keyedNumber(c, places, key, place, 0, maxCount, 1).Get(); ok {
					errors[gpu.ECCKey{Type: typeName, Counter: counterName, Location: locationName}] = n
				}
			}
		}
	}
	return errors
}

// pcieFields are the error counters of PCIe, by our type.
var pcieFields = []field{
	pcieError(nvml.FI_DEV_PCIE_COUNT_CORRECTABLE_ERRORS, "correctable"),
	pcieError(nvml.FI_DEV_PCIE_COUNT_NON_FATAL_ERROR, "non_fatal"),
	pcieError(nvml.FI_DEV_PCIE_COUNT_FATAL_ERROR, "fatal"),
	pcieError(nvml.FI_DEV_PCIE_COUNT_UNSUPPORTED_REQ, "unsupported_request"),
	pcieError(nvml.FI_DEV_PCIE_COUNT_RECEIVER_ERROR, "receiver"),
	pcieError(nvml.FI_DEV_PCIE_COUNT_BAD_TLP, "bad_tlp"),
	pcieError(nvml.FI_DEV_PCIE_COUNT_BAD_DLLP, "bad_dllp"),
	pcieError(nvml.FI_DEV_PCIE_COUNT_LCRC_ERROR, "lcrc"),
	pcieError(nvml.FI_DEV_PCIE_COUNT_LANE_ERROR, "lane"),
	pcieError(nvml.FI_DEV_PCIE_COUNT_NAKS_RECEIVED, "nak_received"),
	pcieError(nvml.FI_DEV_PCIE_COUNT_NAKS_SENT, "nak_sent"),
	pcieError(nvml.FI_DEV_PCIE_L0_TO_RECOVERY_COUNTER, "recovery"),
	pcieError(nvml.FI_DEV_PCIE_REPLAY_ROLLOVER_COUNTER, "replay_rollover"),
}

func pcieError(id uint32, kind string) field {
	// Some of these are counters of 32 bits, whose last value is "not available".
	return field{id: id, high: maxUint32 - 1, scale: 1, put: into(func(r *gpu.Readings) map[string]float64 { return r.PCIeErrors }, kind)}
}

func readPCIe(c *caller, d device, f *fixed, r *gpu.Readings) {
	r.PCIeGeneration = number(c, "nvmlDeviceGetCurrPcieLinkGeneration", d.GetCurrPcieLinkGeneration, 1, 16, 1)
	r.PCIeWidth = number(c, "nvmlDeviceGetCurrPcieLinkWidth", d.GetCurrPcieLinkWidth, 1, 64, 1)
	r.PCIeGenerationMax, r.PCIeWidthMax = f.pcieGenerationMax, f.pcieWidthMax
	r.PCIeReplaysTotal = number(c, "nvmlDeviceGetPcieReplayCounter", d.GetPcieReplayCounter, 0, maxUint32-1, 1)
	r.PCIeErrors = map[string]float64{}
	f.pcie.read(c, d, r)
}

// moduleFields are the power limits of a module of CPU and GPU.
var moduleFields = []field{
	moduleLimit(nvml.FI_DEV_POWER_CURRENT_LIMIT, "enforced"),
	moduleLimit(nvml.FI_DEV_POWER_REQUESTED_LIMIT, "requested"),
	moduleLimit(nvml.FI_DEV_POWER_DEFAULT_LIMIT, "default"),
	moduleLimit(nvml.FI_DEV_POWER_MIN_LIMIT, "min"),
	moduleLimit(nvml.FI_DEV_POWER_MAX_LIMIT, "max"),
}

func moduleLimit(id uint32, name string) field {
	return field{id: id, scope: scopeModule, low: 1, high: maxMilliwatts, scale: 1e-3,
		put: into(func(r *gpu.Readings) map[string]float64 { return r.Module.PowerLimits }, name)}
}
