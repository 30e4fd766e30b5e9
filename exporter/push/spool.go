package push

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/prometheus/prometheus/tsdb/wlog"
	"github.com/prometheus/prometheus/util/compression"
)

const (
	pageBytes       = 32 << 10 // wlog writes in pages of this size
	minSegmentBytes = 4 * pageBytes
	maxSegmentBytes = 8 << 20
	segmentsPerCap  = 16 // so that reaching the cap costs a sixteenth of the spool
)

// record is one batch in the spool. Its sequence number makes every loss countable: a gap
// in the numbers is what was dropped undelivered.
type record struct {
	seq uint64
	Batch
}

const recordHeader = 8 + 4

func (r record) encode() []byte {
	out := make([]byte, recordHeader, recordHeader+len(r.body))
	binary.BigEndian.PutUint64(out, r.seq)
	binary.BigEndian.PutUint32(out[8:], uint32(r.samples))
	return append(out, r.body...)
}

func decode(raw []byte) (record, error) {
	if len(raw) < recordHeader {
		return record{}, fmt.Errorf("a spool record of %d bytes, want at least %d", len(raw), recordHeader)
	}
	return record{
		seq:   binary.BigEndian.Uint64(raw),
		Batch: Batch{samples: int(binary.BigEndian.Uint32(raw[8:])), body: append([]byte(nil), raw[recordHeader:]...)},
	}, nil
}

// spool keeps batches on disk, in order, until they are delivered. One goroutine may append
// while another reads.
type spool struct {
	dir      string
	maxBytes int64
	log      *slog.Logger
	lock     *os.File
	grown    chan struct{} // holds a token after each append

	// What the instruments show is outside the lock: a disk that hangs must not hold up the page.
	bytes   atomic.Int64
	newest  atomic.Uint64 // number of the newest record
	dropped atomic.Uint64 // segments dropped undelivered

	mu      sync.Mutex
	wl      *wlog.WL
	reading int // segment that the reader is in
}

// openSpool opens the folder, or makes it. It fails where another exporter holds it.
func openSpool(dir string, maxBytes int64, delivered cursor, log *slog.Logger) (*spool, error) {
	if err := os.MkdirAll(segmentsDir(dir), 0o750); err != nil {
		return nil, fmt.Errorf("making the spool folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o640)
	if err != nil {
		return nil, fmt.Errorf("opening the spool's lock: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		lock.Close()
		return nil, fmt.Errorf("another exporter uses the spool %s: give each its own --push.spool-dir: %w", dir, err)
	}
	newest, err := newestRecord(segmentsDir(dir), log)
	if err != nil {
		lock.Close()
		return nil, err
	}
	wl, err := wlog.NewSize(log, nil, segmentsDir(dir), segmentBytes(maxBytes), compression.Snappy)
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("opening the spool %s: %w", dir, err)
	}
	s := &spool{dir: dir, maxBytes: maxBytes, log: log, lock: lock, grown: make(chan struct{}, 1), wl: wl, reading: delivered.segment}
	s.newest.Store(max(newest, delivered.seq))
	if _, err := s.measure(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func segmentsDir(dir string) string { return filepath.Join(dir, "segments") }

func segmentBytes(maxBytes int64) int {
	size := min(max(maxBytes/segmentsPerCap, minSegmentBytes), maxSegmentBytes)
	return int(size / pageBytes * pageBytes)
}

// newestRecord finds the sequence number of the last whole record, 0 where there is none.
func newestRecord(dir string, log *slog.Logger) (uint64, error) {
	first, last, err := wlog.Segments(dir)
	if err != nil {
		return 0, fmt.Errorf("listing the spool: %w", err)
	}
	for k := last; k >= first && k >= 0; k-- {
		segment, err := os.Open(wlog.SegmentName(dir, k))
		if err != nil {
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			return 0, fmt.Errorf("opening spool segment %d: %w", k, err)
		}
		newest := uint64(0)
		reader := wlog.NewLiveReader(log, wlog.NewLiveReaderMetrics(nil), segment)
		for reader.Next() {
			if r, err := decode(reader.Record()); err == nil {
				newest = r.seq
			}
		}
		segment.Close()
		if newest > 0 {
			return newest, nil
		}
	}
	return 0, nil
}

// append writes a batch. When it returns, the batch outlives the end of the process.
func (s *spool) append(b Batch) (record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := record{seq: s.newest.Load() + 1, Batch: b}
	if err := s.wl.Log(r.encode()); err != nil {
		// A half-written page cannot be written on; a fresh segment can, once there is room.
		if _, next := s.wl.NextSegment(); next != nil {
			err = errors.Join(err, next)
		}
		return r, fmt.Errorf("writing to the spool: %w", err)
	}
	s.newest.Store(r.seq)
	if err := s.keepUnderCap(); err != nil {
		return r, err
	}
	select {
	case s.grown <- struct{}{}:
	default:
	}
	return r, nil
}

// keepUnderCap drops the oldest segments while the spool is too big.
func (s *spool) keepUnderCap() error {
	for {
		size, err := s.measure()
		if err != nil {
			return err
		}
		first, last, err := wlog.Segments(segmentsDir(s.dir))
		if err != nil {
			return fmt.Errorf("listing the spool: %w", err)
		}
		if size <= s.maxBytes || first == last {
			return nil
		}
		if err := s.wl.Truncate(first + 1); err != nil {
			return fmt.Errorf("dropping the oldest spool segment: %w", err)
		}
		if first >= s.reading {
			s.dropped.Add(1)
			s.log.Warn("the spool is full: its oldest segment was dropped", "segment", first, "max_bytes", s.maxBytes)
		}
	}
}

// passed tells that the reader is in this segment: everything before it may go.
func (s *spool) passed(segment int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading = segment
	if err := s.wl.Truncate(segment); err != nil {
		return fmt.Errorf("removing delivered spool segments: %w", err)
	}
	_, err := s.measure()
	return err
}

// rotate begins a new segment, to get past a damaged one.
func (s *spool) rotate() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.wl.NextSegment()
	return err
}

// measure asks how much is on disk.
func (s *spool) measure() (int64, error) {
	size, err := s.wl.Size()
	if err != nil {
		return 0, fmt.Errorf("measuring the spool: %w", err)
	}
	s.bytes.Store(size)
	return size, nil
}

func (s *spool) close() error {
	return errors.Join(s.wl.Close(), s.lock.Close())
}
