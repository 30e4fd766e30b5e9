package rental

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// ReasonNotAssigned marks time of a floating lease in which its scheduler gave it no GPU for a
// seat: nobody asked for one, so it is neither up nor down.
const ReasonNotAssigned = "not_assigned"

// OverNumber returns the time in which a floating lease holds more GPUs than it was sold; nothing
// for a lease over fixed GPUs. A card that several assignments name at once counts once.
func OverNumber(l Lease, assignments []Assignment) []Span {
	if l.Floating == nil {
		return nil
	}
	byCard := map[string][]Span{}
	for _, a := range assignments {
		if a.Lease == l.ID {
			byCard[a.UUID] = append(byCard[a.UUID], a.Span)
		}
	}
	type edge struct {
		at   Millis
		step int
	}
	var edges []edge
	for _, spans := range byCard {
		for _, s := range UnionSpans(spans) {
			edges = append(edges, edge{s.Start, 1}, edge{s.End, -1})
		}
	}
	// Spans are half-open: at one moment a card goes before the next one comes.
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.step, b.step)) })
	var over []Span
	held := 0
	for i, e := range edges {
		held += e.step
		if held > l.Floating.Number && i+1 < len(edges) {
			over = append(over, Span{Start: e.at, End: edges[i+1].at})
		}
	}
	return UnionSpans(over)
}

// validateFloating adds what is wrong with a lease's hardware: it has fixed GPUs or a floating number.
func (f *faults) validateFloating(l Lease) {
	if l.Floating == nil {
		f.check(len(l.GPUs) > 0, "gpus", "nothing", "the GPUs of the lease, each by uuid or by host and slot; or floating with a sku and a number")
		return
	}
	f.check(len(l.GPUs) == 0, "gpus", fmt.Sprintf("%d GPUs beside floating", len(l.GPUs)), "one of the two")
	f.required("floating.sku", l.Floating.SKU, "the name of a SKU")
	f.check(l.Floating.Number > 0, "floating.number", strconv.Itoa(l.Floating.Number), "how many GPUs the lease may hold at once, at least 1")
}

// validateFloatingUnder adds what a contract cannot say of a lease whose GPUs come and go: what it
// pays and how it is judged must be each card's own.
func (f *faults) validateFloatingUnder(l Lease, c Contract) {
	if l.Floating == nil {
		return
	}
	f.check(c.Plan.Unit == UnitGPU, "floating", "a contract priced by the "+c.Plan.Unit,
		fmt.Sprintf("one priced by the gpu: contract %s cannot price cards that come and go", c.Name))
	if a := c.Availability; a != nil {
		f.check(a.Scope == ScopeGPU || a.Scope == ScopeWeighted, "floating", "a contract whose availability is of the scope "+a.Scope,
			fmt.Sprintf("%s or %s: contract %s cannot judge together cards that come and go", ScopeGPU, ScopeWeighted, c.Name))
	}
}
