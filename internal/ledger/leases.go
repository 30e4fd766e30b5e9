package ledger

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// The reasons of assignments.
const (
	reasonStart = "start"
	reasonSwap  = "rma"
)

// settleLease completes an incoming lease by what holds: references to slots become cards, by
// the inventory of the day on which the lease was first recorded, and an open end does not
// reopen what has ended.
func (a *applier) settleLease(in, old *rental.Lease) {
	if in.End == 0 {
		in.End = rental.Forever
	}
	refs := make([]rental.GPURef, len(in.GPUs))
	for i, ref := range in.GPUs {
		if old != nil && i < len(old.GPUs) && names(ref, old.GPUs[i]) {
			refs[i] = old.GPUs[i]
			continue
		}
		refs[i] = a.resolve(in.ID, ref)
	}
	in.GPUs = refs
	if old != nil && in.End == rental.Forever && old.End != rental.Forever {
		in.End = old.End
		in.Stops = stopsWithin(*in)
	}
}

// stopsWithin returns the stops of a lease up to its end: one that was open ends with the lease.
func stopsWithin(l rental.Lease) []rental.Span {
	var stops []rental.Span
	for _, s := range l.Stops {
		if s.Start < l.End {
			stops = append(stops, s.Clip(l.Span()))
		}
	}
	return stops
}

// names tells whether a reference, as someone wrote it, means the card that was recorded.
func names(ref, recorded rental.GPURef) bool {
	if ref.UUID != "" && ref.UUID != recorded.UUID {
		return false
	}
	if ref.Host != "" && ref.Host != recorded.Host {
		return false
	}
	return ref.Slot == nil || (recorded.Slot != nil && *ref.Slot == *recorded.Slot)
}

// resolve finds the card that a reference means.
func (a *applier) resolve(lease string, ref rental.GPURef) rental.GPURef {
	switch {
	case ref.UUID != "":
		card, part, ok := a.now.hardware(ref.UUID)
		g := a.now.gpus[card]
		if !ok {
			a.fail(invalid("Lease %q: gpus: found %q, expected a GPU of the inventory; adopt it first (leasewatch inventory adopt)", lease, ref.UUID))
		} else if ref.Host != "" && (ref.Host != g.Host || (ref.Slot != nil && *ref.Slot != g.Slot)) {
			a.fail(invalid("Lease %q: gpus: found %s in host %q, but the inventory has it in slot %d of host %q: expected the same, or the uuid alone",
				lease, ref.UUID, ref.Host, g.Slot, g.Host))
		}
		if part.Removed {
			a.fail(invalid("Lease %q: gpus: found %s, which was removed: expected a MIG instance that its card has now", lease, ref.UUID))
		}
		if ok && ref.Profile != part.Profile && (ref.Profile != "" && part.Profile != "") {
			a.fail(invalid("Lease %q: gpus: profile: found %s for %s, expected %s as the inventory has it", lease, ref.Profile, ref.UUID, part.Profile))
		}
		ref.Profile = cmp.Or(ref.Profile, part.Profile)
	case ref.Host != "" && ref.Slot != nil:
		cards := a.sockets[socket{ref.Host, *ref.Slot}]
		if len(cards) == 0 {
			a.fail(invalid("Lease %q: gpus: found no GPU in slot %d of host %q, expected one in the inventory; adopt it first (leasewatch inventory adopt)",
				lease, *ref.Slot, ref.Host))
			return ref
		}
		ref.UUID = cards[0]
	default:
		a.fail(invalid("Lease %q: gpus: expected a uuid, or a host with a slot", lease))
	}
	return ref
}

