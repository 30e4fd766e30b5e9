package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// RMAs returns the cases of cards that went back to their maker, by id.
func (l *Ledger) RMAs(ctx context.Context) ([]rental.RMA, error) {
	return list[rental.RMA](ctx, l.read, rental.KindRMA)
}

// RMA returns one case, or an error of CodeNotFound.
func (l *Ledger) RMA(ctx context.Context, id string) (rental.RMA, error) {
	r, _, err := get[rental.RMA](ctx, l.read, rental.KindRMA, id)
	return r, err
}

// OpenRMA opens the case of a card under the next number, and sets the card's life to rma, in one
// transaction. Refused while a lease holds the card or a part of it; a conflict where a case of
// the card is open; CodeNotFound where there is no such card, or no such incident.
func (l *Ledger) OpenRMA(ctx context.Context, by, why, uuid, incident string) (rental.RMA, error) {
	var out rental.RMA
	err := l.transact(ctx, "rma", func(t *txn) error {
		a, err := t.applier(ctx, by, why)
		if err != nil {
			return err
		}
		gpu, known := a.now.gpus[uuid]
		if !known {
			return notFound("GPU", uuid)
		}
		if incident != "" {
			if _, err := incidentByID(ctx, t, incident); err != nil {
				return err
			}
		}
		all, err := list[rental.RMA](ctx, t, rental.KindRMA)
		if err != nil {
			return err
		}
		for _, r := range all {
			if r.GPU == uuid && r.State != rental.RMAClosed {
				return conflict("GPU %s: %s is %s: expected no other case of it; act on that one", uuid, r.ID, r.State)
			}
		}
		if out, err = rental.OpenRMA(fmt.Sprintf("RMA-%06d", len(all)+1), gpu, incident, rental.Act{At: t.now, By: by, Note: why}); err != nil {
			return err
		}
		gpu.Life = rental.GPURMA
		return a.saveRMA(ctx, out, 1, gpu)
	})
	if err != nil {
		return rental.RMA{}, err
	}
	return out, nil
}

// ActOnRMA does an act of rental.ActReplaced or rental.ActClosed upon a case; when it was is filled
// in. A card that came and is not in the inventory goes there, into stock, and so does one that
// came back; a replaced one is scrapped. The serial of a card that is known may be left out.
// Errors are those of rental.RMA.Do; CodeNotFound where there is no such case.
func (l *Ledger) ActOnRMA(ctx context.Context, id string, act rental.Act, with rental.RMAReplacement) (rental.RMA, error) {
	var out rental.RMA
	err := l.transact(ctx, "rma", func(t *txn) error {
		old, revision, err := get[rental.RMA](ctx, t, rental.KindRMA, id)
		if err != nil {
			return err
		}
		a, err := t.applier(ctx, act.By, act.Note)
		if err != nil {
			return err
		}
		act.At = t.now
		came, known := a.now.gpus[with.UUID]
		if known && with.Serial == "" {
			with.Serial = came.Serial
		}
		if out, err = old.Do(act, with); err != nil {
			return err
		}
		switch {
		case act.Kind == rental.ActClosed:
			gone := a.now.gpus[old.GPU]
			// A card that lives again already, or was scrapped, stays as a person said.
			if gone.Life == rental.GPURMA {
				gone.Life = rental.RMALife(act.Outcome)
				return a.saveRMA(ctx, out, revision+1, gone)
			}
			return a.saveRMA(ctx, out, revision+1)
		case !known:
			return a.saveRMA(ctx, out, revision+1, rental.GPU{UUID: with.UUID, Serial: with.Serial, SKU: old.SKU, Host: old.Host, Slot: old.Slot, Life: rental.GPUStock})
		case came.Serial != with.Serial:
			return conflict("%s: GPU %s is in the inventory with serial %q, found %q: expected the same; correct the one that is wrong", id, with.UUID, came.Serial, with.Serial)
		}
		return a.saveRMA(ctx, out, revision+1)
	})
	if err != nil {
		return rental.RMA{}, err
	}
	return out, nil
}

// saveRMA writes a revision of a case with what it makes of cards. No card that a lease holds may
// change by it.
func (a *applier) saveRMA(ctx context.Context, r rental.RMA, revision int, cards ...rental.GPU) error {
	for _, g := range cards {
		for _, held := range a.book.byCard[g.UUID] {
			if held.Span.Contains(a.t.now) {
				return refused("GPU %s: life: lease %q holds it until %s: expected it free before it is %s; swap it first (leasewatch lease swap)",
					g.UUID, held.Lease, held.Span.End, g.Life)
			}
		}
	}
	if err := a.prepare(ctx, rental.Resources{GPUs: cards}); err != nil {
		return err
	}
	body, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("%s: %w", r.ID, err)
	}
	return errors.Join(a.save(ctx), a.t.insertFact(ctx, rental.KindRMA, r.ID, revision, a.by, a.why, body))
}
