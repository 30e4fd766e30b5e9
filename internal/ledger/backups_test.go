package ledger_test

import (
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func says(by string) rental.Act { return rental.Act{By: by, Note: "because"} }

// rented is a store with lease L, two days into it.
func rented(s *store) {
	s.apply(fleet())
	s.apply(leases(lease("L", "acme", "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z", "GPU-A")))
	s.now = time.Date(2026, 5, 3, 9, 30, 0, 0, time.UTC)
}

func copied(data string) rental.Backup {
	return rental.Backup{Lease: "L", Set: "work", DataAt: at(data), FinishedAt: at(data) + 1000}
}

func TestABackupIsKeptOnceUnderItsNaturalKey(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		rented(s)
		first := must[rental.Backup](t)(s.ReportBackup(ctx, copied("2026-05-03T02:00:00Z"), says("cron")))
		again := must[rental.Backup](t)(s.ReportBackup(ctx, copied("2026-05-03T02:00:00Z"), says("cron")))
		must[rental.Backup](t)(s.ReportBackup(ctx, copied("2026-05-03T08:00:00Z"), says("cron")))
		if first.ID != again.ID || len(again.Acts) != 1 {
			t.Errorf("told twice: %+v", again)
		}
		all := ledger.BackupFilter{Lease: "L", Span: rental.Span{Start: 0, End: rental.Forever}, Limit: 10}
		if got := must[[]rental.Backup](t)(s.Backups(ctx, all)); len(got) != 2 || got[0].DataAt != at("2026-05-03T08:00:00Z") {
			t.Fatalf("found %+v, expected two, the newest first", got)
		}
		if _, found, err := s.LastVerifiedBackup(ctx, "L", at("2026-05-04T00:00:00Z")); found || err != nil {
			t.Errorf("none is verified: %v %v", found, err)
		}
		must[rental.Backup](t)(s.CheckBackup(ctx, first.ID, true, says("ann")))
		s.reopen()
		if b, found, err := s.LastVerifiedBackup(ctx, "L", at("2026-05-04T00:00:00Z")); !found || err != nil || b.ID != first.ID {
			t.Errorf("found %+v %v %v", b, found, err)
		}
		if _, found, _ := s.LastVerifiedBackup(ctx, "L", at("2026-05-03T01:59:59Z")); found {
			t.Error("data of later was found before it")
		}
		if past := s.AsOf(at("2026-05-03T09:29:59Z")); len(must[[]rental.Backup](t)(past.Backups(ctx, all))) != 0 {
			t.Error("known before it was told")
		}
		for name, bad := range map[string]rental.Backup{"of no lease": {Lease: "M", Set: "work", DataAt: 1e12, FinishedAt: 1e12}, "without a set": {Lease: "L", DataAt: 1e12, FinishedAt: 1e12},
			"of tomorrow": copied("2026-05-04T00:00:00Z"), "after the lease": copied("2026-06-02T00:00:00Z")} {
			if _, err := s.ReportBackup(ctx, bad, says("cron")); err == nil {
				t.Errorf("%s was taken", name)
			}
		}
		if _, err := s.CheckBackup(ctx, "nothing", true, says("ann")); codeOf(err) != rental.CodeNotFound {
			t.Errorf("got %v", err)
		}
		for _, sql := range []string{"UPDATE backups SET verified_ms = 1", "DELETE FROM backups"} {
			if _, err := s.raw().ExecContext(ctx, sql); err == nil {
				t.Errorf("%s: expected it refused", sql)
			}
		}
	})
}

func TestALossIsOneCaseAndARestoreVerifiesItsBackup(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		rented(s)
		old := must[rental.Backup](t)(s.ReportBackup(ctx, copied("2026-05-03T02:00:00Z"), says("cron")))
		lost := rental.WorkLoss{Lease: "L", FailedAt: at("2026-05-03T09:00:00Z")}
		first := must[rental.WorkLoss](t)(s.OpenFailure(ctx, lost, says("ann")))
		if again := must[rental.WorkLoss](t)(s.OpenFailure(ctx, lost, says("bob"))); again.ID != "REC-000001" || first.ID != again.ID || len(again.Acts) != 1 {
			t.Errorf("told twice: %+v", again)
		}
		drill := lost
		drill.Drill = true
		if _, err := s.OpenFailure(ctx, drill, says("ann")); codeOf(err) != rental.CodeRefused {
			t.Errorf("a failure was made a drill afterwards: %v", err)
		}
		restored := rental.Act{Kind: rental.ActRestored, By: "ann", Note: "from the bucket"}
		if _, err := s.ActOnFailure(ctx, first.ID, restored, "L:work:nothing", 0); codeOf(err) != rental.CodeNotFound {
			t.Errorf("of no backup: %v", err)
		}
		must[rental.WorkLoss](t)(s.ActOnFailure(ctx, first.ID, restored, old.ID, 0))
		done := must[rental.WorkLoss](t)(s.ActOnFailure(ctx, first.ID, rental.Act{Kind: rental.ActVerified, By: "ann", Note: "it trains"}, "", 0))
		if done.State != rental.FailureVerified || done.RestoredAt != rental.At(s.now) {
			t.Errorf("found %+v", done)
		}
		if b := must[rental.Backup](t)(s.BackupNamed(ctx, old.ID)); b.VerifiedAt == 0 {
			t.Errorf("a restore that was verified did not verify %+v", b)
		}
		s.now = s.now.Add(time.Hour)
		if planned := must[rental.WorkLoss](t)(s.OpenFailure(ctx, rental.WorkLoss{Lease: "L", Drill: true}, says("ann"))); !planned.Drill || planned.FailedAt != rental.At(s.now) {
			t.Errorf("a drill that begins now: %+v", planned)
		}
		if got := must[[]rental.WorkLoss](t)(s.Failures(ctx, "L")); len(got) != 2 || len(must[[]rental.WorkLoss](t)(s.Failures(ctx, "M"))) != 0 {
			t.Errorf("found %+v", got)
		}
	})
}

