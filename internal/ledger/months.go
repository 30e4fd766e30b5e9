package ledger

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// CloseMonth freezes a lease's bill for a period. write gives the bill's bytes with the mark of
// its invoice: the next number, the moment and the person. What is learnt later about the period
// stays out of them and becomes a correction in the next. Closing a period again changes nothing
// and returns what was closed. Errors: not found, refused (a period that has not ended, that
// overlaps a closed one or leaves out time of the lease after one).
func (l *Ledger) CloseMonth(ctx context.Context, by, lease string, span rental.Span, write func(rental.Invoice) ([]byte, error)) (rental.ClosedMonth, error) {
	return l.CloseMonthApproved(ctx, by, "", lease, span, write)
}

// CloseMonthApproved is CloseMonth with the second person who approved it.
func (l *Ledger) CloseMonthApproved(ctx context.Context, by, approvedBy, lease string, span rental.Span, write func(rental.Invoice) ([]byte, error)) (rental.ClosedMonth, error) {
	var out rental.ClosedMonth
	err := l.transact(ctx, "close month", func(t *txn) error {
		le, _, err := get[rental.Lease](ctx, t, rental.KindLease, lease)
		if err != nil {
			return err
		}
		if by == "" {
			return invalid("lease %q: close: expected the id of the person who closes, found none", lease)
		}
		if span.Empty() || span.End > t.now {
			return refused("lease %q: the period from %s to %s has not ended: expected one that lies in the past", lease, span.Start, span.End)
		}
		closed, err := closedMonths(ctx, t, "WHERE lease = $1", lease)
		if err != nil {
			return err
		}
		for _, c := range closed {
			if c.Span == span {
				out = c
				return errRollback
			}
			if c.Span.Overlaps(span) {
				return refused("lease %q: the period from %s to %s was closed at %s: expected it to stay as it is; record a correction", lease, c.Span.Start, c.Span.End, c.ClosedAt)
			}
		}
		if n := len(closed); n > 0 {
			if gap := (rental.Span{Start: closed[n-1].Span.End, End: span.Start}); span.Start < gap.Start || gap.Overlaps(le.Span()) {
				return refused("lease %q: its bills are closed until %s: expected the period that begins there, found one from %s", lease, gap.Start, span.Start)
			}
		}
		var count int64
		if err := t.QueryRowContext(ctx, `SELECT count(*) FROM closed_months`).Scan(&count); err != nil {
			return fmt.Errorf("closed months: %w", err)
		}
		out = rental.ClosedMonth{Lease: lease, Span: span, Invoice: rental.Invoice{Number: fmt.Sprintf("INV-%06d", count+1), ClosedAt: t.now, ClosedBy: by, ApprovedBy: approvedBy}}
		if out.Bill, err = write(out.Invoice); err != nil {
			return err
		}
		sum := sha256.Sum256(out.Bill)
		out.Hash = hex.EncodeToString(sum[:])
		_, err = t.ExecContext(ctx, `INSERT INTO closed_months (lease, start_ms, end_ms, at_ms, by_who, hash, body)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, lease, int64(span.Start), int64(span.End), int64(t.now), by, out.Hash, string(out.Bill))
		return err
	})
	return out, err
}

// ClosedMonths returns the closed periods of a lease, or of all where it is empty: by lease, the
// oldest first.
func (l *Ledger) ClosedMonths(ctx context.Context, lease string) ([]rental.ClosedMonth, error) {
	where, args := "WHERE TRUE"+l.read.known("at_ms"), []any{}
	if lease != "" {
		where, args = where+" AND lease = $1", []any{lease}
	}
	closed, err := closedMonths(ctx, l.read, where, args...)
	return closed, storeError("ledger: closed months", err)
}

// closedMonths reads rows that only ever are added; the number is in the frozen bytes.
func closedMonths(ctx context.Context, q querier, where string, args ...any) ([]rental.ClosedMonth, error) {
	return collect(ctx, q, func(rows *sql.Rows) (rental.ClosedMonth, error) {
		var c rental.ClosedMonth
		var start, end, at int64
		var body string
		if err := rows.Scan(&c.Lease, &start, &end, &at, &c.ClosedBy, &c.Hash, &body); err != nil {
			return c, err
		}
		c.Span = rental.Span{Start: rental.Millis(start), End: rental.Millis(end)}
		c.ClosedAt, c.Bill = rental.Millis(at), []byte(body)
		var mark struct{ Invoice rental.Invoice }
		if err := json.Unmarshal(c.Bill, &mark); err != nil {
			return c, fmt.Errorf("closed month of %q from %s: %w", c.Lease, c.Span.Start, err)
		}
		c.Number, c.ApprovedBy = mark.Invoice.Number, mark.Invoice.ApprovedBy
		return c, nil
	}, `SELECT lease, start_ms, end_ms, at_ms, by_who, hash, body FROM closed_months `+where+` ORDER BY lease, start_ms`, args...)
}

// closedUntil returns the end of the last closed period of a lease; ok is false where none is closed.
func (t *txn) closedUntil(ctx context.Context, lease string) (until rental.Millis, ok bool, err error) {
	var end sql.NullInt64
	if err := t.QueryRowContext(ctx, `SELECT max(end_ms) FROM closed_months WHERE lease = $1`, lease).Scan(&end); err != nil {
		return 0, false, fmt.Errorf("closed months of %q: %w", lease, err)
	}
	return rental.Millis(end.Int64), end.Valid, nil
}
