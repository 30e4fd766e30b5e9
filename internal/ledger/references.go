package ledger

import (
	"fmt"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// checkReferences looks up every name that the staged resources mention, and checks what
// depends on more than one of them.
func (a *applier) checkReferences() {
	w := a.now
	for _, s := range a.staged.Sites {
		need(a, w.providers, rental.KindSite, s.Name, "provider", rental.KindProvider, s.Provider)
		a.valid(rental.KindSite, s.Name, s.Validate())
	}
	slots := map[string]int{} // of the staged hosts
	for _, h := range a.staged.Hosts {
		need(a, w.sites, rental.KindHost, h.Name, "site", rental.KindSite, h.Site)
		a.valid(rental.KindHost, h.Name, h.Validate())
		slots[h.Name] = h.Slots
	}
	for _, g := range w.gpus {
		if n, staged := slots[g.Host]; staged && inSlot(g) && g.Slot >= n {
			a.fail(invalid("Host %q: slots: found %d, but GPU %s sits in slot %d: expected at least %d",
				g.Host, n, g.UUID, g.Slot, g.Slot+1))
		}
	}
	for _, s := range a.staged.SKUs {
		a.valid(rental.KindSKU, s.Name, s.Validate())
	}
	a.checkGPUs()
	a.checkInstances()
	for _, c := range a.staged.Calendars {
		a.valid(rental.KindCalendar, c.Name, c.Validate())
	}
	for _, c := range a.staged.Contracts {
		need(a, w.providers, rental.KindContract, c.Name, "provider", rental.KindProvider, c.Provider)
		if c.SKU != "" {
			need(a, w.skus, rental.KindContract, c.Name, "sku", rental.KindSKU, c.SKU)
		}
		if c.Calendar != "" {
			need(a, w.calendars, rental.KindContract, c.Name, "calendar", rental.KindCalendar, c.Calendar)
		}
		a.valid(rental.KindContract, c.Name, c.Validate())
		a.checkContract(c)
	}
	for _, l := range a.staged.Leases {
		need(a, w.tenants, rental.KindLease, l.ID, "tenant", rental.KindTenant, l.Tenant)
		need(a, w.contracts, rental.KindLease, l.ID, "contract", rental.KindContract, l.Contract)
		if l.Floating != nil {
			need(a, w.skus, rental.KindLease, l.ID, "floating.sku", rental.KindSKU, l.Floating.SKU)
		}
		a.valid(rental.KindLease, l.ID, append(l.Validate(), l.ValidateUnder(w.contracts[l.Contract])...))
		a.checkLease(l)
	}
	for _, m := range a.staged.Maintenances {
		for _, h := range m.Hosts {
			need(a, w.hosts, rental.KindMaintenance, m.ID, "hosts", rental.KindHost, h)
		}
		for _, l := range m.Leases {
			need(a, w.leases, rental.KindMaintenance, m.ID, "leases", rental.KindLease, l)
		}
		a.valid(rental.KindMaintenance, m.ID, m.Validate())
		if old, known := a.old.maintenances[m.ID]; known && len(old.Acts) > 0 && !old.SameWindow(m) {
			a.fail(refused("Maintenance %q: found another window, expected the one that people acted on: cancel it (maintenance cancel) and announce another", m.ID))
		}
	}
}

// valid fails where a resource is wrong by itself.
func (a *applier) valid(kind, name string, faults []rental.FieldError) {
	if err := rental.Invalid(fmt.Sprintf("%s %q", kind, name), faults); err != nil {
		a.fail(&rental.Error{Code: rental.CodeInvalid, Message: err.Error()})
	}
}

// need fails where the named thing is in neither the input nor the ledger.
func need[T any](a *applier, holds map[string]T, kind, name, field, target, wanted string) {
	if _, ok := holds[wanted]; !ok {
		a.fail(invalid("%s %q: %s: found %q, expected a %s that is recorded or in the same input", kind, name, field, wanted, target))
	}
}

// checkGPUs checks the staged cards against their hosts and against each other.
func (a *applier) checkGPUs() {
	for _, g := range a.staged.GPUs {
		need(a, a.now.hosts, rental.KindGPU, g.UUID, "host", rental.KindHost, g.Host)
		need(a, a.now.skus, rental.KindGPU, g.UUID, "sku", rental.KindSKU, g.SKU)
		a.valid(rental.KindGPU, g.UUID, g.Validate())
		host, known := a.now.hosts[g.Host]
		if known && inSlot(g) && (g.Slot < 0 || g.Slot >= host.Slots) {
			a.fail(invalid("GPU %q: slot: found %d, expected 0 to %d: host %q has %d slots", g.UUID, g.Slot, host.Slots-1, g.Host, host.Slots))
		}
		if !inSlot(g) {
			continue
		}
		if cards := a.sockets[socket{g.Host, g.Slot}]; len(cards) > 1 {
			a.fail(conflict("GPUs %s and %s both sit in slot %d of host %q: expected one a slot; move one, or set its life to rma, stock or scrapped",
				cards[0], cards[1], g.Slot, g.Host))
		}
	}
}

// checkInstances checks the staged MIG instances against their cards and against what is leased.
func (a *applier) checkInstances() {
	for _, m := range a.staged.MIGInstances {
		need(a, a.now.gpus, rental.KindMIG, m.UUID, "gpu", rental.KindGPU, m.GPU)
		a.valid(rental.KindMIG, m.UUID, m.Validate())
		if _, card := a.now.gpus[m.UUID]; card {
			a.fail(conflict("MIGInstance %q: found a GPU of that uuid, expected one that no card has", m.UUID))
		}
		old, known := a.old.instances[m.UUID]
		if known && (old.GPU != m.GPU || old.Profile != m.Profile) {
			a.fail(refused("MIGInstance %q: found %s of GPU %s, expected %s of GPU %s as long as it is known: another cut has another uuid",
				m.UUID, m.Profile, m.GPU, old.Profile, old.GPU))
		}
		if !known || !m.Removed || old.Removed {
			continue
		}
		for _, as := range a.book.byCard[m.GPU] {
			if as.UUID == m.UUID && as.Span.Contains(a.t.now) {
				a.fail(refused("MIGInstance %q: removed: lease %q holds it until %s: expected the lease to end first", m.UUID, as.Lease, as.Span.End))
			}
		}
	}
}

// checkContract refuses changes under the feet of leases: another zone moves the borders of
// months that were metered, and another currency or provider makes it another contract.
func (a *applier) checkContract(c rental.Contract) {
	old, known := a.old.contracts[c.Name]
	if !known {
		return
	}
	for _, l := range a.old.leases {
		if l.Contract != c.Name {
			continue
		}
		for _, f := range []struct{ field, old, new string }{
			{"time_zone", old.TimeZone, c.TimeZone},
			{"currency", string(old.Currency), string(c.Currency)},
			{"provider", old.Provider, c.Provider},
		} {
			if f.old != f.new {
				a.fail(refused("Contract %q: %s: found %q, expected %q as long as lease %q runs under it; make a new contract",
					c.Name, f.field, f.new, f.old, l.ID))
			}
		}
	}
}