func TestALossOfAnIncidentIsAsOldAsItsEvidence(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		rented(s)
		for i, drill := range []bool{false, true} {
			key := string(rune('a' + i))
			must[*rental.Incident](t)(s.ChangeByKey(ctx, key, func(*rental.Incident) (*rental.Incident, []rental.Delivery, error) {
				inc := open(key, at("2026-05-03T09:10:00Z"))
				inc.EvidenceAt, inc.Leases, inc.Drill = at("2026-05-03T09:09:00Z"), []string{"L"}, drill
				return inc, nil, nil
			}))
		}
		month := rental.Span{Start: at("2026-05-01T00:00:00Z"), End: at("2026-06-01T00:00:00Z")}
		if got := must[[]rental.Incident](t)(s.LeaseIncidents(ctx, "L", month)); len(got) != 2 || len(got[0].Events) != 1 {
			t.Fatalf("found %+v", got)
		}
		if got := must[[]rental.Incident](t)(s.LeaseIncidents(ctx, "M", month)); len(got) != 0 {
			t.Errorf("another lease's: %+v", got)
		}
		lost := must[rental.WorkLoss](t)(s.OpenFailure(ctx, rental.WorkLoss{Lease: "L", Incident: "INC-1"}, says("ann")))
		if lost.FailedAt != at("2026-05-03T09:09:00Z") || lost.Drill {
			t.Errorf("found %+v", lost)
		}
		if _, err := s.OpenFailure(ctx, rental.WorkLoss{Lease: "L", Incident: "INC-1", Drill: true}, says("ann")); codeOf(err) != rental.CodeRefused {
			t.Errorf("a drill of an incident that was none: %v", err)
		}
		if planned := must[rental.WorkLoss](t)(s.OpenFailure(ctx, rental.WorkLoss{Lease: "L", Incident: "INC-2"}, says("ann"))); !planned.Drill {
			t.Errorf("the loss of a drill is one: %+v", planned)
		}
	})
}

func TestAContractKeepsTheCalendarThatItWasRecordedWith(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		f := fleet()
		c := f.Contracts[0]
		c.Calendar = "office"
		c.Response = &rental.Clocks{Starts: rental.StartsAtReport, TargetPercent: must[rental.Decimal](t)(rental.ParseDecimal("100")),
			Limits: []rental.ClockLimit{{Severity: rental.Ticket, Within: rental.Duration(8 * time.Hour), Hours: rental.HoursWorking}}}
		f.Contracts[0] = c
		if _, err := s.Apply(ctx, "ann", "test", f, false); codeOf(err) != rental.CodeInvalid {
			t.Fatalf("a calendar that nobody recorded: %v", err)
		}
		cal := rental.Calendar{Name: "office", TimeZone: "UTC", Hours: []rental.WorkHours{{Days: []string{"mon"}, From: "09:00", To: "17:00"}}}
		f.Calendars = []rental.Calendar{cal}
		s.apply(f)
		cal.Holidays = []string{"2026-12-25"}
		s.apply(rental.Resources{Calendars: []rental.Calendar{cal}})
		if got := must[rental.Contract](t)(s.Contract(ctx, c.Name)); got.WorkTime == nil || len(got.WorkTime.Holidays) != 0 {
			t.Errorf("the contract followed the calendar: %+v", got.WorkTime)
		}
		if changes := s.apply(rental.Resources{Contracts: []rental.Contract{c}}); changes[0].Action != rental.ActionUpdate {
			t.Errorf("recorded anew: %+v", changes)
		}
		if got := must[rental.Contract](t)(s.Contract(ctx, c.Name)); len(got.WorkTime.Holidays) != 1 {
			t.Errorf("recorded anew it should hold the holiday: %+v", got.WorkTime)
		}
	})
}
