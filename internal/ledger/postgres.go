package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"sync"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// The keys of our advisory locks in PostgreSQL: "leasewatch" in ASCII, shortened.
const (
	leaderKey = 0x6c656173_01 // held by the one that writes, as long as it runs
	writerKey = 0x6c656173_02 // held within each writing transaction
)

func (l *Ledger) openPostgres(ctx context.Context, dsn string) error {
	if _, err := pgx.ParseConfig(dsn); err != nil {
		// The driver's error may quote the DSN, and with it a password: it is not passed on.
		return &rental.Error{Code: rental.CodeInvalid,
			Message: "ledger: the PostgreSQL address does not parse: expected postgres://USER@HOST:PORT/DATABASE"}
	}
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		return storeError("ledger "+hostOf(dsn), err)
	}
	db.SetMaxOpenConns(8)
	l.read.DB = db
	if err := db.PingContext(ctx); err != nil {
		return storeError("ledger "+hostOf(dsn), err)
	}
	if l.shared {
		return nil
	}
	lock := &leaderLock{db: db, name: hostOf(dsn)}
	if err := lock.Held(ctx); err != nil {
		return err
	}
	l.lock, l.write = lock, db
	return l.migrate(ctx, hostOf(dsn))
}

// hostOf names the server without user and password.
func hostOf(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return "postgres"
	}
	return (&url.URL{Scheme: "postgres", Host: u.Host, Path: u.Path}).String()
}

// leaderLock is a session's advisory lock; the server drops it with the connection.
type leaderLock struct {
	db   *sql.DB
	name string
	mu   sync.Mutex
	conn *sql.Conn
}

// Held asks the connection that holds the lock whether it lives, and takes the lock again
// where it does not: after a restart of PostgreSQL another replica may have been faster.
func (k *leaderLock) Held(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.conn != nil {
		if k.conn.PingContext(ctx) == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		k.conn.Close()
		k.conn = nil
	}
	conn, err := k.db.Conn(ctx)
	if err != nil {
		return storeError("ledger "+k.name, err)
	}
	var got bool
	if err := conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1)", int64(leaderKey)).Scan(&got); err != nil {
		conn.Close()
		return storeError("ledger "+k.name, err)
	}
	if !got {
		conn.Close()
		return &rental.Error{Code: rental.CodeRefused, Message: fmt.Sprintf(
			"ledger %s is led by another leasewatch: expected one that writes; stop that one, or run this one as a replica", k.name)}
	}
	k.conn = conn
	return nil
}

// Release ends the session that holds the lock.
func (k *leaderLock) Release() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.conn == nil {
		return nil
	}
	err := k.conn.Close()
	k.conn = nil
	return err
}
