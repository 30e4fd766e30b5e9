package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/leasewatch/leasewatch/internal/rental"
)

const hourMS = 3_600_000

// columns are those of usage_records and month_totals in which figures stand.
var columns = []string{"allocated_ms", "measured_ms", "busy_ms", "used_us", "held_known_ms", "held_ms", "up_ms", "down_ms",
	"excluded_ms", "unknown_ms", "energy_mj", "energy_known_ms", "working_known_ms", "working_us",
	"split_ms", "night_ms", "night_measured_ms", "night_used_us"}

// The columns in a query: by themselves, of the table that it names u, and each summed over its rows.
var (
	figures    = eachColumn("%s")
	figuresOfU = eachColumn("u.%s")
	sumsOfU    = eachColumn("SUM(u.%s)")
)

// eachColumn writes every column in the form, with commas between.
func eachColumn(form string) string {
	out := make([]string, len(columns))
	for i, column := range columns {
		out[i] = fmt.Sprintf(form, column)
	}
	return strings.Join(out, ", ")
}

// places writes the numbered places of a statement's values: "$1, $2" for two from 1.
func places(from, count int) string {
	out := make([]string, count)
	for i := range out {
		out[i] = fmt.Sprintf("$%d", from+i)
	}
	return strings.Join(out, ", ")
}

// slot is one card of one lease in one UTC hour: its records are replaced together.
type slot struct {
	lease, uuid string
	hour        rental.Millis
}

// figuresOf returns where a record keeps each of the columns.
func figuresOf(r *rental.UsageRecord) []*int64 {
	return []*int64{&r.AllocatedMS, &r.MeasuredMS, &r.BusyMS, &r.UsedMicros, &r.HeldKnownMS, &r.HeldMS,
		&r.UpMS, &r.DownMS, &r.ExcludedMS, &r.UnknownMS, &r.EnergyMilliJoules, &r.EnergyKnownMS, &r.WorkingKnownMS, &r.WorkingMicros,
		&r.SplitMS, &r.NightMS, &r.NightMeasuredMS, &r.NightUsedMicros}
}

// add adds sign times the figures of o to r.
func add(r *rental.UsageRecord, o rental.UsageRecord, sign int64) {
	to, from := figuresOf(r), figuresOf(&o)
	for i := range to {
		*to[i] += sign * *from[i]
	}
}

// SaveUsage records how cards spent their time. The records of one card of one lease in one
// UTC hour replace what was known of that hour together: as a new revision where they differ,
// with the month's total moved by the difference in the same transaction, and not at all where
// they are the same. A record without allocated time takes the hour back. Hours that retention has
// ended are left as they are: their months are closed, and only their totals are kept.
func (l *Ledger) SaveUsage(ctx context.Context, records []rental.UsageRecord) error {
	slots := map[slot][]rental.UsageRecord{}
	var order []slot
	for _, r := range records {
		s := slot{r.Lease, r.UUID, r.Span.Start - r.Span.Start%hourMS}
		if r.Lease == "" || r.UUID == "" || r.Span.Empty() || r.Span.End > s.hour+hourMS {
			return invalid("usage of %q in lease %q from %s to %s: expected a lease, a card and a span within one UTC hour",
				r.UUID, r.Lease, r.Span.Start, r.Span.End)
		}
		if _, ok := slots[s]; !ok {
			order = append(order, s)
		}
		slots[s] = append(slots[s], r)
	}
	if len(order) == 0 {
		return nil
	}
	return l.transact(ctx, "usage", func(t *txn) error {
		w, err := t.usageWriter(ctx)
		if err != nil {
			return err
		}
		defer w.close()
		changed := false
		for _, s := range order {
			wrote, err := w.replace(ctx, s, slots[s])
			if err != nil {
				return fmt.Errorf("usage of %s in %q at %s: %w", s.uuid, s.lease, s.hour, err)
			}
			changed = changed || wrote
		}
		if !changed {
			return errRollback
		}
		return w.moveTotals(ctx)
	})
}

// usageWriter writes many slots in one transaction with prepared statements.
type usageWriter struct {
	t              *txn
	newest, insert *sql.Stmt
	zones          map[string]string
	moves          map[monthKey]*rental.UsageRecord
	months         map[string]rental.Span   // by zone and hour: the month around it
	kept           map[string]rental.Millis // by lease: before when hours have ended
}

type monthKey struct {
	lease, uuid string
	month       rental.Span
}

func (t *txn) usageWriter(ctx context.Context) (*usageWriter, error) {
	w := &usageWriter{t: t, zones: map[string]string{}, moves: map[monthKey]*rental.UsageRecord{}, months: map[string]rental.Span{}, kept: map[string]rental.Millis{}}
	var err error
	if w.newest, err = t.PrepareContext(ctx, `SELECT revision, start_ms, end_ms, `+figures+` FROM usage_records
		WHERE lease = $1 AND uuid = $2 AND hour_ms = $3 AND revision = (SELECT max(revision) FROM usage_records
		WHERE lease = $1 AND uuid = $2 AND hour_ms = $3) ORDER BY start_ms`); err != nil {
		return nil, err
	}
	if w.insert, err = t.PrepareContext(ctx, `INSERT INTO usage_records (lease, uuid, hour_ms, revision, start_ms, end_ms, `+figures+`, at_ms)
		VALUES (`+places(1, 7+len(columns))+`)`); err != nil {
		w.newest.Close()
		return nil, err
	}
	return w, nil
}

