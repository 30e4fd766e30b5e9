package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Submission says how resources are submitted.
type Submission struct {
	// DryRun checks and tells all, and keeps nothing.
	DryRun bool
	// Looked says that a person has looked at each thing that moves, so that many are no slip.
	Looked bool
}

// Submit does what Apply does, under the policy of approvals: where it names what the resources
// change, nothing is recorded yet and the change waits for a second person, as the Pending that
// comes back says (of a dry run without an ID). What would change what a lease has cost so far is
// refused where no second person can be asked, with the difference in money.
func (l *Ledger) Submit(ctx context.Context, by rental.Principal, why string, r rental.Resources, s Submission) (changes []rental.Change, held *rental.Pending, err error) {
	err = l.transact(ctx, "apply", func(t *txn) error {
		a, err := t.applier(ctx, by.Name, why)
		if err != nil {
			return err
		}
		if err := a.prepare(ctx, r); err != nil {
			return err
		}
		changes = a.changes
		policy, err := approvals(ctx, t)
		if err != nil {
			return err
		}
		p, err := a.needs(ctx, policy, s.Looked && !by.Service)
		if err != nil {
			return err
		}
		if len(p.Topics) > 0 {
			held = &p
		}
		switch {
		case s.DryRun:
			return errRollback
		case held == nil:
			return a.save(ctx)
		}
		p.Action, p.EnteredBy, p.Why, p.Changes = rental.PendingApply, by.Name, why, changes
		if p.Request, err = json.Marshal(r); err != nil {
			return fmt.Errorf("change to be approved: %w", err)
		}
		*held, err = t.hold(ctx, policy, p)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return changes, held, nil
}

// EndLeaseUnder ends a lease as EndLease does, under the policy of approvals: an end that lies more
// than a day back waits, as the Pending says, where the policy names what is back-dated.
func (l *Ledger) EndLeaseUnder(ctx context.Context, by rental.Principal, why, id string, at rental.Millis) (held *rental.Pending, err error) {
	err = l.transact(ctx, "lease "+id, func(t *txn) error {
		policy, err := approvals(ctx, t)
		if err != nil {
			return err
		}
		old, _, err := get[rental.Lease](ctx, t, rental.KindLease, id)
		if err != nil {
			return err
		}
		ended := old
		if err := ending(id, at)(nil, &ended); err != nil {
			return err
		}
		if !policy.Needs(rental.ApproveBackdated) || !rental.Backdates(&old, ended, t.now) {
			return t.changeLease(ctx, by.Name, why, id, ending(id, at))
		}
		request, err := json.Marshal(endRequest{id, at})
		if err != nil {
			return fmt.Errorf("lease %q: %w", id, err)
		}
		p, err := t.hold(ctx, policy, rental.Pending{Action: rental.PendingEnd, EnteredBy: by.Name, Why: why, Request: request,
			Topics:  []string{rental.ApproveBackdated},
			Reasons: []string{fmt.Sprintf("Lease %q would end at %s, more than a day ago", id, at)},
			Changes: []rental.Change{{Kind: rental.KindLease, Name: id, Action: rental.ActionUpdate, Diff: fmt.Sprintf("end: %s -> %s", old.End, at)}}})
		held = &p
		return err
	})
	if err != nil {
		return nil, err
	}
	return held, nil
}

// needs says what of the staged changes waits for a second person, and why.
func (a *applier) needs(ctx context.Context, policy rental.ApprovalPolicy, looked bool) (rental.Pending, error) {
	var p rental.Pending
	add := func(topic, format string, args ...any) {
		if !slices.Contains(p.Topics, topic) {
			p.Topics = append(p.Topics, topic)
		}
		p.Reasons = append(p.Reasons, fmt.Sprintf(format, args...))
	}
	rewrites, err := a.rewritten(ctx)
	if err != nil {
		return p, err
	}
	if len(rewrites) > 0 && !policy.Needs(rental.ApprovePrices) {
		for _, why := range rewrites {
			a.fail(refused("%s: expected a change that begins later, or a second person's approval (approvals.for: [prices] in the configuration)", why))
		}
		return p, a.failure()
	}
	for _, why := range rewrites {
		add(rental.ApprovePrices, "%s", why)
	}
	if policy.Needs(rental.ApprovePrices) {
		for _, c := range a.staged.Contracts {
			if old, known := a.old.contracts[c.Name]; !known {
				add(rental.ApprovePrices, "Contract %q is new", c.Name)
			} else if !reflect.DeepEqual(old.MoneyBefore(rental.Forever), c.MoneyBefore(rental.Forever)) {
				add(rental.ApprovePrices, "Contract %q: what it charges changes", c.Name)
			}
		}
	}
	if policy.Needs(rental.ApproveBackdated) {
		for _, l := range a.staged.Leases {
			if a.backdates(l) {
				add(rental.ApproveBackdated, "Lease %q says something else of time more than a day ago", l.ID)
			}
		}
	}
	for _, why := range a.lateWindows() {
		if !policy.Needs(rental.ApproveBackdated) {
			a.fail(refused("%s; or a second person's approval (approvals.for: [backdated] in the configuration)", why))
			continue
		}
		add(rental.ApproveBackdated, "%s", why)
	}
	if err := a.failure(); err != nil {
		return p, err
	}
	if policy.Needs(rental.ApproveCredits) {
		for _, d := range a.staged.Adjustments {
			if old, known := a.old.adjustments[d.ID]; !known || old != d {
				add(rental.ApproveCredits, "Adjustment %q books %s %s for lease %q", d.ID, d.Amount, d.Currency, d.Lease)
			}
		}
	}
	if moved, total := a.moved(); !looked && policy.Mass(moved, total) {
		add(rental.ApproveMass, "%d of %d GPUs would move or leave their slots, more than %d %%", moved, total, policy.MassPercent)
	}
	return p, nil
}

// lateWindows says which staged windows of maintenance tell of the past.
func (a *applier) lateWindows() []string {
	var why []string
	for _, m := range a.staged.Maintenances {
		var was *rental.Maintenance
		if old, known := a.old.maintenances[m.ID]; known {
			if old.SameWindow(m) {
				continue
			}
			was = &old
		}
		if late := m.Backdates(was, a.t.now); late != "" {
			why = append(why, fmt.Sprintf("Maintenance %q: %s", m.ID, late))
		}
	}
	return why
}

func (a *applier) backdates(l rental.Lease) bool {
	if old, known := a.old.leases[l.ID]; known {
		return rental.Backdates(&old, l, a.t.now)
	}
	return rental.Backdates(nil, l, a.t.now)
}

// moved counts the GPUs in slots, and those of them that would move or leave.
func (a *applier) moved() (moved, total int) {
	for uuid, old := range a.old.gpus {
		if !inSlot(old) {
			continue
		}
		total++
		if now := a.now.gpus[uuid]; !inSlot(now) || now.Host != old.Host || now.Slot != old.Slot {
			moved++
		}
	}
	return moved, total
}

// rewritten says of which contracts the staged version changes what leases have cost so far in
// months that are not closed, and by how much.
func (a *applier) rewritten(ctx context.Context) ([]string, error) {
	var why []string
	for _, c := range a.staged.Contracts {
		old, known := a.old.contracts[c.Name]
		if !known || reflect.DeepEqual(old.MoneyBefore(a.t.now), c.MoneyBefore(a.t.now)) {
			continue
		}
		for _, l := range a.old.leases {
			if l.Contract != c.Name {
				continue
			}
			was, is, err := a.costs(ctx, l, old, c)
			if err != nil {
				return nil, err
			}
			if was != is {
				why = append(why, fmt.Sprintf("Contract %q: plan: lease %q has run under it since %s, and what it has cost so far would change from %s to %s (%s)",
					c.Name, l.ID, l.Start, was, is, difference(was, is)))
			}
		}
	}
	slices.Sort(why)
	return why, nil
}

// costs returns what a lease has cost since its last closed month by two versions of its contract.
func (a *applier) costs(ctx context.Context, l rental.Lease, old, now rental.Contract) (was, is rental.Amount, err error) {
	period := rental.Span{Start: l.Start, End: min(l.End, a.t.now)}
	until, closed, err := a.t.closedUntil(ctx, l.ID)
	if err != nil {
		return was, is, err
	}
	if closed {
		period.Start = max(period.Start, until)
	}
	if period.Empty() {
		return was, is, nil
	}
	f := rental.Facts{Lease: l}
	for _, as := range a.book.leases[l.ID] {
		f.Assignments = append(f.Assignments, as.Assignment)
	}
	for _, m := range a.old.maintenances {
		f.Maintenances = append(f.Maintenances, m)
	}
	for _, c := range a.old.consumptions {
		if c.Lease == l.ID {
			f.Consumptions = append(f.Consumptions, c)
		}
	}
	if f.Downtimes, err = downtimesWhere(ctx, a.t, `AND d.lease = $1 AND d.start_ms < $2 AND d.end_ms > $3`, l.ID, int64(period.End), int64(period.Start)); err != nil {
		return was, is, err
	}
	gpus := make([]rental.GPU, 0, len(a.old.gpus))
	for _, g := range a.old.gpus {
		gpus = append(gpus, g)
	}
	f.FillHosts(gpus)
	if was, err = costOf(f, old, period); err != nil {
		return was, is, err
	}
	is, err = costOf(f, now, period)
	return was, is, err
}

func costOf(f rental.Facts, c rental.Contract, period rental.Span) (rental.Amount, error) {
	f.Contract = c
	lines, err := rental.Charge(rental.ChargeInput{Facts: f, Period: period})
	if err != nil {
		return rental.Amount{}, &rental.Error{Code: rental.CodeInvalid, Message: fmt.Sprintf("Contract %q: lease %q", c.Name, f.Lease.ID), Cause: err}
	}
	taxes, _, err := rental.TaxLines(c, period, lines)
	if err != nil {
		return rental.Amount{}, err
	}
	amounts := make([]rental.Amount, 0, len(lines)+len(taxes))
	for _, line := range append(lines, taxes...) {
		amounts = append(amounts, line.Amount)
	}
	return rental.SumAmounts(c.Currency, amounts...)
}

// difference writes what one amount is more than another, with its sign.
func difference(was, is rental.Amount) string {
	more := new(big.Int).Sub(big.NewInt(is.Minor), big.NewInt(was.Minor))
	text := rental.Amount{Currency: is.Currency, Minor: more.Int64()}.String()
	if more.Sign() > 0 {
		text = "+" + text
	}
	return text
}
