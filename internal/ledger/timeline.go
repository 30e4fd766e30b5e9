package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// markLag is how far, in milliseconds, the stored mark of a card may lag behind what was
// derived. The classes themselves are written at once; a mark that is lost in a crash only
// means that up to this much is derived again. It keeps thousands of cards, derived every few
// seconds, at one small transaction a quarter of a minute.
const markLag = 15_000

type card struct{ lease, uuid string }

// line is what is known of one card of a lease: the classes in order of time, of which the
// last goes on until something else is learnt, and the mark up to which they were derived.
type line struct {
	intervals []rental.Interval
	mark      rental.Millis
	stored    rental.Millis // the mark as the store has it
}

// timelines keeps the lines of the writing process; readers elsewhere read the store.
type timelines struct {
	mu    sync.Mutex
	cards map[card]*line
}

// SaveTimeline records the classes of a card in a lease over the span; intervals outside of
// the span are cut, and instants that no interval covers are left as they were. Deriving the
// same again writes nothing; what differs is appended, and the newest word wins for each
// instant. It is cheap to call every few seconds with a span that grows.
func (l *Ledger) SaveTimeline(ctx context.Context, lease, uuid string, span rental.Span, intervals []rental.Interval) error {
	l.lines.mu.Lock()
	defer l.lines.mu.Unlock()
	key := card{lease, uuid}
	ln, err := l.line(ctx, key)
	if err != nil {
		return err
	}
	want := clipAll(intervals, span)
	if len(want) == 0 {
		return nil
	}
	if want[len(want)-1].Span.End == rental.Forever {
		return invalid("timeline of %s in lease %q: found classes without an end, expected them up to a moment that has passed", uuid, lease)
	}
	changes, mark := ln.differences(want)
	if len(changes) > 0 {
		if err := l.appendTimeline(ctx, key, changes, mark); err != nil {
			delete(l.lines.cards, key) // what was kept is read back, should the commit have come through
			return err
		}
		for _, c := range changes {
			ln.intervals = paint(ln.intervals, c)
		}
		ln.stored = mark
	}
	ln.mark = mark
	if ln.mark-ln.stored >= markLag {
		return l.flushLocked(ctx)
	}
	return nil
}

// differences returns what must be appended so that the line says what is wanted, and the new
// mark. A change that reaches the mark goes on until something else is learnt.
func (ln *line) differences(want []rental.Interval) ([]rental.Interval, rental.Millis) {
	end := want[len(want)-1].Span.End
	mark := max(ln.mark, end)
	var changes []rental.Interval
	known := ln.mark // up to where what is known, or what comes before w, reaches
	for _, w := range want {
		if len(ln.intervals) > 0 && w.Span.Start > known {
			// Nothing is known of the time in between: what held before must not reach over it.
			changes = append(changes, rental.Interval{Span: rental.Span{Start: known, End: w.Span.Start}})
		}
		known = max(known, w.Span.End)
		for _, piece := range subtractSame(w, ln.intervals) {
			if piece.Span.End == end && end >= ln.mark {
				piece.Span.End = rental.Forever
			}
			changes = append(changes, piece)
		}
	}
	return changes, mark
}

// Timeline returns the classes of a card in a lease over the span, in order of time, equal
// neighbours merged. Instants that were never derived are absent.
func (l *Ledger) Timeline(ctx context.Context, lease, uuid string, span rental.Span) ([]rental.Interval, error) {
	l.lines.mu.Lock()
	defer l.lines.mu.Unlock()
	ln, err := l.line(ctx, card{lease, uuid})
	if err != nil {
		return nil, err
	}
	return clipAll(ln.intervals, span.Clip(rental.Span{Start: span.Start, End: ln.mark})), nil
}

