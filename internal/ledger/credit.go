package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// CreditCases returns what people did with the credits of a lease, by month; of all leases where it
// is empty.
func (l *Ledger) CreditCases(ctx context.Context, lease string) ([]rental.CreditCase, error) {
	all, err := creditCases(ctx, l.read, lease)
	return all, storeError("ledger: credit cases", err)
}

func creditCases(ctx context.Context, q knower, lease string) ([]rental.CreditCase, error) {
	only, args := "", []any{rental.KindCreditCase}
	if lease != "" {
		only, args = ` AND substr(f.name, 1, $2) = $3`, append(args, len([]rune(lease))+1, lease+":")
	}
	return collect(ctx, q, func(rows *sql.Rows) (rental.CreditCase, error) {
		var one rental.CreditCase
		var body string
		if err := rows.Scan(&body); err != nil {
			return one, err
		}
		return one, json.Unmarshal([]byte(body), &one)
	}, `SELECT f.body `+newest(q)+only+` ORDER BY f.name`, args...)
}

// ChangeCreditCase hands fn the case of a lease's month, without acts where nobody has acted yet,
// and saves what fn returns as its next revision, in one transaction. fn must not call the Ledger.
func (l *Ledger) ChangeCreditCase(ctx context.Context, lease, month string, fn func(rental.CreditCase) (rental.CreditCase, error)) (rental.CreditCase, error) {
	var out rental.CreditCase
	err := l.transact(ctx, "credit", func(t *txn) error {
		if _, _, err := get[rental.Lease](ctx, t, rental.KindLease, lease); err != nil {
			return err
		}
		empty := rental.CreditCase{Lease: lease, Month: month}
		old, revision, err := get[rental.CreditCase](ctx, t, rental.KindCreditCase, empty.ID())
		if errors.Is(err, rental.ErrNotFound) {
			old = empty
		} else if err != nil {
			return err
		}
		if out, err = fn(old); err != nil {
			return err
		}
		if len(out.Acts) <= len(old.Acts) {
			return invalid("credit %q: found %d acts, expected more than the %d that are recorded", empty.ID(), len(out.Acts), len(old.Acts))
		}
		out.Lease, out.Month = lease, month
		body, err := json.Marshal(out)
		if err != nil {
			return fmt.Errorf("credit %q: %w", empty.ID(), err)
		}
		last := out.Acts[len(out.Acts)-1]
		return t.insertFact(ctx, rental.KindCreditCase, out.ID(), revision+1, last.By, last.Note, body)
	})
	return out, err
}
