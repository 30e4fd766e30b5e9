package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/leasewatch/leasewatch/internal/rental"
)

func notFound(kind, name string) error {
	return &rental.Error{Code: rental.CodeNotFound, Message: fmt.Sprintf("no such %s: %q", kind, name)}
}

func invalid(format string, args ...any) error {
	return &rental.Error{Code: rental.CodeInvalid, Message: fmt.Sprintf(format, args...)}
}

func conflict(format string, args ...any) error {
	return &rental.Error{Code: rental.CodeConflict, Message: fmt.Sprintf(format, args...)}
}

func refused(format string, args ...any) error {
	return &rental.Error{Code: rental.CodeRefused, Message: fmt.Sprintf(format, args...)}
}

// storeError says what the store's own error means and what to do; other errors pass.
func storeError(where string, err error) error {
	if err == nil {
		return nil
	}
	var known *rental.Error
	if errors.As(err, &known) || errors.Is(err, context.Canceled) {
		return err
	}
	unavailable := func(what string) error {
		return &rental.Error{Code: rental.CodeUnavailable, Message: where + " " + what, Cause: err}
	}
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		switch lite.Code() & 0xff { // the low byte is the primary code
		case sqlite3.SQLITE_FULL:
			return unavailable("has no space left (free some space on its file system; nothing was changed)")
		case sqlite3.SQLITE_READONLY:
			return unavailable("is read-only (expected a file and directory that the user of this process may write)")
		case sqlite3.SQLITE_CANTOPEN:
			return unavailable("cannot be opened (expected a file that the user of this process may read and write)")
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
			return unavailable("is damaged or is no ledger (keep a copy of it and put the newest backup in its place)")
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			return unavailable("is locked by another process (end it, or try again)")
		case sqlite3.SQLITE_IOERR:
			return unavailable("cannot be read or written (check the disk and the kernel's log)")
		}
		return fmt.Errorf("%s: %w", where, err)
	}
	var refusedConnection *pgconn.ConnectError
	if errors.As(err, &refusedConnection) {
		// The driver's text names user and database but no password.
		return unavailable("cannot be reached (check that PostgreSQL runs and lets this user in)")
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) && (pg.Code == "53100" || pg.Code == "25006") { // disk_full, read_only_sql_transaction
		return unavailable("cannot be written (its disk is full, or it is a read-only standby)")
	}
	return fmt.Errorf("%s: %w", where, err)
}
