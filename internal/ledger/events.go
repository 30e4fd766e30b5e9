package ledger

import (
	"context"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// reasonImport and reasonScheduler lead the reasons of assignments that came as facts from elsewhere.
const (
	reasonImport    = "import"
	reasonScheduler = "scheduler "
)

// ImportAssignments records assignments as facts from elsewhere, even where they claim a card
// that another lease has: such time goes to the earlier claim, and the conflict stays open
// until a person decides. It returns the conflicts of the cards that were imported. Importing
// the same again does nothing.
func (l *Ledger) ImportAssignments(ctx context.Context, by string, assignments []rental.Assignment) ([]rental.Conflict, error) {
	imported := map[string]bool{}
	err := l.transact(ctx, "import", func(t *txn) error {
		w, _, err := t.loadWorld(ctx)
		if err != nil {
			return err
		}
		b, err := t.book(ctx, by)
		if err != nil {
			return err
		}
		for _, a := range assignments {
			if err := w.checkAssignment(a); err != nil {
				return err
			}
			imported[a.UUID] = true
			a = w.assignment(a.Lease, a.UUID, a.Span, reasonImport)
			if b.find(a) == nil {
				b.add(a)
			}
		}
		return b.save(ctx)
	})
	if err != nil {
		return nil, err
	}
	all, err := l.Conflicts(ctx)
	var mine []rental.Conflict
	for _, c := range all {
		if imported[c.UUID] {
			mine = append(mine, c)
		}
	}
	return mine, err
}

// checkAssignment refuses an assignment of what is not known, or outside of its lease.
func (w world) checkAssignment(a rental.Assignment) error {
	lease, ok := w.leases[a.Lease]
	if !ok {
		return notFound("lease", a.Lease)
	}
	if _, _, ok := w.hardware(a.UUID); !ok {
		return invalid("lease %q: found %q, expected a GPU of the inventory; adopt it first (leasewatch inventory adopt)", a.Lease, a.UUID)
	}
	if a.Span.End < a.Span.Start || a.Span.Start < lease.Start || a.Span.End > lease.End {
		return invalid("lease %q: assignment of %s: found %s to %s, expected a span within the lease's %s to %s",
			a.Lease, a.UUID, a.Span.Start, a.Span.End, lease.Start, lease.End)
	}
	return w.checkClass(lease, a.UUID)
}

// checkClass refuses hardware of another class than a floating lease was sold.
func (w world) checkClass(lease rental.Lease, uuid string) error {
	if lease.Floating == nil {
		return nil
	}
	card, part, _ := w.hardware(uuid)
	if part.UUID != "" {
		return invalid("lease %q: found MIG instance %s, expected whole GPUs of %s", lease.ID, uuid, lease.Floating.SKU)
	}
	if sku := w.gpus[card].SKU; sku != lease.Floating.SKU {
		return invalid("lease %q: GPU %s: found %s, expected %s as the lease was sold", lease.ID, uuid, sku, lease.Floating.SKU)
	}
	return nil
}

// find returns the recorded assignment that is the same in lease, card, reason and span.
func (b *book) find(a rental.Assignment) *assignment {
	for _, known := range b.leases[a.Lease] {
		if known.Assignment == a {
			return known
		}
	}
	return nil
}
