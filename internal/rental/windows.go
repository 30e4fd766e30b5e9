package rental

import "slices"

// windows returns the maintenance that counts for a card of the lease on a host: delivered to its
// tenant before its start with the contract's notice (C54), within the hours that the contract allows.
func (f Facts) windows(host string) []Span {
	all := f.delivered(host)
	if f.Contract.Availability == nil || f.Contract.Availability.MaintenanceCap == 0 || len(all) == 0 {
		return all
	}
	var out []Span
	for _, allowed := range f.withinCap() {
		out = append(out, ClipSpans(all, allowed)...)
	}
	return UnionSpans(out)
}

// delivered returns the maintenance of a host or of the lease that its tenant was told of in time.
func (f Facts) delivered(host string) []Span {
	var notice Duration
	if f.Contract.Availability != nil {
		notice = f.Contract.Availability.MaintenanceNotice
	}
	var out []Span
	for _, m := range f.Maintenances {
		touches := slices.Contains(m.Leases, f.Lease.ID) || host != "" && slices.Contains(m.Hosts, host)
		if touches && m.Standing(f.Lease.Tenant, notice) == MaintenanceCounts {
			out = append(out, m.Window())
		}
	}
	return UnionSpans(out)
}

// withinCap returns the first so much of the lease's maintenance in each month as its contract
// allows. Time in which several of its cards are in maintenance is used up once.
func (f Facts) withinCap() []Span {
	most := f.Contract.Availability.MaintenanceCap.Milliseconds()
	all := ClipSpans(f.delivered(""), f.Lease.Span())
	for _, a := range f.cleanAssignments() {
		all = append(all, ClipSpans(f.delivered(a.Host), a.Span)...)
	}
	used := map[Month]int64{}
	var out []Span
	for _, w := range UnionSpans(all) {
		for !w.Empty() {
			month, err := MonthOf(f.Contract.TimeZone, w.Start)
			if err != nil {
				return out // an unknown zone fails the charge and the verdict by itself
			}
			whole, err := month.Span(f.Contract.TimeZone)
			if err != nil {
				return out
			}
			part := w.Clip(whole)
			taken := min(part.Duration(), most-used[month])
			used[month] += taken
			out = append(out, Span{Start: part.Start, End: part.Start + Millis(taken)})
			w.Start = part.End
		}
	}
	return UnionSpans(out)
}
