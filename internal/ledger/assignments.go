package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// assignment is a row: what holds of one assignment, with its place in the store.
type assignment struct {
	rental.Assignment
	id       int64
	revision int
}

const newestAssignments = `SELECT a.id, a.revision, a.lease, a.uuid, a.start_ms, a.end_ms, a.reason FROM assignments a
	WHERE a.revision = (SELECT max(b.revision) FROM assignments b WHERE b.id = a.id)`

func scanAssignment(rows *sql.Rows) (assignment, error) {
	var a assignment
	var start, end int64
	err := rows.Scan(&a.id, &a.revision, &a.Lease, &a.UUID, &start, &end, &a.Reason)
	a.Span = rental.Span{Start: rental.Millis(start), End: rental.Millis(end)}
	return a, err
}

// Assignments returns which cards served the lease and when, in order of time and uuid.
func (l *Ledger) Assignments(ctx context.Context, lease string) ([]rental.Assignment, error) {
	rows, err := collect(ctx, l.read, scanAssignment,
		newestAssignments+" AND a.lease = $1 AND a.start_ms < a.end_ms ORDER BY a.start_ms, a.uuid, a.id", lease)
	return bare(rows), storeError("ledger: assignments", err)
}

// AssignmentsAt returns the assignments of all leases that overlap the span, by lease, time
// and uuid. Their spans are whole, not clipped.
func (l *Ledger) AssignmentsAt(ctx context.Context, span rental.Span) ([]rental.Assignment, error) {
	rows, err := collect(ctx, l.read, scanAssignment,
		newestAssignments+" AND a.start_ms < $1 AND a.end_ms > $2 AND a.start_ms < a.end_ms ORDER BY a.lease, a.start_ms, a.uuid, a.id",
		int64(span.End), int64(span.Start))
	return bare(rows), storeError("ledger: assignments", err)
}

func bare(rows []assignment) []rental.Assignment {
	all := make([]rental.Assignment, len(rows))
	for i, r := range rows {
		all[i] = r.Assignment
	}
	return all
}

// book is every assignment as it holds in a transaction, with what is to be written.
type book struct {
	t      *txn
	by     string
	nextID int64
	byCard map[string][]*assignment // by uuid
	leases map[string][]*assignment
	dirty  []*assignment
}

func (t *txn) book(ctx context.Context, by string) (*book, error) {
	rows, err := collect(ctx, t, scanAssignment, newestAssignments+" ORDER BY a.id")
	if err != nil {
		return nil, fmt.Errorf("assignments: %w", err)
	}
	b := &book{t: t, by: by, nextID: 1, byCard: map[string][]*assignment{}, leases: map[string][]*assignment{}}
	for i := range rows {
		b.index(&rows[i])
	}
	return b, nil
}

func (b *book) index(a *assignment) {
	b.nextID = max(b.nextID, a.id+1)
	b.byCard[a.UUID] = append(b.byCard[a.UUID], a)
	b.leases[a.Lease] = append(b.leases[a.Lease], a)
}

// add books a new assignment; conflicts are looked for by check, when all is booked.
func (b *book) add(a rental.Assignment) {
	row := &assignment{Assignment: a, id: b.nextID}
	b.index(row)
	b.dirty = append(b.dirty, row)
}

// respan gives an assignment another span; a span without time takes it back.
func (b *book) respan(a *assignment, span rental.Span, reason string) {
	if span.Empty() {
		span.End = span.Start
	}
	if a.Span == span {
		return
	}
	a.Span = span
	if reason != "" {
		a.Reason = reason
	}
	if !slices.Contains(b.dirty, a) {
		b.dirty = append(b.dirty, a)
	}
}

// check refuses two assignments of one card at the same time, naming both leases and the overlap.
func (b *book) check() error {
	for _, a := range b.dirty {
		for _, o := range b.byCard[a.UUID] {
			if o == a || !a.Span.Overlaps(o.Span) {
				continue
			}
			first, second := o.Lease, a.Lease
			if o.Span.Start > a.Span.Start || (o.Span.Start == a.Span.Start && o.id > a.id) {
				first, second = second, first
			}
			shared := a.Span.Clip(o.Span)
			return conflict("leases %q and %q both claim GPU %s from %s to %s: expected one lease a GPU at a time; end the first or start the second later",
				first, second, a.UUID, shared.Start, shared.End)
		}
	}
	return nil
}

// save writes what was booked.
func (b *book) save(ctx context.Context) error {
	for _, a := range b.dirty {
		a.revision++
		if _, err := b.t.ExecContext(ctx, `INSERT INTO assignments
			(id, revision, lease, uuid, start_ms, end_ms, reason, at_ms, by_who) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			a.id, a.revision, a.Lease, a.UUID, int64(a.Span.Start), int64(a.Span.End), a.Reason, int64(b.t.now), b.by); err != nil {
			return fmt.Errorf("assignment of %s to %s: %w", a.UUID, a.Lease, err)
		}
	}
	b.dirty = nil
	return nil
}
