package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// move notes that a record enters (sign 1) or leaves (sign -1) its month's total.
func (w *usageWriter) move(ctx context.Context, r rental.UsageRecord, sign int64) error {
	month, err := w.monthOf(ctx, r.Lease, r.Span.Start)
	if err != nil {
		return err
	}
	if r.Span.End > month.End {
		return invalid("found a span to %s, expected one that ends with the month of its contract, %s", r.Span.End, month.End)
	}
	key := monthKey{r.Lease, r.UUID, month}
	if w.moves[key] == nil {
		w.moves[key] = &rental.UsageRecord{}
	}
	add(w.moves[key], r, sign)
	return nil
}

// monthOf returns the calendar month around a moment in the zone of the lease's contract.
func (w *usageWriter) monthOf(ctx context.Context, lease string, at rental.Millis) (rental.Span, error) {
	zone, ok := w.zones[lease]
	if !ok {
		l, _, err := get[rental.Lease](ctx, w.t, rental.KindLease, lease)
		if err != nil {
			return rental.Span{}, err
		}
		c, _, err := get[rental.Contract](ctx, w.t, rental.KindContract, l.Contract)
		if err != nil {
			return rental.Span{}, err
		}
		zone = c.TimeZone
		w.zones[lease] = zone
	}
	if known := w.months[zone]; known.Contains(at) {
		return known, nil
	}
	month, err := rental.MonthOf(zone, at)
	if err != nil {
		return rental.Span{}, err
	}
	span, err := month.Span(zone)
	w.months[zone] = span
	return span, err
}

// moveTotals adds the noted differences to the month totals.
func (w *usageWriter) moveTotals(ctx context.Context) error {
	stmt, err := w.t.PrepareContext(ctx, `INSERT INTO month_totals AS m (lease, uuid, start_ms, end_ms, revision, `+figures+`)
		VALUES ($1, $2, $3, $4, 1, `+places(5, len(columns))+`)
		ON CONFLICT (lease, start_ms, uuid) DO UPDATE SET revision = m.revision + 1, `+eachColumn("%[1]s = m.%[1]s + excluded.%[1]s"))
	if err != nil {
		return fmt.Errorf("month totals: %w", err)
	}
	defer stmt.Close()
	for key, by := range w.moves {
		args := []any{key.lease, key.uuid, int64(key.month.Start), int64(key.month.End)}
		for _, f := range figuresOf(by) {
			args = append(args, *f)
		}
		if _, err := stmt.ExecContext(ctx, args...); err != nil {
			return fmt.Errorf("month total of %s in %q: %w", key.uuid, key.lease, err)
		}
	}
	return nil
}

// MonthTotals returns the sums of a lease's usage records by card and calendar month of its
// contract, for the months that overlap the span, by month and uuid. Revision counts how often
// a total was moved.
func (l *Ledger) MonthTotals(ctx context.Context, lease string, span rental.Span) ([]rental.UsageRecord, error) {
	if l.read.until != 0 {
		return nil, refused("month totals are kept as they are now only: expected a question about the present, or the usage records")
	}
	all, err := collect(ctx, l.read, func(rows *sql.Rows) (rental.UsageRecord, error) {
		r := rental.UsageRecord{Lease: lease}
		return r, scanFigures(rows, &r, &r.UUID, &r.Revision)
	}, `SELECT uuid, revision, start_ms, end_ms, `+figures+` FROM month_totals
		WHERE lease = $1 AND start_ms < $2 AND end_ms > $3 AND allocated_ms > 0 ORDER BY start_ms, uuid`,
		lease, int64(span.End), int64(span.Start))
	return all, storeError("ledger: month totals", err)
}

// UsageSums returns, by uuid, the sums of a lease's usage records that begin in a span. Of a whole
// month of its contract they are the kept totals; else, and of the past, the records are summed.
func (l *Ledger) UsageSums(ctx context.Context, lease string, span rental.Span) ([]rental.UsageRecord, error) {
	scan := func(rows *sql.Rows) (rental.UsageRecord, error) {
		r := rental.UsageRecord{Lease: lease}
		return r, scanFigures(rows, &r, &r.UUID)
	}
	if l.read.until == 0 {
		kept, err := collect(ctx, l.read, scan, `SELECT uuid, start_ms, end_ms, `+figures+` FROM month_totals
			WHERE lease = $1 AND start_ms = $2 AND end_ms = $3 AND allocated_ms > 0 ORDER BY uuid`, lease, int64(span.Start), int64(span.End))
		if err != nil || len(kept) > 0 {
			return kept, storeError("ledger: month totals", err)
		}
	}
	sums, err := collect(ctx, l.read, scan, `SELECT u.uuid, min(u.start_ms), max(u.end_ms), `+sumsOfU+`
		FROM usage_records u WHERE u.lease = $1 AND u.start_ms >= $2 AND u.start_ms < $3 AND u.revision =
		(SELECT max(v.revision) FROM usage_records v WHERE v.lease = u.lease AND v.uuid = u.uuid AND v.hour_ms = u.hour_ms`+l.read.known("v.at_ms")+`)
		GROUP BY u.uuid HAVING SUM(u.allocated_ms) > 0 ORDER BY u.uuid`, lease, int64(span.Start), int64(span.End))
	return sums, storeError("ledger: usage sums", err)
}

