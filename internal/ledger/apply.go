package ledger

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Apply records resources as new revisions of their facts: all of them in one transaction with
// one moment, or none. What is recorded already as it stands is left unchanged, so applying
// twice is applying once. With dryRun nothing is kept, but all is checked and the changes are
// told. by is who asked, why is their reason.
//
// An open end never reopens a lease that has been ended: files that do not know of the end
// stay true. An explicit later end does.
//
// Errors are rental.Errors with one line a finding: invalid (unknown references, an end before
// its start), conflict (two leases of one card, two cards in one slot), refused (a change
// that would rewrite a closed month).
func (l *Ledger) Apply(ctx context.Context, by, why string, r rental.Resources, dryRun bool) ([]rental.Change, error) {
	var changes []rental.Change
	err := l.transact(ctx, "apply", func(t *txn) error {
		a, err := t.applier(ctx, by, why)
		if err != nil {
			return err
		}
		if err := a.prepare(ctx, r); err != nil {
			return err
		}
		changes = a.changes
		if dryRun {
			return errRollback
		}
		return a.save(ctx)
	})
	if err != nil {
		return nil, err
	}
	return changes, nil
}

// prepare stages the resources, checks everything and books the assignments; nothing is written.
func (a *applier) prepare(ctx context.Context, r rental.Resources) error {
	a.stageAll(r)
	a.checkReferences()
	if err := a.checkBooked(ctx); err != nil {
		return err
	}
	a.assignAll(ctx)
	if err := a.book.check(); err != nil {
		a.fail(err)
	}
	return a.failure()
}

// applier is one Apply under way.
type applier struct {
	t         *txn
	by, why   string
	old       world // as it holds
	now       world // as it would hold
	staged    rental.Resources
	sockets   map[socket][]string // the cards in slots, once the GPUs are staged
	revisions map[thing]int
	book      *book
	changes   []rental.Change
	writes    []write
	seen      map[thing]bool
	failures  []error
}

// write is a revision to be inserted.
type write struct {
	thing
	body []byte
}

func (t *txn) applier(ctx context.Context, by, why string) (*applier, error) {
	if by == "" {
		return nil, invalid("apply: expected the id of the person or program that asks, found none")
	}
	old, revisions, err := t.loadWorld(ctx)
	if err != nil {
		return nil, err
	}
	b, err := t.book(ctx, by)
	if err != nil {
		return nil, err
	}
	return &applier{t: t, by: by, why: why, old: old, now: old.clone(), revisions: revisions,
		book: b, seen: map[thing]bool{}}, nil
}

func (a *applier) fail(err error) { a.failures = append(a.failures, err) }

// failure joins what was found into one error, a line each; its code is the first one's.
func (a *applier) failure() error {
	switch len(a.failures) {
	case 0:
		return nil
	case 1:
		return a.failures[0]
	}
	lines := make([]string, len(a.failures))
	for i, err := range a.failures {
		lines[i] = err.Error()
	}
	slices.Sort(lines)
	return &rental.Error{Code: cmp.Or(rental.CodeOf(a.failures[0]), rental.CodeInvalid),
		Message: strings.Join(slices.Compact(lines), "\n")}
}

