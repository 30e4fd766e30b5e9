package catalog

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// Names that the push of critical events picks out.
const (
	UnlistedXIDErrorsName = "gpu_unlisted_xid_errors_total"
	UnlistedXIDLastName   = "gpu_unlisted_xid_last_timestamp_seconds"
)

// unlistedFamilies tell of GPUs that have no series of their own, for the driver has not listed
// them since the exporter started: the kernel log has their address.
func unlistedFamilies() []Family {
	labels := []string{"pci_address", "xid"}
	return []Family{
		{
			Name: UnlistedXIDErrorsName, Kind: Counter, Labels: labels,
			Help:   "XIDs of a PCI address where the driver has listed no GPU, since the kernel log goes back: a card that fell off before the exporter started, for one. They end once it is listed, and count as gpu_xid_errors_total.",
			Source: "the kernel log",
			Host:   strangers(func(x gpu.XID, emit func(float64)) { emit(float64(x.Count)) }),
		},
		{
			Name: UnlistedXIDLastName, Kind: Gauge, Unit: "seconds", Labels: labels,
			Help:   "When that code was last seen there, in seconds since 1970.",
			Source: "the kernel log",
			Host:   strangers(func(x gpu.XID, emit func(float64)) { emit(seconds(x.Last)) }),
		},
	}
}

func strangers(get func(x gpu.XID, emit func(float64))) func(*gpu.Snapshot, Emit) {
	return func(s *gpu.Snapshot, emit Emit) {
		keys := make([]gpu.StrangerXID, 0, len(s.Strangers))
		for key := range s.Strangers {
			keys = append(keys, key)
		}
		slices.SortFunc(keys, func(a, b gpu.StrangerXID) int {
			return cmp.Or(cmp.Compare(a.PCIAddress, b.PCIAddress), cmp.Compare(a.Code, b.Code))
		})
		for _, key := range keys {
			get(s.Strangers[key], func(v float64) { emit(v, key.PCIAddress, strconv.FormatUint(key.Code, 10)) })
		}
	}
}