// MonthSums returns the kept totals of every lease for one month of its contract, by lease and
// uuid. Of the past none are kept.
func (l *Ledger) MonthSums(ctx context.Context, month rental.Span) (map[string][]rental.UsageRecord, error) {
	out := map[string][]rental.UsageRecord{}
	if l.read.until != 0 {
		return out, nil
	}
	all, err := collect(ctx, l.read, func(rows *sql.Rows) (rental.UsageRecord, error) {
		var r rental.UsageRecord
		return r, scanFigures(rows, &r, &r.Lease, &r.UUID)
	}, `SELECT lease, uuid, start_ms, end_ms, `+figures+` FROM month_totals
		WHERE start_ms = $1 AND end_ms = $2 AND allocated_ms > 0 ORDER BY lease, uuid`, int64(month.Start), int64(month.End))
	for _, r := range all {
		out[r.Lease] = append(out[r.Lease], r)
	}
	return out, storeError("ledger: month totals", err)
}

// CheckTotals compares every month total with the sum of its usage records, in one view of the
// store. It returns an error that names each total that differs, and nil where none does. A total
// whose records have ended by retention stands by itself.
func (l *Ledger) CheckTotals(ctx context.Context) error {
	tx, err := l.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: l.snapshotLevel()})
	if err != nil {
		return storeError("ledger: check totals", err)
	}
	defer tx.Rollback()
	scan := func(rows *sql.Rows) (rental.UsageRecord, error) {
		var r rental.UsageRecord
		return r, scanFigures(rows, &r, &r.Lease, &r.UUID)
	}
	totals, err := collect(ctx, tx, scan, `SELECT m.lease, m.uuid, m.start_ms, m.end_ms, `+figures+` FROM month_totals m
		WHERE m.start_ms >= coalesce((SELECT k.at_ms FROM marks k WHERE k.name = '`+rental.UsageKeptMark("")+`' || m.lease), 0)`)
	if err != nil {
		return storeError("ledger: check totals", err)
	}
	sums, err := collect(ctx, tx, scan, `SELECT m.lease, m.uuid, m.start_ms, m.end_ms, `+sumsOfU+`
		FROM month_totals m JOIN usage_records u ON u.lease = m.lease AND u.uuid = m.uuid AND u.start_ms >= m.start_ms AND u.start_ms < m.end_ms
		WHERE u.revision = (SELECT max(v.revision) FROM usage_records v WHERE v.lease = u.lease AND v.uuid = u.uuid AND v.hour_ms = u.hour_ms)
		GROUP BY m.lease, m.uuid, m.start_ms, m.end_ms`)
	if err != nil {
		return storeError("ledger: check totals", err)
	}
	return compareTotals(totals, sums)
}

func compareTotals(totals, sums []rental.UsageRecord) error {
	byMonth := map[monthKey]rental.UsageRecord{}
	for _, s := range sums {
		byMonth[monthKey{s.Lease, s.UUID, s.Span}] = s
	}
	slices.SortFunc(totals, func(a, b rental.UsageRecord) int {
		return cmp.Or(cmp.Compare(a.Lease, b.Lease), cmp.Compare(a.UUID, b.UUID), cmp.Compare(a.Span.Start, b.Span.Start))
	})
	var wrong []error
	for _, t := range totals {
		s := byMonth[monthKey{t.Lease, t.UUID, t.Span}]
		s.Lease, s.UUID, s.Span = t.Lease, t.UUID, t.Span
		if s != t {
			wrong = append(wrong, fmt.Errorf("lease %q, GPU %s, month from %s: the total says %d ms allocated and %d us used, the records sum to %d and %d",
				t.Lease, t.UUID, t.Span.Start, t.AllocatedMS, t.UsedMicros, s.AllocatedMS, s.UsedMicros))
		}
	}
	return errors.Join(wrong...)
}

// snapshotLevel is the isolation in which several reads see one moment.
func (l *Ledger) snapshotLevel() sql.IsolationLevel {
	if l.dialect == postgresDialect {
		return sql.LevelRepeatableRead
	}
	return sql.LevelDefault // a SQLite transaction in WAL sees one snapshot
}
