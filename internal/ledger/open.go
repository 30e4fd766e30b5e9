package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Options are what a Ledger needs from outside. Logger and Now are mandatory.
type Options struct {
	Logger *slog.Logger
	// Now is the clock of every fact.
	Now func() time.Time
	// Shared opens a ledger that another process may have open for writing: no lock is taken
	// and no migration is run. Such a ledger only reads.
	Shared bool
	// CrashPoint is called before and after each commit, with "ledger-apply-before",
	// "ledger-usage-after" and so on; nil in production. Tests end the process there.
	CrashPoint func(name string)
}

// Ledger is the append-only store. It is safe for concurrent use.
type Ledger struct {
	dialect dialect
	read    pool
	write   *sql.DB
	log     *slog.Logger
	now     func() time.Time
	shared  bool
	lock    lock
	lines   timelines
	crash   func(name string)
	// sealed is the moment of the last seal, in milliseconds: facts come after it.
	sealed atomic.Int64
}

// lock keeps other processes from being the writer.
type lock interface {
	// Held returns an error where the lock was lost and cannot be had again.
	Held(ctx context.Context) error
	// Release gives the lock back.
	Release() error
}

type dialect int

const (
	sqliteDialect dialect = iota
	postgresDialect
)

// Open opens the ledger that dsn names: "sqlite:PATH" or "postgres://USER@HOST/DATABASE".
// It takes the writer's lock, checks the store and brings its tables up to date. Errors are
// rental.Errors: refused where another process is the writer, unavailable where the directory
// is read-only or full, the file is damaged or the server cannot be reached, invalid where dsn
// is neither form.
func Open(ctx context.Context, dsn string, o Options) (*Ledger, error) {
	l := &Ledger{log: o.Logger, now: o.Now, shared: o.Shared, crash: o.CrashPoint}
	l.lines.cards = map[card]*line{}
	if l.crash == nil {
		l.crash = func(string) {}
	}
	var err error
	switch scheme, rest, _ := strings.Cut(dsn, ":"); scheme {
	case "sqlite":
		l.dialect = sqliteDialect
		err = l.openSQLite(ctx, rest)
	case "postgres", "postgresql":
		l.dialect = postgresDialect
		err = l.openPostgres(ctx, dsn)
	default:
		return nil, &rental.Error{Code: rental.CodeInvalid, Message: fmt.Sprintf(
			"ledger %q: expected sqlite:PATH or postgres://USER@HOST/DATABASE", scheme+":...")}
	}
	if err == nil && l.write != nil {
		err = l.resumeSeals(ctx)
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Close writes what is still in memory, closes the store and gives the lock back.
func (l *Ledger) Close() error {
	var first error
	keep := func(err error) {
		if first == nil {
			first = err
		}
	}
	if l.write != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		keep(l.flushMarks(ctx))
	}
	for _, db := range []*sql.DB{l.read.DB, l.write} { // on PostgreSQL they are one; closing it twice does nothing
		if db != nil {
			keep(db.Close())
		}
	}
	if l.lock != nil {
		keep(l.lock.Release())
	}
	return first
}

// Check tells whether the store answers; it is what readiness asks.
func (l *Ledger) Check(ctx context.Context) error {
	var one int
	if err := l.read.QueryRowContext(ctx, "SELECT 1").Scan(&one); err != nil {
		return storeError("ledger", err)
	}
	return nil
}
