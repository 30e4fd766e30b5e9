package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Failures returns the losses of work of a lease, of all leases where it is "", by id.
func (l *Ledger) Failures(ctx context.Context, lease string) ([]rental.WorkLoss, error) {
	all, err := list[rental.WorkLoss](ctx, l.read, rental.KindFailure)
	if lease != "" {
		all = slices.DeleteFunc(all, func(f rental.WorkLoss) bool { return f.Lease != lease })
	}
	return all, err
}

// Failure returns one, or an error of CodeNotFound.
func (l *Ledger) Failure(ctx context.Context, id string) (rental.WorkLoss, error) {
	f, _, err := get[rental.WorkLoss](ctx, l.read, rental.KindFailure, id)
	return f, err
}

// OpenFailure records a loss of work under the next number; when it was told is filled in, and the
// failure's own time is the evidence of its incident where it names one, and
// now where it says none. The same loss told again is
// the case that is recorded; as a drill, which it was not, or the other way round, it is refused.
func (l *Ledger) OpenFailure(ctx context.Context, f rental.WorkLoss, act rental.Act) (rental.WorkLoss, error) {
	out := f
	err := l.transact(ctx, "failure", func(t *txn) error {
		act.At = t.now
		if _, _, err := get[rental.Lease](ctx, t, rental.KindLease, f.Lease); err != nil {
			return err
		}
		if f.Incident != "" {
			i, err := incidentByID(ctx, t, f.Incident)
			if err != nil {
				return err
			}
			if !slices.Contains(i.Leases, f.Lease) {
				return invalid("failure of lease %q: incident: found %s, expected one that touches the lease", f.Lease, i.ID)
			}
			if f.Drill && !i.Drill {
				return refused("failure of lease %q: drill: incident %s was opened as no drill: what has begun is a failure", f.Lease, i.ID)
			}
			f.FailedAt, f.Drill = i.EvidenceAt, i.Drill
		}
		if f.FailedAt == 0 {
			f.FailedAt = t.now
		}
		all, err := list[rental.WorkLoss](ctx, t, rental.KindFailure)
		if err != nil {
			return err
		}
		for _, known := range all {
			if !known.SameFailure(f) {
				continue
			}
			if known.Drill != f.Drill {
				return refused("failure %s: drill: found %t, expected %t as it was opened", known.ID, f.Drill, known.Drill)
			}
			out = known
			return errRollback
		}
		f.ID = fmt.Sprintf("REC-%06d", len(all)+1)
		if out, err = rental.OpenFailure(f, act); err != nil {
			return err
		}
		return t.saveFailure(ctx, out, 1, act)
	})
	return out, err
}

// ActOnFailure does an act of rental.ActRestored (of a backup, at a moment; 0 is now), ActVerified,
// ActFailed or ActGivenUp upon a case; when it was done is filled in. A restore that is verified
// verifies its backup, and one that failed takes that back, in the same transaction. Errors are
// those of rental.WorkLoss.Do; CodeNotFound where there is no such case or backup.
func (l *Ledger) ActOnFailure(ctx context.Context, id string, act rental.Act, backup string, restored rental.Millis) (rental.WorkLoss, error) {
	var out rental.WorkLoss
	err := l.transact(ctx, "failure", func(t *txn) error {
		act.At = t.now
		old, revision, err := get[rental.WorkLoss](ctx, t, rental.KindFailure, id)
		if err != nil {
			return err
		}
		var b rental.Backup
		if act.Kind == rental.ActRestored {
			if b, _, err = oneBackup(ctx, t, backup); err != nil {
				return err
			}
			if restored == 0 {
				restored = t.now
			}
		}
		if out, err = old.Do(act, b, restored); err != nil {
			return err
		}
		if act.Kind == rental.ActVerified || act.Kind == rental.ActFailed {
			check := rental.Act{At: t.now, By: act.By, Side: act.Side, Note: id + ": " + act.Note}
			if _, err := t.changeBackup(ctx, old.Backup, func(b *rental.Backup) (rental.Backup, error) {
				if b == nil {
					return rental.Backup{}, notFound("backup", old.Backup)
				}
				return b.Checked(act.Kind == rental.ActVerified, check)
			}); err != nil {
				return err
			}
		}
		return t.saveFailure(ctx, out, revision+1, act)
	})
	return out, err
}

func (t *txn) saveFailure(ctx context.Context, f rental.WorkLoss, revision int, act rental.Act) error {
	body, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("failure %s: %w", f.ID, err)
	}
	return t.insertFact(ctx, rental.KindFailure, f.ID, revision, act.By, act.Note, body)
}

// LeaseIncidents returns the incidents that touched a lease and whose life touches the span, with
// their events, the newest first.
func (l *Ledger) LeaseIncidents(ctx context.Context, lease string, span rental.Span) ([]rental.Incident, error) {
	ofLease := `EXISTS (SELECT 1 FROM json_each(body, '$.leases') WHERE value = $3)`
	if l.dialect == postgresDialect {
		ofLease = `coalesce(jsonb_exists(body::jsonb -> 'leases', $3), false)`
	}
	all, err := incidentsWhere(ctx, l.read, `WHERE opened_ms < $1 AND (resolved_ms > $2 OR (resolved_ms = 0 AND status <> 'resolved') OR opened_ms >= $2)
		AND `+ofLease+` ORDER BY opened_ms DESC, id DESC`, int64(span.End), int64(span.Start), lease)
	return all, storeError("ledger: incidents", err)
}
