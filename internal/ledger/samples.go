package ledger

import (
	"context"
	"database/sql"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// SaveSampleInterval records that the samples of a span are ms milliseconds apart: history
// that was loaded has its own interval. The newest word wins for each instant.
func (l *Ledger) SaveSampleInterval(ctx context.Context, span rental.Span, ms int64) error {
	if span.Empty() || ms <= 0 {
		return invalid("sample interval of %d ms from %s to %s: expected a length above 0 and a span with time in it", ms, span.Start, span.End)
	}
	return l.transact(ctx, "sample interval", func(t *txn) error {
		_, err := t.ExecContext(ctx, `INSERT INTO sample_intervals (start_ms, end_ms, interval_ms, at_ms) VALUES ($1, $2, $3, $4)`,
			int64(span.Start), int64(span.End), ms, int64(t.now))
		return err
	})
}

// SampleIntervals returns the recorded intervals in the span, in order of time and clipped to
// it. Instants for which none was recorded are absent: there the configured interval holds.
func (l *Ledger) SampleIntervals(ctx context.Context, span rental.Span) ([]rental.SampleInterval, error) {
	rows, err := collect(ctx, l.read, func(rows *sql.Rows) (rental.SampleInterval, error) {
		var s rental.SampleInterval
		var start, end int64
		err := rows.Scan(&start, &end, &s.IntervalMS)
		s.Span = rental.Span{Start: rental.Millis(start), End: rental.Millis(end)}
		return s, err
	}, `SELECT start_ms, end_ms, interval_ms FROM sample_intervals WHERE start_ms < $1 AND end_ms > $2 ORDER BY seq DESC`,
		int64(span.End), int64(span.Start))
	if err != nil {
		return nil, storeError("ledger: sample intervals", err)
	}
	free := []rental.Span{span}
	var all []rental.SampleInterval
	for _, r := range rows { // the newest first: each takes what is still free
		for _, part := range rental.ClipSpans(free, r.Span) {
			all = append(all, rental.SampleInterval{Span: part, IntervalMS: r.IntervalMS})
		}
		free = rental.SubtractSpans(free, []rental.Span{r.Span})
	}
	sortSpans(all)
	return all, nil
}

// Mark returns a moment that was set by name; 0 where it never was. Marks tell a service how
// far it has come.
func (l *Ledger) Mark(ctx context.Context, name string) (rental.Millis, error) {
	at, err := mark(ctx, l.read, name)
	return at, storeError("ledger: mark", err)
}

func mark(ctx context.Context, q querier, name string) (rental.Millis, error) {
	var at sql.NullInt64
	err := q.QueryRowContext(ctx, `SELECT max(at_ms) FROM marks WHERE name = $1`, name).Scan(&at)
	return rental.Millis(at.Int64), err
}

// SetMark sets a moment by name.
func (l *Ledger) SetMark(ctx context.Context, name string, at rental.Millis) error {
	return l.transact(ctx, "mark", func(t *txn) error {
		_, err := t.ExecContext(ctx, `INSERT INTO marks (name, at_ms) VALUES ($1, $2)
			ON CONFLICT (name) DO UPDATE SET at_ms = excluded.at_ms`, name, int64(at))
		return err
	})
}
