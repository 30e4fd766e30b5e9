package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// SaveDowntime records a downtime, or a new revision of one with the same ID. Saving the same
// again does nothing; an empty span withdraws it. RecordedAt is when the first revision was saved, whatever d says.
func (l *Ledger) SaveDowntime(ctx context.Context, d rental.Downtime) error {
	faults := d.Validate()
	if d.ID == "" {
		faults = append(faults, rental.FieldError{Path: "id", Found: "nothing", Expected: "an id"})
	}
	if err := rental.Invalid(fmt.Sprintf("downtime %q", d.ID), faults); err != nil {
		return &rental.Error{Code: rental.CodeInvalid, Message: err.Error()}
	}
	return l.transact(ctx, "downtime", func(t *txn) error {
		if _, _, err := get[rental.Lease](ctx, t, rental.KindLease, d.Lease); err != nil {
			return err
		}
		revision := 0
		var last string
		err := t.QueryRowContext(ctx, `SELECT revision, body FROM downtimes WHERE id = $1 ORDER BY revision DESC LIMIT 1`, d.ID).Scan(&revision, &last)
		d.RecordedAt = t.now
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return fmt.Errorf("downtime %q: %w", d.ID, err)
		default:
			var old rental.Downtime
			if err := json.Unmarshal([]byte(last), &old); err != nil {
				return fmt.Errorf("downtime %q: %w", d.ID, err)
			}
			if old.Lease != d.Lease {
				return conflict("downtime %q: lease: found %q, expected %q as recorded", d.ID, d.Lease, old.Lease)
			}
			d.RecordedAt = old.RecordedAt
		}
		body, err := json.Marshal(d)
		if err != nil {
			return fmt.Errorf("downtime %q: %w", d.ID, err)
		}
		if string(body) == last {
			return errRollback
		}
		_, err = t.ExecContext(ctx, `INSERT INTO downtimes (id, revision, lease, start_ms, end_ms, at_ms, body)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, d.ID, revision+1, d.Lease, int64(d.Span.Start), int64(d.Span.End), int64(t.now), string(body))
		return err
	})
}

// Downtimes returns the downtimes of a lease that overlap the span, in order of time, each as
// its newest revision says. Their spans are whole, not clipped.
func (l *Ledger) Downtimes(ctx context.Context, lease string, span rental.Span) ([]rental.Downtime, error) {
	all, err := collect(ctx, l.read, func(rows *sql.Rows) (rental.Downtime, error) {
		var d rental.Downtime
		var body string
		if err := rows.Scan(&body); err != nil {
			return d, err
		}
		return d, json.Unmarshal([]byte(body), &d)
	}, `SELECT d.body FROM downtimes d WHERE d.lease = $1 AND d.start_ms < $2 AND d.end_ms > $3 AND d.revision =
		(SELECT max(e.revision) FROM downtimes e WHERE e.id = d.id`+l.read.known("e.at_ms")+`) ORDER BY d.start_ms, d.id`, lease, int64(span.End), int64(span.Start))
	return all, storeError("ledger: downtimes", err)
}
