package rental

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func copyOf(t testing.TB, data, verified string) Backup {
	b := Backup{Lease: "L", Set: "work", DataAt: ms(t, data)}
	b.FinishedAt = b.DataAt + 1
	if verified != "" {
		b.VerifiedAt = ms(t, verified)
	}
	b.ID = BackupID(b.Lease, b.Set, b.DataAt)
	return b
}

func deed(by string, kind string, at Millis) Act {
	return Act{Kind: kind, By: by, At: at, Note: "because"}
}

// recovering promises four hours back and eight hours lost.
func recovering(t testing.TB) Contract {
	c := hourly(t, "10")
	c.Recovery = &Recovery{RTO: Duration(90 * time.Minute), RPO: Duration(450 * time.Minute)}
	return c
}

func recovered(t testing.TB, c Contract, now Millis, backups []Backup, failures ...WorkLoss) (rto, rpo ObjectiveVerdict) {
	t.Helper()
	out, err := JudgeClocks(ClocksInput{Lease: Lease{ID: "L", Start: 1, End: Forever}, Contract: c, Failures: failures, Backups: backups,
		Period: span(t, "2026-05-01T00:00:00+02:00", "2026-06-01T00:00:00+02:00"), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return out[0], out[1]
}

func TestWhatWasLostIsCountedBackToTheBackupThatCameBack(t *testing.T) { // C56
	old, young := copyOf(t, "2026-05-04T02:00:00+02:00", "2026-05-04T03:00:00+02:00"), copyOf(t, "2026-05-04T08:00:00+02:00", "")
	failed, back := ms(t, "2026-05-04T09:30:00+02:00"), ms(t, "2026-05-04T11:00:00+02:00")
	f, err := OpenFailure(WorkLoss{ID: "REC-000001", Lease: "L", FailedAt: failed}, deed("ann", "", failed+1))
	if err != nil {
		t.Fatal(err)
	}
	backups := []Backup{old, young}
	const hour = 3_600_000

	rto, rpo := recovered(t, recovering(t), failed+hour, backups, f)
	if r := rpo.Runs[0]; rpo.Outcome != Open || r.ElapsedMS != 7*hour+hour/2 || r.Backup != old.ID {
		t.Errorf("until a restore, the last verified backup is what would come back: %+v", r)
	}
	if r := rto.Runs[0]; rto.Outcome != Open || r.ElapsedMS != hour {
		t.Errorf("the clock of the restore: %+v", r)
	}

	f, err = f.Do(deed("ann", ActRestored, back), old, back)
	if err != nil {
		t.Fatal(err)
	}
	if rto, _ := recovered(t, recovering(t), back+hour, backups, f); rto.Outcome != NotProven {
		t.Errorf("a restore that nobody verified: %+v", rto)
	}
	f, err = f.Do(deed("ann", ActVerified, back+60_000), Backup{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	rto, rpo = recovered(t, recovering(t), back+hour, backups, f)
	if r := rpo.Runs[0]; r.ElapsedMS != 7*hour+hour/2 || rpo.Outcome != Kept {
		t.Errorf("RPO: got %d ms, %s; want 7.5 h, kept", r.ElapsedMS, rpo.Outcome)
	}
	if r := rto.Runs[0]; r.ElapsedMS != hour+hour/2 || rto.Outcome != Kept {
		t.Errorf("RTO: got %d ms, %s; want 1.5 h, kept", r.ElapsedMS, rto.Outcome)
	}

	short := recovering(t)
	short.Recovery.RTO -= Duration(time.Millisecond)
	short.Recovery.RPO -= Duration(time.Millisecond)
	if rto, rpo := recovered(t, short, back+hour, backups, f); rto.Outcome != Breached || rpo.Outcome != Breached {
		t.Errorf("a millisecond over: got %s and %s", rto.Outcome, rpo.Outcome)
	}
}

func TestARestoreVerifiesAndAFailedOneDoesNot(t *testing.T) {
	failed := ms(t, "2026-05-04T09:30:00+02:00")
	b := copyOf(t, "2026-05-04T08:00:00+02:00", "")
	open, err := OpenFailure(WorkLoss{ID: "REC-000001", Lease: "L", FailedAt: failed}, deed("ann", "", failed+1))
	if err != nil {
		t.Fatal(err)
	}
	restored, err := open.Do(deed("ann", ActRestored, failed+10_000), b, failed+10_000)
	if err != nil {
		t.Fatal(err)
	}
	again, err := restored.Do(deed("bob", ActFailed, failed+20_000), Backup{}, 0)
	if err != nil || again.State != FailureOpen || again.Backup != "" || again.RestoredAt != 0 {
		t.Errorf("got %v: %+v", err, again)
	}
	gone, err := again.Do(deed("bob", ActGivenUp, failed+30_000), Backup{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if rto, rpo := recovered(t, recovering(t), failed+40_000, []Backup{b}, gone); rto.Outcome != Breached || rpo.Outcome != Breached {
		t.Errorf("nothing came back: got %s and %s", rto.Outcome, rpo.Outcome)
	}
	for name, bad := range map[string]struct {
		f      WorkLoss
		a      Act
		b      Backup
		at     Millis
		expect Code
	}{
		"another lease's backup":      {open, deed("ann", ActRestored, failed+10), Backup{ID: "x", Lease: "M", DataAt: 1}, failed + 10, CodeInvalid},
		"data of after the failure":   {open, deed("ann", ActRestored, failed+10), Backup{ID: "x", Lease: "L", DataAt: failed + 1}, failed + 10, CodeInvalid},
		"a restore of before it":      {open, deed("ann", ActRestored, failed+10), b, failed - 1, CodeInvalid},
		"a restore of later than now": {open, deed("ann", ActRestored, failed+10), b, failed + 11, CodeInvalid},
		"a verification of nothing":   {open, deed("ann", ActVerified, failed+10), b, 0, CodeRefused},
		"a failed restore of nothing": {open, deed("ann", ActFailed, failed+10), b, 0, CodeRefused},
		"what was given up":           {gone, deed("ann", ActRestored, failed+10), b, failed + 10, CodeRefused},
		"an unknown act":              {open, deed("ann", "dance", failed+10), b, 0, CodeInvalid},
		"nobody":                      {open, deed("", ActGivenUp, failed+10), b, 0, CodeInvalid},
	} {
		if _, err := bad.f.Do(bad.a, bad.b, bad.at); CodeOf(err) != bad.expect {
			t.Errorf("%s: got %v, want %s", name, err, bad.expect)
		}
	}
}

func TestATimeToldLateIsVerifiedByAnother(t *testing.T) {
	failed := ms(t, "2026-05-04T09:30:00+02:00")
	b := copyOf(t, "2026-05-04T08:00:00+02:00", "")
	for name, c := range map[string]struct {
		told    Millis
		by      string
		refused bool
	}{
		"at once, by the same":       {0, "ann", false},
		"five minutes later":         {300_000, "ann", false},
		"a millisecond more":         {300_001, "ann", true},
		"a millisecond more, by two": {300_001, "bob", false},
	} {
		f, err := OpenFailure(WorkLoss{Lease: "L", FailedAt: failed}, deed("ann", "", failed+1))
		if err != nil {
			t.Fatal(err)
		}
		if f, err = f.Do(deed("ann", ActRestored, failed+10_000+c.told), b, failed+10_000); err != nil {
			t.Fatal(err)
		}
		if _, err = f.Do(deed(c.by, ActVerified, failed+1_000_000), Backup{}, 0); (CodeOf(err) == CodeRefused) != c.refused {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestADrillIsToldBeforeItBegins(t *testing.T) { // R13
	now := ms(t, "2026-05-04T09:30:00+02:00")
	if _, err := OpenFailure(WorkLoss{Lease: "L", FailedAt: now - 1, Drill: true}, deed("ann", "", now)); CodeOf(err) != CodeRefused {
		t.Errorf("a failure of before was made a drill: %v", err)
	}
	drill, err := OpenFailure(WorkLoss{ID: "REC-2", Lease: "L", FailedAt: now, Drill: true}, deed("ann", "", now))
	if err != nil {
		t.Fatal(err)
	}
	rto, _ := recovered(t, recovering(t), now+10*3_600_000, nil, drill)
	if rto.Outcome != NotMeasured || rto.Drills != 1 || rto.Runs[0].ElapsedMS != 10*3_600_000 {
		t.Errorf("got %+v", rto)
	}
	if _, err := OpenFailure(WorkLoss{Lease: "L", FailedAt: now + 1}, deed("ann", "", now)); CodeOf(err) != CodeInvalid {
		t.Errorf("a failure of tomorrow was taken: %v", err)
	}
}

func TestABackupIsOneHoweverOftenItIsTold(t *testing.T) {
	now := ms(t, "2026-05-04T09:30:00Z")
	told := Backup{Lease: "L", Set: "work", DataAt: now - 7_200_000, FinishedAt: now - 3_600_000}
	first, err := told.Reported(nil, deed("cron", "", now))
	if err != nil || first.ID != "L:work:20260504T073000.000Z" || len(first.Acts) != 1 {
		t.Fatalf("got %v: %+v", err, first)
	}
	if again, err := told.Reported(&first, deed("cron", "", now+1)); err != nil || len(again.Acts) != 1 {
		t.Errorf("told twice: %v, %+v", err, again)
	}
	told.VerifiedAt = now - 1_000
	sure, err := told.Reported(&first, deed("cron", "", now+2))
	if err != nil || sure.VerifiedAt != now-1_000 || len(sure.Acts) != 2 {
		t.Errorf("a verification was not added: %v, %+v", err, sure)
	}
	broken, err := sure.Checked(false, deed("ann", "", now+3))
	if err != nil || broken.VerifiedAt != 0 {
		t.Errorf("a check that failed: %v, %+v", err, broken)
	}
	if after, err := told.Reported(&broken, deed("cron", "", now+4)); err != nil || after.VerifiedAt != 0 {
		t.Errorf("an old word made a broken backup whole: %v, %+v", err, after)
	}
	for path, spoil := range map[string]func(*Backup){
		"lease":       func(b *Backup) { b.Lease = "" },
		"set":         func(b *Backup) { b.Set = "../etc" },
		"data_at":     func(b *Backup) { b.DataAt = 0 },
		"finished_at": func(b *Backup) { b.FinishedAt = now + 1 },
		"verified_at": func(b *Backup) { b.VerifiedAt = b.FinishedAt - 1 },
	} {
		bad := told
		spoil(&bad)
		if faults := bad.Validate(now); len(faults) == 0 || faults[0].Path != path {
			t.Errorf("%s: got %v", path, faults)
		}
	}
}

func TestUnprotectedWorkIsTheLeasesTimeSinceItsLastVerifiedData(t *testing.T) { // R17
	start := ms(t, "2026-05-01T00:00:00Z")
	const hour = 3_600_000
	l := Lease{Start: start, End: Forever, Stops: []Span{{start + 10*hour, start + 15*hour}}}
	for name, c := range map[string]struct {
		last, now Millis
		want      int64
	}{
		"without a backup, since the start":   {0, start + 8*hour, 8 * hour},
		"since the data":                      {start + 4*hour, start + 8*hour, 4 * hour},
		"without the tenant's stop":           {start + 4*hour, start + 20*hour, 11 * hour},
		"data of before the lease: its start": {start - hour, start + hour, hour},
		"before it began":                     {0, start - hour, 0},
	} {
		if got := Unprotected(l, c.last, c.now); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
	l.End = start + 5*hour
	if got := Unprotected(l, 0, start+20*hour); got != 5*hour {
		t.Errorf("past its end: got %d", got)
	}
}

func TestANewerVerifiedBackupNeverMakesALossLonger(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := Lease{Start: 1, End: Forever}
		var backups []Backup
		for range rapid.IntRange(0, 6).Draw(rt, "backups") {
			b := Backup{DataAt: Millis(rapid.Int64Range(1, 1_000_000).Draw(rt, "data"))}
			if rapid.Bool().Draw(rt, "verified") {
				b.VerifiedAt = b.DataAt + 1
			}
			backups = append(backups, b)
		}
		now := Millis(rapid.Int64Range(1, 2_000_000).Draw(rt, "now"))
		before, _ := LastVerified(backups, now)
		more := Backup{DataAt: Millis(rapid.Int64Range(1, int64(now)).Draw(rt, "more")), VerifiedAt: 1}
		after, found := LastVerified(append(backups, more), now)
		if !found || after.DataAt < before.DataAt || after.DataAt > now {
			rt.Fatalf("before %v, after %v at %v", before, after, now)
		}
		if Unprotected(l, after.DataAt, now) > Unprotected(l, before.DataAt, now) {
			rt.Fatal("a backup more left more unprotected")
		}
	})
}
