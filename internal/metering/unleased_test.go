package metering_test

import (
	"testing"

	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestUseWithoutALeaseIsTheUseOfTheTimeThatNobodyHasTheCard(t *testing.T) {
	w := newWorld(t)
	whole := span("2026-05-01T10:00:00Z", "2026-05-01T14:00:00Z")
	w.lease("L", span("2026-05-01T11:00:00Z", "2026-05-01T12:00:00Z"), "GPU-A")
	w.lease("old", span("2026-04-01T00:00:00Z", "2026-04-02T00:00:00Z"), "GPU-B", "GPU-C")
	// A works all the time, of which an hour is the lease's; B for half an hour; C never.
	w.put("gpu_utilization_ratio", "GPU-A", "scrape", every(whole, 15_000, 0.5)...)
	w.put("gpu_utilization_ratio", "GPU-B", "scrape", every(span("2026-05-01T13:00:00Z", "2026-05-01T13:30:00Z"), 15_000, 1)...)
	w.put("gpu_utilization_ratio", "GPU-C", "scrape", every(whole, 15_000, 0)...)
	w.put("gpu_energy_joules_total", "GPU-B", "scrape",
		rental.Sample{At: at("2026-05-01T13:00:00Z"), Value: 100}, rental.Sample{At: at("2026-05-01T13:10:00Z"), Value: 700}, rental.Sample{At: at("2026-05-01T13:20:00Z"), Value: 50})
	cards, err := w.ledger.GPUs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := w.service().Unleased(t.Context(), cards, whole)
	if err != nil {
		t.Fatal(err)
	}
	const hour = 3_600_000
	if len(found) != 2 {
		t.Fatalf("found %+v, expected A and B: what is idle and free is nobody's matter", found)
	}
	a, b := found[0], found[1]
	if a.UUID != "GPU-A" || a.Use.AllocatedMS != 3*hour || a.Use.MeasuredMS != 3*hour || a.Use.BusyMS != 3*hour || a.Use.UsedMicros != 3*hour*500 {
		t.Errorf("found %+v, expected three hours at a half without the lease's", a)
	}
	if b.UUID != "GPU-B" || b.Use.AllocatedMS != 4*hour || b.Use.MeasuredMS != hour/2 || b.Use.BusyMS != hour/2 || b.EnergyMilliJoules != 650_000 {
		t.Errorf("found %+v, expected half an hour of four, and 650 J over the reset", b)
	}
}

func TestAPartOfACardThatIsLeasedLeavesTheCardNobodysFreeTime(t *testing.T) {
	w := newWorld(t)
	hour := span("2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z")
	w.lease("old", span("2026-04-01T00:00:00Z", "2026-04-02T00:00:00Z"), "GPU-A")
	if _, err := w.ledger.Apply(t.Context(), "test", "", rental.Resources{
		MIGInstances: []rental.MIGInstance{{UUID: "MIG-1", GPU: "GPU-A", Profile: "3g.40gb"}}, Leases: []rental.Lease{w.leaseOf("one", hour, "MIG-1")}}, false); err != nil {
		t.Fatal(err)
	}
	w.put("gpu_utilization_ratio", "GPU-A", "scrape", every(hour, 15_000, 1)...)
	cards, err := w.ledger.GPUs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if found, err := w.service().Unleased(t.Context(), cards, hour); err != nil || len(found) != 0 {
		t.Errorf("found %+v (%v), expected nothing", found, err)
	}
}
