package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// readers bounds the connections that read a SQLite ledger beside its one writer.
const readers = 4

// openSQLite opens the file. Writes go through one connection, so that they queue here and not
// in SQLite's busy handler; WAL lets the readers go on meanwhile.
func (l *Ledger) openSQLite(ctx context.Context, path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("ledger %q: %w", path, err)
	}
	if !l.shared {
		if l.lock, err = lockFile(path); err != nil {
			return err
		}
		if err := makePrivate(path); err != nil {
			return directoryError(filepath.Dir(path), err)
		}
	} else if _, err := os.Stat(path); err != nil {
		return &rental.Error{Code: rental.CodeUnavailable, Cause: err, Message: "ledger " + path +
			" cannot be read: expected the file that a server made; check --storage.path"}
	}
	// FULL makes a commit durable before it is told: a page that was promised survives the power cut.
	common := url.Values{"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"}}
	// What is erased is overwritten, not only let go of.
	writing := url.Values{"_pragma": append([]string{"secure_delete(1)"}, common["_pragma"]...), "_txlock": {"immediate"}}
	reading := url.Values{"_pragma": append([]string{"query_only(1)"}, common["_pragma"]...)}
	open := func(v url.Values, connections int) (*sql.DB, error) {
		db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: v.Encode()}).String())
		if err != nil {
			return nil, fmt.Errorf("ledger %s: %w", path, err)
		}
		db.SetMaxOpenConns(connections)
		db.SetMaxIdleConns(connections)
		return db, nil
	}
	if l.shared {
		reading["_pragma"] = []string{"busy_timeout(10000)", "query_only(1)"}
	} else if l.write, err = open(writing, 1); err != nil {
		return err
	}
	if l.read.DB, err = open(reading, readers); err != nil {
		return err
	}
	if l.shared {
		return l.checkSQLite(ctx, l.read.DB, path)
	}
	if err := l.checkSQLite(ctx, l.write, path); err != nil {
		return err
	}
	if err := l.migrate(ctx, path); err != nil {
		return err
	}
	l.scrub(ctx) // what a process that was killed left in the write-ahead log
	return nil
}

// makePrivate makes the file where there is none, for this user alone: it holds contracts, prices and
// hashes of tokens. SQLite gives the files beside it the same mode.
func makePrivate(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// checkSQLite lets SQLite read every page of the file once: a damaged ledger must not be written to.
func (l *Ledger) checkSQLite(ctx context.Context, db *sql.DB, path string) error {
	var found string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found); err != nil {
		return storeError("ledger "+path, err)
	}
	if found != "ok" {
		return &rental.Error{Code: rental.CodeUnavailable, Message: fmt.Sprintf(
			"ledger %s is damaged (%s): nothing was changed; keep a copy of it and put the newest backup in its place",
			path, strings.TrimSpace(found))}
	}
	return nil
}

// fileLock is an advisory lock on a file beside the ledger; the kernel drops it when the process dies.
type fileLock struct{ file *os.File }

func lockFile(path string) (lock, error) {
	dir := filepath.Dir(path)
	f, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, directoryError(dir, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder := make([]byte, 20)
		n, _ := f.ReadAt(holder, 0)
		f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, directoryError(dir, err)
		}
		return nil, &rental.Error{Code: rental.CodeRefused, Message: fmt.Sprintf(
			"data directory %s is in use by another leasewatch (process %s): expected one server a directory; stop that one, or give this one its own --storage.path",
			dir, strings.TrimSpace(string(holder[:n])))}
	}
	pid := strconv.Itoa(os.Getpid()) + "\n"
	if err := f.Truncate(0); err == nil {
		_, err = f.WriteAt([]byte(pid), 0)
	}
	if err != nil {
		f.Close()
		return nil, directoryError(dir, err)
	}
	return fileLock{f}, nil
}

// Held is always true: the kernel keeps the lock as long as the file is open.
func (fileLock) Held(context.Context) error { return nil }

// Release closes the file, and with it gives back the lock.
func (l fileLock) Release() error { return l.file.Close() }

func directoryError(dir string, err error) error {
	what := "cannot be used"
	remedy := "expected a directory that leasewatch may write"
	switch {
	case errors.Is(err, os.ErrNotExist):
		what, remedy = "does not exist", "make it, or name another with --storage.path"
	case errors.Is(err, os.ErrPermission), errors.Is(err, syscall.EROFS):
		what, remedy = "cannot be written", "expected a directory that the user of this process owns, on a file system that is not read-only"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		what, remedy = "is full", "free some space and start again; nothing was changed"
	}
	return &rental.Error{Code: rental.CodeUnavailable, Cause: err,
		Message: fmt.Sprintf("data directory %s %s (%s)", dir, what, remedy)}
}
