package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// LearntSince tells whether anything was recorded at or after a moment that may change what a lease
// costs, or is paid back, for the time before another one. It errs on the side of yes: a fact that
// turns out to change nothing is one. What it never misses is a fact that does.
func (l *Ledger) LearntSince(ctx context.Context, lease string, since, before rental.Millis) (bool, error) {
	yes, err := l.learntSince(ctx, lease, since, before)
	return yes, storeError("ledger: what was learnt", err)
}

func (l *Ledger) learntSince(ctx context.Context, lease string, since, before rental.Millis) (bool, error) {
	var contract struct {
		Contract string `json:"contract"`
	}
	var body string
	err := l.read.QueryRowContext(ctx, `SELECT body FROM facts WHERE kind = $1 AND name = $2`+l.read.known("at_ms")+` ORDER BY revision DESC LIMIT 1`,
		rental.KindLease, lease).Scan(&body)
	if err != nil {
		return true, fmt.Errorf("lease %q: %w", lease, err)
	}
	if err := json.Unmarshal([]byte(body), &contract); err != nil {
		return true, fmt.Errorf("lease %q: %w", lease, err)
	}
	for _, q := range []struct {
		where string
		args  []any
	}{
		{`FROM facts WHERE kind = $1 AND name = $2 AND at_ms >= $3`, []any{rental.KindLease, lease, int64(since)}},
		{`FROM facts WHERE kind = $1 AND name = $2 AND at_ms >= $3`, []any{rental.KindContract, contract.Contract, int64(since)}},
		{`FROM facts WHERE kind = $1 AND substr(name, 1, $2) = $3 AND at_ms >= $4`, []any{rental.KindCreditCase, len([]rune(lease)) + 1, lease + ":", int64(since)}},
		{`FROM assignments WHERE lease = $1 AND at_ms >= $2 AND start_ms < $3`, []any{lease, int64(since), int64(before)}},
		{`FROM downtimes WHERE lease = $1 AND at_ms >= $2 AND start_ms < $3`, []any{lease, int64(since), int64(before)}},
		{`FROM timeline WHERE lease = $1 AND at_ms >= $2 AND start_ms < $3`, []any{lease, int64(since), int64(before)}},
	} {
		var one int
		err := l.read.QueryRowContext(ctx, `SELECT 1 `+q.where+l.read.known("at_ms")+` LIMIT 1`, q.args...).Scan(&one)
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return true, err
		}
	}
	return l.othersSince(ctx, lease, since, before)
}

// othersSince looks at facts whose bodies say whom they are about: windows of maintenance,
// consumptions, and where cards sit.
func (l *Ledger) othersSince(ctx context.Context, lease string, since, before rental.Millis) (bool, error) {
	facts, err := collect(ctx, l.read, func(rows *sql.Rows) (rental.Fact, error) {
		var f rental.Fact
		var body string
		err := rows.Scan(&f.Kind, &body)
		f.Body = json.RawMessage(body)
		return f, err
	}, `SELECT kind, body FROM facts WHERE at_ms >= $1 AND kind IN ($2, $3, $4)`+l.read.known("at_ms"),
		int64(since), rental.KindMaintenance, rental.KindConsumption, rental.KindGPU)
	if err != nil {
		return true, err
	}
	for _, f := range facts {
		var about struct {
			Lease string        `json:"lease"`
			Start rental.Millis `json:"start"`
		}
		if err := json.Unmarshal(f.Body, &about); err != nil {
			return true, fmt.Errorf("%s: %w", f.Kind, err)
		}
		switch {
		case f.Kind == rental.KindGPU:
			return true, nil // an assignment that does not say its host takes the inventory's
		case f.Kind == rental.KindConsumption && about.Lease != lease:
		case about.Start < before:
			return true, nil
		}
	}
	return false, nil
}
