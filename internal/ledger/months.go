package ledger

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// ClosedMonth is a billing period whose bill is frozen.
type ClosedMonth struct {
	Lease string        `json:"lease"`
	Span  rental.Span   `json:"span"`
	At    rental.Millis `json:"at"`
	By    string        `json:"by"`
	Hash  string        `json:"hash"` // SHA-256 of the bill's bytes, in hex
	Bill  []byte        `json:"-"`
}

// CloseMonth freezes a lease's bill for a period. What is learnt later about the period stays
// out of it and becomes a correction in the next one. Closing again with the same bytes does
// nothing; with others it is refused.
func (l *Ledger) CloseMonth(ctx context.Context, by, lease string, span rental.Span, bill []byte) error {
	sum := sha256.Sum256(bill)
	hash := hex.EncodeToString(sum[:])
	return l.transact(ctx, "close month", func(t *txn) error {
		if _, _, err := get[rental.Lease](ctx, t, rental.KindLease, lease); err != nil {
			return err
		}
		if span.Empty() || span.End > t.now {
			return refused("lease %q: the period from %s to %s has not ended: expected one that lies in the past", lease, span.Start, span.End)
		}
		closed, err := closedMonths(ctx, t, lease)
		if err != nil {
			return err
		}
		for _, c := range closed {
			if c.Span == span && c.Hash == hash {
				return errRollback
			}
			if c.Span.Overlaps(span) {
				return refused("lease %q: the period from %s to %s was closed at %s: expected it to stay as it is; record a correction", lease, c.Span.Start, c.Span.End, c.At)
			}
		}
		_, err = t.ExecContext(ctx, `INSERT INTO closed_months (lease, start_ms, end_ms, at_ms, by_who, hash, body)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, lease, int64(span.Start), int64(span.End), int64(t.now), by, hash, string(bill))
		return err
	})
}

// ClosedMonths returns the closed periods of a lease, the oldest first.
func (l *Ledger) ClosedMonths(ctx context.Context, lease string) ([]ClosedMonth, error) {
	closed, err := closedMonths(ctx, l.read, lease)
	return closed, storeError("ledger: closed months", err)
}

func closedMonths(ctx context.Context, q querier, lease string) ([]ClosedMonth, error) {
	return collect(ctx, q, func(rows *sql.Rows) (ClosedMonth, error) {
		c := ClosedMonth{Lease: lease}
		var start, end, at int64
		var body string
		err := rows.Scan(&start, &end, &at, &c.By, &c.Hash, &body)
		c.Span = rental.Span{Start: rental.Millis(start), End: rental.Millis(end)}
		c.At, c.Bill = rental.Millis(at), []byte(body)
		return c, err
	}, `SELECT start_ms, end_ms, at_ms, by_who, hash, body FROM closed_months WHERE lease = $1 ORDER BY start_ms`, lease)
}

// closedUntil returns the end of the last closed period of a lease; ok is false where none is closed.
func (t *txn) closedUntil(ctx context.Context, lease string) (until rental.Millis, ok bool, err error) {
	var end sql.NullInt64
	if err := t.QueryRowContext(ctx, `SELECT max(end_ms) FROM closed_months WHERE lease = $1`, lease).Scan(&end); err != nil {
		return 0, false, fmt.Errorf("closed months of %q: %w", lease, err)
	}
	return rental.Millis(end.Int64), end.Valid, nil
}
