package ledger

import (
	"context"
	"database/sql"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// SaveEntry keeps an entry of the paging's own state (a silence, a notification) under its kind
// and key until it expires. It is on the disk when SaveEntry returns. Entries of the kind that
// have expired are dropped on the way.
func (l *Ledger) SaveEntry(ctx context.Context, kind, key string, body []byte, expires time.Time) error {
	return l.transact(ctx, "paging entry", func(t *txn) error {
		if _, err := t.ExecContext(ctx, `DELETE FROM paging_entries WHERE kind = $1 AND expires_ms <= $2`, kind, int64(t.now)); err != nil {
			return err
		}
		_, err := t.ExecContext(ctx, `INSERT INTO paging_entries (kind, entry_key, body, expires_ms) VALUES ($1, $2, $3, $4)
			ON CONFLICT (kind, entry_key) DO UPDATE SET body = excluded.body, expires_ms = excluded.expires_ms`,
			kind, key, body, int64(rental.At(expires)))
		return err
	})
}

// LoadEntries returns the bodies of a kind that have not expired, by key.
func (l *Ledger) LoadEntries(ctx context.Context, kind string) ([][]byte, error) {
	all, err := collect(ctx, l.read, func(rows *sql.Rows) ([]byte, error) {
		var body []byte
		return body, rows.Scan(&body)
	}, `SELECT body FROM paging_entries WHERE kind = $1 AND expires_ms > $2 ORDER BY entry_key`, kind, int64(rental.At(l.now())))
	return all, storeError("ledger: paging entries", err)
}
