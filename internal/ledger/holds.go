package ledger

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// holdKind is the kind of the facts that say what is held.
const holdKind = "Hold"

// Holds returns every hold that was placed, the released too, in order of their ids.
func (l *Ledger) Holds(ctx context.Context) ([]rental.Hold, error) { return holds(ctx, l.read) }

func holds(ctx context.Context, q knower) ([]rental.Hold, error) {
	all, err := list[rental.Hold](ctx, q, holdKind)
	slices.SortStableFunc(all, func(a, b rental.Hold) int { // HOLD-10 comes after HOLD-9
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	})
	return all, err
}

// PlaceHold places a hold under the next id; CodeNotFound where there is no such lease or tenant.
func (l *Ledger) PlaceHold(ctx context.Context, by string, h rental.Hold) (rental.Hold, error) {
	if err := rental.Invalid("hold", h.Validate()); err != nil {
		return rental.Hold{}, invalid("%s", err)
	}
	err := l.transact(ctx, "hold", func(t *txn) error {
		var err error
		switch h.Scope {
		case rental.HoldLease:
			_, _, err = get[rental.Lease](ctx, t, rental.KindLease, h.Of)
		case rental.HoldTenant:
			_, _, err = get[rental.Tenant](ctx, t, rental.KindTenant, h.Of)
		}
		if err != nil {
			return err
		}
		all, err := holds(ctx, t)
		if err != nil {
			return err
		}
		h.ID, h.PlacedAt, h.PlacedBy = fmt.Sprintf("HOLD-%d", len(all)+1), t.now, by
		h.ReleasedAt, h.ReleasedBy, h.ReleasedWhy = 0, "", ""
		return t.saveHold(ctx, h, 1, by, h.Reason)
	})
	if err != nil {
		return rental.Hold{}, err
	}
	return h, nil
}

// ReleaseHold ends a hold, by another person than who placed it. Errors are those of
// rental.Hold.Release; CodeNotFound where there is no such hold.
func (l *Ledger) ReleaseHold(ctx context.Context, by rental.Principal, id, why string) (rental.Hold, error) {
	var h rental.Hold
	err := l.transact(ctx, "hold", func(t *txn) error {
		old, revision, err := get[rental.Hold](ctx, t, holdKind, id)
		if err != nil {
			return err
		}
		if h, err = old.Release(by, why, t.now); err != nil {
			return err
		}
		return t.saveHold(ctx, h, revision+1, by.Name, why)
	})
	if err != nil {
		return rental.Hold{}, err
	}
	return h, nil
}

func (t *txn) saveHold(ctx context.Context, h rental.Hold, revision int, by, why string) error {
	body, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("hold %s: %w", h.ID, err)
	}
	return t.insertFact(ctx, holdKind, h.ID, revision, by, why, body)
}

// standing returns the holds that stand.
func standing(ctx context.Context, q knower) (rental.Holds, error) {
	all, err := holds(ctx, q)
	return rental.Standing(all), err
}

// mayErase refuses to erase a person whom a hold covers: one on all, or on a tenant of whom the
// person holds, or held, a token.
func (t *txn) mayErase(ctx context.Context, id string) error {
	stand, err := standing(ctx, t)
	if err != nil || len(stand) == 0 {
		return err
	}
	tenants, err := collectText(ctx, t, `SELECT DISTINCT tenant FROM tokens WHERE person = $1 AND tenant <> ''`, id)
	if err != nil {
		return err
	}
	if h, held := stand.Covers(nil, tenants); held {
		return refused("person %s: %s holds it since %s (%s): expected the hold to be released first (leasewatch hold release %s)", id, h.ID, h.PlacedAt, h.Reason, h.ID)
	}
	return nil
}
