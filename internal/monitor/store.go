package monitor

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/prometheus/prometheus/tsdb"
)

// blockReload is how often the store looks for new blocks, so that a backfill is seen soon.
const blockReload = 2 * time.Second

// ErrInUse tells that another process holds the data directory.
var ErrInUse = errors.New("data directory is in use")

// ErrNotWritable tells that the data directory is full, read-only or not ours.
var ErrNotWritable = errors.New("data directory is not writable")

// openStore opens the time series database, or says in one sentence what is wrong and what helps.
func openStore(o Options, logger *slog.Logger) (*tsdb.DB, error) {
	if err := checkWritable(o.DataDir); err != nil {
		return nil, storeError(o.DataDir, err)
	}
	if err := removeStages(o.DataDir); err != nil {
		return nil, storeError(o.DataDir, err)
	}
	db, err := tsdb.Open(o.DataDir, logger, o.Registerer, storeOptions(o), nil)
	if err != nil {
		return nil, storeError(o.DataDir, err)
	}
	return db, nil
}

func storeOptions(o Options) *tsdb.Options {
	opts := tsdb.DefaultOptions()
	opts.RetentionDuration = o.Retention.Milliseconds()
	opts.OutOfOrderTimeWindow = o.OutOfOrderWindow.Milliseconds()
	opts.MinBlockDuration = (2 * time.Hour).Milliseconds()
	// As Prometheus does: a block is at most a tenth of the retention, so that it expires in slices.
	opts.MaxBlockDuration = max(min(31*24*time.Hour, o.Retention/10), 2*time.Hour).Milliseconds()
	opts.BlockReloadInterval = blockReload
	return opts
}

// checkWritable writes, syncs and removes one file: a full disk often still allows empty ones.
func checkWritable(dir string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	name := filepath.Join(dir, ".write-test")
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, 4096))
	return errors.Join(err, file.Sync(), file.Close(), os.Remove(name))
}

// storeError names the place and the remedy of what keeps a data directory from opening.
func storeError(dir string, err error) error {
	switch {
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EWOULDBLOCK):
		return fmt.Errorf("%w: %s is held by another leasewatch: stop that one, or give this one a directory of its own", ErrInUse, dir)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: no space is left in %s: free some, or lower the retention: %w", ErrNotWritable, dir, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: %s cannot be written by this user: give it the right owner and mount it read-write: %w", ErrNotWritable, dir, err)
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%w: %s is not a directory: %w", ErrNotWritable, dir, err)
	}
	return fmt.Errorf("opening the time series in %s: %w", dir, err)
}

// closeStore closes the database; a nil database is already closed.
func closeStore(db *tsdb.DB) error {
	if err := db.Close(); err != nil {
		return fmt.Errorf("closing the time series: %w", err)
	}
	return nil
}
