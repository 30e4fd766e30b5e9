package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// urgency orders deliveries: pages go out before everything else.
func urgency(s rental.Severity) int {
	if s == rental.Page {
		return 0
	}
	return 1
}

// saveDelivery inserts a delivery without an ID, and updates one that has it.
func (t *txn) saveDelivery(ctx context.Context, d rental.Delivery) error {
	if d.ID == 0 {
		if err := t.QueryRowContext(ctx, `INSERT INTO outbox (incident, state, urgency, next_ms, body) VALUES ($1, $2, $3, $4, '') RETURNING id`,
			d.Incident, string(d.State), urgency(d.Severity), int64(d.NextAt)).Scan(&d.ID); err != nil {
			return fmt.Errorf("new delivery: %w", err)
		}
	}
	body, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("delivery %d: %w", d.ID, err)
	}
	done, err := t.ExecContext(ctx, `UPDATE outbox SET state = $2, urgency = $3, next_ms = $4, body = $5 WHERE id = $1`,
		d.ID, string(d.State), urgency(d.Severity), int64(d.NextAt), string(body))
	if err != nil {
		return fmt.Errorf("delivery %d: %w", d.ID, err)
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return cmpErr(err, notFound("delivery", fmt.Sprint(d.ID)))
	}
	return nil
}

// SaveDelivery records where a delivery stands; one without an ID is added.
func (l *Ledger) SaveDelivery(ctx context.Context, d rental.Delivery) error {
	return l.transact(ctx, "delivery", func(t *txn) error { return t.saveDelivery(ctx, d) })
}

// DueDeliveries returns pending deliveries with NextAt <= now: pages first, then by id.
func (l *Ledger) DueDeliveries(ctx context.Context, now rental.Millis, limit int) ([]rental.Delivery, error) {
	return l.deliveries(ctx, `state = 'pending' AND next_ms <= $1 ORDER BY urgency, id LIMIT $2`, int64(now), limit)
}

// PendingDeliveries returns all deliveries that are pending or failed, the oldest first.
func (l *Ledger) PendingDeliveries(ctx context.Context) ([]rental.Delivery, error) {
	return l.deliveries(ctx, `state IN ('pending', 'failed') ORDER BY id`)
}

// Deliveries returns all deliveries of one incident, the oldest first, whatever became of them.
func (l *Ledger) Deliveries(ctx context.Context, incident string) ([]rental.Delivery, error) {
	return l.deliveries(ctx, `incident = $1 ORDER BY id`, incident)
}

func (l *Ledger) deliveries(ctx context.Context, where string, args ...any) ([]rental.Delivery, error) {
	all, err := collect(ctx, l.read, func(rows *sql.Rows) (rental.Delivery, error) {
		var d rental.Delivery
		var body string
		if err := rows.Scan(&body); err != nil {
			return d, err
		}
		return d, json.Unmarshal([]byte(body), &d)
	}, `SELECT body FROM outbox WHERE `+where, args...)
	return all, storeError("ledger: outbox", err)
}
