package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// program is who records what is derived from samples.
const program = "leasewatch"

// LeaseHistory returns every revision of everything that bears on a lease, the oldest first: the
// lease itself, its contracts, the GPUs that served it, its downtime, what was consumed or booked
// by hand, and its closed months. An error of CodeNotFound where there is no such lease.
func (l *Ledger) LeaseHistory(ctx context.Context, id string) ([]rental.HistoryEntry, error) {
	facts, err := l.History(ctx, rental.KindLease, id)
	if err != nil {
		return nil, err
	}
	if len(facts) == 0 {
		return nil, notFound("lease", id)
	}
	contracts := map[string]bool{}
	for _, f := range facts {
		var lease rental.Lease
		if err := json.Unmarshal(f.Body, &lease); err != nil {
			return nil, fmt.Errorf("ledger: lease %q revision %d: %w", id, f.Revision, err)
		}
		contracts[lease.Contract] = true
	}
	for name := range contracts {
		more, err := l.History(ctx, rental.KindContract, name)
		if err != nil {
			return nil, err
		}
		facts = append(facts, more...)
	}
	booked, err := l.bookedFacts(ctx, id)
	if err != nil {
		return nil, err
	}
	entries, err := entriesOf(append(facts, booked...))
	if err != nil {
		return nil, err
	}
	for _, read := range []func(context.Context, string) ([]rental.HistoryEntry, error){l.assignmentHistory, l.downtimeHistory, l.invoiceHistory} {
		more, err := read(ctx, id)
		if err != nil {
			return nil, storeError("ledger: history of lease "+id, err)
		}
		entries = append(entries, more...)
	}
	slices.SortStableFunc(entries, func(a, b rental.HistoryEntry) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Revision, b.Revision))
	})
	return entries, nil
}

// bookedFacts returns the revisions of what was consumed or booked by hand for a lease, and of what
// people did with its credits.
func (l *Ledger) bookedFacts(ctx context.Context, lease string) ([]rental.Fact, error) {
	all, err := collect(ctx, l.read, func(rows *sql.Rows) (rental.Fact, error) {
		var f rental.Fact
		var at int64
		var body string
		err := rows.Scan(&f.Kind, &f.Name, &f.Revision, &at, &f.By, &f.ApprovedBy, &f.Why, &body)
		f.At, f.Body = rental.Millis(at), json.RawMessage(body)
		return f, err
	}, `SELECT kind, name, revision, at_ms, by_who, approved_by, why, body FROM facts WHERE kind IN ($1, $2, $3)`+l.read.known("at_ms")+`
		ORDER BY kind, name, revision`, rental.KindConsumption, rental.KindAdjustment, rental.KindCreditCase)
	if err != nil {
		return nil, storeError("ledger: history", err)
	}
	mine := map[thing]bool{}
	for _, f := range all {
		var booked struct{ Lease string }
		if err := json.Unmarshal(f.Body, &booked); err != nil {
			return nil, fmt.Errorf("ledger: %s %q revision %d: %w", f.Kind, f.Name, f.Revision, err)
		}
		if booked.Lease == lease {
			mine[thing{f.Kind, f.Name}] = true
		}
	}
	return slices.DeleteFunc(all, func(f rental.Fact) bool { return !mine[thing{f.Kind, f.Name}] }), nil
}

// entriesOf compares each revision with the one before it; revisions of one thing follow each other.
func entriesOf(facts []rental.Fact) ([]rental.HistoryEntry, error) {
	entries := make([]rental.HistoryEntry, len(facts))
	before := []byte("{}")
	for i, f := range facts {
		action := rental.ActionUpdate
		if f.Revision == 1 {
			before, action = []byte("{}"), rental.ActionCreate
		}
		changed, err := diff(before, f.Body)
		if err != nil {
			return nil, fmt.Errorf("ledger: %s %q revision %d: %w", f.Kind, f.Name, f.Revision, err)
		}
		if action == rental.ActionCreate { // all of a first revision is new
			changed = strings.ReplaceAll(changed, " (new)\n", "\n")
			changed = strings.TrimSuffix(changed, " (new)")
		}
		entries[i] = rental.HistoryEntry{At: f.At, By: f.By, ApprovedBy: f.ApprovedBy, Why: f.Why, Kind: f.Kind, Name: f.Name, Revision: f.Revision, Action: action, Diff: changed}
		before = f.Body
	}
	return entries, nil
}

