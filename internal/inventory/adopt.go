package inventory

import (
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Resources returns what accepting the plan records, for the named hosts or for all where none
// is named. Unchanged things and cards with a conflict are left out. A plan that is held is
// refused unless evenHeld says that a person has looked; hosts that the plan does not have are
// not found.
func (p Plan) Resources(evenHeld bool, hosts ...string) (rental.Resources, error) {
	if p.Held != "" && !evenHeld {
		return rental.Resources{}, &rental.Error{Code: rental.CodeRefused, Message: "inventory: " + p.Held}
	}
	for _, name := range hosts {
		if !slices.ContainsFunc(p.Hosts, func(h HostPlan) bool { return h.Host.Name == name }) {
			return rental.Resources{}, &rental.Error{Code: rental.CodeNotFound, Message: "inventory: host " + name + " reports no GPU: expected one that exporters report"}
		}
	}
	var r rental.Resources
	classes, moved := map[string]bool{}, map[string]bool{}
	for _, h := range p.Hosts {
		if len(hosts) > 0 && !slices.Contains(hosts, h.Host.Name) {
			continue
		}
		if h.Action != rental.ActionUnchanged {
			r.Hosts = append(r.Hosts, h.Host)
		}
		moved[h.Host.Name] = true
		doubtful := map[string]bool{}
		for _, c := range h.Cards {
			doubtful[c.GPU.UUID] = c.Conflict != ""
		}
		for _, m := range h.Instances {
			if m.Action != rental.ActionUnchanged && m.Conflict == "" && !doubtful[m.Instance.GPU] {
				r.MIGInstances = append(r.MIGInstances, m.Instance)
			}
		}
		for _, c := range h.Cards {
			if c.Action != rental.ActionUnchanged && c.Conflict == "" {
				r.GPUs = append(r.GPUs, c.GPU)
				classes[c.GPU.SKU] = true
			}
		}
	}
	for _, s := range p.SKUs {
		if classes[s.Name] {
			r.SKUs = append(r.SKUs, s)
		}
	}
	for _, g := range p.Leaving {
		if moved[g.Host] {
			r.GPUs = append(r.GPUs, g)
		}
	}
	return r, nil
}
