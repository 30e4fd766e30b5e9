package rental

import (
	"fmt"
	"slices"
)

// KindFailure is the kind of the facts that hold failures.
const KindFailure = "Failure"

// WorkLoss is a loss of a lease's work from which it is restored: the case of RTO and RPO. Its
// natural key is the lease with the incident, or with the moment of the failure where none is named.
type WorkLoss struct {
	ID    string `json:"id"` // REC-000001
	Lease string `json:"lease"`
	// Incident is what took the work; its evidence is then the failure.
	Incident string `json:"incident,omitempty"`
	FailedAt Millis `json:"failed_at"`
	// Drill is a planned exercise: measured, and no part of any objective. It is one from the first
	// word on it or never.
	Drill bool `json:"drill,omitempty"`
	// Backup is what was restored, RestoredAt when the work was there again.
	Backup     string `json:"backup,omitempty"`
	RestoredAt Millis `json:"restored_at,omitempty"`
	// State is one of the Failure constants.
	State string `json:"state"`
	// Acts are what people and programs did, the oldest first.
	Acts []Act `json:"acts"`
}

// States of a failure.
const (
	FailureOpen     = "open"     // the work is not there
	FailureRestored = "restored" // somebody says that it is; nobody has verified it
	FailureVerified = "verified" // it works: the clocks stop at RestoredAt
	FailureGivenUp  = "given_up" // nothing can be restored
)

// FailureStates lists every state, for checks.
var FailureStates = []string{FailureOpen, FailureRestored, FailureVerified, FailureGivenUp}

// Kinds of an Act upon a failure or a backup.
const (
	ActRestored = "restored"
	ActVerified = "verified"
	ActFailed   = "failed" // a restore or a check that did not work
	ActGivenUp  = "given_up"
	ActReported = "reported"
)

// lateWord is how long after a restore its time may be told without a second person, in
// milliseconds: what is older than a few minutes could be made up to keep a limit.
const lateWord Millis = 5 * 60_000

// OpenFailure begins the case. A drill is announced before it, never found in the past.
func OpenFailure(f WorkLoss, a Act) (WorkLoss, error) {
	what := "failure of lease " + f.Lease
	a.Kind = ActOpened
	if err := a.check(what); err != nil {
		return f, err
	}
	var faults faults
	faults.required("lease", f.Lease, "the id of a lease")
	faults.check(f.FailedAt > 0, "failed_at", "nothing", "the moment of the failure, or an incident")
	faults.check(f.FailedAt <= a.At || f.Drill, "failed_at", f.FailedAt.String(), "a time not after now")
	if err := invalidOf(what, faults.list); err != nil {
		return f, err
	}
	if f.Drill && f.Incident == "" && f.FailedAt < a.At { // an incident is a drill from its own opening on
		return f, refusedf("%s: drill: found a failure at %s, before now: expected a drill to be told before it begins; what has begun is a failure", what, f.FailedAt)
	}
	f.State, f.Backup, f.RestoredAt, f.Acts = FailureOpen, "", 0, []Act{a}
	return f, nil
}

// SameFailure tells whether o is about the same loss.
func (f WorkLoss) SameFailure(o WorkLoss) bool {
	if f.Lease != o.Lease || f.Incident != o.Incident {
		return false
	}
	return f.Incident != "" || f.FailedAt == o.FailedAt
}