func (w *usageWriter) close() {
	w.newest.Close()
	w.insert.Close()
}

// replace writes a new revision of a slot where it differs from the newest.
func (w *usageWriter) replace(ctx context.Context, s slot, records []rental.UsageRecord) (bool, error) {
	kept, known := w.kept[s.lease]
	if !known {
		var err error
		if kept, err = mark(ctx, w.t, rental.UsageKeptMark(s.lease)); err != nil {
			return false, err
		}
		w.kept[s.lease] = kept
	}
	if s.hour < kept {
		return false, nil
	}
	rows, err := w.newest.QueryContext(ctx, s.lease, s.uuid, int64(s.hour))
	if err != nil {
		return false, err
	}
	old, err := scanUsage(rows, s.lease, s.uuid)
	if err != nil {
		return false, err
	}
	slices.SortFunc(records, func(a, b rental.UsageRecord) int { return int(a.Span.Start - b.Span.Start) })
	revision := 1
	if len(old) > 0 {
		revision = old[0].Revision + 1
	}
	same := len(old) == len(records)
	for i := range records {
		if i > 0 && records[i].Span.Start < records[i-1].Span.End {
			return false, invalid("found two records for %s, expected no overlap", records[i].Span.Start)
		}
		records[i].Revision = revision
		if same {
			before := old[i]
			before.Revision = revision
			same = before == records[i]
		}
	}
	if same {
		return false, nil
	}
	for _, r := range old {
		if err := w.move(ctx, r, -1); err != nil {
			return false, err
		}
	}
	for _, r := range records {
		if err := w.move(ctx, r, 1); err != nil {
			return false, err
		}
		args := []any{s.lease, s.uuid, int64(s.hour), revision, int64(r.Span.Start), int64(r.Span.End)}
		for _, f := range figuresOf(&r) {
			args = append(args, *f)
		}
		if _, err := w.insert.ExecContext(ctx, append(args, int64(w.t.now))...); err != nil {
			return false, err
		}
	}
	return true, nil
}

func scanUsage(rows *sql.Rows, lease, uuid string) ([]rental.UsageRecord, error) {
	defer rows.Close()
	var all []rental.UsageRecord
	for rows.Next() {
		r := rental.UsageRecord{Lease: lease, UUID: uuid}
		if err := scanFigures(rows, &r, &r.Revision); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

// scanFigures reads the leading columns into front, then span and figures into r.
func scanFigures(rows *sql.Rows, r *rental.UsageRecord, front ...any) error {
	var start, end int64
	to := append(front, &start, &end)
	for _, f := range figuresOf(r) {
		to = append(to, f)
	}
	err := rows.Scan(to...)
	r.Span = rental.Span{Start: rental.Millis(start), End: rental.Millis(end)}
	return err
}

// newestUsage reads, of each hour of a card, the records of the revision that holds.
func newestUsage(q knower) string {
	return `SELECT u.lease, u.uuid, u.revision, u.start_ms, u.end_ms, ` + figuresOfU + ` FROM usage_records u
	WHERE u.allocated_ms > 0 AND u.revision = (SELECT max(v.revision) FROM usage_records v
	WHERE v.lease = u.lease AND v.uuid = u.uuid AND v.hour_ms = u.hour_ms` + q.known("v.at_ms") + `)`
}

// UsageRecords returns the records of one lease that overlap the span, as their newest
// revisions say, in order of time and uuid.
func (l *Ledger) UsageRecords(ctx context.Context, lease string, span rental.Span) ([]rental.UsageRecord, error) {
	return l.usageRecords(ctx, ` AND u.lease = $1 AND u.hour_ms > $2 AND u.hour_ms < $3 AND u.start_ms < $3 AND u.end_ms > $4
		ORDER BY u.start_ms, u.uuid`, lease, floorMinus(span.Start, hourMS), int64(span.End), int64(span.Start))
}

// UsageKept refuses a question about hours, from a moment on, that retention has ended.
func (l *Ledger) UsageKept(ctx context.Context, lease string, from rental.Millis) error {
	kept, err := l.Mark(ctx, rental.UsageKeptMark(lease))
	if err != nil || from >= kept {
		return err
	}
	return refused("usage of lease %q: found a question about hours before %s, which have ended by retention: expected one about the time after, or about a whole month, whose totals are kept", lease, kept)
}

// UsageRecordsAt returns the records of all leases that overlap the span, by lease, time and uuid.
func (l *Ledger) UsageRecordsAt(ctx context.Context, span rental.Span) ([]rental.UsageRecord, error) {
	return l.usageRecords(ctx, ` AND u.hour_ms > $1 AND u.hour_ms < $2 AND u.start_ms < $2 AND u.end_ms > $3
		ORDER BY u.lease, u.start_ms, u.uuid`, floorMinus(span.Start, hourMS), int64(span.End), int64(span.Start))
}

func (l *Ledger) usageRecords(ctx context.Context, where string, args ...any) ([]rental.UsageRecord, error) {
	all, err := collect(ctx, l.read, func(rows *sql.Rows) (rental.UsageRecord, error) {
		var r rental.UsageRecord
		return r, scanFigures(rows, &r, &r.Lease, &r.UUID, &r.Revision)
	}, newestUsage(l.read)+where, args...)
	return all, storeError("ledger: usage", err)
}

// floorMinus subtracts without running under the least moment.
func floorMinus(m rental.Millis, by int64) int64 {
	if int64(m) < by {
		return -1
	}
	return int64(m) - by
}
