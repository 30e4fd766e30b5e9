//go:build linux && cgo

package nvml

import (
	"fmt"
	"strconv"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// The states of the fabric's registration, NVML_GPU_FABRIC_STATE_*.
const (
	fabricNotStarted = 1
	fabricInProgress = 2
	fabricCompleted  = 3
)

// fabricStates are our names for them, by their number.
var fabricStates = []string{gpu.FabricNotSupported, gpu.FabricNotStarted, gpu.FabricInProgress, gpu.FabricCompleted}

// fabricHealths are our names for NVML_GPU_FABRIC_HEALTH_SUMMARY_*, by their number; 0 is no answer.
var fabricHealths = []string{"", gpu.FabricHealthy, gpu.FabricUnhealthy, gpu.FabricLimitedCapacity}

// fabricBits are the parts of the health mask, NVML_GPU_FABRIC_HEALTH_MASK_*: two bits each,
// 0 where the driver does not tell. bad is the value that is a problem.
var fabricBits = []struct {
	problem string
	shift   uint
	bad     uint32
}{
	{"degraded_bandwidth", 0, 1},
	{"route_recovery", 2, 1},
	{"route_unhealthy", 4, 1},
	{"access_timeout_recovery", 6, 1},
	{"no_partition", 12, 2},
	{"manager_disconnected", 14, 2},
}

// The part of the health mask that says what is wrong with the configuration.
const configurationShift, configurationMask, configurationRight = 8, 0xf, 1

// fabricInfo is what the three versions of the call have in common.
type fabricInfo struct {
	state   uint8
	status  uint32
	cluster [16]uint8
	clique  uint32
	mask    uint32
	summary uint8
}

// readFabric tells whether the NVSwitch fabric has taken the card in, and how well. On a host
// without one there is nothing to tell.
func readFabric(c *caller, d device) (gpu.Fabric, gpu.Answer, string) {
	got, ok := askFabric(c, d)
	if !ok {
		return gpu.Fabric{}, gpu.AnswerOK, ""
	}
	f := gpu.Fabric{Health: fabricName(c, fabricHealths, got.summary)}
	f.State = fabricName(c, fabricStates, got.state)
	if got.cluster != [16]uint8{} {
		f.Cluster, f.Clique = formatUUID(got.cluster), strconv.FormatUint(uint64(got.clique), 10)
	}
	f.Problems, f.Configuration = fabricProblems(got.mask)
	switch got.state {
	case fabricNotStarted:
		return f, gpu.AnswerFabricIncomplete, "fabric: registration has not started (is the fabric manager running?)"
	case fabricInProgress:
		return f, gpu.AnswerFabricIncomplete, "fabric: registration in progress"
	case fabricCompleted:
		f.Status = gpu.Some(float64(got.status))
		if ret := nvml.Return(got.status); ret != nvml.SUCCESS {
			return f, gpu.AnswerFabricIncomplete, "fabric: registration failed: " + words(ret)
		}
	}
	return f, gpu.AnswerOK, ""
}

func askFabric(c *caller, d device) (fabricInfo, bool) {
	const versions, first = "nvmlDeviceGetGpuFabricInfoV", "nvmlDeviceGetGpuFabricInfo"
	got, ok := keyed(c, versions, versions+"(3)", func() (fabricInfo, nvml.Return) {
		v, ret := d.GetGpuFabricInfoV().V3()
		return fabricInfo{v.State, v.Status, v.ClusterUuid, v.CliqueId, v.HealthMask, v.HealthSummary}, ret
	})
	if !ok {
		got, ok = keyed(c, versions, versions+"(2)", func() (fabricInfo, nvml.Return) {
			v, ret := d.GetGpuFabricInfoV().V2()
			return fabricInfo{v.State, v.Status, v.ClusterUuid, v.CliqueId, v.HealthMask, 0}, ret
		})
	}
	if !ok {
		got, ok = value(c, first, func() (fabricInfo, nvml.Return) {
			v, ret := d.GetGpuFabricInfo()
			return fabricInfo{v.State, v.Status, v.ClusterUuid, v.CliqueId, 0, 0}, ret
		})
	}
	return got, ok
}

func fabricName(c *caller, names []string, v uint8) string {
	if int(v) < len(names) {
		return names[v]
	}
	c.drop("nvmlDeviceGetGpuFabricInfoV")
	return ""
}

// fabricProblems takes the health mask apart.
func fabricProblems(mask uint32) (map[string]bool, gpu.Maybe[float64]) {
	problems := map[string]bool{}
	for _, b := range fabricBits {
		if v := mask >> b.shift & 3; v != 0 {
			problems[b.problem] = v == b.bad
		}
	}
	configuration := gpu.Maybe[float64]{}
	if v := mask >> configurationShift & configurationMask; v != 0 {
		problems["incorrect_configuration"] = v != configurationRight
		configuration = gpu.Some(float64(v))
	}
	return problems, configuration
}

func formatUUID(u [16]uint8) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
