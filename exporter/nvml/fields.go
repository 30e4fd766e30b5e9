//go:build linux && cgo

package nvml

import (
	"encoding/binary"
	"maps"
	"math"
	"strconv"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

const fieldsCall = "nvmlDeviceGetFieldValues"

// fieldKeys name each field among the calls; made once, for they are looked up at every reading.
var fieldKeys = func() (keys [nvml.FI_MAX]string) {
	for id := range keys {
		keys[id] = fieldsCall + "(" + strconv.Itoa(id) + ")"
	}
	return keys
}()

func fieldKey(id uint32) string { return fieldKeys[id] }

// fieldValue is one field's answer.
type fieldValue struct {
	v    float64
	wide bool // a 64-bit unsigned number, as all time counters are
}

// readFields asks for several fields in one call. Those that the card does not answer are
// left out from then on. A driver may refuse the whole call for one id that came after its
// time: then each is asked for by itself, once.
func readFields(c *caller, d device, ids []uint32) map[uint32]fieldValue {
	values := make([]nvml.FieldValue, 0, len(ids))
	for _, id := range ids {
		if !c.unsupported[fieldKey(id)] {
			values = append(values, nvml.FieldValue{FieldId: id})
		}
	}
	if len(values) == 0 {
		return nil
	}
	var ret nvml.Return
	ok := c.ask(fieldsCall, fieldsCall, func() nvml.Return {
		ret = d.GetFieldValues(values)
		return ret
	})
	switch {
	case ok:
		return sortFields(c, values)
	case ret != nvml.ERROR_INVALID_ARGUMENT:
		return nil
	}
	delete(c.unsupported, fieldsCall)
	if len(values) == 1 {
		c.unsupported[fieldKey(values[0].FieldId)] = true
		return nil
	}
	found := map[uint32]fieldValue{}
	for _, value := range values {
		maps.Copy(found, readFields(c, d, []uint32{value.FieldId}))
	}
	return found
}

// sortFields judges each field's own return code.
func sortFields(c *caller, values []nvml.FieldValue) map[uint32]fieldValue {
	found := make(map[uint32]fieldValue, len(values))
	for _, value := range values {
		key, ret := fieldKey(value.FieldId), nvml.Return(value.NvmlReturn)
		switch judge(ret) {
		case fine:
			if v, ok := decode(value); ok {
				found[value.FieldId] = v
			} else {
				c.drop(key)
			}
		case unsupported:
			c.unsupported[key] = true
		case cardFails, driverFails:
			c.note(answerOf(ret), says(key, ret))
		case refused:
			c.drop(key)
		}
	}
	return found
}

// decode reads the union by its type.
func decode(f nvml.FieldValue) (fieldValue, bool) {
	raw := binary.NativeEndian.Uint64(f.Value[:])
	low := binary.NativeEndian.Uint32(f.Value[:4])
	switch nvml.ValueType(f.ValueType) {
	case nvml.VALUE_TYPE_DOUBLE:
		return fieldValue{v: math.Float64frombits(raw)}, true
	case nvml.VALUE_TYPE_UNSIGNED_INT:
		return fieldValue{v: float64(low)}, true
	case nvml.VALUE_TYPE_UNSIGNED_LONG, nvml.VALUE_TYPE_UNSIGNED_LONG_LONG:
		return fieldValue{v: float64(raw), wide: true}, true
	case nvml.VALUE_TYPE_SIGNED_LONG_LONG:
		return fieldValue{v: float64(int64(raw))}, true
	case nvml.VALUE_TYPE_SIGNED_INT:
		return fieldValue{v: float64(int32(low))}, true
	case nvml.VALUE_TYPE_UNSIGNED_SHORT:
		return fieldValue{v: float64(binary.NativeEndian.Uint16(f.Value[:2]))}, true
	}
	return fieldValue{}, false
}

// reading returns a field's number if it lies in its possible range.
func reading(c *caller, found map[uint32]fieldValue, id uint32, low, high, scale float64) gpu.Maybe[float64] {
	f, ok := found[id]
	if !ok {
		return gpu.Maybe[float64]{}
	}
	return scaled(c.within(fieldKey(id), f.v, low, high), scale)
}

// policyFields are the counters of time under each limit, in nanoseconds, by our reason. They
// have had these ids since Pascal; NVML_PERF_POLICY of the same meaning is the way without them.
var policyFields = []struct {
	reason string
	id     uint32
	policy nvml.PerfPolicyType
}{
	{"sw_power_cap", nvml.FI_DEV_PERF_POLICY_POWER, nvml.PERF_POLICY_POWER},
	{"thermal", nvml.FI_DEV_PERF_POLICY_THERMAL, nvml.PERF_POLICY_THERMAL},
	{"sync_boost", nvml.FI_DEV_PERF_POLICY_SYNC_BOOST, nvml.PERF_POLICY_SYNC_BOOST},
	{"board_limit", nvml.FI_DEV_PERF_POLICY_BOARD_LIMIT, nvml.PERF_POLICY_BOARD_LIMIT},
	{"reliability", nvml.FI_DEV_PERF_POLICY_RELIABILITY, nvml.PERF_POLICY_RELIABILITY},
}

// slowdownReasons are what the three slowdown counters mean, in the order of their ids.
var slowdownReasons = [3]string{"sw_thermal", "hw_thermal", "hw_power_brake"}

// slowdownIDs lists where the three slowdown counters may be: their ids of the 13.0 header,
// then those of 12.x drivers, which newer ones gave to power smoothing (its answers are 0, 1
// and small levels of 32 bits, never 64-bit counters).
var slowdownIDs = [][3]uint32{{269, 270, 271}, {251, 252, 253}}

// fieldPlan is which fields a card answers: asked once, with the identity.
type fieldPlan struct {
	moving   []uint32
	slowdown gpu.Maybe[[3]uint32]
	links    gpu.Maybe[float64]
}

// planFields finds out which of the fields answer, and which ids the slowdown counters have.
func planFields(c *caller, d device) fieldPlan {
	plan := fieldPlan{moving: []uint32{nvml.FI_DEV_MEMORY_TEMP, nvml.FI_DEV_TOTAL_ENERGY_CONSUMPTION, nvml.FI_DEV_GET_GPU_RECOVERY_ACTION}}
	for _, p := range policyFields {
		plan.moving = append(plan.moving, p.id)
	}
	plan.links = reading(c, readFields(c, d, []uint32{nvml.FI_DEV_NVLINK_LINK_COUNT}), nvml.FI_DEV_NVLINK_LINK_COUNT, 0, nvml.NVLINK_MAX_LINKS, 1)
	for _, ids := range slowdownIDs {
		if answersAsCounters(readFields(c, d, ids[:]), ids) {
			plan.slowdown = gpu.Some(ids)
			plan.moving = append(plan.moving, ids[:]...)
			break
		}
	}
	return plan
}

func answersAsCounters(found map[uint32]fieldValue, ids [3]uint32) bool {
	for _, id := range ids {
		if f, ok := found[id]; !ok || !f.wide || f.v > maxNanoseconds {
			return false
		}
	}
	return true
}
