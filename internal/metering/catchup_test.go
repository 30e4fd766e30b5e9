package metering_test

import (
	"testing"

	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestMeteringCatchesUpAfterItWasDown(t *testing.T) {
	w := newWorld(t)
	w.lease("L", rental.Span{Start: at("2026-05-01T00:30:00Z"), End: rental.Forever}, "GPU-A", "GPU-B")
	catchUp := func(now string, hours int64) {
		t.Helper()
		w.now = at(now).Time()
		if err := w.service().CatchUp(t.Context()); err != nil { // a new service: as after a restart
			t.Fatal(err)
		}
		if got := w.total("L").AllocatedMS; got != 2*hours*1_800_000 {
			t.Errorf("at %s: found %d ms, expected %d half hours of two cards", now, got, hours)
		}
		if err := w.ledger.CheckTotals(t.Context()); err != nil {
			t.Error(err)
		}
	}
	catchUp("2026-05-01T00:45:00Z", 0) // no hour has ended
	catchUp("2026-05-01T01:01:00Z", 0) // one has, but its samples may be under way
	catchUp("2026-05-01T01:02:00Z", 1)
	catchUp("2026-05-03T12:30:00Z", 1+2*59)
	catchUp("2026-05-03T12:30:00Z", 1+2*59)
}

func TestALeaseThatIsEnteredLateIsMeteredFromItsStart(t *testing.T) {
	w := newWorld(t)
	w.now = at("2026-05-10T00:05:00Z").Time()
	w.lease("L", rental.Span{Start: at("2026-05-01T00:00:00Z"), End: rental.Forever}, "GPU-A")
	s := w.service()
	step := func() {
		t.Helper()
		if err := s.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	step()
	w.lease("M", span("2026-05-02T10:15:00Z", "2026-05-02T11:00:00Z"), "GPU-M")
	step()
	if got := w.total("M").AllocatedMS; got != 45*60_000 {
		t.Errorf("found %d ms of a back-dated lease, expected 45 minutes", got)
	}
	if err := w.ledger.EndLease(t.Context(), "ada", "", "L", at("2026-05-05T06:30:00Z")); err != nil {
		t.Fatal(err)
	}
	step()
	if got := w.total("L").AllocatedMS; got != int64(at("2026-05-05T06:30:00Z")-at("2026-05-01T00:00:00Z")) {
		t.Errorf("found %d ms of a lease that ended earlier, expected what lies before its end", got)
	}
	// Entered while nobody metered: the month totals tell.
	w.lease("N", span("2026-04-30T23:00:00Z", "2026-05-01T01:00:00Z"), "GPU-N")
	s = w.service()
	step()
	if got := w.total("N").AllocatedMS; got != 2*3_600_000 {
		t.Errorf("found %d ms of a lease entered before a restart, expected 2 hours", got)
	}
}

func TestC71HoursBeforeTheOldestSampleAreAllocatedAndNotMeasured(t *testing.T) {
	w := newWorld(t)
	leased := span("2026-05-01T00:00:00Z", "2026-06-10T00:00:00Z")
	w.lease("L", leased, "GPU-A")
	if err := w.ledger.SaveSampleInterval(t.Context(), leased, 60_000); err != nil {
		t.Fatal(err)
	}
	w.put("gpu_utilization_ratio", "GPU-A", "scrape", every(span("2026-05-26T00:00:00Z", "2026-06-10T00:00:00Z"), 60_000, 0.5)...)
	w.now = at("2026-06-10T00:05:00Z").Time()
	if err := w.service().CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := w.total("L")
	if got.AllocatedMS != 40*86_400_000 || got.MeasuredMS*1000 != got.AllocatedMS*375 {
		t.Errorf("found %d of %d ms measured, expected 37.5 %%", got.MeasuredMS, got.AllocatedMS)
	}
}

func TestUseThatWasMeasuredStaysWhereItsSamplesAreGone(t *testing.T) {
	w := newWorld(t)
	leased := span("2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z")
	w.lease("L", leased, "GPU-A", "GPU-B")
	for _, card := range []string{"GPU-A", "GPU-B"} {
		w.put("gpu_utilization_ratio", card, "scrape", every(span("2026-05-01T00:00:00Z", "2026-05-03T00:00:00Z"), 15_000, 0.5)...)
	}
	w.now = at("2026-05-03T00:05:00Z").Time()
	s := w.service()
	if err := s.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := w.total("L")
	if before.MeasuredMS != 2*48*3_600_000 {
		t.Fatalf("found %d ms measured, expected two days of two cards", before.MeasuredMS)
	}
	w.memory.series = nil // the disk of the samples is a new one
	again := w.meter(span("2026-05-01T00:00:00Z", "2026-05-03T00:00:00Z"))
	if got := w.total("L"); again != 0 || got != before {
		t.Errorf("%d records written, found %+v, expected %+v as it was measured", again, got, before)
	}
	// A change in the past meters it again; what is no more the lease's goes all the same.
	if err := w.ledger.EndLease(t.Context(), "ada", "", "L", at("2026-05-02T06:30:00Z")); err != nil {
		t.Fatal(err)
	}
	if err := s.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.total("L"); got.AllocatedMS != 2*61*30*60_000 || got.MeasuredMS != 2*30*3_600_000 {
		t.Errorf("found %d of %d ms measured, expected the 30 whole hours of 30.5 for both cards", got.MeasuredMS, got.AllocatedMS)
	}
}

func TestAnHourIsMeteredOnceMoreAfterTheLastMomentItsSamplesAreTaken(t *testing.T) {
	w := newWorld(t)
	w.lease("L", rental.Span{Start: at("2026-05-01T00:00:00Z"), End: rental.Forever}, "GPU-A")
	s := w.service()
	catchUp := func(now rental.Millis) {
		t.Helper()
		w.now = now.Time()
		if err := s.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for now := at("2026-05-01T01:05:00Z"); now < at("2026-05-02T02:05:00Z"); now += 3_600_000 {
		catchUp(now)
	}
	if got := w.total("L").MeasuredMS; got != 0 {
		t.Fatalf("found %d ms measured without a sample", got)
	}
	// 26 hours late the first hour's samples are taken; the next look through all of it is at 06:00.
	w.put("gpu_utilization_ratio", "GPU-A", "push", every(span("2026-05-01T00:00:00Z", "2026-05-01T01:00:00Z"), 15_000, 0.5)...)
	for now := at("2026-05-02T02:05:00Z"); now < at("2026-05-02T07:00:00Z"); now += 3_600_000 {
		catchUp(now)
	}
	if got := w.total("L").MeasuredMS; got != 3_600_000 {
		t.Errorf("found %d ms measured, expected the hour that came late", got)
	}
}
