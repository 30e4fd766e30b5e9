package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
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

// cardOf is the card of a row, or the card that it is a part of; the index has the same words.
const cardOf = `coalesce(nullif(a.card, ''), a.uuid)`

// newestAssignments reads, of each assignment, the revision that holds.
func newestAssignments(q knower) string {
	return `SELECT a.id, a.revision, a.lease, a.uuid, a.start_ms, a.end_ms, a.reason, a.card FROM assignments a
	WHERE a.revision = (SELECT max(b.revision) FROM assignments b WHERE b.id = a.id` + q.known("b.at_ms") + `)`
}

func scanAssignment(rows *sql.Rows) (assignment, error) {
	var a assignment
	var start, end int64
	err := rows.Scan(&a.id, &a.revision, &a.Lease, &a.UUID, &start, &end, &a.Reason, &a.Card)
	a.Span = rental.Span{Start: rental.Millis(start), End: rental.Millis(end)}
	return a, err
}

// Assignments returns which cards served the lease and when, in order of time and uuid. Time
// that an imported fact claims of a card which an earlier claim has is not the lease's; see Conflicts.
// Host is where the card sat while it served, for cards of which the inventory has said more than one thing.
func (l *Ledger) Assignments(ctx context.Context, lease string) ([]rental.Assignment, error) {
	rows, err := collect(ctx, l.read, scanAssignment, newestAssignments(l.read)+` AND a.start_ms < a.end_ms
		AND `+cardOf+` IN (SELECT coalesce(nullif(c.card, ''), c.uuid) FROM assignments c WHERE c.lease = $1) ORDER BY `+cardOf+`, a.start_ms, a.lease, a.id`, lease)
	if err != nil {
		return nil, storeError("ledger: assignments", err)
	}
	all, _ := settle(bare(rows))
	all = slices.DeleteFunc(all, func(a rental.Assignment) bool { return a.Lease != lease })
	words, err := l.hostWords(ctx, lease)
	if err != nil {
		return nil, err
	}
	placeHosts(all, words)
	return all, nil
}

// AssignmentsByLease returns what Assignments does, of every lease, in two reads of the store.
func (l *Ledger) AssignmentsByLease(ctx context.Context) (map[string][]rental.Assignment, error) {
	all, _, err := l.settled(ctx)
	if err != nil {
		return nil, err
	}
	words, err := l.hostWords(ctx, "")
	if err != nil {
		return nil, err
	}
	out := map[string][]rental.Assignment{}
	for _, a := range all {
		out[a.Lease] = append(out[a.Lease], a)
	}
	for _, of := range out {
		placeHosts(of, words)
	}
	return out, nil
}

// hostWord is what the inventory said of a card at a moment.
type hostWord struct {
	uuid, host string
	at         rental.Millis
}

// hostWords returns the words on the cards of a lease, of all where it is empty, by card, the
// oldest first. Cards with one word alone are left out.
func (l *Ledger) hostWords(ctx context.Context, lease string) (map[string][]hostWord, error) {
	of, args := "", []any{rental.KindGPU}
	if lease != "" {
		of, args = " WHERE a.lease = $2", append(args, lease)
	}
	words, err := collect(ctx, l.read, func(rows *sql.Rows) (hostWord, error) {
		var w hostWord
		var body string
		if err := rows.Scan(&w.uuid, &w.at, &body); err != nil {
			return w, err
		}
		var g rental.GPU
		err := json.Unmarshal([]byte(body), &g)
		w.host = g.Host
		return w, err
	}, `SELECT f.name, f.at_ms, f.body FROM facts f WHERE f.kind = $1 AND f.name IN
		(SELECT g.name FROM assignments a JOIN facts g ON g.kind = $1 AND g.name = `+cardOf+` AND g.revision = 2`+l.read.known("g.at_ms")+of+`)`+l.read.known("f.at_ms")+`
		ORDER BY f.name, f.revision`, args...)
	if err != nil {
		return nil, storeError("ledger: hosts of assignments", err)
	}
	byCard := map[string][]hostWord{}
	for _, w := range words {
		byCard[w.uuid] = append(byCard[w.uuid], w)
	}
	return byCard, nil
}

// placeHosts says in which host each card sat while it served: by the last word of the inventory
// from before the assignment's end, so that a card which moves later takes no old bill or verdict
// with it. The first word holds for the time before it was recorded. Of a card with one word alone
// the inventory says it, and Host stays empty. It also puts the assignments of the lease in order.
func placeHosts(all []rental.Assignment, words map[string][]hostWord) {
	for i, a := range all {
		for k, w := range words[a.CardUUID()] {
			if k == 0 || w.at < a.Span.End {
				all[i].Host = w.host
			}
		}
	}
	slices.SortStableFunc(all, func(a, b rental.Assignment) int {
		return cmp.Or(cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.UUID, b.UUID))
	})
}

