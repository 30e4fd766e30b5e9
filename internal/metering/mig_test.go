package metering_test

import (
	"testing"

	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestAMIGInstanceIsMeteredByItsOwnSeries(t *testing.T) {
	w := newWorld(t)
	hour := span("2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z")
	w.lease("other", span("2026-04-01T00:00:00Z", "2026-04-02T00:00:00Z"), "GPU-A") // the card is in the inventory
	if _, err := w.ledger.Apply(t.Context(), "test", "", rental.Resources{
		MIGInstances: []rental.MIGInstance{{UUID: "MIG-1", GPU: "GPU-A", Profile: "3g.40gb"}, {UUID: "MIG-2", GPU: "GPU-A", Profile: "3g.40gb"}},
		Leases:       []rental.Lease{w.leaseOf("one", hour, "MIG-1"), w.leaseOf("two", hour, "MIG-2")}}, false); err != nil {
		t.Fatal(err)
	}
	w.put("gpu_utilization_ratio", "MIG-1", "scrape", every(hour, 15_000, 0.5)...)
	w.put("gpu_utilization_ratio", "MIG-2", "scrape", every(hour, 15_000, 0)...)
	w.put("gpu_energy_joules_total", "GPU-A", "scrape", every(hour, 15_000, 1)...)
	w.meter(hour)
	const ms = 3_600_000
	for lease, want := range map[string]rental.UsageRecord{
		"one": {AllocatedMS: ms, MeasuredMS: ms, BusyMS: ms, UsedMicros: ms * 500, UnknownMS: ms},
		"two": {AllocatedMS: ms, MeasuredMS: ms, UnknownMS: ms},
	} {
		if got := w.total(lease); got != want {
			t.Errorf("lease %s: found    %+v\nexpected %+v: its own use, and no share of the card's energy", lease, got, want)
		}
	}
}