// checkLease checks a lease against the cards that were found for it and against what it was.
func (a *applier) checkLease(l rental.Lease) {
	seen := map[string]bool{}
	for _, ref := range l.GPUs {
		if ref.UUID != "" && seen[ref.UUID] {
			a.fail(invalid("Lease %q: gpus: found %s twice, expected each GPU once", l.ID, ref.UUID))
		}
		seen[ref.UUID] = true
	}
	old, known := a.old.leases[l.ID]
	if known && old.Tenant != l.Tenant {
		a.fail(refused("Lease %q: tenant: found %q, expected %q: a lease stays its tenant's; end it and make another", l.ID, l.Tenant, old.Tenant))
	}
	if was, is := a.old.contracts[old.Contract], a.now.contracts[l.Contract]; known && is.TimeZone != "" && was.TimeZone != is.TimeZone {
		a.fail(refused("Lease %q: contract: found %q in zone %s, expected one in %s: another zone has other months; end the lease and make another",
			l.ID, l.Contract, is.TimeZone, was.TimeZone))
	}
	if known && old.Start < a.t.now && !sameCards(old, l) {
		a.fail(refused("Lease %q: gpus: found other GPUs than it began with on %s; record a swap, or end it and make another", l.ID, old.Start))
	}
}

func sameCards(a, b rental.Lease) bool {
	if (a.Floating == nil) != (b.Floating == nil) || a.Floating != nil && a.Floating.SKU != b.Floating.SKU {
		return false
	}
	if len(a.GPUs) != len(b.GPUs) {
		return false
	}
	cards := map[string]bool{}
	for _, ref := range a.GPUs {
		cards[ref.UUID] = true
	}
	for _, ref := range b.GPUs {
		if !cards[ref.UUID] {
			return false
		}
	}
	return true
}

// assignAll checks every lease that the input touches, by itself or through its contract,
// against its closed months, and books its assignments.
func (a *applier) assignAll(ctx context.Context) {
	for id, l := range a.now.leases {
		old, known := a.old.leases[id]
		if !a.seen[thing{rental.KindLease, id}] && !a.seen[thing{rental.KindContract, l.Contract}] {
			continue
		}
		if err := a.refuseClosed(ctx, old, l, known); err != nil {
			a.fail(err)
		}
	}
	done := map[string]bool{}
	for _, l := range a.staged.Leases {
		if !done[l.ID] {
			done[l.ID] = true
			a.assign(a.now.leases[l.ID])
		}
	}
}

// assign books the assignments of a lease, and moves those it has to its new span.
func (a *applier) assign(l rental.Lease) {
	old, known := a.old.leases[l.ID]
	if !known {
		for _, ref := range l.GPUs {
			a.book.add(a.now.assignment(l.ID, ref.UUID, l.Span(), reasonStart))
		}
		return
	}
	if !sameCards(old, l) { // allowed only before the start: the old ones never served
		for _, as := range a.book.leases[l.ID] {
			a.book.respan(as, rental.Span{Start: as.Span.Start, End: as.Span.Start}, "")
		}
		for _, ref := range l.GPUs {
			a.book.add(a.now.assignment(l.ID, ref.UUID, l.Span(), reasonStart))
		}
		return
	}
	a.moveAssignments(old.Span(), l)
}

// moveAssignments follows a lease to another span: what began or ended with it still does, the
// rest is clipped to it.
func (a *applier) moveAssignments(was rental.Span, l rental.Lease) {
	for _, as := range a.book.leases[l.ID] {
		span := as.Span
		if span.Empty() && !was.Empty() {
			continue // taken back earlier
		}
		if span.Start == was.Start {
			span.Start = l.Start
		}
		if span.End == was.End {
			span.End = l.End
		}
		a.book.respan(as, span.Clip(l.Span()), "")
	}
}

// refuseClosed refuses what would rewrite a month whose bill is closed.
func (a *applier) refuseClosed(ctx context.Context, old, l rental.Lease, known bool) error {
	if !known {
		return nil
	}
	until, closed, err := a.t.closedUntil(ctx, l.ID)
	if err != nil || !closed {
		return err
	}
	remedy := fmt.Sprintf("its bills are closed until %s: expected no change before then; record a correction", until)
	if old.Contract != l.Contract || old.Start != l.Start || min(old.End, until) != min(l.End, until) ||
		!reflect.DeepEqual(stopsBefore(old, until), stopsBefore(l, until)) {
		return refused("Lease %q: %s", l.ID, remedy)
	}
	was, is := a.old.contracts[old.Contract], a.now.contracts[l.Contract]
	if !reflect.DeepEqual(was.MoneyBefore(until), is.MoneyBefore(until)) {
		return refused("Contract %q: lease %q: %s", l.Contract, l.ID, remedy)
	}
	return nil
}