// AssignmentsAt returns the assignments of all leases that overlap the span, by lease, time
// and uuid. Their spans are whole, not clipped; each card is claimed once at a time.
func (l *Ledger) AssignmentsAt(ctx context.Context, span rental.Span) ([]rental.Assignment, error) {
	all, _, err := l.settled(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(a rental.Assignment) bool { return !a.Span.Overlaps(span) })
	slices.SortStableFunc(all, func(a, b rental.Assignment) int {
		return cmp.Or(cmp.Compare(a.Lease, b.Lease), cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.UUID, b.UUID))
	})
	return all, nil
}

// Conflicts returns the times for which two leases claim one card, by card and time: they stay
// open until a person ends or moves one of the two.
func (l *Ledger) Conflicts(ctx context.Context) ([]rental.Conflict, error) {
	_, conflicts, err := l.settled(ctx)
	return conflicts, err
}

func (l *Ledger) settled(ctx context.Context) ([]rental.Assignment, []rental.Conflict, error) {
	rows, err := collect(ctx, l.read, scanAssignment, newestAssignments(l.read)+" AND a.start_ms < a.end_ms ORDER BY "+cardOf+", a.start_ms, a.lease, a.id")
	if err != nil {
		return nil, nil, storeError("ledger: assignments", err)
	}
	all, conflicts := settle(bare(rows))
	return all, conflicts, nil
}

// settle gives each card, and each part of one, to one lease at a time. The assignments are in
// order of card and start; only cards with claims at one time cost more than a look.
func settle(all []rental.Assignment) ([]rental.Assignment, []rental.Conflict) {
	var settled []rental.Assignment
	var conflicts []rental.Conflict
	for start := 0; start < len(all); {
		end, double := start+1, false
		until := all[start].Span.End
		for end < len(all) && all[end].CardUUID() == all[start].CardUUID() {
			double = double || all[end].Span.Start < until
			until = max(until, all[end].Span.End)
			end++
		}
		group := all[start:end]
		if double {
			kept, found := rental.ResolveConflicts(group)
			group, conflicts = kept, append(conflicts, found...)
		}
		settled = append(settled, group...)
		start = end
	}
	return settled, conflicts
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
	byCard map[string][]*assignment // by the card's uuid; its parts are claims of it too
	leases map[string][]*assignment
	dirty  []*assignment
}

func (t *txn) book(ctx context.Context, by string) (*book, error) {
	rows, err := collect(ctx, t, scanAssignment, newestAssignments(t)+" ORDER BY a.id")
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
	b.byCard[a.CardUUID()] = append(b.byCard[a.CardUUID()], a)
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

// check refuses two assignments of one card, of one MIG instance, or of a card and a part of it at
// the same time, naming both leases and the overlap.
func (b *book) check() error {
	for _, a := range b.dirty {
		for _, o := range b.byCard[a.CardUUID()] {
			if o == a || !a.Collides(o.Assignment) {
				continue
			}
			first, second := o.Lease, a.Lease
			if o.Span.Start > a.Span.Start || (o.Span.Start == a.Span.Start && o.id > a.id) {
				first, second = second, first
			}
			shared := a.Span.Clip(o.Span)
			what := "GPU " + a.UUID
			if a.UUID != o.UUID {
				what = fmt.Sprintf("GPU %s, one the whole card and one a MIG instance of it,", a.CardUUID())
			}
			return conflict("leases %q and %q both claim %s from %s to %s: expected one lease a GPU at a time; end the first or start the second later",
				first, second, what, shared.Start, shared.End)
		}
	}
	return nil
}

// save writes what was booked.
func (b *book) save(ctx context.Context) error {
	for _, a := range b.dirty {
		a.revision++
		if _, err := b.t.ExecContext(ctx, `INSERT INTO assignments
			(id, revision, lease, uuid, start_ms, end_ms, reason, at_ms, by_who, card) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			a.id, a.revision, a.Lease, a.UUID, int64(a.Span.Start), int64(a.Span.End), a.Reason, int64(b.t.now), b.by, a.Card); err != nil {
			return fmt.Errorf("assignment of %s to %s: %w", a.UUID, a.Lease, err)
		}
	}
	b.dirty = nil
	return nil
}
