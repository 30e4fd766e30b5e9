package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Seal closes what was recorded of a lease since its last head with a new one, which next makes of
// the last head (the zero Head where there is none), the moment and the records. Where nothing was
// recorded there is no new head, and sealed is false. No fact is ever recorded at or before the
// moment of a seal that has been, even where the clock is set back.
func (l *Ledger) Seal(ctx context.Context, lease string, next func(last rental.Head, at rental.Millis, in rental.Recorded) (rental.Head, error)) (head rental.Head, sealed bool, err error) {
	err = l.transact(ctx, "seal", func(t *txn) error {
		if _, _, err := get[rental.Lease](ctx, t, rental.KindLease, lease); err != nil {
			return err
		}
		last, err := lastHead(ctx, t, lease)
		if err != nil {
			return err
		}
		in, err := recorded(ctx, t, lease, last.SealedAt, t.now)
		if err != nil {
			return err
		}
		if in.Empty() {
			return errRollback
		}
		if head, err = next(last, t.now, in); err != nil {
			return fmt.Errorf("head of %q: %w", lease, err)
		}
		if head.Lease != lease || head.Number != last.Number+1 || head.SealedAt != t.now {
			return fmt.Errorf("head of %q: found head %d of %q at %s, expected head %d at %s", lease, head.Number, head.Lease, head.SealedAt, last.Number+1, t.now)
		}
		if _, err = t.ExecContext(ctx, `INSERT INTO heads (lease, number, sealed_ms, records, previous, root, hash) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			lease, head.Number, int64(head.SealedAt), head.Records, head.Previous, head.Root, head.Hash); err != nil {
			return fmt.Errorf("head of %q: %w", lease, err)
		}
		sealed = true
		l.sealed.Store(int64(t.now)) // before the commit: the next writer reads it
		return nil
	})
	return head, sealed && err == nil, err
}

// Heads returns the heads of a lease in order.
func (l *Ledger) Heads(ctx context.Context, lease string) ([]rental.Head, error) {
	all, err := collect(ctx, l.read, scanHead, `SELECT lease, number, sealed_ms, records, previous, root, hash FROM heads WHERE lease = $1`+
		l.read.known("sealed_ms")+` ORDER BY number`, lease)
	return all, storeError("ledger: heads", err)
}

// LastSealed returns when each lease's last head was made, for leases that have one.
func (l *Ledger) LastSealed(ctx context.Context) (map[string]rental.Millis, error) {
	type row struct {
		lease string
		at    int64
	}
	rows, err := collect(ctx, l.read, func(rows *sql.Rows) (row, error) {
		var r row
		return r, rows.Scan(&r.lease, &r.at)
	}, `SELECT lease, max(sealed_ms) FROM heads GROUP BY lease`)
	if err != nil {
		return nil, storeError("ledger: heads", err)
	}
	out := make(map[string]rental.Millis, len(rows))
	for _, r := range rows {
		out[r.lease] = rental.Millis(r.at)
	}
	return out, nil
}

// Recorded returns what was recorded of a lease after one moment and up to another, as it held at
// the later one. For the moments of two heads in a row it is what the second closed.
func (l *Ledger) Recorded(ctx context.Context, lease string, after, upTo rental.Millis) (rental.Recorded, error) {
	in, err := recorded(ctx, l.read, lease, after, l.read.atMost(upTo))
	return in, storeError("ledger: records", err)
}

func scanBody(rows *sql.Rows) (json.RawMessage, error) {
	var body string
	err := rows.Scan(&body)
	return json.RawMessage(body), err
}

func scanHead(rows *sql.Rows) (rental.Head, error) {
	var h rental.Head
	var at int64
	err := rows.Scan(&h.Lease, &h.Number, &at, &h.Records, &h.Previous, &h.Root, &h.Hash)
	h.SealedAt = rental.Millis(at)
	return h, err
}

func lastHead(ctx context.Context, q querier, lease string) (rental.Head, error) {
	heads, err := collect(ctx, q, scanHead, `SELECT lease, number, sealed_ms, records, previous, root, hash FROM heads
		WHERE lease = $1 ORDER BY number DESC LIMIT 1`, lease)
	if err != nil || len(heads) == 0 {
		return rental.Head{}, err
	}
	return heads[0], nil
}

func recorded(ctx context.Context, q querier, lease string, after, upTo rental.Millis) (rental.Recorded, error) {
	var out rental.Recorded
	var err error
	out.Usage, err = collect(ctx, q, func(rows *sql.Rows) (rental.UsageRecord, error) {
		r := rental.UsageRecord{Lease: lease}
		return r, scanFigures(rows, &r, &r.UUID, &r.Revision)
	}, `SELECT u.uuid, u.revision, u.start_ms, u.end_ms, `+figuresOfU+` FROM usage_records u
		WHERE u.lease = $1 AND u.at_ms > $2 AND u.at_ms <= $3 AND u.revision = (SELECT max(v.revision) FROM usage_records v
		WHERE v.lease = u.lease AND v.uuid = u.uuid AND v.hour_ms = u.hour_ms AND v.at_ms <= $3) ORDER BY u.start_ms, u.uuid`,
		lease, int64(after), int64(upTo))
	if err != nil {
		return out, err
	}
	out.Downtimes, err = collect(ctx, q, scanBody, `SELECT d.body FROM downtimes d WHERE d.lease = $1 AND d.at_ms > $2 AND d.at_ms <= $3 AND d.revision =
		(SELECT max(e.revision) FROM downtimes e WHERE e.id = d.id AND e.at_ms <= $3) ORDER BY d.start_ms, d.id`, lease, int64(after), int64(upTo))
	if err != nil {
		return out, err
	}
	out.Credits, err = collect(ctx, q, scanBody, `SELECT f.body FROM facts f WHERE f.kind = $4 AND substr(f.name, 1, $5) = $1 AND length(f.name) = $5 + 7 AND f.at_ms > $2 AND f.at_ms <= $3
		AND f.revision = (SELECT max(g.revision) FROM facts g WHERE g.kind = f.kind AND g.name = f.name AND g.at_ms <= $3) ORDER BY f.name`,
		lease+":", int64(after), int64(upTo), rental.KindCreditCase, len([]rune(lease))+1)
	return out, err
}

// resumeSeals reads the moment of the last seal, which every later fact comes after.
func (l *Ledger) resumeSeals(ctx context.Context) error {
	var at sql.NullInt64
	if err := l.write.QueryRowContext(ctx, `SELECT max(sealed_ms) FROM heads`).Scan(&at); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return storeError("ledger: heads", err)
	}
	l.sealed.Store(at.Int64)
	return nil
}
