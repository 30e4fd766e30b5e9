//go:build linux && cgo

package nvml

import (
	"strconv"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// health is the slow tier: errors and links, and what the fabric says until the next time.
type health struct {
	readings gpu.Readings
	answer   gpu.Answer
	reason   string
}

func readHealth(c *caller, d device, id gpu.Identity, f fixed) health {
	h := health{answer: gpu.AnswerOK}
	r := &h.readings
	if id.ECCMode == "enabled" {
		r.ECCErrors = readECC(c, d)
	}
	readRows(c, d, r)
	r.PCIeGeneration = number(c, "nvmlDeviceGetCurrPcieLinkGeneration", d.GetCurrPcieLinkGeneration, 1, 16, 1)
	r.PCIeWidth = number(c, "nvmlDeviceGetCurrPcieLinkWidth", d.GetCurrPcieLinkWidth, 1, 64, 1)
	r.PCIeGenerationMax, r.PCIeWidthMax = f.pcieGenerationMax, f.pcieWidthMax
	r.PCIeReplaysTotal = number(c, "nvmlDeviceGetPcieReplayCounter", d.GetPcieReplayCounter, 0, maxUint32-1, 1)
	readLinks(c, d, f, r)
	if mode, ok := value(c, "nvmlDeviceGetPersistenceMode", d.GetPersistenceMode); ok {
		r.Persistence = gpu.Some(mode == nvml.FEATURE_ENABLED)
	}
	h.answer, h.reason = readFabric(c, d)
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

// readRows reads retired pages (before Ampere) and remapped rows (since).
func readRows(c *caller, d device, r *gpu.Readings) {
	found := readFields(c, d, []uint32{
		nvml.FI_DEV_RETIRED_SBE, nvml.FI_DEV_RETIRED_DBE, nvml.FI_DEV_RETIRED_PENDING,
		nvml.FI_DEV_REMAPPED_COR, nvml.FI_DEV_REMAPPED_UNC, nvml.FI_DEV_REMAPPED_PENDING, nvml.FI_DEV_REMAPPED_FAILURE,
	})
	count := func(id uint32) gpu.Maybe[float64] { return reading(c, found, id, 0, 1e6, 1) }
	flag := func(id uint32) gpu.Maybe[bool] {
		v, ok := reading(c, found, id, 0, 1, 1).Get()
		if !ok {
			return gpu.Maybe[bool]{}
		}
		return gpu.Some(v == 1)
	}
	r.RetiredPages = map[string]float64{}
	put(r.RetiredPages, "single_bit", count(nvml.FI_DEV_RETIRED_SBE))
	put(r.RetiredPages, "double_bit", count(nvml.FI_DEV_RETIRED_DBE))
	r.RetiredPagesPending = flag(nvml.FI_DEV_RETIRED_PENDING)
	r.RemappedRows = map[string]float64{}
	if _, answered := found[nvml.FI_DEV_REMAPPED_COR]; answered {
		put(r.RemappedRows, "correctable", count(nvml.FI_DEV_REMAPPED_COR))
		put(r.RemappedRows, "uncorrectable", count(nvml.FI_DEV_REMAPPED_UNC))
		r.RemapPending, r.RemapFailure = flag(nvml.FI_DEV_REMAPPED_PENDING), flag(nvml.FI_DEV_REMAPPED_FAILURE)
		return
	}
	type rows struct {
		correctable, uncorrectable int
		pending, failure           bool
	}
	const call = "nvmlDeviceGetRemappedRows"
	if n, ok := value(c, call, func() (n rows, ret nvml.Return) {
		n.correctable, n.uncorrectable, n.pending, n.failure, ret = d.GetRemappedRows()
		return n, ret
	}); ok {
		put(r.RemappedRows, "correctable", c.within(call, float64(n.correctable), 0, 1e6))
		put(r.RemappedRows, "uncorrectable", c.within(call, float64(n.uncorrectable), 0, 1e6))
		r.RemapPending, r.RemapFailure = gpu.Some(n.pending), gpu.Some(n.failure)
	}
}

// linkErrors are the NVLink error counters: the card's totals, and the same by link.
var linkErrors = []struct {
	name    string
	field   uint32
	counter nvml.NvLinkErrorCounter
}{
	{"crc_flit", nvml.FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL, nvml.NVLINK_ERROR_DL_CRC_FLIT},
	{"crc_data", nvml.FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL, nvml.NVLINK_ERROR_DL_CRC_DATA},
	{"replay", nvml.FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL, nvml.NVLINK_ERROR_DL_REPLAY},
	{"recovery", nvml.FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL, nvml.NVLINK_ERROR_DL_RECOVERY},
}

func readLinks(c *caller, d device, f fixed, r *gpu.Readings) {
	links, counted := f.fields.links.Get()
	if !counted {
		links = nvml.NVLINK_MAX_LINKS // ask until the card says that there is no such link
	}
	up, there := 0, 0
	for link := range int(links) {
		const call = "nvmlDeviceGetNvLinkState"
		key := call + "(" + strconv.Itoa(link) + ")"
		state, ok := keyed(c, call, key, with(d.GetNvLinkState, link))
		if !ok && !counted && c.unsupported[key] {
			break
		}
		if !ok {
			continue
		}
		there++
		if state == nvml.FEATURE_ENABLED {
			up++
		}
	}
	if there == 0 {
		return
	}
	expected := float64(there)
	if counted {
		expected = links
	}
	r.NVLinkActive, r.NVLinkExpected = gpu.Some(float64(up)), gpu.Some(expected)
	r.NVLinkErrors = map[string]float64{}
	totals := make([]uint32, len(linkErrors))
	for i, e := range linkErrors {
		totals[i] = e.field
	}
	found := readFields(c, d, totals)
	for _, e := range linkErrors {
		if _, answered := found[e.field]; answered {
			put(r.NVLinkErrors, e.name, reading(c, found, e.field, 0, maxCount, 1))
			continue
		}
		put(r.NVLinkErrors, e.name, sumOfLinks(c, d, e.name, e.counter, there))
	}
}

// sumOfLinks adds a counter of all links; if one link does not tell, there is no sum.
func sumOfLinks(c *caller, d device, name string, counter nvml.NvLinkErrorCounter, links int) gpu.Maybe[float64] {
	const call = "nvmlDeviceGetNvLinkErrorCounter"
	sum := 0.0
	for link := range links {
		count := keyedNumber(c, call, call+"("+name+")", func() (uint64, nvml.Return) {
			return d.GetNvLinkErrorCounter(link, counter)
		}, 0, maxCount, 1)
		n, ok := count.Get()
		if !ok {
			return gpu.Maybe[float64]{}
		}
		sum += n
	}
	return gpu.Some(sum)
}

// The states of the fabric's registration, NVML_GPU_FABRIC_STATE_*.
const (
	fabricNotStarted = 1
	fabricInProgress = 2
	fabricCompleted  = 3
)

// readFabric tells whether the NVSwitch fabric has taken the card in. On a host without one
// there is nothing to tell.
func readFabric(c *caller, d device) (gpu.Answer, string) {
	const versions, first = "nvmlDeviceGetGpuFabricInfoV", "nvmlDeviceGetGpuFabricInfo"
	type info struct {
		state  uint8
		status uint32
	}
	got, ok := keyed(c, versions, versions+"(3)", func() (info, nvml.Return) {
		v, ret := d.GetGpuFabricInfoV().V3()
		return info{v.State, v.Status}, ret
	})
	if !ok {
		got, ok = keyed(c, versions, versions+"(2)", func() (info, nvml.Return) {
			v, ret := d.GetGpuFabricInfoV().V2()
			return info{v.State, v.Status}, ret
		})
	}
	if !ok {
		got, ok = value(c, first, func() (info, nvml.Return) {
			v, ret := d.GetGpuFabricInfo()
			return info{v.State, v.Status}, ret
		})
	}
	if !ok {
		return gpu.AnswerOK, ""
	}
	switch got.state {
	case fabricNotStarted:
		return gpu.AnswerFabricIncomplete, "fabric: registration has not started (is the fabric manager running?)"
	case fabricInProgress:
		return gpu.AnswerFabricIncomplete, "fabric: registration in progress"
	case fabricCompleted:
		if ret := nvml.Return(got.status); ret != nvml.SUCCESS {
			return gpu.AnswerFabricIncomplete, "fabric: registration failed: " + words(ret)
		}
	}
	return gpu.AnswerOK, ""
}

func formatCount(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
