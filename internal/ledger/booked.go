package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// checkBooked checks the staged consumptions and adjustments against their leases. A consumption
// of a closed month is taken: it is later knowledge, and becomes a correction.
func (a *applier) checkBooked(ctx context.Context) error {
	w := a.now
	for _, c := range a.staged.Consumptions {
		need(a, w.leases, rental.KindConsumption, c.ID, "lease", rental.KindLease, c.Lease)
		a.valid(rental.KindConsumption, c.ID, c.Validate())
		l, known := w.leases[c.Lease]
		if !known {
			continue
		}
		items := w.contracts[l.Contract].Items
		i := slices.IndexFunc(items, func(i rental.Item) bool { return i.Name == c.Item && i.Charge == rental.ChargeMetered })
		switch {
		case i < 0:
			a.fail(invalid("Consumption %q: item: found %q, expected a metered item of contract %q", c.ID, c.Item, l.Contract))
		case !rental.UnitsConvert(c.Unit, items[i].Unit):
			a.fail(invalid("Consumption %q: unit: found %q, expected %q as contract %q prices it", c.ID, c.Unit, items[i].Unit, l.Contract))
		case c.Start < l.Start || c.End > l.End:
			a.fail(invalid("Consumption %q: found %s to %s, expected a span within lease %q, %s to %s", c.ID, c.Start, c.End, l.ID, l.Start, l.End))
		}
	}
	for _, d := range a.staged.Adjustments {
		need(a, w.leases, rental.KindAdjustment, d.ID, "lease", rental.KindLease, d.Lease)
		a.valid(rental.KindAdjustment, d.ID, d.Validate())
		if err := a.checkAdjustment(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// checkAdjustment refuses one in another currency than the lease's, and one that a closed bill
// would have to carry.
func (a *applier) checkAdjustment(ctx context.Context, d rental.Adjustment) error {
	old, was := a.old.adjustments[d.ID]
	l, known := a.now.leases[d.Lease]
	if !known || was && old == d {
		return nil
	}
	contract := a.now.contracts[l.Contract]
	if d.Currency != contract.Currency {
		a.fail(invalid("Adjustment %q: currency: found %q, expected %q as contract %q bills", d.ID, d.Currency, contract.Currency, l.Contract))
	}
	until, closed, err := a.t.closedUntil(ctx, d.Lease)
	if err != nil || !closed {
		return err
	}
	for _, text := range []string{d.Month, old.Month} {
		month, err := rental.ParseMonth(text)
		if err != nil {
			continue // the first is told by Validate, the second is that of a new one
		}
		span, err := month.Span(contract.TimeZone)
		if err != nil {
			return fmt.Errorf("adjustment %q: %w", d.ID, err)
		}
		if span.Start < until {
			a.fail(refused("Adjustment %q: month: found %s, whose bill is closed until %s: expected a later month; start and end may lie in the closed one", d.ID, text, until))
		}
	}
	return nil
}
