package server

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// maintenances keeps announced windows and to whom they were delivered.
type maintenances struct {
	ledger *ledger.Ledger
	now    func() time.Time
	// changed is told after each act, so that the server's own series follow at once.
	changed func()
}

// tenancy is what a window is held against: the leases with the notice that their contracts ask for.
type tenancy struct {
	leases      []rental.Lease
	notices     map[string]rental.Duration // by contract
	assignments []rental.Assignment
	hosts       map[string]string // of cards, where an assignment does not say it
}

func (m maintenances) tenancy(ctx context.Context) (tenancy, error) {
	r := tenancy{notices: map[string]rental.Duration{}, hosts: map[string]string{}}
	var err error
	if r.leases, err = m.ledger.Leases(ctx); err != nil {
		return r, err
	}
	contracts, err := m.ledger.Contracts(ctx)
	if err != nil {
		return r, err
	}
	for _, c := range contracts {
		if c.Availability != nil {
			r.notices[c.Name] = c.Availability.MaintenanceNotice
		}
	}
	gpus, err := m.ledger.GPUs(ctx)
	if err != nil {
		return r, err
	}
	for _, g := range gpus {
		r.hosts[g.UUID] = g.Host
	}
	r.assignments, err = m.ledger.AssignmentsAt(ctx, allOfTime)
	return r, err
}

// touched returns the leases that a window touches: those that it names, and those that its hosts
// serve in it.
func (r tenancy) touched(m rental.Maintenance) []api.MaintenanceLease {
	window := rental.Span{Start: m.Start, End: m.End} // whom a window touched that was cancelled, too
	hosts := map[string][]string{}
	for _, a := range r.assignments {
		host := cmp.Or(a.Host, r.hosts[a.CardUUID()])
		if a.Span.Overlaps(window) && slices.Contains(m.Hosts, host) && !slices.Contains(hosts[a.Lease], host) {
			hosts[a.Lease] = append(hosts[a.Lease], host)
		}
	}
	out := []api.MaintenanceLease{}
	for _, l := range r.leases {
		if !l.Span().Overlaps(window) || len(hosts[l.ID]) == 0 && !slices.Contains(m.Leases, l.ID) {
			continue
		}
		notice := r.notices[l.Contract]
		slices.Sort(hosts[l.ID])
		out = append(out, api.MaintenanceLease{Lease: l.ID, Tenant: l.Tenant, Hosts: hosts[l.ID], NoticeMS: notice.Milliseconds(),
			Delivered: m.Delivered(l.Tenant), Standing: m.Standing(l.Tenant, notice)})
	}
	return out
}

func (r tenancy) fact(m rental.Maintenance, now rental.Millis) api.MaintenanceFact {
	return api.MaintenanceFact{Maintenance: m, State: m.State(now), Touches: r.touched(m)}
}

// tenantsOf are whose leases a window touches, each once.
func tenantsOf(touched []api.MaintenanceLease) []string {
	var out []string
	for _, t := range touched {
		out = append(out, t.Tenant)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Maintenances returns those that the query chooses, by start.
func (m maintenances) Maintenances(ctx context.Context, q api.MaintenanceQuery) ([]api.MaintenanceFact, error) {
	r, err := m.tenancy(ctx)
	if err != nil {
		return nil, err
	}
	all, err := m.ledger.Maintenances(ctx, allOfTime)
	if err != nil {
		return nil, err
	}
	var out []api.MaintenanceFact
	for _, one := range all {
		fact := r.fact(one, rental.At(m.now()))
		chosen := func(t api.MaintenanceLease) bool {
			return (q.Lease == "" || t.Lease == q.Lease) && (q.Tenant == "" || t.Tenant == q.Tenant)
		}
		if (q.Lease != "" || q.Tenant != "") && !slices.ContainsFunc(fact.Touches, chosen) ||
			q.Host != "" && !slices.Contains(one.Hosts, q.Host) || q.State != "" && fact.State != q.State {
			continue
		}
		out = append(out, fact)
	}
	slices.SortStableFunc(out, func(a, b api.MaintenanceFact) int { return cmp.Compare(a.Start, b.Start) })
	return out, nil
}

// Maintenance returns one window.
func (m maintenances) Maintenance(ctx context.Context, id string) (api.MaintenanceFact, error) {
	one, err := m.ledger.Maintenance(ctx, id)
	if err != nil {
		return api.MaintenanceFact{}, err
	}
	r, err := m.tenancy(ctx)
	return r.fact(one, rental.At(m.now())), err
}

// AnnounceMaintenance announces a window in the name of who asks.
func (m maintenances) AnnounceMaintenance(ctx context.Context, by rental.Principal, in api.AnnounceMaintenance) (api.MaintenanceFact, error) {
	r, err := m.tenancy(ctx)
	if err != nil {
		return api.MaintenanceFact{}, err
	}
	one := rental.Maintenance{ID: in.ID, Hosts: in.Hosts, Leases: in.Leases, Start: in.Start, End: in.End}
	now := rental.At(m.now())
	one, err = one.Announce(rental.Act{At: now, By: by.Name, Side: rental.SideProvider, Note: in.Reason}, tenantsOf(r.touched(one)))
	if err != nil {
		return api.MaintenanceFact{}, err
	}
	if err := m.ledger.AnnounceMaintenance(ctx, one); err != nil {
		return api.MaintenanceFact{}, err
	}
	m.changed()
	return r.fact(one, now), nil
}

// ActOnMaintenance delivers or cancels, in the name of who asks.
func (m maintenances) ActOnMaintenance(ctx context.Context, by rental.Principal, id string, act rental.Act) (api.MaintenanceFact, error) {
	r, err := m.tenancy(ctx)
	if err != nil {
		return api.MaintenanceFact{}, err
	}
	act.At, act.By = rental.At(m.now()), by.Name
	one, err := m.ledger.ChangeMaintenance(ctx, id, func(old rental.Maintenance) (rental.Maintenance, error) {
		if act.Side == rental.SideTenant && old.Delivered(act.Tenant) != 0 {
			return old, nil
		}
		return old.Do(act, tenantsOf(r.touched(old)))
	})
	if err != nil {
		return api.MaintenanceFact{}, err
	}
	m.changed()
	return r.fact(one, act.At), nil
}