// Do returns the failure after an act of ActRestored (of backup, at restored), ActVerified,
// ActFailed or ActGivenUp. Who told of a restore more than five minutes after it cannot verify it
// alone: the time that stops a clock is then one person's word.
func (f WorkLoss) Do(a Act, backup Backup, restored Millis) (WorkLoss, error) {
	what := "failure " + f.ID
	if err := a.check(what); err != nil {
		return f, err
	}
	if f.State == FailureVerified || f.State == FailureGivenUp {
		return f, refusedf("%s: found it %s, expected one that is not closed", what, f.State)
	}
	switch a.Kind {
	case ActRestored:
		var faults faults
		faults.check(backup.Lease == f.Lease, "backup", orNothing(backup.ID), "a backup of lease "+f.Lease)
		faults.check(backup.DataAt <= f.FailedAt, "backup", backup.DataAt.String(), "one of data from before the failure at "+f.FailedAt.String())
		faults.check(restored >= f.FailedAt && restored <= a.At, "restored_at", restored.String(), fmt.Sprintf("a time from the failure at %s up to now", f.FailedAt))
		if err := invalidOf(what, faults.list); err != nil {
			return f, err
		}
		f.State, f.Backup, f.RestoredAt = FailureRestored, backup.ID, restored
	case ActVerified:
		if f.State != FailureRestored {
			return f, refusedf("%s: found it %s, expected one that is restored", what, f.State)
		}
		if told := f.last(ActRestored); told.At-f.RestoredAt > lateWord {
			if err := SecondPerson(what, a.By, told.By); err != nil {
				return f, err
			}
		}
		f.State = FailureVerified
	case ActFailed:
		if f.State != FailureRestored {
			return f, refusedf("%s: found it %s, expected one that is restored", what, f.State)
		}
		f.State, f.Backup, f.RestoredAt = FailureOpen, "", 0
	case ActGivenUp:
		f.State, f.Backup, f.RestoredAt = FailureGivenUp, "", 0
	default:
		return f, &Error{Code: CodeInvalid, Message: fmt.Sprintf("%s: found the act %q, expected %s, %s, %s or %s", what, a.Kind, ActRestored, ActVerified, ActFailed, ActGivenUp)}
	}
	f.Acts = append(slices.Clone(f.Acts), a)
	return f, nil
}

func (f WorkLoss) last(kind string) Act {
	for _, a := range slices.Backward(f.Acts) {
		if a.Kind == kind {
			return a
		}
	}
	return Act{}
}

// failureRun is the clock of RTO or RPO of one failure (C56).
func (in ClocksInput) failureRun(objective string, limit int64, f WorkLoss) ClockRun {
	run := ClockRun{Objective: objective, Incident: f.Incident, Failure: f.ID, Drill: f.Drill, Backup: f.Backup, LimitMS: limit, Hours: HoursAlways}
	done := f.State == FailureVerified
	if objective == ObjectiveRTO {
		run.StartAt, run.DueAt = f.FailedAt, f.FailedAt+Millis(limit)
		end := in.Now
		if done {
			run.StopAt, end = f.RestoredAt, f.RestoredAt
		}
		run.ElapsedMS = max(int64(end-f.FailedAt), 0)
		run.Outcome = run.outcome(done, f.State)
		if f.State == FailureRestored && run.Outcome == Breached && int64(f.RestoredAt-f.FailedAt) <= limit {
			run.Outcome = NotProven // it may have been kept: nobody has verified it yet
		}
		return run
	}
	data, known := in.restorable(f)
	run.StopAt = f.FailedAt
	if known {
		run.Backup, run.StartAt, run.DueAt = data.ID, data.DataAt, data.DataAt+Millis(limit)
		run.ElapsedMS = int64(f.FailedAt - data.DataAt)
	}
	switch {
	case f.State == FailureGivenUp:
		run.Outcome = Breached
	case !done:
		run.Outcome = Open // another backup may still come back, an older or a newer one
	case !known:
		run.Outcome = NotProven
	default:
		run.Outcome = run.outcome(true, f.State)
	}
	return run
}

func (r ClockRun) outcome(done bool, state string) Outcome {
	switch {
	case state == FailureGivenUp || r.ElapsedMS > r.LimitMS:
		return Breached
	case done:
		return Kept
	}
	return Open
}

// restorable is the backup that a failure is restored from or, until that is said, the last one of
// before it that is verified.
func (in ClocksInput) restorable(f WorkLoss) (Backup, bool) {
	if f.Backup != "" {
		for _, b := range in.Backups {
			if b.ID == f.Backup {
				return b, true
			}
		}
		return Backup{}, false
	}
	return LastVerified(in.Backups, f.FailedAt)
}