// TimelineEnd returns the moment up to which a card's classes were derived; 0 where none were.
func (l *Ledger) TimelineEnd(ctx context.Context, lease, uuid string) (rental.Millis, error) {
	l.lines.mu.Lock()
	defer l.lines.mu.Unlock()
	ln, err := l.line(ctx, card{lease, uuid})
	if err != nil {
		return 0, err
	}
	return ln.mark, nil
}

// line returns a card's line, from memory where this process is the writer.
func (l *Ledger) line(ctx context.Context, key card) (*line, error) {
	if ln, ok := l.lines.cards[key]; ok {
		return ln, nil
	}
	ln, err := loadLine(ctx, l.read, key)
	if err != nil {
		return nil, storeError("ledger: timeline", err)
	}
	if l.write != nil {
		l.lines.cards[key] = ln
	}
	return ln, nil
}

func loadLine(ctx context.Context, q knower, key card) (*line, error) {
	rows, err := collect(ctx, q, func(rows *sql.Rows) (rental.Interval, error) {
		var i rental.Interval
		var start, end int64
		var class string
		err := rows.Scan(&start, &end, &class, &i.Reason, &i.Vantage)
		i.Span, i.Class = rental.Span{Start: rental.Millis(start), End: rental.Millis(end)}, rental.Class(class)
		return i, err
	}, `SELECT start_ms, end_ms, class, reason, vantage FROM timeline WHERE lease = $1 AND uuid = $2`+q.known("at_ms")+` ORDER BY seq`, key.lease, key.uuid)
	if err != nil {
		return nil, err
	}
	ln := &line{}
	for _, r := range rows {
		ln.intervals = paint(ln.intervals, r)
	}
	var mark sql.NullInt64
	err = q.QueryRowContext(ctx, `SELECT max(end_ms) FROM timeline_marks WHERE lease = $1 AND uuid = $2`, key.lease, key.uuid).Scan(&mark)
	ln.mark = q.atMost(rental.Millis(mark.Int64))
	ln.stored = ln.mark
	return ln, err
}

// appendTimeline writes the changes and the mark together.
func (l *Ledger) appendTimeline(ctx context.Context, key card, changes []rental.Interval, mark rental.Millis) error {
	return l.transact(ctx, "timeline", func(t *txn) error {
		for _, c := range changes {
			if _, err := t.ExecContext(ctx, `INSERT INTO timeline (lease, uuid, start_ms, end_ms, class, reason, vantage, at_ms)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, key.lease, key.uuid, int64(c.Span.Start), int64(c.Span.End),
				string(c.Class), c.Reason, c.Vantage, int64(t.now)); err != nil {
				return fmt.Errorf("timeline of %s in %q: %w", key.uuid, key.lease, err)
			}
		}
		return t.setMark(ctx, key, mark)
	})
}

func (t *txn) setMark(ctx context.Context, key card, mark rental.Millis) error {
	_, err := t.ExecContext(ctx, `INSERT INTO timeline_marks (lease, uuid, end_ms) VALUES ($1, $2, $3)
		ON CONFLICT (lease, uuid) DO UPDATE SET end_ms = excluded.end_ms`, key.lease, key.uuid, int64(mark))
	return err
}

// flushMarks writes every mark that the store does not have yet.
func (l *Ledger) flushMarks(ctx context.Context) error {
	l.lines.mu.Lock()
	defer l.lines.mu.Unlock()
	return l.flushLocked(ctx)
}

func (l *Ledger) flushLocked(ctx context.Context) error {
	var late []card
	for key, ln := range l.lines.cards {
		if ln.mark != ln.stored {
			late = append(late, key)
		}
	}
	if len(late) == 0 {
		return nil
	}
	slices.SortFunc(late, func(a, b card) int { return compare(a.lease, b.lease, a.uuid, b.uuid) })
	err := l.transact(ctx, "timeline marks", func(t *txn) error {
		for _, key := range late {
			if err := t.setMark(ctx, key, l.lines.cards[key].mark); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, key := range late {
		l.lines.cards[key].stored = l.lines.cards[key].mark
	}
	return nil
}
