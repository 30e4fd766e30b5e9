package inventory

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// The metrics that say who owns and who leases what; all have the value 1.
const (
	InventoryInfo = "gpu_inventory_info"
	HostExpected  = "host_expected"
	LeaseInfo     = "lease_info"
	LeaseGPU      = "lease_gpu"
	LeaseMIGGPU   = "lease_mig_gpu"
	MIGInventory  = "gpu_mig_inventory_info"
)

// Info is one series of value 1.
type Info struct {
	Name   string
	Help   string
	Labels map[string]string
}

var metrics = []struct {
	name, help string
	labels     []string
}{
	{InventoryInfo, "Where a GPU belongs; provider is \"unknown\" for one that reports and was not adopted.",
		[]string{"uuid", "serial", "provider", "site", "host", "slot", "sku"}},
	{HostExpected, "A host of the inventory that holds GPUs and should report.", []string{"host", "provider", "site"}},
	{LeaseInfo, "A lease that runs now.", []string{"lease", "tenant", "provider", "contract", "sku"}},
	{LeaseGPU, "A GPU or MIG instance that serves a lease now.", []string{"uuid", "lease", "tenant"}},
	{LeaseMIGGPU, "A GPU of which a MIG instance serves a lease now.", []string{"uuid", "lease", "tenant"}},
	{MIGInventory, "Where a MIG instance belongs; gpu_uuid is its card.",
		[]string{"uuid", "gpu_uuid", "profile", "provider", "site", "host", "slot", "sku"}},
}

// LabelsOf returns the label names of a metric in order; nil where it is none of this package.
func LabelsOf(name string) []string {
	for _, m := range metrics {
		if m.name == name {
			return slices.Clone(m.labels)
		}
	}
	return nil
}

// info makes a series of a metric from its label values in order.
func info(name string, values ...string) Info {
	for _, m := range metrics {
		if m.name == name {
			labels := make(map[string]string, len(values))
			for i, label := range m.labels {
				labels[label] = values[i]
			}
			return Info{Name: name, Help: m.help, Labels: labels}
		}
	}
	panic("inventory: no metric " + name)
}

// InfoSeries returns the series of the moment, by metric and then by their labels. Each set of
// labels comes once. Cards that left the fleet have none.
func InfoSeries(v View, at rental.Millis) []Info {
	hosts, sites := byName(v.Hosts, hostName), byName(v.Sites, siteName)
	var all []Info
	known, expected := map[string]rental.GPU{}, map[string]bool{}
	for _, g := range v.GPUs {
		known[g.UUID] = g
		if !inSlot(g) {
			continue
		}
		site := sites[hosts[g.Host].Site]
		all = append(all, info(InventoryInfo, g.UUID, g.Serial, site.Provider, site.Name, g.Host, strconv.Itoa(g.Slot), g.SKU))
		if !expected[g.Host] {
			expected[g.Host] = true
			all = append(all, info(HostExpected, g.Host, site.Provider, site.Name))
		}
	}
	for _, m := range v.MIGInstances {
		g, ok := known[m.GPU]
		if !ok || m.Removed || !inSlot(g) {
			continue
		}
		site := sites[hosts[g.Host].Site]
		all = append(all, info(MIGInventory, m.UUID, m.GPU, m.Profile, site.Provider, site.Name, g.Host, strconv.Itoa(g.Slot), g.SKU))
	}
	for _, r := range reports(v.Reported) {
		if _, ok := known[r.uuid]; !ok {
			all = append(all, info(InventoryInfo, r.uuid, r.serial, "unknown", "", r.host, strconv.Itoa(r.slot), ""))
		}
	}
	all = append(all, leaseSeries(v, known, at)...)
	slices.SortFunc(all, func(a, b Info) int {
		order := cmp.Compare(a.Name, b.Name)
		for _, label := range LabelsOf(a.Name) {
			order = cmp.Or(order, cmp.Compare(a.Labels[label], b.Labels[label]))
		}
		return order
	})
	return all
}

// leaseSeries tells the leases that run and the cards that serve them.
func leaseSeries(v View, known map[string]rental.GPU, at rental.Millis) []Info {
	var all []Info
	contracts := byName(v.Contracts, func(c rental.Contract) string { return c.Name })
	tenants, skus := map[string]string{}, map[string]string{}
	for _, l := range v.Leases {
		tenants[l.ID] = l.Tenant
	}
	taken := map[string]bool{}
	for _, a := range v.Assignments {
		if !a.Span.Contains(at) || taken[a.Lease+"\x00"+a.UUID] {
			continue
		}
		taken[a.Lease+"\x00"+a.UUID] = true
		all = append(all, info(LeaseGPU, a.UUID, a.Lease, tenants[a.Lease]))
		if card := a.Card; card != "" && !taken[a.Lease+"\x00"+card] {
			taken[a.Lease+"\x00"+card] = true
			all = append(all, info(LeaseMIGGPU, card, a.Lease, tenants[a.Lease]))
		}
		if sku := known[a.CardUUID()].SKU; skus[a.Lease] == "" || sku < skus[a.Lease] {
			skus[a.Lease] = sku
		}
	}
	for _, l := range v.Leases {
		if l.Span().Contains(at) {
			c := contracts[l.Contract]
			all = append(all, info(LeaseInfo, l.ID, l.Tenant, c.Provider, l.Contract, cmp.Or(c.SKU, skus[l.ID])))
		}
	}
	return all
}
