// Package record writes what a source told to a file, and plays such a file as a source: to
// send a machine's answers to someone else, and to pin them in tests.
//
// A recording is JSON, one object a line, gzipped or not. The first line is the Header; each
// further one holds a snapshot or an event, as exporter/gpu names their fields. A field that
// the reader does not know is left out, one that the recording lacks is absent.
package record

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// Version is the format's, raised where an old reader would read a new recording wrongly.
const Version = 1

// Header is the first line.
type Header struct {
	Recording int       // the format's version
	Program   string    // the exporter's version
	Host      string    // as --host.name says, or its pseudonym
	Vantage   string    // host or guest
	Began     time.Time // when the recording began
	Redacted  bool      // names are pseudonyms
}

// line is one further line: either is set.
type line struct {
	Snapshot *gpu.Snapshot
	Event    *gpu.Event
}

// clone returns a copy that shares nothing with the line.
func (l line) clone() (line, error) {
	var copied line
	raw, err := encode(l)
	if err == nil {
		err = decode(raw, &copied)
	}
	if err != nil {
		return line{}, fmt.Errorf("copying a line of the recording: %w", err)
	}
	return copied, nil
}

// Writer writes one recording. It is not safe for concurrent use.
type Writer struct {
	out    *bufio.Writer
	redact *redactor // nil to write names as they are
	last   *gpu.Snapshot
	told   int
}

// NewWriter begins a recording. Where the header says Redacted, names become pseudonyms, the
// same for the same name, under a key that nobody keeps.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	out := &Writer{out: bufio.NewWriter(w)}
	if h.Redacted {
		redact, err := newRedactor()
		if err != nil {
			return nil, err
		}
		out.redact = redact
		h.Host = redact.name(h.Host)
	}
	h.Recording = Version
	return out, out.put(h)
}

// Snapshot writes a snapshot, unless it is the one written last or tells of no round.
func (w *Writer) Snapshot(s *gpu.Snapshot) error {
	if s == w.last || s.At.IsZero() {
		return nil
	}
	w.last = s
	w.told++
	return w.line(line{Snapshot: s})
}

// Event writes an event.
func (w *Writer) Event(e gpu.Event) error { return w.line(line{Event: &e}) }

// Snapshots is how many snapshots were written.
func (w *Writer) Snapshots() int { return w.told }

// Flush writes out what is still held.
func (w *Writer) Flush() error { return w.out.Flush() }

func (w *Writer) line(l line) error {
	if w.redact != nil {
		var err error
		if l, err = w.redact.line(l); err != nil {
			return err
		}
	}
	return w.put(l)
}

func (w *Writer) put(v any) error {
	raw, err := encode(v)
	if err != nil {
		return fmt.Errorf("encoding a line of the recording: %w", err)
	}
	if _, err := w.out.Write(append(raw, '\n')); err != nil {
		return fmt.Errorf("writing the recording: %w", err)
	}
	return nil
}

// Recording is a recording in memory.
type Recording struct {
	Header
	Snapshots []*gpu.Snapshot // at least one, in the order of their times
	Events    []gpu.Event     // in the order they were told
}

// Bounds of what is read, so that a file from elsewhere cannot eat the memory.
const (
	maxLineBytes = 16 << 20
	maxBytes     = 1 << 30
)

// Read reads a recording, gzipped or not. An error names the line.
func Read(r io.Reader) (*Recording, error) {
	plain := bufio.NewReader(r)
	if magic, err := plain.Peek(2); err == nil && bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(plain)
		if err != nil {
			return nil, fmt.Errorf("unzipping the recording: %w", err)
		}
		defer unzipped.Close()
		plain = bufio.NewReader(unzipped)
	}
	lines := bufio.NewScanner(io.LimitReader(plain, maxBytes))
	lines.Buffer(nil, maxLineBytes)
	rec := &Recording{}
	n := 0
	for lines.Scan() {
		n++
		if err := rec.take(n, lines.Bytes()); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", n+1, err)
	}
	if len(rec.Snapshots) == 0 {
		return nil, errors.New("the recording holds no snapshot")
	}
	return rec, nil
}

func (rec *Recording) take(n int, raw []byte) error {
	if n == 1 {
		if err := json.Unmarshal(raw, &rec.Header); err != nil || rec.Recording == 0 {
			return errors.New(`no recording of leasewatch-exporter: want {"Recording":1,...}`)
		}
		if rec.Recording > Version {
			return fmt.Errorf("a recording of format %d, this program reads up to %d: take a newer one", rec.Recording, Version)
		}
		return nil
	}
	var l line
	if err := decode(raw, &l); err != nil {
		return fmt.Errorf("reading a snapshot or an event: %w", err)
	}
	switch {
	case l.Snapshot != nil:
		if k := len(rec.Snapshots); k > 0 && l.Snapshot.At.Before(rec.Snapshots[k-1].At) {
			return fmt.Errorf("a snapshot of %s after one of %s: want them in the order of their times", l.Snapshot.At, rec.Snapshots[k-1].At)
		}
		rec.Snapshots = append(rec.Snapshots, l.Snapshot)
	case l.Event != nil:
		rec.Events = append(rec.Events, *l.Event)
	}
	return nil
}
