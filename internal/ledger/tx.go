package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// querier is what reading needs: a pool or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// txn is one writing transaction with its one moment.
type txn struct {
	*sql.Tx
	now rental.Millis
	// approvedBy is the second person of what is recorded; empty where none was needed.
	approvedBy string
}

// errRollback ends a transaction without an error and without its changes.
var errRollback = errors.New("rolled back on purpose")

// transact runs fn in one transaction: all of it is kept, or nothing. Writers queue up, in
// this process by the one connection and in PostgreSQL by an advisory lock, so that fn may
// read, decide and write without another writer in between. fn must not call the Ledger.
func (l *Ledger) transact(ctx context.Context, what string, fn func(t *txn) error) error {
	if l.write == nil {
		return refused("%s: this ledger was opened for reading only; another process is its writer", what)
	}
	if l.lock != nil {
		if err := l.lock.Held(ctx); err != nil {
			return err
		}
	}
	tx, err := l.write.BeginTx(ctx, nil)
	if err != nil {
		return storeError("ledger: "+what, err)
	}
	defer tx.Rollback() // after Commit it does nothing
	if l.dialect == postgresDialect {
		if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", int64(writerKey)); err != nil {
			return storeError("ledger: "+what, err)
		}
	}
	if err := fn(&txn{Tx: tx, now: max(rental.At(l.now()), rental.Millis(l.sealed.Load()+1))}); err != nil {
		if errors.Is(err, errRollback) {
			return nil
		}
		return storeError("ledger: "+what, err)
	}
	kind, _, _ := strings.Cut(what, " ")
	l.crash("ledger-" + kind + "-before")
	if err := tx.Commit(); err != nil {
		return storeError("ledger: "+what, err)
	}
	l.crash("ledger-" + kind + "-after")
	return nil
}

// collectText reads all rows of a query of one text.
func collectText(ctx context.Context, q querier, query string, args ...any) ([]string, error) {
	return collect(ctx, q, func(rows *sql.Rows) (text string, err error) { return text, rows.Scan(&text) }, query, args...)
}

// collect reads all rows of a query with scan.
func collect[T any](ctx context.Context, q querier, scan func(*sql.Rows) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("row: %w", err)
		}
		all = append(all, one)
	}
	return all, rows.Err()
}
