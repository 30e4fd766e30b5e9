// Package inventory compares what the ledger knows of the hardware with what exporters report:
// it proposes what a person may accept, never changes anything by itself, and tells the
// metrics of who owns and who leases what.
package inventory

import "github.com/leasewatch/leasewatch/internal/rental"

// View is what the ledger knows at a moment, beside what exporters report.
type View struct {
	Sites []rental.Site
	Hosts []rental.Host
	SKUs  []rental.SKU
	GPUs  []rental.GPU
	// MIGInstances are the parts of cards that can be leased, those that were removed too.
	MIGInstances []rental.MIGInstance
	Contracts    []rental.Contract
	Leases       []rental.Lease
	// Assignments are those of the moment; others are left out of the metrics.
	Assignments []rental.Assignment
	// Policy says how large a share of the cards may move at once.
	Policy rental.ApprovalPolicy
	// Reported are the series of gpu_info with their newest samples: labels uuid, host, gpu
	// (the index), serial, name and brand.
	Reported []rental.Series
	// ReportedMIG are the series of gpu_mig_info with their newest samples: labels uuid, gpu_uuid,
	// host, profile and placement.
	ReportedMIG []rental.Series
	// Claims are the times that two leases claim, as the ledger has them.
	Claims []rental.Conflict
	// Used are the uuids (gpu_uuid for MIG instances) that have been in use for some time, and
	// ClockOffsets the hosts whose clocks are too far off, in seconds.
	Used, ClockOffsets []rental.Series
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

func instanceName(m rental.MIGInstance) string { return m.UUID }
