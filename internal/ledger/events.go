package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// reasonImport and reasonScheduler lead the reasons of assignments that came as facts from elsewhere.
const (
	reasonImport    = "import"
	reasonScheduler = "scheduler "
)

// ImportAssignments records assignments as facts from elsewhere, even where they claim a card
// that another lease has: such time goes to the earlier claim, and the conflict stays open
// until a person decides. It returns the conflicts of the cards that were imported. Importing
// the same again does nothing.
func (l *Ledger) ImportAssignments(ctx context.Context, by string, assignments []rental.Assignment) ([]rental.Conflict, error) {
	imported := map[string]bool{}
	err := l.transact(ctx, "import", func(t *txn) error {
		w, _, err := t.loadWorld(ctx)
		if err != nil {
			return err
		}
		b, err := t.book(ctx, by)
		if err != nil {
			return err
		}
		for _, a := range assignments {
			if err := w.checkAssignment(a); err != nil {
				return err
			}
			imported[a.UUID] = true
			a.Reason = reasonImport
			if b.find(a) == nil {
				b.add(a)
			}
		}
		return b.save(ctx)
	})
	if err != nil {
		return nil, err
	}
	all, err := l.Conflicts(ctx)
	var mine []rental.Conflict
	for _, c := range all {
		if imported[c.UUID] {
			mine = append(mine, c)
		}
	}
	return mine, err
}

// checkAssignment refuses an assignment of what is not known, or outside of its lease.
func (w world) checkAssignment(a rental.Assignment) error {
	lease, ok := w.leases[a.Lease]
	if !ok {
		return notFound("lease", a.Lease)
	}
	if _, ok := w.gpus[a.UUID]; !ok {
		return invalid("lease %q: found %q, expected a GPU of the inventory; adopt it first (leasewatch inventory adopt)", a.Lease, a.UUID)
	}
	if a.Span.End < a.Span.Start || a.Span.Start < lease.Start || a.Span.End > lease.End {
		return invalid("lease %q: assignment of %s: found %s to %s, expected a span within the lease's %s to %s",
			a.Lease, a.UUID, a.Span.Start, a.Span.End, lease.Start, lease.End)
	}
	return nil
}

// find returns the recorded assignment that is the same in lease, card, reason and span.
func (b *book) find(a rental.Assignment) *assignment {
	for _, known := range b.leases[a.Lease] {
		if known.Assignment == a {
			return known
		}
	}
	return nil
}

// RecordEvents records what a scheduler says of cards, in whatever order it comes. A key that
// is recorded already is skipped. A stop without its start is held, and makes one interval
// when the start arrives (C67); a start without a stop serves to the end of the lease. It
// returns the events that are held.
func (l *Ledger) RecordEvents(ctx context.Context, by string, events []rental.AssignmentEvent) ([]rental.AssignmentEvent, error) {
	var held []rental.AssignmentEvent
	err := l.transact(ctx, "events", func(t *txn) error {
		w, _, err := t.loadWorld(ctx)
		if err != nil {
			return err
		}
		b, err := t.book(ctx, by)
		if err != nil {
			return err
		}
		for _, e := range events {
			if err := t.insertEvent(ctx, by, e); err != nil {
				return err
			}
		}
		for _, e := range events {
			waits, err := t.pair(ctx, w, b, e)
			if err != nil {
				return err
			}
			if waits {
				held = append(held, e)
			}
		}
		return b.save(ctx)
	})
	return held, err
}

func (t *txn) insertEvent(ctx context.Context, by string, e rental.AssignmentEvent) error {
	if e.Key == "" || e.Session == "" || (e.Kind != rental.EventStart && e.Kind != rental.EventStop) {
		return invalid("event %q: found session %q and kind %q, expected a key, a session and start or stop", e.Key, e.Session, e.Kind)
	}
	var known rental.AssignmentEvent
	var at int64
	err := t.QueryRowContext(ctx, `SELECT session, lease, uuid, kind, event_ms FROM assignment_events WHERE event_key = $1`, e.Key).
		Scan(&known.Session, &known.Lease, &known.UUID, &known.Kind, &at)
	known.Key, known.At = e.Key, rental.Millis(at)
	switch {
	case err == nil && known == e:
		return nil // a retry
	case err == nil:
		return conflict("event %q: found other content than was recorded: expected each key once", e.Key)
	case !errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("event %q: %w", e.Key, err)
	}
	_, err = t.ExecContext(ctx, `INSERT INTO assignment_events (event_key, session, lease, uuid, kind, event_ms, at_ms, by_who)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, e.Key, e.Session, e.Lease, e.UUID, e.Kind, int64(e.At), int64(t.now), by)
	return err
}

// pair makes the assignment of an event's session; waits tells that its start is not there yet.
func (t *txn) pair(ctx context.Context, w world, b *book, e rental.AssignmentEvent) (waits bool, err error) {
	var start, stop sql.NullInt64
	if err := t.QueryRowContext(ctx, `SELECT min(CASE WHEN kind = 'start' THEN event_ms END), max(CASE WHEN kind = 'stop' THEN event_ms END)
		FROM assignment_events WHERE lease = $1 AND uuid = $2 AND session = $3`, e.Lease, e.UUID, e.Session).Scan(&start, &stop); err != nil {
		return false, fmt.Errorf("session %q: %w", e.Session, err)
	}
	if !start.Valid {
		return true, nil
	}
	a := rental.Assignment{Lease: e.Lease, UUID: e.UUID, Reason: reasonScheduler + e.Session,
		Span: rental.Span{Start: rental.Millis(start.Int64), End: w.leases[e.Lease].End}}
	if stop.Valid {
		a.Span.End = rental.Millis(stop.Int64)
	}
	if err := w.checkAssignment(a); err != nil {
		return false, err
	}
	for _, known := range b.leases[e.Lease] {
		if known.UUID == e.UUID && known.Reason == a.Reason {
			b.respan(known, a.Span, "")
			return false, nil
		}
	}
	b.add(a)
	return false, nil
}
