//go:build linux && cgo

package nvml

import (
	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

func throttleTimes(r *gpu.Readings) map[string]float64 { return r.ThrottleSecondsTotal }

// policies are the counters of time under each limit, in nanoseconds, by our reason. They have
// had these ids since Pascal; the violation of the same policy is the way without them.
var policies = []struct {
	reason string
	id     uint32
	policy nvml.PerfPolicyType
	key    string // of the violation among the calls
}{
	{"sw_power_cap", nvml.FI_DEV_PERF_POLICY_POWER, nvml.PERF_POLICY_POWER, violationCall + "(sw_power_cap)"},
	{"thermal", nvml.FI_DEV_PERF_POLICY_THERMAL, nvml.PERF_POLICY_THERMAL, violationCall + "(thermal)"},
	{"sync_boost", nvml.FI_DEV_PERF_POLICY_SYNC_BOOST, nvml.PERF_POLICY_SYNC_BOOST, violationCall + "(sync_boost)"},
	{"board_limit", nvml.FI_DEV_PERF_POLICY_BOARD_LIMIT, nvml.PERF_POLICY_BOARD_LIMIT, violationCall + "(board_limit)"},
	{"reliability", nvml.FI_DEV_PERF_POLICY_RELIABILITY, nvml.PERF_POLICY_RELIABILITY, violationCall + "(reliability)"},
}

const violationCall = "nvmlDeviceGetViolationStatus"

// slowdownReasons are what the three slowdown counters mean, in the order of their ids.
var slowdownReasons = [3]string{"sw_thermal", "hw_thermal", "hw_power_brake"}

// slowdownIDs lists where the three slowdown counters may be: their ids of the 13.0 header,
// then those of 12.x drivers, which newer ones gave to power smoothing (its answers are 0, 1
// and small levels of 32 bits, never 64-bit counters).
var slowdownIDs = [][3]uint32{{269, 270, 271}, {251, 252, 253}}

// planSlowdown finds out which ids the slowdown counters have, and returns their fields.
func planSlowdown(c *caller, d device) []field {
	for _, ids := range slowdownIDs {
		if !answersAsCounters(probe(c, d, scopeGPU, ids[:]...), ids) {
			continue
		}
		fields := make([]field, len(ids))
		for i, id := range ids {
			fields[i] = throttleField(id, slowdownReasons[i])
		}
		return fields
	}
	return nil
}

func answersAsCounters(found map[uint32]fieldValue, ids [3]uint32) bool {
	for _, id := range ids {
		if f, ok := found[id]; !ok || !f.wide || f.v > maxNanoseconds {
			return false
		}
	}
	return true
}

// policyFields are the policies' counters. Where the slowdown counters tell software from
// hardware, the combined one is left out.
func policyFields(split bool) []field {
	var fields []field
	for _, p := range policies {
		if !split || p.reason != "thermal" {
			fields = append(fields, throttleField(p.id, p.reason))
		}
	}
	return fields
}

func throttleField(id uint32, reason string) field {
	return field{id: id, high: maxNanoseconds, scale: 1e-9, put: into(throttleTimes, reason)}
}

// readViolations reads the policies that no field tells.
func readViolations(c *caller, d device, f *fixed, r *gpu.Readings) {
	for _, p := range policies {
		if f.moving.asks(p.id) || p.reason == "thermal" && f.split {
			continue
		}
		put(r.ThrottleSecondsTotal, p.reason, keyedNumber(c, violationCall, p.key, func() (uint64, nvml.Return) {
			violation, ret := d.GetViolationStatus(p.policy)
			return violation.ViolationTime, ret
		}, 0, maxNanoseconds, 1e-9))
	}
}

// throttleBits are the bits of the clocks event reasons, by our names.
var throttleBits = map[string]uint64{
	"gpu_idle": 0x1, "applications_clocks": 0x2, "sw_power_cap": 0x4, "hw_slowdown": 0x8, "sync_boost": 0x10,
	"sw_thermal": 0x20, "hw_thermal": 0x40, "hw_power_brake": 0x80, "display_clock": 0x100,
}

func readThrottle(c *caller, d device, r *gpu.Readings) {
	reasons, ok := value(c, "nvmlDeviceGetCurrentClocksEventReasons", d.GetCurrentClocksEventReasons)
	if !ok { // its name until driver 535
		reasons, ok = value(c, "nvmlDeviceGetCurrentClocksThrottleReasons", d.GetCurrentClocksThrottleReasons)
	}
	if ok {
		r.ThrottleActive = reasonsOf(reasons)
	}
}
