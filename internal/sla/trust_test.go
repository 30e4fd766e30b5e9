package sla_test

import (
	"fmt"
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

func TestADowntimeThatIsApprovedAfterItsMonthWasClosedCorrectsTheNextBill(t *testing.T) {
	c := contract()
	c.DowntimeApproval = rental.ApprovalManual
	w := newWorld(t, c, "11:00:00")
	w.outage()
	w.derive(t)
	w.now = w.now.AddDate(0, 1, 0)
	closed, bill, waiting, err := w.billing.Close(t.Context(), w.Ledger, "finn", "L-1", may(t))
	if err != nil || bill.Total.Minor != 1000 || len(waiting) != 2 {
		t.Fatalf("closed %s at %d, waiting %v, %v, expected 10.00 with a downtime and its credit waiting", closed.Number, bill.Total.Minor, waiting, err)
	}
	june, err := rental.MonthSpan("UTC", 2026, time.June)
	if err != nil {
		t.Fatal(err)
	}
	total := func(month rental.Span) rental.Bill {
		t.Helper()
		b, err := w.billing.Bill(t.Context(), "L-1", month)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if b := total(june); b.Total.Minor != 0 {
		t.Fatalf("June before the approval: %+v", b.Lines)
	}
	act := func(a rental.Act) {
		t.Helper()
		a.At, a.Note = rental.At(w.now), "as the log says"
		if _, err := w.ChangeDowntime(t.Context(), w.downtimes(t)[0].ID, func(old *rental.Downtime) (*rental.Downtime, error) {
			next, err := old.Do(a)
			return &next, err
		}); err != nil {
			t.Fatal(err)
		}
	}
	act(rental.Act{By: "anna", Side: rental.SideProvider, Kind: rental.ActApproved, Cause: rental.CauseProvider})
	b := total(june)
	if b.Total.Minor != -250 || len(b.Lines) != 1 || b.Lines[0].Corrects == nil || *b.Lines[0].Corrects != may(t) {
		t.Fatalf("June after the approval: %+v, expected the credit of 2.50 as a correction of May", b.Lines)
	}
	if b := total(may(t)); b.Total.Minor != 1000 || b.Invoice == nil {
		t.Errorf("May moved: %+v", b)
	}
	// A dispute takes the correction back until it is decided.
	act(rental.Act{By: "tom", Side: rental.SideTenant, Kind: rental.ActDisputed})
	if b := total(june); b.Total.Minor != 0 {
		t.Errorf("June while it is disputed: %+v", b.Lines)
	}
	act(rental.Act{By: "anna", Side: rental.SideProvider, Kind: rental.ActDisputed})
	act(rental.Act{By: "bob", Side: rental.SideProvider, Kind: rental.ActDecided, Outcome: rental.ActApproved})
	if b := total(june); b.Total.Minor != -250 {
		t.Errorf("June after the decision: %+v", b.Lines)
	}
}

func TestARejectedDowntimePaysNothingAndIsNotUpEither(t *testing.T) {
	w := newWorld(t, contract(), "11:00:00")
	w.outage()
	w.derive(t)
	id := w.downtimes(t)[0].ID
	for _, a := range []rental.Act{
		{By: "pat", Side: rental.SideProvider, Kind: rental.ActDisputed},
		{By: "tom", Side: rental.SideTenant, Kind: rental.ActDisputed},
		{By: "bob", Side: rental.SideProvider, Kind: rental.ActDecided, Outcome: rental.ActRejected},
	} {
		a.At, a.Note = rental.At(w.now), "the exporter was wrong"
		if _, err := w.ChangeDowntime(t.Context(), id, func(old *rental.Downtime) (*rental.Downtime, error) {
			next, err := old.Do(a)
			return &next, err
		}); err != nil {
			t.Fatal(err)
		}
	}
	w.derive(t)
	v, err := w.sla.Verdict(t.Context(), "L-1", may(t))
	if err != nil || v.Outcome != rental.NotProven || v.DownMS != 0 || v.UnknownMS != 6*60_000 {
		t.Errorf("%s: %s, %v, expected six minutes that nobody can prove", v.Outcome, v.Arithmetic, err)
	}
	if bill, err := w.billing.Bill(t.Context(), "L-1", may(t)); err != nil || bill.Total.Minor != 1000 {
		t.Errorf("bill: %+v, %v", bill.Lines, err)
	}
}

func TestACreditThatIsClaimedAndApprovedIsABillLineAndARefusedOneIsNot(t *testing.T) {
	c := contract()
	c.AutoCredit, c.Credits.ClaimDays = false, 30
	w := newWorld(t, c, "11:00:00")
	w.outage()
	w.derive(t)
	month, err := rental.ParseMonth("2026-05")
	if err != nil {
		t.Fatal(err)
	}
	stands := func() rental.Credit {
		t.Helper()
		credit, _, err := w.sla.CreditOf(t.Context(), "L-1", month)
		if err != nil {
			t.Fatal(err)
		}
		return credit
	}
	act := func(by, kind string) {
		t.Helper()
		credit := stands()
		if _, err := w.ChangeCreditCase(t.Context(), "L-1", "2026-05", func(of rental.CreditCase) (rental.CreditCase, error) {
			return credit.Do(of, rental.Act{At: rental.At(w.now), By: by, Kind: kind, Note: "as the pack says"}, nil)
		}); err != nil {
			t.Fatal(err)
		}
	}
	if got := stands(); got.State != rental.CreditComputed || got.ID != "L-1:2026-05" || got.ClaimUntil.String() != "2026-07-01T00:00:00Z" {
		t.Fatalf("in the month: %+v", got)
	}
	w.now = w.now.AddDate(0, 1, 0)
	if got := stands(); got.State != rental.CreditClaimable {
		t.Fatalf("after the month: %+v", got)
	}
	if _, _, _, err := w.billing.Close(t.Context(), w.Ledger, "finn", "L-1", may(t)); err != nil {
		t.Fatal(err)
	}
	june, err := rental.MonthSpan("UTC", 2026, time.June)
	if err != nil {
		t.Fatal(err)
	}
	owed := func() int64 {
		t.Helper()
		b, err := w.billing.Bill(t.Context(), "L-1", june)
		if err != nil {
			t.Fatal(err)
		}
		return b.Total.Minor
	}
	act("tom", rental.ActClaimed)
	if got := stands(); got.State != rental.CreditClaimed || owed() != 0 {
		t.Errorf("claimed: %+v, June %d", got, owed())
	}
	act("finn", rental.ActRefused)
	if got := stands(); got.State != rental.CreditRefused || owed() != 0 {
		t.Errorf("refused: %+v, June %d", got, owed())
	}
	act("anna", rental.ActApproved)
	if got := stands(); got.State != rental.CreditBooked || owed() != -250 {
		t.Errorf("approved: %+v, June %d, expected the credit as a correction", got, owed())
	}
	history, err := w.LeaseHistory(t.Context(), "L-1")
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, h := range history {
		if h.Kind == rental.KindCreditCase {
			told = append(told, h.By)
		}
	}
	if fmt.Sprint(told) != "[tom finn anna]" {
		t.Errorf("the history tells of %v", told)
	}
	if _, _, err := w.sla.CreditOf(t.Context(), "L-1", rental.Month{Year: 2026, Month: time.June}); rental.CodeOf(err) != rental.CodeNotFound {
		t.Errorf("a month without a credit: %v", err)
	}
}
