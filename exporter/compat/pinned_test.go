package compat

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// Why a field of dcgm-exporter's lists has no alias.
const (
	idle    = "the GPU has nothing to do: the bit gpu_idle of the clock event reasons says it"
	perLink = "one link of many: DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL has all, gpu_nvlink_link_up and its neighbours each"
	label   = "a label of that program, off by default: gpu_info, gpu_hardware_info and gpu_driver_info carry it"
)

// pinned are the fields of dcgm-exporter's two lists, in effect or commented out there, and "" or the
// reason why there is none of ours. Facts as of 30 November 2026, from the repository
// NVIDIA/dcgm-exporter: etc/default-counters.csv at 00d6d344ea4a and etc/dcp-metrics-included.csv at
// 084a245dc715.
var pinned = map[string]string{
	"DCGM_FI_DEV_SM_CLOCK": "", "DCGM_FI_DEV_MEM_CLOCK": "", "DCGM_FI_DEV_MEMORY_TEMP": "", "DCGM_FI_DEV_GPU_TEMP": "", "DCGM_FI_DEV_POWER_USAGE": "",
	"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": "", "DCGM_FI_DEV_PCIE_TX_THROUGHPUT": "", "DCGM_FI_DEV_PCIE_RX_THROUGHPUT": "",
	"DCGM_FI_DEV_PCIE_REPLAY_COUNTER": "", "DCGM_FI_DEV_GPU_UTIL": "", "DCGM_FI_DEV_MEM_COPY_UTIL": "", "DCGM_FI_DEV_ENC_UTIL": "",
	"DCGM_FI_DEV_DEC_UTIL": "", "DCGM_FI_DEV_XID_ERRORS": "", "DCGM_FI_DEV_POWER_VIOLATION": "", "DCGM_FI_DEV_THERMAL_VIOLATION": "",
	"DCGM_FI_DEV_SYNC_BOOST_VIOLATION": "", "DCGM_FI_DEV_BOARD_LIMIT_VIOLATION": "", "DCGM_FI_DEV_LOW_UTIL_VIOLATION": idle,
	"DCGM_FI_DEV_RELIABILITY_VIOLATION": "", "DCGM_FI_DEV_FB_FREE": "", "DCGM_FI_DEV_FB_USED": "", "DCGM_FI_DEV_FB_RESERVED": "",
	"DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": "", "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": "", "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL": "",
	"DCGM_FI_DEV_ECC_DBE_AGG_TOTAL": "", "DCGM_FI_DEV_RETIRED_SBE": "", "DCGM_FI_DEV_RETIRED_DBE": "", "DCGM_FI_DEV_RETIRED_PENDING": "",
	"DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL": "", "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL": "",
	"DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL": "", "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL": "",
	"DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL": "", "DCGM_FI_DEV_NVLINK_BANDWIDTH_L0": perLink, "DCGM_FI_DEV_VGPU_LICENSE_STATUS": "",
	"DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": "", "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS": "", "DCGM_FI_DEV_ROW_REMAP_FAILURE": "",
	"DCGM_FI_NVML_VERSION": label, "DCGM_FI_DEV_BRAND": label, "DCGM_FI_DEV_SERIAL": label, "DCGM_FI_DEV_OEM_INFOROM_VER": label,
	"DCGM_FI_DEV_ECC_INFOROM_VER": label, "DCGM_FI_DEV_POWER_INFOROM_VER": label, "DCGM_FI_DEV_INFOROM_IMAGE_VER": label,
	"DCGM_FI_DEV_VBIOS_VERSION": label, "DCGM_FI_PROF_GR_ENGINE_ACTIVE": "", "DCGM_FI_PROF_SM_ACTIVE": "", "DCGM_FI_PROF_SM_OCCUPANCY": "",
	"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": "", "DCGM_FI_PROF_DRAM_ACTIVE": "", "DCGM_FI_PROF_PIPE_FP64_ACTIVE": "", "DCGM_FI_PROF_PIPE_FP32_ACTIVE": "",
	"DCGM_FI_PROF_PIPE_FP16_ACTIVE": "", "DCGM_FI_PROF_PCIE_TX_BYTES": "", "DCGM_FI_PROF_PCIE_RX_BYTES": "",
}

func TestEveryFieldOfDCGMExportersListsIsGivenOrSaysWhyNot(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "dcgm.md"))
	if err != nil {
		t.Fatal(err)
	}
	given := map[string]bool{}
	for _, a := range DCGM() {
		given[a.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(pinned)) {
		switch reason := pinned[name]; {
		case reason == "" && !given[name]:
			t.Errorf("%s is missing, and nothing says why", name)
		case reason != "" && given[name]:
			t.Errorf("%s is given, and the list says why it is not: %s", name, reason)
		case reason != "" && !strings.Contains(string(text), "`"+strings.TrimPrefix(name, "DCGM_FI_")+"`"):
			t.Errorf("docs/dcgm.md does not name %s among what is left out", name)
		}
	}
}

func TestThePodThatHoldsACardIsNamedAsDCGMExporterDoes(t *testing.T) {
	holder := func(pod string) gpu.Holder {
		return gpu.Holder{Workload: gpu.Workload{Runtime: "kubernetes", Namespace: "team-a", Pod: pod, Container: "main"}, Parts: 1, Share: 1}
	}
	for name, test := range map[string]struct {
		holders []gpu.Holder
		want    string
	}{
		"nobody holds it":       {nil, ""},
		"one pod holds it":      {[]gpu.Holder{holder("trainer-0")}, "main team-a trainer-0"},
		"two pods share it":     {[]gpu.Holder{holder("trainer-0"), holder("trainer-1")}, ""},
		"what holds it, no pod": {[]gpu.Holder{{Workload: gpu.Workload{Runtime: "slurm", SlurmJob: "12"}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			whole, cut := card(), card()
			whole.Allocation.Holders = test.holders
			cut.Identity.UUID, cut.Identity.Index = "GPU-4", 4
			part := gpu.Instance{UUID: "MIG-1", GPUInstance: 2, Profile: "3g.40gb", Readings: gpu.InstanceReadings{MemoryUsedBytes: gpu.Some[float64](1)}}
			part.Allocation.Holders = test.holders
			cut.Instances = []gpu.Instance{part}
			seen := map[string]int{}
			for _, f := range maker(t).Families(&gpu.Snapshot{GPUs: []gpu.GPU{whole, cut}}) {
				for _, metric := range f.Metric {
					labels := map[string]string{}
					for _, p := range metric.Label {
						labels[p.GetName()] = p.GetValue()
					}
					if !slices.IsSorted(slices.Collect(func(yield func(string) bool) {
						for _, p := range metric.Label {
							if !yield(p.GetName()) {
								return
							}
						}
					})) {
						t.Fatalf("labels %v are not sorted", metric.Label)
					}
					_, named := labels["pod"]
					if named != (labels["pod"] != "") {
						t.Errorf("an empty pod is named: %v", labels)
					}
					seen[strings.TrimSpace(strings.Join([]string{labels["container"], labels["namespace"], labels["pod"]}, " "))+"|"+labels["GPU_I_ID"]+"|"+labels["gpu"]]++
				}
			}
			for _, series := range []string{test.want + "||3", test.want + "|2|4", "||4"} {
				if seen[series] == 0 {
					t.Errorf("no series of %q: %v", series, seen)
				}
			}
			if len(seen) != 3 {
				t.Errorf("series of %v, want those of the card, of the MIG device and of its card", seen)
			}
		})
	}
}
