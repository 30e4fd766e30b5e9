package rental

import (
	"cmp"
	"slices"
)

// Conflict is time in which two leases claim one card, one MIG instance, or a card and a part of it. It goes to the lease that had it first,
// until a person decides.
type Conflict struct {
	UUID  string `json:"uuid"` // what the losing lease claims
	Span  Span   `json:"span"`
	Holds string `json:"holds"` // the lease that is charged for now
	Loses string `json:"loses"`
}

// ResolveConflicts returns the assignments without double claims, and the conflicts that a person
// has to decide (C25). The earlier start wins, then the lease whose id sorts first.
func ResolveConflicts(assignments []Assignment) ([]Assignment, []Conflict) {
	sorted := slices.Clone(assignments)
	slices.SortStableFunc(sorted, func(a, b Assignment) int {
		return cmp.Or(cmp.Compare(a.CardUUID(), b.CardUUID()), cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.Lease, b.Lease))
	})
	var kept []Assignment
	var conflicts []Conflict
	for _, a := range sorted {
		free := []Span{a.Span}
		for _, holder := range kept {
			if !holder.Collides(a) {
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

// InventoryConflict is where what is recorded and what is reported contradict each other.
type InventoryConflict struct {
	Kind  string `json:"kind"`
	Host  string `json:"host,omitempty"`
	UUID  string `json:"uuid,omitempty"`
	Lease string `json:"lease,omitempty"`
	// Text says what was found, what was expected and what a person may do.
	Text string `json:"text"`
}

// The kinds of an InventoryConflict.
const (
	ConflictTwoLeases    = "two_leases"        // two leases claim one GPU, or a GPU and a part of it
	ConflictTwoPlaces    = "two_places"        // two hosts report one GPU, or one slot holds two
	ConflictElsewhere    = "elsewhere"         // a GPU reports from another place than is recorded
	ConflictDark         = "lease_dark"        // nobody reports a leased GPU
	ConflictMIGMissing   = "mig_missing"       // a leased MIG instance is gone from its card
	ConflictOutsideLease = "outside_lease"     // an assignment reaches out of its lease
	ConflictOverNumber   = "over_number"       // a floating lease has more GPUs than it was sold
	ConflictUnleased     = "use_without_lease" // a GPU works that nobody leases
	ConflictClock        = "clock"             // a host's clock is wrong
)

// InventoryConflicts are the kinds in order, for those who count each.
var InventoryConflicts = []string{ConflictTwoLeases, ConflictTwoPlaces, ConflictElsewhere, ConflictDark, ConflictMIGMissing,
	ConflictOutsideLease, ConflictOverNumber, ConflictUnleased, ConflictClock}
