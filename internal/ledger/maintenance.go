package ledger

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Maintenance returns one window, or an error of CodeNotFound.
func (l *Ledger) Maintenance(ctx context.Context, id string) (rental.Maintenance, error) {
	m, _, err := get[rental.Maintenance](ctx, l.read, rental.KindMaintenance, id)
	return m, err
}

// AnnounceMaintenance records a window that was announced to its recipients, by the act that it
// begins with. A name that is taken is a conflict, unknown hosts and leases are invalid.
func (l *Ledger) AnnounceMaintenance(ctx context.Context, m rental.Maintenance) error {
	return l.transact(ctx, "maintenance "+m.ID, func(t *txn) error {
		if len(m.Acts) != 1 {
			return invalid("maintenance %q: found %d acts, expected its announcement", m.ID, len(m.Acts))
		}
		a, err := t.applier(ctx, m.Acts[0].By, m.Acts[0].Note)
		if err != nil {
			return err
		}
		if _, known := a.old.maintenances[m.ID]; known {
			return conflict("maintenance %q: it is recorded already: expected a name that is free", m.ID)
		}
		if err := a.prepare(ctx, rental.Resources{Maintenances: []rental.Maintenance{m}}); err != nil {
			return err
		}
		return a.save(ctx)
	})
}

// ChangeMaintenance hands fn a window as it stands and saves what fn returns as its next revision,
// in one transaction; what has no new act is left as it is. fn must not call the Ledger.
func (l *Ledger) ChangeMaintenance(ctx context.Context, id string, fn func(rental.Maintenance) (rental.Maintenance, error)) (rental.Maintenance, error) {
	var out rental.Maintenance
	err := l.transact(ctx, "maintenance "+id, func(t *txn) error {
		old, revision, err := get[rental.Maintenance](ctx, t, rental.KindMaintenance, id)
		if err != nil {
			return err
		}
		if out, err = fn(old); err != nil || len(out.Acts) == len(old.Acts) {
			return err
		}
		if len(out.Acts) < len(old.Acts) || !out.SameWindow(old) {
			return invalid("maintenance %q: found another window or fewer acts, expected one act more than the %d that are recorded", id, len(old.Acts))
		}
		out.ID = id
		body, err := json.Marshal(out)
		if err != nil {
			return fmt.Errorf("maintenance %q: %w", id, err)
		}
		last := out.Acts[len(out.Acts)-1]
		return t.insertFact(ctx, rental.KindMaintenance, id, revision+1, last.By, last.Note, body)
	})
	return out, err
}
