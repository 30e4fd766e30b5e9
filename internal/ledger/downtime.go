package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// SaveDowntime records a downtime, or a new revision of one with the same ID. Saving the same
// again does nothing; an empty span withdraws it. RecordedAt is when the first revision was saved, whatever d says.
func (l *Ledger) SaveDowntime(ctx context.Context, d rental.Downtime) error {
	_, err := l.ChangeDowntime(ctx, d.ID, func(*rental.Downtime) (*rental.Downtime, error) { return &d, nil })
	return err
}

// ChangeDowntime hands fn the downtime as it holds, nil where there is none, and saves what fn
// returns as its next revision, in one transaction: what two people do at once is done one after
// the other. A nil from fn, and what is recorded already, change nothing. It returns the downtime
// as it then holds; the zero value where there is none. fn must not call the Ledger.
func (l *Ledger) ChangeDowntime(ctx context.Context, id string, fn func(old *rental.Downtime) (*rental.Downtime, error)) (rental.Downtime, error) {
	var out rental.Downtime
	err := l.transact(ctx, "downtime", func(t *txn) error {
		old, revision, err := oneDowntime(ctx, t, id)
		missing := errors.Is(err, rental.ErrNotFound)
		if err != nil && !missing {
			return err
		}
		var given *rental.Downtime
		if !missing {
			kept := old
			given, out = &kept, old
		}
		next, err := fn(given)
		if err != nil {
			return err
		}
		if next == nil {
			return errRollback
		}
		if given != nil && next.Lease != old.Lease {
			return conflict("downtime %q: lease: found %q, expected %q as recorded", id, next.Lease, old.Lease)
		}
		next.ID, next.RecordedAt = id, t.now
		if given != nil {
			next.RecordedAt = old.RecordedAt
		}
		saved, err := t.saveDowntime(ctx, *next, old, revision)
		if err != nil {
			return err
		}
		out = *next
		if !saved {
			return errRollback
		}
		return nil
	})
	return out, err
}

// handPrefix leads the ids of downtimes that people enter: DT-000042.
const handPrefix = "DT-"

// RecordDowntime records a downtime that a person enters, under the next number. One that says the
// same and stands is a conflict.
func (l *Ledger) RecordDowntime(ctx context.Context, d rental.Downtime) (rental.Downtime, error) {
	err := l.transact(ctx, "downtime", func(t *txn) error {
		known, err := downtimesWhere(ctx, t, `AND d.lease = $1 AND d.start_ms = $2 AND d.end_ms = $3`, d.Lease, int64(d.Span.Start), int64(d.Span.End))
		if err != nil {
			return err
		}
		for _, k := range known {
			if k.EnteredBy != "" && k.Status() != rental.DowntimeRejected && slices.Equal(k.UUIDs, d.UUIDs) && k.Reason == d.Reason {
				return conflict("downtime: %s says the same already, entered by %s: act on that one", k.ID, k.EnteredBy)
			}
		}
		var n int64
		if err := t.QueryRowContext(ctx, `SELECT count(DISTINCT id) FROM downtimes WHERE id LIKE $1`, handPrefix+"%").Scan(&n); err != nil {
			return fmt.Errorf("downtimes by hand: %w", err)
		}
		d.ID, d.RecordedAt = fmt.Sprintf("%s%06d", handPrefix, n+1), t.now
		_, err = t.saveDowntime(ctx, d, rental.Downtime{}, 0)
		return err
	})
	return d, err
}

