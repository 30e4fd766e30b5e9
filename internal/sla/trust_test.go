package sla_test

import (
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestUnknownTimeWithoutAFactPaysNothingUnderManualApproval(t *testing.T) {
	for approval, booked := range map[string]bool{rental.ApprovalManual: false, rental.ApprovalAutomatic: true} {
		t.Run(approval, func(t *testing.T) {
			c := contract()
			c.DowntimeApproval, c.Availability.Unknown = approval, "down"
			w := newWorld(t, c, "11:00:00")
			w.samples.tell("GPU-A", "ok", between("10:00:00", "10:20:00"))
			w.samples.tell("GPU-A", "ok", between("10:40:00", "11:00:00"))
			w.derive(t)
			credits, err := w.sla.Credits(t.Context(), "L-1", may(t))
			if err != nil {
				t.Fatal(err)
			}
			if len(credits) != 1 || (credits[0].State == rental.CreditBooked) != booked {
				t.Fatalf("credits: %+v, expected one, booked: %t", credits, booked)
			}
			if booked {
				return
			}
			// A person records the gap as downtime: now there is a fact.
			if err := w.SaveDowntime(t.Context(), rental.Downtime{
				ID: "D-1", Lease: "L-1", UUIDs: []string{"GPU-A"}, Span: between("10:19:00", "10:41:00"),
				Cause: rental.CauseProvider, Reason: "host down", Witnesses: []string{"BMC log"}, ApprovedBy: "anna",
			}); err != nil {
				t.Fatal(err)
			}
			if credits, err = w.sla.Credits(t.Context(), "L-1", may(t)); err != nil || len(credits) != 1 || credits[0].State != rental.CreditBooked {
				t.Errorf("credits: %+v, %v, expected a booked one", credits, err)
			}
		})
	}
}

func TestADriverThatIsGoneWaitsForAPersonUnderAnyContract(t *testing.T) {
	w := newWorld(t, contract(), "11:00:00")
	w.samples.tell("GPU-A", "ok", between("10:00:00", "10:30:00"))
	w.samples.series["GPU-A"] = append(w.samples.series["GPU-A"], rental.Series{
		Labels:  map[string]string{"uuid": "GPU-A", "state": "driver_down"},
		Samples: []rental.Sample{{At: at("10:30:00"), Value: 1}, {At: at("10:30:15"), Value: 1}},
	})
	w.samples.tell("GPU-A", "ok", between("10:30:30", "11:00:00"))
	w.derive(t)
	downs := w.downtimes(t)
	if len(downs) != 1 || downs[0].Cause != rental.CauseUndetermined || downs[0].ApprovedBy != "" {
		t.Fatalf("downtimes: %+v, expected one of undetermined cause that nobody approved", downs)
	}
	bill, err := w.billing.Bill(t.Context(), "L-1", may(t))
	if err != nil || bill.Total.Minor != 1000 {
		t.Errorf("bill: %+v, %v", bill, err)
	}
}

func TestAStartThatIsMovedBackIsDerivedFromThere(t *testing.T) {
	w := newWorld(t, contract(), "11:00:00")
	w.samples.tell("GPU-A", "ok", between("09:00:00", "09:20:00"))
	w.samples.tell("GPU-A", "lost", between("09:20:00", "09:25:00"))
	w.samples.tell("GPU-A", "ok", between("09:25:00", "11:00:00"))
	w.derive(t)
	r := rental.Resources{Leases: []rental.Lease{{ID: "L-1", Tenant: "acme", Contract: "hourly", Start: at("09:00:00"), End: at("11:00:00"),
		GPUs: []rental.GPURef{{UUID: "GPU-A"}}}}}
	if _, err := w.Apply(t.Context(), "ada", "the tenant came an hour earlier", r, false); err != nil {
		t.Fatal(err)
	}
	if err := w.sla.Update(t.Context(), 2*time.Minute); err != nil {
		t.Fatal(err)
	}
	v, err := w.sla.Verdict(t.Context(), "L-1", may(t))
	if err != nil || v.UnknownMS != 0 || v.DownMS != 5*60_000 {
		t.Errorf("%s (%v), expected 5 minutes down and nothing unknown", v.Arithmetic, err)
	}
}

func TestABillIsProvisionalWhileSamplesOfItsTimeAreStillTaken(t *testing.T) {
	w := newWorld(t, contract(), "11:30:00")
	w.outage()
	w.derive(t)
	period := between("10:00:00", "11:00:00")
	bill, err := w.billing.Bill(t.Context(), "L-1", period)
	if err != nil || len(bill.Provisional) != 1 {
		t.Errorf("half an hour after: %v, %v, expected one reason", bill.Provisional, err)
	}
	w.now = w.now.Add(26 * time.Hour)
	if bill, err = w.billing.Bill(t.Context(), "L-1", period); err != nil || len(bill.Provisional) != 0 {
		t.Errorf("26.5 hours after: %v, %v, expected a final bill", bill.Provisional, err)
	}
}
