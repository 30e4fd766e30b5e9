package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// reserveBytes is the room kept for the ledger: an incident with its deliveries takes some
// kilobytes, and SQLite moves its log into the file after 4 MiB.
const reserveBytes = 8 << 20

// reserve is a file that only takes up room. When the disk is full it is given up, so that the
// ledger can still write the incident that says so.
type reserve struct{ file string }

func reserveIn(dir string) reserve { return reserve{filepath.Join(dir, "reserve")} }

// hold takes up the room, or leaves nothing behind. It asks for twice as much: what samples
// and ledger need until somebody has read the page.
func (r reserve) hold() error {
	if r.held() {
		return nil
	}
	var disk syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(r.file), &disk); err != nil {
		return fmt.Errorf("%s: %w", filepath.Dir(r.file), err)
	}
	if free := disk.Bavail * uint64(disk.Bsize); free < 2*reserveBytes { //nolint:gosec // a size is never negative
		return fmt.Errorf("%w: %s has %d KiB free, expected at least %d", syscall.ENOSPC, filepath.Dir(r.file), free>>10, 2*reserveBytes>>10)
	}
	// Zeros are written, not a hole left: only blocks that were given out are kept.
	err := writeSynced(r.file, make([]byte, reserveBytes))
	if err != nil {
		err = errors.Join(err, r.free())
	}
	return err
}

func writeSynced(name string, content []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}

// held tells whether the room is taken up.
func (r reserve) held() bool {
	info, err := os.Stat(r.file)
	return err == nil && info.Size() >= reserveBytes
}

// free gives the room up.
func (r reserve) free() error {
	if err := os.Remove(r.file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// full tells whether an error says that a disk is full.
func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
