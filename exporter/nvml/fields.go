//go:build linux && cgo

package nvml

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

const fieldsCall = "nvmlDeviceGetFieldValues"

// Scopes of power fields, and the scope of a link field that means all links.
const (
	scopeGPU    = 0
	scopeModule = 1
	scopeAll    = math.MaxUint32
)

// field is one field of a batch: what it may be, and where its value goes.
type field struct {
	id, scope uint32
	// key names the field among the calls; batchOf fills it in where it is empty.
	key              string
	low, high, scale float64
	// counts marks a counter that moves fast: one of 32 bits would wrap between two readings,
	// so it is not taken.
	counts bool
	put    func(r *gpu.Readings, v float64)
}

// batch asks for several fields in one call, as long as the card answers them. It is made
// with the identity, when all is to be asked anew.
type batch struct {
	fields []field
	values []nvml.FieldValue // used again for each call
}

// batchOf returns a batch of the fields, which it copies.
func batchOf(lists ...[]field) *batch {
	b := &batch{}
	for _, list := range lists {
		b.fields = append(b.fields, list...)
	}
	for i := range b.fields {
		if f := &b.fields[i]; f.key == "" {
			f.key = fieldKey(f.id, f.scope)
		}
	}
	b.values = make([]nvml.FieldValue, len(b.fields))
	return b
}

// fieldKey names a field among the calls.
func fieldKey(id, scope uint32) string {
	key := fieldsCall + "(" + strconv.Itoa(int(id))
	if scope != scopeGPU && scope != scopeAll {
		key += ",scope " + strconv.Itoa(int(scope))
	}
	return key + ")"
}

// asks tells whether a field is still in the batch: the card has not refused it so far.
func (b *batch) asks(id uint32) bool {
	for i := range b.fields {
		if b.fields[i].id == id {
			return true
		}
	}
	return false
}

// read asks for the fields and puts those that are answered sanely into r. What the card does
// not support leaves the batch.
func (b *batch) read(c *caller, d device, r *gpu.Readings) {
	values := b.values[:len(b.fields)]
	if len(values) == 0 {
		return
	}
	for i := range b.fields {
		values[i] = unanswered(b.fields[i].id, b.fields[i].scope)
	}
	if !askFields(c, d, values) {
		if c.unsupported[fieldsCall] {
			b.fields = nil
		}
		return
	}
	kept := 0
	for i := range b.fields {
		if b.fields[i].take(c, values[i], r) {
			b.fields[kept] = b.fields[i]
			kept++
		}
	}
	b.fields = b.fields[:kept]
}

// take judges a field's own return code and its value. It is false where the card does not
// support the field.
func (f *field) take(c *caller, value nvml.FieldValue, r *gpu.Readings) bool {
	v, verdict := judgeField(c, f.key, value)
	switch {
	case verdict == unsupported || verdict == fine && f.counts && !v.wide:
		c.unsupported[f.key] = true
		return false
	case verdict == fine:
		if n, ok := c.within(f.key, v.v, f.low, f.high).Get(); ok {
			f.put(r, n*f.scale)
		}
	}
	return true
}

// unanswered is a field to ask for. Memory that was used before must not pass for an answer.
func unanswered(id, scope uint32) nvml.FieldValue {
	return nvml.FieldValue{FieldId: id, ScopeId: scope, NvmlReturn: uint32(nvml.ERROR_NO_DATA)}
}

// askFields makes the call. A driver may refuse it as a whole for one id that came after its
// time: then each field is asked for by itself, and those refused are marked in their own code.
func askFields(c *caller, d device, values []nvml.FieldValue) bool {
	var ret nvml.Return
	ok := c.ask(fieldsCall, fieldsCall, func() nvml.Return {
		ret = d.GetFieldValues(values)
		return ret
	})
	if ok || ret != nvml.ERROR_INVALID_ARGUMENT {
		return ok
	}
	delete(c.unsupported, fieldsCall)
	if len(values) == 1 {
		values[0].NvmlReturn = uint32(nvml.ERROR_NOT_SUPPORTED)
		return true
	}
	for i := range values {
		if !askFields(c, d, values[i:i+1]) {
			return false
		}
	}
	return true
}

// fieldValue is one field's answer.
type fieldValue struct {
	v    float64
	wide bool // a 64-bit unsigned number, as all time counters are
}

// judgeField reads one answer and notes what it says beyond the one reading.
func judgeField(c *caller, key string, value nvml.FieldValue) (fieldValue, verdict) {
	ret := nvml.Return(value.NvmlReturn)
	said := judge(ret)
	switch said {
	case fine:
		v, ok := decode(value)
		if !ok {
			c.drop(key)
			return fieldValue{}, refused
		}
		return v, fine
	case cardFails, driverFails:
		c.note(answerOf(ret), says(key, ret))
	case refused:
		c.drop(key)
	}
	return fieldValue{}, said
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

// probe asks for fields once, to learn which of them answer and how.
func probe(c *caller, d device, scope uint32, ids ...uint32) map[uint32]fieldValue {
	values := make([]nvml.FieldValue, len(ids))
	for i, id := range ids {
		values[i] = unanswered(id, scope)
	}
	found := map[uint32]fieldValue{}
	if !askFields(c, d, values) {
		return found
	}
	for i, id := range ids {
		key := fieldKey(id, scopeGPU)
		switch v, said := judgeField(c, key, values[i]); said {
		case fine:
			found[id] = v
		case unsupported:
			c.unsupported[key] = true
		}
	}
	return found
}

// into puts a field's value under a key of a map of readings, which must be there.
func into(values func(r *gpu.Readings) map[string]float64, key string) func(*gpu.Readings, float64) {
	return func(r *gpu.Readings, v float64) { values(r)[key] = v }
}

// reading puts a field's value into a reading of its own.
func reading(where func(r *gpu.Readings) *gpu.Maybe[float64]) func(*gpu.Readings, float64) {
	return func(r *gpu.Readings, v float64) { *where(r) = gpu.Some(v) }
}

// yesNo puts a field's 0 or 1 into a reading of its own.
func yesNo(where func(r *gpu.Readings) *gpu.Maybe[bool]) func(*gpu.Readings, float64) {
	return func(r *gpu.Readings, v float64) { *where(r) = gpu.Some(v == 1) }
}
