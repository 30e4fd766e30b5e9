package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Backup writes a whole copy of a SQLite ledger to a new file while the ledger is in use, reads
// the copy through, and only then gives it its name. A PostgreSQL ledger is refused: its own
// tools do it better.
func (l *Ledger) Backup(ctx context.Context, path string) error {
	if l.dialect == postgresDialect {
		return refused("backup: this ledger is in PostgreSQL: use pg_dump --format=custom, and pg_restore to bring it back")
	}
	if err := l.flushMarks(ctx); err != nil && rental.CodeOf(err) != rental.CodeRefused {
		return err
	}
	var file string
	if err := l.read.QueryRowContext(ctx, `SELECT file FROM pragma_database_list WHERE name = 'main'`).Scan(&file); err != nil {
		return storeError("backup", err)
	}
	return copyLedger(ctx, file, path, "backup")
}

// Restore makes a ledger at path from a backup. It refuses a backup that is damaged, a path at
// which a ledger exists, and one whose directory another server uses.
func Restore(ctx context.Context, backup, path string) error {
	if _, err := os.Stat(backup); err != nil {
		return &rental.Error{Code: rental.CodeNotFound, Message: "restore: expected a backup that leasewatch backup made", Cause: err}
	}
	lock, err := lockFile(path)
	if err != nil {
		return err
	}
	defer lock.Release()
	return copyLedger(ctx, backup, path, "restore")
}

// copyLedger copies the ledger in a file to another that does not exist yet, by way of a
// temporary name in the same folder, so that nobody ever sees half of it.
func copyLedger(ctx context.Context, from, to, what string) error {
	if _, err := os.Lstat(to); !errors.Is(err, os.ErrNotExist) {
		if err != nil {
			return directoryError(filepath.Dir(to), err)
		}
		return refused("%s: %s exists: expected a path where no file is; move that one away first", what, to)
	}
	folder, err := os.MkdirTemp(filepath.Dir(to), ".leasewatch-"+what+"-")
	if err != nil {
		return directoryError(filepath.Dir(to), err)
	}
	defer os.RemoveAll(folder)
	draft := filepath.Join(folder, "ledger.db")
	if from, err = filepath.Abs(from); err != nil { // the address of a file has no other
		return fmt.Errorf("%s: %w", what, err)
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: from, RawQuery: url.Values{
		"mode": {"ro"}, "_pragma": {"busy_timeout(10000)"}}.Encode()}).String())
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, `VACUUM INTO $1`, draft); err != nil {
		return storeError(what+" of "+from, err)
	}
	if err := readThrough(ctx, draft); err != nil {
		return err
	}
	if err := syncFile(draft); err != nil {
		return directoryError(filepath.Dir(to), err)
	}
	if err := os.Link(draft, to); err != nil { // unlike a rename, it never replaces a file
		return directoryError(filepath.Dir(to), err)
	}
	return syncFile(filepath.Dir(to))
}

// readThrough checks a copy as Open would, and that it is a ledger.
func readThrough(ctx context.Context, path string) error {
	copied := &Ledger{dialect: sqliteDialect, shared: true}
	if err := copied.openSQLite(ctx, path); err != nil {
		copied.Close()
		return err
	}
	defer copied.Close()
	var n int
	if err := copied.read.QueryRowContext(ctx, `SELECT count(*) FROM facts`).Scan(&n); err != nil {
		return storeError("ledger "+path, err)
	}
	return copied.CheckTotals(ctx)
}

// syncFile puts a file or a folder on the disk and lets its owner only read it.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		if err := f.Chmod(0o600); err != nil {
			return err
		}
	}
	return f.Sync()
}
