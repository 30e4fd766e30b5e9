// Package inventory compares what the ledger knows of the hardware with what exporters report:
// it proposes what a person may accept, never changes anything by itself, and tells the
// metrics of who owns and who leases what.
package inventory

import "github.com/leasewatch/leasewatch/internal/rental"

// View is what the ledger knows at a moment, beside what exporters report.
type View struct {
	Sites     []rental.Site
	Hosts     []rental.Host
	SKUs      []rental.SKU
	GPUs      []rental.GPU
	Contracts []rental.Contract
	Leases    []rental.Lease
	// Assignments are those of the moment; others are left out of the metrics.
	Assignments []rental.Assignment
	// Reported are the series of gpu_info with their newest samples: labels uuid, host, gpu
	// (the index), serial, name and brand.
	Reported []rental.Series
}

// inSlot tells whether a card in this stage of its life occupies a slot and is expected to report.
func inSlot(g rental.GPU) bool {
	return g.Life != rental.GPURMA && g.Life != rental.GPUScrapped && g.Life != rental.GPUStock
}

func byName[T any](all []T, name func(T) string) map[string]T {
	m := make(map[string]T, len(all))
	for _, one := range all {
		m[name(one)] = one
	}
	return m
}

func hostName(h rental.Host) string { return h.Name }
func siteName(s rental.Site) string { return s.Name }
func cardName(g rental.GPU) string  { return g.UUID }