// saveDowntime writes the next revision; false where it says what is recorded already.
func (t *txn) saveDowntime(ctx context.Context, d, old rental.Downtime, revision int) (bool, error) {
	faults := d.Validate()
	if d.ID == "" {
		faults = append(faults, rental.FieldError{Path: "id", Found: "nothing", Expected: "an id"})
	}
	if err := rental.Invalid(fmt.Sprintf("downtime %q", d.ID), faults); err != nil {
		return false, &rental.Error{Code: rental.CodeInvalid, Message: err.Error()}
	}
	if _, _, err := get[rental.Lease](ctx, t, rental.KindLease, d.Lease); err != nil {
		return false, err
	}
	body, err := json.Marshal(d)
	if err != nil {
		return false, fmt.Errorf("downtime %q: %w", d.ID, err)
	}
	if revision > 0 {
		last, err := json.Marshal(old)
		if err != nil {
			return false, fmt.Errorf("downtime %q: %w", d.ID, err)
		}
		if string(body) == string(last) {
			return false, nil
		}
	}
	_, err = t.ExecContext(ctx, `INSERT INTO downtimes (id, revision, lease, start_ms, end_ms, at_ms, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`, d.ID, revision+1, d.Lease, int64(d.Span.Start), int64(d.Span.End), int64(t.now), string(body))
	return err == nil, err
}

// oneDowntime returns a downtime as it holds, with its revision.
func oneDowntime(ctx context.Context, q knower, id string) (rental.Downtime, int, error) {
	var d rental.Downtime
	var revision int
	var body string
	err := q.QueryRowContext(ctx, `SELECT revision, body FROM downtimes WHERE id = $1`+q.known("at_ms")+` ORDER BY revision DESC LIMIT 1`, id).Scan(&revision, &body)
	if errors.Is(err, sql.ErrNoRows) {
		return d, 0, notFound("downtime", id)
	}
	if err != nil {
		return d, 0, fmt.Errorf("downtime %q: %w", id, err)
	}
	if err := json.Unmarshal([]byte(body), &d); err != nil {
		return d, 0, fmt.Errorf("downtime %q revision %d: %w", id, revision, err)
	}
	return d, revision, nil
}

// Downtime returns one downtime as it holds now, or an error of CodeNotFound.
func (l *Ledger) Downtime(ctx context.Context, id string) (rental.Downtime, error) {
	d, _, err := oneDowntime(ctx, l.read, id)
	return d, storeError("ledger: downtime", err)
}

// Downtimes returns the downtimes of a lease that overlap the span, in order of time, each as
// its newest revision says. Their spans are whole, not clipped.
func (l *Ledger) Downtimes(ctx context.Context, lease string, span rental.Span) ([]rental.Downtime, error) {
	all, err := downtimesWhere(ctx, l.read, `AND d.lease = $1 AND d.start_ms < $2 AND d.end_ms > $3`, lease, int64(span.End), int64(span.Start))
	return all, storeError("ledger: downtimes", err)
}

// DowntimesOf returns the downtimes of the leases that touch the span, those that were withdrawn
// in it too, in order of time; of all leases where none is named.
func (l *Ledger) DowntimesOf(ctx context.Context, leases []string, span rental.Span) ([]rental.Downtime, error) {
	args := []any{int64(span.End), int64(span.Start)}
	where := `AND d.start_ms < $1 AND (d.end_ms > $2 OR d.end_ms = d.start_ms AND d.start_ms >= $2)`
	if len(leases) > 0 {
		marks := make([]string, len(leases))
		for i, lease := range leases {
			args = append(args, lease)
			marks[i] = fmt.Sprintf("$%d", len(args))
		}
		where += ` AND d.lease IN (` + strings.Join(marks, ", ") + `)`
	}
	all, err := downtimesWhere(ctx, l.read, where, args...)
	return all, storeError("ledger: downtimes", err)
}

func downtimesWhere(ctx context.Context, q knower, where string, args ...any) ([]rental.Downtime, error) {
	return collect(ctx, q, func(rows *sql.Rows) (rental.Downtime, error) {
		var d rental.Downtime
		var body string
		if err := rows.Scan(&body); err != nil {
			return d, err
		}
		return d, json.Unmarshal([]byte(body), &d)
	}, `SELECT d.body FROM downtimes d WHERE d.revision =
		(SELECT max(e.revision) FROM downtimes e WHERE e.id = d.id`+q.known("e.at_ms")+`) `+where+` ORDER BY d.start_ms, d.id`, args...)
}
