package rental

import (
	"fmt"
	"regexp"
	"slices"
)

// Backup is one copy of a lease's work. Its natural key is the lease, the set and the time of the
// data in it: told twice, it is one.
type Backup struct {
	ID    string `json:"id" yaml:"-"` // BackupID
	Lease string `json:"lease" yaml:"lease"`
	// Set names what is copied, such as checkpoints: letters, digits, dots, dashes, underscores.
	Set string `json:"set" yaml:"set"`
	// DataAt is up to when the work is in it, FinishedAt when the copy was whole.
	DataAt     Millis `json:"data_at" yaml:"data_at"`
	FinishedAt Millis `json:"finished_at" yaml:"finished_at"`
	// Place is where it lies, in the reporter's words.
	Place string `json:"place,omitempty" yaml:"place"`
	// VerifiedAt is when it was last found to be whole, by a check or by a restore; 0 where it was
	// not, or where the last check failed.
	VerifiedAt Millis `json:"verified_at,omitempty" yaml:"verified_at"`
	// Acts are the report, the checks and the restores, the oldest first.
	Acts []Act `json:"acts,omitempty" yaml:"-"`
}

// setForm is what a set may be called: it stands in an id, in paths and in labels.
var setForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// BackupID is the natural key as one word: "L-1:checkpoints:20260501T020000.000Z".
func BackupID(lease, set string, data Millis) string {
	return fmt.Sprintf("%s:%s:%s", lease, set, data.Time().Format("20060102T150405.000Z"))
}

// Validate returns what is wrong with a report of a backup at a moment; nothing where it is whole.
func (b Backup) Validate(now Millis) []FieldError {
	var f faults
	f.required("lease", b.Lease, "the id of a lease")
	f.check(setForm.MatchString(b.Set), "set", orNothing(b.Set), "a name of letters, digits, dots, dashes and underscores, such as checkpoints")
	f.check(b.DataAt >= earliest, "data_at", orNothingAt(b.DataAt), "a time with an offset: up to when the work is in it")
	f.check(b.FinishedAt >= b.DataAt, "finished_at", orNothingAt(b.FinishedAt), "a time not before data_at")
	f.check(b.FinishedAt <= now, "finished_at", orNothingAt(b.FinishedAt), "a time not after now: only a copy that is whole is a backup")
	f.check(b.VerifiedAt == 0 || b.VerifiedAt >= b.FinishedAt && b.VerifiedAt <= now, "verified_at", orNothingAt(b.VerifiedAt), "a time from finished_at up to now")
	f.check(len(b.Place) <= 500, "place", fmt.Sprintf("%d bytes", len(b.Place)), "at most 500")
	return f.list
}

func orNothingAt(at Millis) string {
	if at == 0 {
		return "nothing"
	}
	return at.String()
}

// Reported returns what becomes of a backup by a report of it; old is nil of one that is not known.
// What is known stays: a report adds a verification, and never moves one or takes it back.
func (b Backup) Reported(old *Backup, a Act) (Backup, error) {
	b.ID = BackupID(b.Lease, b.Set, b.DataAt)
	if err := invalidOf(fmt.Sprintf("backup %s", b.ID), b.Validate(a.At)); err != nil {
		return b, err
	}
	a.Kind = ActReported
	if old == nil {
		b.Acts = []Act{a}
		return b, nil
	}
	if b.VerifiedAt <= old.VerifiedAt || b.VerifiedAt <= old.last(ActFailed).At {
		return *old, nil
	}
	out := *old
	a.Kind = ActVerified
	out.VerifiedAt, out.Acts = b.VerifiedAt, append(slices.Clone(old.Acts), a)
	return out, nil
}

// Checked returns the backup after a check: it is whole, or it is not.
func (b Backup) Checked(whole bool, a Act) (Backup, error) {
	a.Kind = ActFailed
	at := Millis(0)
	if whole {
		a.Kind, at = ActVerified, a.At
	}
	if err := a.check("backup " + b.ID); err != nil {
		return b, err
	}
	b.VerifiedAt, b.Acts = at, append(slices.Clone(b.Acts), a)
	return b, nil
}

func (b Backup) last(kind string) Act {
	for _, a := range slices.Backward(b.Acts) {
		if a.Kind == kind {
			return a
		}
	}
	return Act{}
}

// LastVerified returns the backup with the newest data of at most a moment that is verified.
func LastVerified(backups []Backup, before Millis) (Backup, bool) {
	var out Backup
	found := false
	for _, b := range backups {
		if b.VerifiedAt != 0 && b.DataAt <= before && (!found || b.DataAt > out.DataAt) {
			out, found = b, true
		}
	}
	return out, found
}

// Unprotected is how long a lease has worked since the data of its last verified backup, or since
// its start where it has none, in milliseconds: what would be lost now. Time in which its tenant
// had stopped it is not work.
func Unprotected(l Lease, last Millis, now Millis) int64 {
	span := Span{Start: max(l.Start, last), End: min(l.End, now)}
	if span.Empty() {
		return 0
	}
	return TotalMillis(SubtractSpans([]Span{span}, l.Stops))
}
