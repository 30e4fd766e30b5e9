package push

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// cursor says how far delivery has come.
type cursor struct {
	segment int    // where the last delivered record lies
	seq     uint64 // its number; 0 for none yet
	damaged bool   // nobody knows what was delivered
}

// readCursor reads the cursor file. Where it is missing nothing was delivered yet. One that is
// damaged starts at the oldest record: a receiver takes the same sample twice without harm, a
// lost one is lost.
func readCursor(dir string) (cursor, error) {
	raw, err := os.ReadFile(cursorFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return cursor{}, nil
	}
	if err != nil {
		return cursor{}, fmt.Errorf("reading the spool's cursor: %w", err)
	}
	var c cursor
	if n, err := fmt.Sscanf(string(raw), "segment %d seq %d\n", &c.segment, &c.seq); err != nil || n != 2 || c.segment < 0 {
		return cursor{damaged: true}, nil
	}
	return c, nil
}

// write moves the cursor in one step: after a crash it is either the old or the new one.
func (c cursor) write(dir string) error {
	next := cursorFile(dir) + ".next"
	if err := os.WriteFile(next, fmt.Appendf(nil, "segment %d seq %d\n", c.segment, c.seq), 0o640); err != nil {
		return fmt.Errorf("writing the spool's cursor: %w", err)
	}
	if err := os.Rename(next, cursorFile(dir)); err != nil {
		return fmt.Errorf("moving the spool's cursor: %w", err)
	}
	return nil
}

func cursorFile(dir string) string { return filepath.Join(dir, "cursor") }
