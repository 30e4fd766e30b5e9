package rental

import (
	"cmp"
	"slices"
)

// Facts are what the ledger knows about one lease: enough to charge it and to judge it.
type Facts struct {
	Contract    Contract
	Lease       Lease
	Assignments []Assignment
	// Downtimes and Maintenances may hold those of other leases and times; they are sorted out here.
	Downtimes    []Downtime
	Maintenances []Maintenance
	// Consumptions are what metered items used; those of other leases are left out.
	Consumptions []Consumption
}

// ReasonRMA marks an assignment that replaces the card before it: the tenant's session goes on.
const ReasonRMA = "rma"

// seat is one of the places for cards that a lease has: the cards that served in it one after another.
type seat struct {
	parts []Assignment
}

// seats orders the assignments of the lease into its places. A card goes where it was before,
// else to the free place that was vacated last. There are at least as many seats as the lease
// names GPUs; one that was never filled has no parts.
func (f Facts) seats() []seat {
	out := make([]seat, 0, len(f.Lease.GPUs))
	for _, a := range f.cleanAssignments() {
		best := -1
		for i, s := range out {
			last := s.parts[len(s.parts)-1]
			if last.Span.End > a.Span.Start {
				continue
			}
			if last.UUID == a.UUID {
				best = i
				break
			}
			if best < 0 || last.Span.End > out[best].parts[len(out[best].parts)-1].Span.End {
				best = i
			}
		}
		if best < 0 {
			out = append(out, seat{})
			best = len(out) - 1
		}
		out[best].parts = append(out[best].parts, a)
	}
	for len(out) < len(f.Lease.GPUs) {
		out = append(out, seat{})
	}
	return out
}

// cleanAssignments returns the assignments of the lease, clipped to it, in order; a card that two
// of them claim at one time is there once.
func (f Facts) cleanAssignments() []Assignment {
	var list []Assignment
	for _, a := range f.Assignments {
		a.Span = a.Span.Clip(f.Lease.Span())
		if a.Lease != f.Lease.ID && a.Lease != "" || a.Span.Empty() {
			continue
		}
		if a.Host == "" {
			a.Host = f.hostOf(a.UUID)
		}
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b Assignment) int {
		return cmp.Or(cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.UUID, b.UUID), cmp.Compare(b.Span.End, a.Span.End))
	})
	taken := map[string]Millis{}
	return slices.DeleteFunc(trim(list, taken), func(a Assignment) bool { return a.Span.Empty() })
}

func trim(list []Assignment, taken map[string]Millis) []Assignment {
	for i := range list {
		if until, ok := taken[list[i].UUID]; ok && until > list[i].Span.Start {
			list[i].Span.Start = until
		}
		taken[list[i].UUID] = max(taken[list[i].UUID], list[i].Span.End)
	}
	return list
}

func (f Facts) hostOf(uuid string) string {
	for _, ref := range f.Lease.GPUs {
		if ref.UUID == uuid {
			return ref.Host
		}
	}
	return ""
}

// approvedDowntime returns the spans of a card's downtime that may change money: approved, and
// not the tenant's own act. An empty span is a withdrawn fact.
func (f Facts) approvedDowntime(uuid string) []Span {
	return f.downtime(uuid, func(d Downtime) bool { return d.counts() && d.Cause != CauseTenant })
}

func (f Facts) downtime(uuid string, keep func(Downtime) bool) []Span {
	var out []Span
	for _, d := range f.Downtimes {
		if (d.Lease == "" || d.Lease == f.Lease.ID) && slices.Contains(d.UUIDs, uuid) && keep(d) {
			out = append(out, d.Span)
		}
	}
	return UnionSpans(out)
}

// excuse splits downtime at windows of maintenance or stop. A window never ends or hides a
// downtime that was open when it began; one that begins inside a window is excused up to the
// window's end, and what is left of it is downtime (ALERTING.md 5.15 and 5.16).
func excuse(downs, windows []Span) (counted []Span) {
	merged := UnionSpans(windows)
	for _, d := range UnionSpans(downs) {
		for _, w := range merged {
			if w.Contains(d.Start) {
				d.Start = min(w.End, d.End)
				break
			}
		}
		if !d.Empty() {
			counted = append(counted, d)
		}
	}
	return counted
}

// NeedsHosts tells whether the charge or the verdict depends on which host a card sits in and an
// assignment does not say it.
func (f Facts) NeedsHosts() bool {
	asks := f.Contract.Plan.byHost() || f.Contract.Credits != nil && f.Contract.Credits.Scope == UnitInstance ||
		slices.ContainsFunc(f.Maintenances, func(m Maintenance) bool { return len(m.Hosts) > 0 })
	return asks && slices.ContainsFunc(f.Assignments, func(a Assignment) bool { return a.Host == "" && f.hostOf(a.UUID) == "" })
}

// FillHosts completes assignments that do not say where their card sat by where the inventory has it.
func (f *Facts) FillHosts(gpus []GPU) {
	hosts := make(map[string]string, len(gpus))
	for _, g := range gpus {
		hosts[g.UUID] = g.Host
	}
	f.Assignments = slices.Clone(f.Assignments)
	for i, a := range f.Assignments {
		if a.Host == "" {
			f.Assignments[i].Host = cmp.Or(f.hostOf(a.UUID), hosts[a.CardUUID()])
		}
	}
}
