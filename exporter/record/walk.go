package record

import (
	"reflect"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// walk visits every value below v that can be set, with its path: the names of the fields,
// GPUs.Identity.UUID, without the places in lists and the keys of maps. visit tells whether
// to go further down.
func walk(v reflect.Value, path string, visit func(path string, v reflect.Value) bool) {
	if !visit(path, v) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			walk(v.Elem(), path, visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				below := path + "." + field.Name
				if path == "" {
					below = field.Name
				}
				walk(v.Field(i), below, visit)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), path, visit)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() { // entries cannot be set in place
			entry := reflect.New(v.Type().Elem()).Elem()
			entry.Set(v.MapIndex(key))
			walk(entry, path, visit)
			v.SetMapIndex(key, entry)
		}
	}
}

// shift moves every time below by d; a time that is not set stays so.
func shift(v any, d time.Duration) {
	walk(reflect.ValueOf(v), "", func(_ string, v reflect.Value) bool {
		if !v.CanAddr() {
			return true
		}
		switch at := v.Addr().Interface().(type) {
		case *time.Time:
			if !at.IsZero() {
				*at = at.Add(d)
			}
			return false
		case *gpu.Maybe[time.Time]:
			if t, ok := at.Get(); ok {
				*at = gpu.Some(t.Add(d))
			}
			return false
		}
		return true
	})
}
