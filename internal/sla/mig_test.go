package sla_test

import (
	"testing"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// partThere tells that a MIG instance is there, every 15 s of the span.
func (r *recording) partThere(uuid string, span rental.Span) {
	if r.parts == nil {
		r.parts = map[string][]rental.Series{}
	}
	for at := span.Start; at < span.End; at += 15_000 {
		r.parts[uuid] = append(r.parts[uuid], rental.Series{Samples: []rental.Sample{{At: at, Value: 1}}})
	}
}

func TestAMIGLeaseIsJudgedByItsCardAndUnknownWhereMIGWasSwitchedOff(t *testing.T) {
	w := newWorld(t, contract(), "11:30:00")
	lease := rental.Lease{ID: "L-mig", Tenant: "acme", Contract: "hourly", Start: at("10:00:00"), End: at("11:00:00"), GPUs: []rental.GPURef{{UUID: "MIG-1"}}}
	// The card is free of its own lease then.
	if err := w.EndLease(t.Context(), "test", "test", "L-1", at("10:00:00")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Apply(t.Context(), "test", "test", rental.Resources{
		MIGInstances: []rental.MIGInstance{{UUID: "MIG-1", GPU: "GPU-A", Profile: "3g.40gb"}}, Leases: []rental.Lease{lease}}, false); err != nil {
		t.Fatal(err)
	}
	w.samples.tell("GPU-A", "ok", between("10:00:00", "10:10:00"))
	w.samples.tell("GPU-A", "lost", between("10:10:00", "10:16:00"))
	w.samples.tell("GPU-A", "ok", between("10:16:00", "11:00:00"))
	w.samples.partThere("MIG-1", between("10:00:00", "10:39:45")) // the last sample holds half a minute
	if err := w.sla.Derive(t.Context(), "L-mig", lease.Span()); err != nil {
		t.Fatal(err)
	}
	v, err := w.sla.Verdict(t.Context(), "L-mig", between("10:00:00", "11:00:00"))
	if err != nil {
		t.Fatal(err)
	}
	const minute = 60_000
	if v.DownMS != 6*minute || v.UnknownMS != 20*minute || v.UpMS != 34*minute {
		t.Errorf("found down %d, unknown %d, up %d min, expected 6, 20 and 34", v.DownMS/minute, v.UnknownMS/minute, v.UpMS/minute)
	}
	downtimes, err := w.Downtimes(t.Context(), "L-mig", lease.Span())
	if err != nil || len(downtimes) != 1 || downtimes[0].Reason != "lost" || downtimes[0].UUIDs[0] != "MIG-1" {
		t.Errorf("downtimes %+v (%v), expected the card's loss as the instance's", downtimes, err)
	}
}
