package push

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/prometheus/prometheus/tsdb/wlog"
)

// spoolReader walks the spool behind its writer. One goroutine owns it.
type spoolReader struct {
	spool   *spool
	at      cursor // the last record handed out
	segment *os.File
	index   int // of the segment
	live    *wlog.LiveReader
	lost    uint64 // records dropped before they could be read
	unsure  bool   // what was delivered is not known: the first record found is no gap
}

func newSpoolReader(s *spool, delivered cursor) *spoolReader {
	return &spoolReader{spool: s, at: delivered, unsure: delivered.damaged}
}

// next returns the oldest record that was not handed out yet. It waits for one, and fails
// when ctx ends or the spool cannot be read.
func (r *spoolReader) next(ctx context.Context) (record, error) {
	for {
		found, ok, err := r.step()
		if ok || err != nil {
			return found, err
		}
		select {
		case <-ctx.Done():
			return record{}, ctx.Err()
		case <-r.spool.grown:
		}
	}
}

// step gives the next record, from this segment or a later one, or nothing for now.
func (r *spoolReader) step() (record, bool, error) {
	if r.live == nil {
		if opened, err := r.open(r.at.segment); !opened || err != nil {
			return record{}, false, err
		}
	}
	for {
		if found, ok, err := r.read(); ok || err != nil {
			return found, ok, err
		}
		damage := r.live.Err()
		if errors.Is(damage, io.EOF) {
			damage = nil
		}
		newer, err := r.newer()
		if err != nil {
			return record{}, false, err
		}
		switch {
		case damage != nil:
			r.spool.log.Error("a spool segment is damaged: its rest is skipped and shows as lost", "segment", r.index, "err", damage)
			if !newer {
				if err := r.spool.rotate(); err != nil {
					return record{}, false, fmt.Errorf("leaving a damaged spool segment: %w", err)
				}
			}
		case !newer:
			return record{}, false, nil
		default:
			// The writer may have added to this segment before it went on to the next.
			if found, ok, err := r.read(); ok || err != nil {
				return found, ok, err
			}
		}
		if opened, err := r.open(r.index + 1); !opened || err != nil {
			return record{}, false, err
		}
	}
}

// read gives the next record of this segment that was not handed out before.
func (r *spoolReader) read() (record, bool, error) {
	for r.live.Next() {
		found, err := decode(r.live.Record())
		if err != nil {
			return record{}, false, err
		}
		if found.seq <= r.at.seq {
			continue
		}
		if !r.unsure {
			r.lost += found.seq - r.at.seq - 1
		}
		r.unsure = false
		r.at = cursor{segment: r.index, seq: found.seq}
		return found, true, nil
	}
	return record{}, false, nil
}

// newer tells whether the writer has gone on to a later segment.
func (r *spoolReader) newer() (bool, error) {
	_, last, err := wlog.Segments(segmentsDir(r.spool.dir))
	if err != nil {
		return false, fmt.Errorf("listing the spool: %w", err)
	}
	return last > r.index, nil
}

// open opens the first segment from k on, and lets those before it go.
func (r *spoolReader) open(k int) (bool, error) {
	r.close()
	dir := segmentsDir(r.spool.dir)
	first, last, err := wlog.Segments(dir)
	if err != nil {
		return false, fmt.Errorf("listing the spool: %w", err)
	}
	if k > last+1 {
		k = first // the cursor is ahead of the spool: someone emptied the folder
	}
	for k = max(k, first, 0); k <= last; k++ {
		segment, err := os.Open(wlog.SegmentName(dir, k))
		if errors.Is(err, os.ErrNotExist) {
			continue // dropped by the cap in between
		}
		if err != nil {
			return false, fmt.Errorf("opening spool segment %d: %w", k, err)
		}
		r.segment, r.index = segment, k
		r.live = wlog.NewLiveReader(r.spool.log, wlog.NewLiveReaderMetrics(nil), segment)
		return true, r.spool.passed(k)
	}
	return false, nil
}

func (r *spoolReader) close() {
	if r.segment != nil {
		r.segment.Close()
	}
	r.segment, r.live = nil, nil
}
