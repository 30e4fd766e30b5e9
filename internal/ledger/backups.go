package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// ReportBackup records what is told of a backup, by its natural key: told again it adds at most a
// verification. When it was told is filled in. Errors are CodeInvalid, also for data of outside the
// lease, and CodeNotFound for an unknown lease.
func (l *Ledger) ReportBackup(ctx context.Context, b rental.Backup, act rental.Act) (rental.Backup, error) {
	return l.changeBackup(ctx, rental.BackupID(b.Lease, b.Set, b.DataAt), func(t *txn, old *rental.Backup) (rental.Backup, error) {
		lease, _, err := get[rental.Lease](ctx, t, rental.KindLease, b.Lease)
		if err != nil {
			return b, err
		}
		if b.DataAt >= lease.End {
			return b, invalid("backup of lease %q: data_at: found %s, expected a time before the lease's end %s", b.Lease, b.DataAt, lease.End)
		}
		act.At = t.now
		return b.Reported(old, act)
	})
}

// CheckBackup records a check of a backup: it is whole, or it is not. When it was is filled in.
// CodeNotFound where there is no such backup.
func (l *Ledger) CheckBackup(ctx context.Context, id string, whole bool, act rental.Act) (rental.Backup, error) {
	return l.changeBackup(ctx, id, func(t *txn, old *rental.Backup) (rental.Backup, error) {
		if old == nil {
			return rental.Backup{}, notFound("backup", id)
		}
		act.At = t.now
		return old.Checked(whole, act)
	})
}

func (l *Ledger) changeBackup(ctx context.Context, id string, fn func(*txn, *rental.Backup) (rental.Backup, error)) (rental.Backup, error) {
	var out rental.Backup
	err := l.transact(ctx, "copy", func(t *txn) error {
		var err error
		out, err = t.changeBackup(ctx, id, func(old *rental.Backup) (rental.Backup, error) { return fn(t, old) })
		return err
	})
	return out, err
}

// changeBackup hands fn a backup, nil where there is none, and writes what it returns as the next
// revision; what says the same is not written.
func (t *txn) changeBackup(ctx context.Context, id string, fn func(*rental.Backup) (rental.Backup, error)) (rental.Backup, error) {
	old, revision, err := oneBackup(ctx, t, id)
	missing := errors.Is(err, rental.ErrNotFound)
	if err != nil && !missing {
		return old, err
	}
	given := &old
	if missing {
		given = nil
	}
	next, err := fn(given)
	if err != nil || !missing && reflect.DeepEqual(old, next) {
		return next, err
	}
	body, err := json.Marshal(next)
	if err != nil {
		return next, fmt.Errorf("backup %q: %w", id, err)
	}
	_, err = t.ExecContext(ctx, `INSERT INTO backups (id, revision, lease, data_ms, verified_ms, at_ms, body) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		next.ID, revision+1, next.Lease, int64(next.DataAt), int64(next.VerifiedAt), int64(t.now), string(body))
	return next, err
}

func oneBackup(ctx context.Context, q knower, id string) (rental.Backup, int, error) {
	var b rental.Backup
	var revision int
	var body string
	err := q.QueryRowContext(ctx, `SELECT revision, body FROM backups WHERE id = $1`+q.known("at_ms")+` ORDER BY revision DESC LIMIT 1`, id).Scan(&revision, &body)
	if errors.Is(err, sql.ErrNoRows) {
		return b, 0, notFound("backup", id)
	}
	if err != nil {
		return b, 0, fmt.Errorf("backup %q: %w", id, err)
	}
	return b, revision, json.Unmarshal([]byte(body), &b)
}

// BackupNamed returns one backup as it is known now, or an error of CodeNotFound.
func (l *Ledger) BackupNamed(ctx context.Context, id string) (rental.Backup, error) {
	b, _, err := oneBackup(ctx, l.read, id)
	return b, storeError("ledger: backup", err)
}

// BackupFilter chooses among backups.
type BackupFilter struct {
	Lease string      // "" is any
	Span  rental.Span // in which the time of their data lies
	// Verified chooses those that are verified now.
	Verified bool
	Limit    int
}

// Backups returns those that pass the filter, the newest data first, at most Limit of them.
func (l *Ledger) Backups(ctx context.Context, f BackupFilter) ([]rental.Backup, error) {
	all, err := collect(ctx, l.read, func(rows *sql.Rows) (rental.Backup, error) {
		var b rental.Backup
		var body string
		if err := rows.Scan(&body); err != nil {
			return b, err
		}
		return b, json.Unmarshal([]byte(body), &b)
	}, `SELECT b.body FROM backups b WHERE b.revision = (SELECT max(c.revision) FROM backups c WHERE c.id = b.id`+l.read.known("c.at_ms")+`)
		AND ($1 = '' OR b.lease = $1) AND b.data_ms >= $2 AND b.data_ms < $3 AND ($4 = 0 OR b.verified_ms > 0)
		ORDER BY b.data_ms DESC, b.id LIMIT $5`, f.Lease, int64(f.Span.Start), int64(f.Span.End), map[bool]int{true: 1}[f.Verified], f.Limit)
	return all, storeError("ledger: backups", err)
}

// LastVerifiedBackup returns the backup of a lease with the newest data of at most a moment that is
// verified; false where there is none.
func (l *Ledger) LastVerifiedBackup(ctx context.Context, lease string, before rental.Millis) (rental.Backup, bool, error) {
	found, err := l.Backups(ctx, BackupFilter{Lease: lease, Span: rental.Span{Start: 0, End: before + 1}, Verified: true, Limit: 1})
	if err != nil || len(found) == 0 {
		return rental.Backup{}, false, err
	}
	return found[0], true, nil
}
