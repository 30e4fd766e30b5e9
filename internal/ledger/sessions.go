package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// RecordEvents records what a scheduler says of cards, in whatever order it comes. A key that
// is recorded already is skipped. A stop without its start is held, and makes one interval
// when the start arrives (C67); a start without a stop serves to the end of the lease. Of a start
// or a stop that is told again with another time the earliest counts. A claim of what another
// lease has is kept and stays open as a conflict. It returns the events that are held.
func (l *Ledger) RecordEvents(ctx context.Context, by string, events []rental.AssignmentEvent) ([]rental.AssignmentEvent, error) {
	return l.recordEvents(ctx, by, events, false)
}

// Assign records events as RecordEvents does, and refuses what a person should not do: to claim a
// card that another lease has, or to give a floating lease more cards than it was sold.
func (l *Ledger) Assign(ctx context.Context, by string, events []rental.AssignmentEvent) ([]rental.AssignmentEvent, error) {
	return l.recordEvents(ctx, by, events, true)
}

func (l *Ledger) recordEvents(ctx context.Context, by string, events []rental.AssignmentEvent, strict bool) ([]rental.AssignmentEvent, error) {
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
			if err := t.insertEvent(ctx, w, by, e); err != nil {
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
		if err := t.keepClosed(ctx, b); err != nil {
			return err
		}
		if strict {
			if err := b.checkStrictly(w); err != nil {
				return err
			}
		}
		return b.save(ctx)
	})
	return held, err
}

// checkStrictly refuses double claims, and more cards than a floating lease was sold.
func (b *book) checkStrictly(w world) error {
	if err := b.check(); err != nil {
		return err
	}
	for _, d := range b.dirty {
		lease := w.leases[d.Lease]
		var all []rental.Assignment
		for _, a := range b.leases[d.Lease] {
			all = append(all, a.Assignment)
		}
		for _, over := range rental.OverNumber(lease, all) {
			if over.Overlaps(d.Span) {
				return refused("lease %q: found more than its %d GPUs from %s to %s: expected no more than it was sold; end an assignment first",
					lease.ID, lease.Floating.Number, over.Start, over.End)
			}
		}
	}
	return nil
}

// keepClosed refuses events that would change who held a card in a month whose bill is closed.
func (t *txn) keepClosed(ctx context.Context, b *book) error {
	for _, d := range b.dirty {
		until, closed, err := t.closedUntil(ctx, d.Lease)
		if err != nil {
			return err
		}
		if closed && d.revision == 0 && d.Span.Start < until {
			return refused("lease %q: its bills are closed until %s: found an assignment from %s, expected none before then; record an adjustment", d.Lease, until, d.Span.Start)
		}
	}
	return nil
}

func (t *txn) insertEvent(ctx context.Context, w world, by string, e rental.AssignmentEvent) error {
	stopAll := e.UUID == "" && e.Kind == rental.EventStop
	if e.Key == "" || e.Session == "" || (e.Kind != rental.EventStart && e.Kind != rental.EventStop) || e.UUID == "" && !stopAll {
		return invalid("event %q: found session %q, kind %q and GPU %q, expected a key, a session, start or stop, and a GPU unless it stops all of the session's", e.Key, e.Session, e.Kind, e.UUID)
	}
	if _, ok := w.leases[e.Lease]; !ok {
		return notFound("lease", e.Lease)
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
	kept, err := mark(ctx, t, eventsKeptMark)
	if err != nil {
		return err
	}
	if e.At < kept {
		return refused("event %q: found it at %s, expected one after %s: what was told of the time before has ended by retention, and telling it again would count it twice", e.Key, e.At, kept)
	}
	_, err = t.ExecContext(ctx, `INSERT INTO assignment_events (event_key, session, lease, uuid, kind, event_ms, at_ms, by_who)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, e.Key, e.Session, e.Lease, e.UUID, e.Kind, int64(e.At), int64(t.now), by)
	return err
}

// pair makes the assignments of an event's session: of the card that it names, or of all where it
// names none. waits tells that their start is not there yet.
func (t *txn) pair(ctx context.Context, w world, b *book, e rental.AssignmentEvent) (waits bool, err error) {
	cards := []string{e.UUID}
	if e.UUID == "" {
		rows, err := t.QueryContext(ctx, `SELECT DISTINCT uuid FROM assignment_events WHERE lease = $1 AND session = $2 AND kind = 'start' ORDER BY uuid`, e.Lease, e.Session)
		if err != nil {
			return false, fmt.Errorf("session %q: %w", e.Session, err)
		}
		defer rows.Close()
		cards = nil
		for rows.Next() {
			var uuid string
			if err := rows.Scan(&uuid); err != nil {
				return false, fmt.Errorf("session %q: %w", e.Session, err)
			}
			cards = append(cards, uuid)
		}
		if err := rows.Err(); err != nil {
			return false, fmt.Errorf("session %q: %w", e.Session, err)
		}
		if err := rows.Close(); err != nil { // one connection: the next query needs it
			return false, fmt.Errorf("session %q: %w", e.Session, err)
		}
	}
	waits = len(cards) == 0
	for _, uuid := range cards {
		one, err := t.pairCard(ctx, w, b, e, uuid)
		if err != nil {
			return false, err
		}
		waits = waits || one
	}
	return waits, nil
}

func (t *txn) pairCard(ctx context.Context, w world, b *book, e rental.AssignmentEvent, uuid string) (waits bool, err error) {
	var start, stop sql.NullInt64
	if err := t.QueryRowContext(ctx, `SELECT min(CASE WHEN kind = 'start' AND uuid = $2 THEN event_ms END), min(CASE WHEN kind = 'stop' THEN event_ms END)
		FROM assignment_events WHERE lease = $1 AND uuid IN ($2, '') AND session = $3`, e.Lease, uuid, e.Session).Scan(&start, &stop); err != nil {
		return false, fmt.Errorf("session %q: %w", e.Session, err)
	}
	if !start.Valid {
		return true, nil
	}
	a := w.assignment(e.Lease, uuid, rental.Span{Start: rental.Millis(start.Int64), End: w.leases[e.Lease].End}, reasonScheduler+e.Session)
	if stop.Valid { // one that comes after the lease's end ends nothing more
		a.Span.End = min(a.Span.End, rental.Millis(stop.Int64))
	}
	if err := w.checkAssignment(a); err != nil {
		return false, err
	}
	i := slices.IndexFunc(b.leases[e.Lease], func(known *assignment) bool { return known.UUID == uuid && known.Reason == a.Reason })
	if i >= 0 {
		b.respan(b.leases[e.Lease][i], a.Span, "")
		return false, nil
	}
	b.add(a)
	return false, nil
}
