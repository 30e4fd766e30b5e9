// Package catalog is the one table of the metric families that the exporter gives out:
// what each is called, what it means, which driver call it comes from and which hardware
// answers it. The page, the push, METRICS.md and the dashboards are made from it.
package catalog

import (
	"slices"
	"strings"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// Kind says how a family is read.
type Kind string

// The kinds of families. Info is a gauge of 1 that carries changing strings; StateSet is a
// gauge per state, 1 for the present one and 0 for the rest. Histogram occurs among the
// exporter's own metrics only.
const (
	Counter   Kind = "counter"
	Gauge     Kind = "gauge"
	Info      Kind = "info"
	StateSet  Kind = "stateset"
	Histogram Kind = "histogram"
)

// Labels that every series of the exporter carries, and those that every GPU's series add.
const (
	LabelHost    = "host"
	LabelVantage = "vantage"
	LabelUUID    = "uuid"
	LabelGPU     = "gpu"
)

// Names that the push of critical events picks out.
const (
	StateName       = "gpu_state"
	StateSinceName  = "gpu_state_since_timestamp_seconds"
	XIDLastName     = "gpu_xid_last_timestamp_seconds"
	XIDErrorsName   = "gpu_xid_errors_total"
	DriverStateName = "gpu_driver_state"
)

// Emit takes one sample: its value and the values of the family's own labels, in their order.
type Emit func(value float64, labels ...string)

// Family is one metric family.
type Family struct {
	Name string
	Help string
	// Unit is the base unit at the end of the name, "" for a bare number.
	Unit string
	Kind Kind
	// Labels are the family's own labels, beside host and vantage and, per GPU, uuid and gpu and,
	// per MIG device, InstanceLabels.
	Labels []string
	// Hardware says which cards answer; "" means all.
	Hardware string
	// Source is the driver call, or where else the value comes from.
	Source string
	// Stays marks a family that a GPU keeps in every state. The others are readings: they
	// leave the page with the state, so that nothing stale is served as live.
	Stays bool
	// A family is of the host, or of the cards, of their MIG devices or both: a uuid is that of
	// one or of the other. None of the getters is set on the exporter's own instruments.
	Host     func(s *gpu.Snapshot, emit Emit)
	GPU      func(g *gpu.GPU, emit Emit)
	Instance func(i *gpu.Instance, emit Emit)
}

// Answers tells whether a GPU in this state can be asked for readings at all.
func Answers(s gpu.State) bool {
	switch s {
	case gpu.OK, gpu.FabricIncomplete, gpu.ResetRequired:
		return true
	default:
		return false
	}
}

// All returns every family made from a snapshot, sorted by name.
func All() []Family {
	all := slices.Concat(hostFamilies(), identityFamilies(), stateFamilies(), useFamilies(), memoryFamilies(),
		heatFamilies(), powerFamilies(), clockFamilies(), memoryHealthFamilies(), repairFamilies(), pcieFamilies(), nvlinkFamilies(), fabricFamilies(),
		modeFamilies(), setupFamilies(), virtualFamilies(), gpmFamilies(), instanceFamilies(), xidFamilies(), unlistedFamilies(), workloadFamilies(), machineFamilies())
	sortByName(all)
	return all
}

func sortByName(families []Family) {
	slices.SortFunc(families, func(a, b Family) int { return strings.Compare(a.Name, b.Name) })
}

// reading is a gauge of one number that may be absent.
func reading(get func(*gpu.Readings) gpu.Maybe[float64]) func(*gpu.GPU, Emit) {
	return func(g *gpu.GPU, emit Emit) {
		if v, ok := get(&g.Readings).Get(); ok {
			emit(v)
		}
	}
}

// flag is a gauge of 0 or 1 that may be absent.
func flag(get func(*gpu.Readings) gpu.Maybe[bool]) func(*gpu.GPU, Emit) {
	return func(g *gpu.GPU, emit Emit) {
		if v, ok := get(&g.Readings).Get(); ok {
			emit(number(v))
		}
	}
}

// maxKeys is how many keys of a map of readings are put in order without memory of their own.
const maxKeys = 16

// each gives one sample per key of a map of readings, in the order of the keys.
func each(get func(*gpu.Readings) map[string]float64) func(*gpu.GPU, Emit) {
	return func(g *gpu.GPU, emit Emit) {
		values := get(&g.Readings)
		var room [maxKeys]string
		for _, key := range appendKeys(room[:0], values) {
			emit(values[key], key)
		}
	}
}

// flags gives one sample of 0 or 1 per key of a map of readings, in the order of the keys.
func flags(get func(*gpu.Readings) map[string]bool) func(*gpu.GPU, Emit) {
	return func(g *gpu.GPU, emit Emit) {
		values := get(&g.Readings)
		var room [maxKeys]string
		for _, key := range appendKeys(room[:0], values) {
			emit(number(values[key]), key)
		}
	}
}

// oneOf gives a sample per state, 1 for the present one; none where there is no state.
func oneOf(get func(*gpu.Readings) string, states []string) func(*gpu.GPU, Emit) {
	return func(g *gpu.GPU, emit Emit) {
		present := get(&g.Readings)
		if present == "" {
			return
		}
		for _, state := range states {
			emit(number(state == present), state)
		}
	}
}

func sortedKeys[V any](m map[string]V) []string { return appendKeys(make([]string, 0, len(m)), m) }

func appendKeys[V any](keys []string, m map[string]V) []string {
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
