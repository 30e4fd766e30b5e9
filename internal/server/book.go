package server

import (
	"context"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// book is the inventory and the leases as they stand at one moment.
type book struct {
	at           rental.Millis
	sites        map[string]rental.Site
	hosts        []rental.Host
	gpus         []rental.GPU
	instances    []rental.MIGInstance
	leases       map[string]rental.Lease
	assignments  map[string]rental.Assignment // by uuid
	maintenances []rental.Maintenance
}

// readBook reads the ledger at a moment.
func readBook(ctx context.Context, ledger inventoryReader, at rental.Millis) (*book, error) {
	b := &book{
		at: at, sites: map[string]rental.Site{},
		leases: map[string]rental.Lease{}, assignments: map[string]rental.Assignment{},
	}
	sites, err := ledger.Sites(ctx)
	if err != nil {
		return nil, err
	}
	for _, site := range sites {
		b.sites[site.Name] = site
	}
	if b.hosts, err = ledger.Hosts(ctx); err != nil {
		return nil, err
	}
	if b.gpus, err = ledger.GPUs(ctx); err != nil {
		return nil, err
	}
	if b.instances, err = ledger.MIGInstances(ctx); err != nil {
		return nil, err
	}
	leases, err := ledger.Leases(ctx)
	if err != nil {
		return nil, err
	}
	for _, lease := range leases {
		b.leases[lease.ID] = lease
	}
	present := rental.Span{Start: at, End: at + 1}
	assignments, err := ledger.AssignmentsAt(ctx, present)
	if err != nil {
		return nil, err
	}
	for _, a := range assignments {
		b.assignments[a.UUID] = a
	}
	b.maintenances, err = ledger.Maintenances(ctx, present)
	return b, err
}

// holding is who has a card.
type holding struct {
	lease, tenant string
	stopped       bool
}

// holder returns who has the card now; its zero value is nobody.
func (b *book) holder(uuid string) holding {
	a, ok := b.assignments[uuid]
	if !ok {
		return holding{}
	}
	lease := b.leases[a.Lease]
	stopped := slices.ContainsFunc(lease.Stops, func(s rental.Span) bool { return s.Contains(b.at) })
	return holding{lease: a.Lease, tenant: lease.Tenant, stopped: stopped}
}

// derive returns the state that people are shown: announced maintenance and a tenant's stop
// stand over ok and unknown, and never hide a card that is down.
func (b *book) derive(host string, held holding, state string) (shown, reason string) {
	if rental.ClassOfState(state) == rental.Down {
		return state, ""
	}
	for _, m := range b.maintenances {
		if !m.Window().Contains(b.at) {
			continue // cancelled
		}
		if slices.Contains(m.Hosts, host) || (held.lease != "" && slices.Contains(m.Leases, held.lease)) {
			return rental.ReasonMaintenance, m.ID
		}
	}
	if held.stopped {
		return rental.ReasonStopped, ""
	}
	return state, ""
}
