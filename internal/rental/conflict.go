package rental

import (
	"cmp"
	"slices"
)

// Conflict is time in which two leases claim one card. It goes to the lease that had it first,
// until a person decides.
type Conflict struct {
	UUID  string `json:"uuid"`
	Span  Span   `json:"span"`
	Holds string `json:"holds"` // the lease that is charged for now
	Loses string `json:"loses"`
}

// ResolveConflicts returns the assignments without double claims, and the conflicts that a person
// has to decide (C25). The earlier start wins, then the lease whose id sorts first.
func ResolveConflicts(assignments []Assignment) ([]Assignment, []Conflict) {
	sorted := slices.Clone(assignments)
	slices.SortStableFunc(sorted, func(a, b Assignment) int {
		return cmp.Or(cmp.Compare(a.UUID, b.UUID), cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.Lease, b.Lease))
	})
	var kept []Assignment
	var conflicts []Conflict
	for _, a := range sorted {
		free := []Span{a.Span}
		for _, holder := range kept {
			if holder.UUID != a.UUID || !holder.Span.Overlaps(a.Span) {
				continue
			}
			if holder.Lease != a.Lease {
				conflicts = append(conflicts, Conflict{UUID: a.UUID, Span: a.Span.Clip(holder.Span), Holds: holder.Lease, Loses: a.Lease})
			}
			free = SubtractSpans(free, []Span{holder.Span})
		}
		for _, span := range free {
			part := a
			part.Span = span
			kept = append(kept, part)
		}
	}
	return kept, conflicts
}
