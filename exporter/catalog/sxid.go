package catalog

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// Names that the push of critical events picks out.
const (
	SXIDErrorsName = "host_nvswitch_sxid_errors_total"
	SXIDLastName   = "host_nvswitch_sxid_last_timestamp_seconds"
)

// sxidLabels are the labels of an NVSwitch's error.
var sxidLabels = []string{"nvswitch", "sxid", "severity"}

// sxidFamilies tell of the NVSwitches' errors. There is one switch board for all GPUs of a
// host: a fatal one is the host's trouble, not one card's.
func sxidFamilies() []Family {
	const source, hardware = "the kernel log", "hosts with NVSwitches"
	return []Family{
		{
			Name: SXIDErrorsName, Kind: Counter, Labels: sxidLabels,
			Help:   "SXid errors of an NVSwitch (its PCI address) by code and the driver's own word for them (fatal, non_fatal, unknown), since the kernel log goes back.",
			Source: source, Hardware: hardware,
			Host: sxids(func(x gpu.XID, emit func(float64)) { emit(float64(x.Count)) }),
		},
		{
			Name: SXIDLastName, Kind: Gauge, Unit: "seconds", Labels: sxidLabels,
			Help:   "When that error was last seen, in seconds since 1970.",
			Source: source, Hardware: hardware,
			Host: sxids(func(x gpu.XID, emit func(float64)) { emit(seconds(x.Last)) }),
		},
	}
}

func sxids(get func(x gpu.XID, emit func(float64))) func(*gpu.Snapshot, Emit) {
	return ofHost(func(h *gpu.Host, emit Emit) {
		keys := make([]gpu.SXID, 0, len(h.SXIDs))
		for key := range h.SXIDs {
			keys = append(keys, key)
		}
		slices.SortFunc(keys, func(a, b gpu.SXID) int {
			return cmp.Or(cmp.Compare(a.Switch, b.Switch), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Severity, b.Severity))
		})
		for _, key := range keys {
			get(h.SXIDs[key], func(v float64) { emit(v, key.Switch, strconv.FormatUint(key.Code, 10), key.Severity) })
		}
	})
}