// stageAll overlays the resources on what holds; leases come last, they refer to the rest.
func (a *applier) stageAll(r rental.Resources) {
	r.GPUs, r.Contracts, r.Leases, r.Maintenances = slices.Clone(r.GPUs), slices.Clone(r.Contracts), slices.Clone(r.Leases), slices.Clone(r.Maintenances) // settled in place
	stage(a, rental.KindProvider, r.Providers, func(p rental.Provider) string { return p.Name }, a.now.providers, nil)
	stage(a, rental.KindTenant, r.Tenants, func(t rental.Tenant) string { return t.Name }, a.now.tenants, nil)
	stage(a, rental.KindSite, r.Sites, func(s rental.Site) string { return s.Name }, a.now.sites, nil)
	stage(a, rental.KindSKU, r.SKUs, func(s rental.SKU) string { return s.Name }, a.now.skus, nil)
	stage(a, rental.KindHost, r.Hosts, func(h rental.Host) string { return h.Name }, a.now.hosts, nil)
	stage(a, rental.KindGPU, r.GPUs, func(g rental.GPU) string { return g.UUID }, a.now.gpus, func(g *rental.GPU, _ *rental.GPU) {
		g.Life = cmp.Or(g.Life, rental.GPUService)
	})
	stage(a, rental.KindMIG, r.MIGInstances, func(m rental.MIGInstance) string { return m.UUID }, a.now.instances, nil)
	a.sockets = a.now.sockets()
	stage(a, rental.KindCalendar, r.Calendars, func(c rental.Calendar) string { return c.Name }, a.now.calendars, nil)
	stage(a, rental.KindContract, r.Contracts, func(c rental.Contract) string { return c.Name }, a.now.contracts, a.settleContract)
	stage(a, rental.KindLease, r.Leases, func(l rental.Lease) string { return l.ID }, a.now.leases, a.settleLease)
	stage(a, rental.KindMaintenance, r.Maintenances, func(m rental.Maintenance) string { return m.ID }, a.now.maintenances, func(in, old *rental.Maintenance) {
		if old != nil { // a file cannot say what people did
			in.Recipients, in.Acts = old.Recipients, old.Acts
		}
	})
	stage(a, rental.KindConsumption, r.Consumptions, func(c rental.Consumption) string { return c.ID }, a.now.consumptions, nil)
	stage(a, rental.KindAdjustment, r.Adjustments, func(d rental.Adjustment) string { return d.ID }, a.now.adjustments, nil)
	a.staged = r
}

// settleContract gives a contract its copy of the calendar that it names, as it is now: what the
// calendar says later is the contract's only once it is recorded anew.
func (a *applier) settleContract(in, _ *rental.Contract) {
	in.WorkTime = nil
	if c, known := a.now.calendars[in.Calendar]; known {
		in.WorkTime = &c
	}
}

// stage overlays the resources of one kind. settle may complete an incoming one by what holds.
func stage[T any](a *applier, kind string, incoming []T, name func(T) string, holds map[string]T, settle func(in, old *T)) {
	for i := range incoming {
		in := incoming[i]
		what := thing{kind, name(in)}
		if what.name == "" {
			a.fail(invalid("%s: found no name, expected one", kind))
			continue
		}
		old, known := holds[what.name]
		if a.seen[what] {
			if !reflect.DeepEqual(old, in) {
				a.fail(invalid("%s %q: found twice with different content, expected once", kind, what.name))
			}
			continue
		}
		a.seen[what] = true
		if settle != nil {
			if known {
				settle(&in, &old)
			} else {
				settle(&in, nil)
			}
			incoming[i] = in
		}
		holds[what.name] = in
		a.record(what, known, old, in)
	}
}

// record notes what becomes of one thing.
func (a *applier) record(what thing, known bool, old, in any) {
	body, err := json.Marshal(in)
	if err != nil {
		a.fail(fmt.Errorf("%s %q: %w", what.kind, what.name, err))
		return
	}
	change := rental.Change{Kind: what.kind, Name: what.name, Action: rental.ActionCreate}
	if known {
		was, err := json.Marshal(old)
		if err != nil {
			a.fail(fmt.Errorf("%s %q: %w", what.kind, what.name, err))
			return
		}
		change.Action = rental.ActionUnchanged
		if string(was) != string(body) {
			change.Action = rental.ActionUpdate
			if change.Diff, err = diff(was, body); err != nil {
				a.fail(err)
				return
			}
		}
	}
	a.changes = append(a.changes, change)
	if change.Action != rental.ActionUnchanged {
		a.writes = append(a.writes, write{what, body})
	}
}

func (a *applier) save(ctx context.Context) error {
	for _, w := range a.writes {
		if err := a.t.insertFact(ctx, w.kind, w.name, a.revisions[w.thing]+1, a.by, a.why, w.body); err != nil {
			return fmt.Errorf("%s %q: %w", w.kind, w.name, err)
		}
	}
	return a.book.save(ctx)
}
