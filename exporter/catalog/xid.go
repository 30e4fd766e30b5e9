package catalog

import (
	"slices"
	"strconv"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// FatalXIDs returns the codes of class F: the hardware needs hands, or the node a restart.
// The meaning of each stands in alertmanager-rules/xid.yaml; a test compares both lists.
func FatalXIDs() []uint64 { return []uint64{54, 64, 79} }

// ResetXIDs returns the codes of class R: the GPU needs a reset. Those that the vendor
// names with both actions (74, 143, 167, 169) are here.
func ResetXIDs() []uint64 {
	return []uint64{46, 48, 62, 74, 95, 109, 110, 119, 120, 136, 140, 143, 151, 155, 156, 158, 167, 169}
}

// CriticalXID tells whether a code is of class F or R.
func CriticalXID(code uint64) bool {
	return slices.Contains(FatalXIDs(), code) || slices.Contains(ResetXIDs(), code)
}

// xidFamilies tell what the driver reported. The critical codes are there from the start,
// so that the first one is an increase; any other appears when it is first seen.
func xidFamilies() []Family {
	critical := slices.Concat(FatalXIDs(), ResetXIDs())
	return []Family{
		{
			Name: XIDErrorsName, Kind: Counter, Labels: []string{"xid"}, Stays: true,
			Help:   "XID errors by code since the exporter began to count. The codes of class F and R are 0 until seen.",
			Source: "nvmlEventSetWait_v2, the kernel log",
			GPU: func(g *gpu.GPU, emit Emit) {
				for _, code := range xidCodes(critical, g.Readings.XIDs) {
					emit(float64(g.Readings.XIDs[code].Count), strconv.FormatUint(code, 10))
				}
			},
		},
		{
			Name: XIDLastName, Kind: Gauge, Unit: "seconds", Labels: []string{"xid"}, Stays: true,
			// No zeros here, unlike the counter: the rules read this family each second, and 21
			// series of zero a card would be most of what they read.
			Help:   "When the code was last seen, in seconds since 1970; absent for never.",
			Source: "nvmlEventSetWait_v2, the kernel log",
			GPU: func(g *gpu.GPU, emit Emit) {
				for _, code := range xidCodes(nil, g.Readings.XIDs) {
					if last := g.Readings.XIDs[code].Last; !last.IsZero() {
						emit(seconds(last), strconv.FormatUint(code, 10))
					}
				}
			},
		},
	}
}

// xidCodes returns the critical codes and those seen, in order, each once.
func xidCodes(critical []uint64, seen map[uint64]gpu.XID) []uint64 {
	codes := slices.Clone(critical)
	for code := range seen {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}