func stopsBefore(l rental.Lease, until rental.Millis) []rental.Span {
	stops := []rental.Span{}
	for _, s := range l.Stops {
		if clipped := s.Clip(rental.Span{Start: s.Start, End: until}); !clipped.Empty() {
			stops = append(stops, clipped)
		}
	}
	return stops
}

// EndLease ends a lease at a moment, and with it the assignments that go on. Ending it again
// at the same moment does nothing. The moment may lie in a closed month: its bill stays as it is,
// and what was charged after the end comes back as a correction. Errors: not found, invalid
// (before its start), refused (after an end that is recorded).
func (l *Ledger) EndLease(ctx context.Context, by, why, id string, at rental.Millis) error {
	return l.changeLease(ctx, by, why, id, ending(id, at))
}

// ending is the change of a lease that ends at a moment.
func ending(id string, at rental.Millis) func(*applier, *rental.Lease) error {
	return func(_ *applier, lease *rental.Lease) error {
		switch {
		case lease.End == at:
			return errRollback
		case at < lease.Start:
			return invalid("lease %q: end: found %s, expected a moment that is not before its start %s", id, at, lease.Start)
		case at > lease.End:
			return refused("lease %q has ended at %s: expected an end that is not after it; apply the lease with the later end", id, lease.End)
		}
		lease.End = at
		lease.Stops = stopsWithin(*lease)
		return nil
	}
}

// changeLease records a new revision of one lease and moves its assignments.
func (l *Ledger) changeLease(ctx context.Context, by, why, id string, change func(*applier, *rental.Lease) error) error {
	return l.transact(ctx, "lease "+id, func(t *txn) error { return t.changeLease(ctx, by, why, id, change) })
}

func (t *txn) changeLease(ctx context.Context, by, why, id string, change func(*applier, *rental.Lease) error) error {
	a, err := t.applier(ctx, by, why)
	if err != nil {
		return err
	}
	old, known := a.old.leases[id]
	if !known {
		return notFound("lease", id)
	}
	lease := old
	lease.Stops = append([]rental.Span(nil), old.Stops...)
	if err := change(a, &lease); err != nil {
		return err
	}
	a.now.leases[id] = lease
	a.moveAssignments(old.Span(), lease)
	if err := a.book.check(); err != nil {
		return err
	}
	body, err := json.Marshal(lease)
	if err != nil {
		return fmt.Errorf("lease %q: %w", id, err)
	}
	a.writes = append(a.writes, write{thing{rental.KindLease, id}, body})
	return a.save(ctx)
}

// Swap records that from the moment on another card serves in the place of one: two
// assignments of one lease. The old card serves until then, so the time between its failure
// and the swap stays the lease's. Recording the same swap again does nothing.
func (l *Ledger) Swap(ctx context.Context, by, why, lease, oldUUID, newUUID string, at rental.Millis) error {
	return l.changeLease(ctx, by, why, lease, func(a *applier, le *rental.Lease) error {
		if _, _, ok := a.now.hardware(newUUID); !ok {
			return invalid("lease %q: found %q, expected a GPU of the inventory; adopt it first (leasewatch inventory adopt)", lease, newUUID)
		}
		if until, closed, err := a.t.closedUntil(ctx, lease); err != nil {
			return err
		} else if closed && at < until {
			return refused("lease %q: its bills are closed until %s: expected a swap that is not before then", lease, until)
		}
		for _, as := range a.book.leases[lease] {
			if as.UUID == newUUID && as.Span.Start == at && as.Reason == reasonSwap {
				return errRollback
			}
		}
		for _, as := range a.book.leases[lease] {
			if as.UUID != oldUUID || !as.Span.Contains(at) {
				continue
			}
			end := as.Span.End
			a.book.respan(as, rental.Span{Start: as.Span.Start, End: at}, "")
			a.book.add(a.now.assignment(lease, newUUID, rental.Span{Start: at, End: end}, reasonSwap))
			return nil
		}
		return invalid("lease %q: GPU %q does not serve it at %s: expected one of its GPUs at that moment", lease, oldUUID, at)
	})
}