func (l *Ledger) assignmentHistory(ctx context.Context, lease string) ([]rental.HistoryEntry, error) {
	facts, err := collect(ctx, l.read, func(rows *sql.Rows) (rental.Fact, error) {
		f := rental.Fact{Kind: rental.HistoryAssignment}
		var a struct {
			Span   rental.Span `json:"span"`
			Reason string      `json:"reason"`
		}
		var start, end, at int64
		if err := rows.Scan(&f.Revision, &f.Name, &start, &end, &a.Reason, &at, &f.By); err != nil {
			return f, err
		}
		f.At, a.Span = rental.Millis(at), rental.Span{Start: rental.Millis(start), End: rental.Millis(end)}
		var err error
		f.Body, err = json.Marshal(a)
		return f, err
	}, `SELECT revision, uuid, start_ms, end_ms, reason, at_ms, by_who FROM assignments
		WHERE lease = $1`+l.read.known("at_ms")+` ORDER BY id, revision`, lease)
	if err != nil {
		return nil, err
	}
	return withdrawn(facts)
}

func (l *Ledger) downtimeHistory(ctx context.Context, lease string) ([]rental.HistoryEntry, error) {
	facts, err := collect(ctx, l.read, func(rows *sql.Rows) (rental.Fact, error) {
		f := rental.Fact{Kind: rental.HistoryDowntime}
		var at int64
		var body string
		err := rows.Scan(&f.Revision, &f.Name, &at, &body)
		f.At, f.Body = rental.Millis(at), json.RawMessage(body)
		if strings.HasPrefix(f.Name, rental.AutomaticPrefix) {
			f.By = program
		}
		return f, err
	}, `SELECT revision, id, at_ms, body FROM downtimes WHERE lease = $1`+l.read.known("at_ms")+` ORDER BY id, revision`, lease)
	if err != nil {
		return nil, err
	}
	told := 0 // acts of the revision before
	for i, f := range facts {
		var d struct{ Acts []rental.Act }
		if err := json.Unmarshal(f.Body, &d); err != nil {
			return nil, fmt.Errorf("ledger: downtime %q revision %d: %w", f.Name, f.Revision, err)
		}
		if f.Revision == 1 {
			told = 0
		}
		if n := len(d.Acts); n > told {
			facts[i].By, facts[i].Why = d.Acts[n-1].By, d.Acts[n-1].Note
		}
		told = len(d.Acts)
	}
	return withdrawn(facts)
}

// withdrawn makes entries of facts that have a span: without time in it, they were taken back.
func withdrawn(facts []rental.Fact) ([]rental.HistoryEntry, error) {
	entries, err := entriesOf(facts)
	for i := range entries {
		var spanned struct{ Span rental.Span }
		if err := json.Unmarshal(facts[i].Body, &spanned); err != nil {
			return nil, err
		}
		if spanned.Span.Empty() && entries[i].Action == rental.ActionUpdate {
			entries[i].Action = rental.ActionWithdraw
		}
	}
	return entries, err
}

func (l *Ledger) invoiceHistory(ctx context.Context, lease string) ([]rental.HistoryEntry, error) {
	closed, err := l.ClosedMonths(ctx, lease)
	entries := make([]rental.HistoryEntry, len(closed))
	for i, c := range closed {
		entries[i] = rental.HistoryEntry{At: c.ClosedAt, By: c.ClosedBy, ApprovedBy: c.ApprovedBy, Kind: rental.HistoryInvoice, Name: c.Number, Revision: 1, Action: rental.ActionCreate,
			Diff: fmt.Sprintf("hash: %s\nspan.end: %s\nspan.start: %s", c.Hash, c.Span.End, c.Span.Start)}
	}
	return entries, err
}
