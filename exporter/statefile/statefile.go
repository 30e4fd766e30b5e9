// Package statefile keeps what the exporter knows of its GPUs over a restart: who they are,
// their states and since when, their XIDs, and which were let go of.
//
// The file is a few kilobytes of JSON, replaced in one step, so that a crash or a full disk
// leaves the last whole one.
package statefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// maxBytes bounds what is read: a hundred times the file of 16 GPUs.
const maxBytes = 8 << 20

// Load reads a state file. Without a file it returns an empty snapshot: nothing is known.
// An error says that there is a file and that it is of no use.
func Load(path string) (*gpu.Snapshot, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &gpu.Snapshot{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening the state file: %w", err)
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the state file %s: %w", path, err)
	}
	if len(raw) > maxBytes {
		return nil, fmt.Errorf("the state file %s is larger than %d bytes", path, maxBytes)
	}
	s, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("the state file %s: %w", path, err)
	}
	return s, nil
}

// SetAside renames a file that is of no use, so that it is not overwritten, and returns its
// new name.
func SetAside(path string) (string, error) {
	aside := path + ".unusable"
	if err := os.Rename(path, aside); err != nil {
		return "", fmt.Errorf("setting the state file aside: %w", err)
	}
	return aside, nil
}

// Save replaces the state file by what the snapshot knows. When it returns without an error,
// the file is on the disk.
func Save(path string, s *gpu.Snapshot) error {
	raw, err := json.MarshalIndent(encode(s), "", "  ")
	if err != nil {
		return fmt.Errorf("spelling the state: %w", err)
	}
	dir, name := filepath.Split(path)
	fresh, err := os.CreateTemp(dir, name+".*")
	if err != nil {
		return fmt.Errorf("writing the state file: %w", err)
	}
	defer os.Remove(fresh.Name()) // gone already where all went well
	_, err = fresh.Write(append(raw, '\n'))
	if err == nil {
		err = fresh.Sync()
	}
	if closeErr := fresh.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(fresh.Name(), path)
	}
	if err == nil {
		err = syncDir(dir)
	}
	if err != nil {
		return fmt.Errorf("writing the state file %s: %w", path, err)
	}
	return nil
}

// syncDir makes a rename durable.
func syncDir(path string) error {
	if path == "" {
		path = "."
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// Every time in the file is in UTC milliseconds since 1970; 0 is none.
func toMillis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
