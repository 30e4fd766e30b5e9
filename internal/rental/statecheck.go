package rental

import (
	"cmp"
	"slices"
)

// StateCheck sets how long the exporter counted that a card was in each state
// (gpu_state_seconds_total) beside how long its line of time says so. The counter runs on while
// nobody scrapes it, so that it also tells what hides in unknown time.
type StateCheck struct {
	// Span reaches from the first to the last reading of the counters that could be compared.
	Span Span `json:"span"`
	// States are those that either tells, in order of their names.
	States []StateTime `json:"states"`
	// DifferenceMS is the time that one has and the other has not; 0 where both agree.
	DifferenceMS int64 `json:"difference_ms"`
}

// StateTime is how long a card was in a state.
type StateTime struct {
	State     string `json:"state"`
	CountedMS int64  `json:"counted_ms"`
	DerivedMS int64  `json:"derived_ms"`
}

// CheckStates compares the counters' growth between two readings of all states with the line of
// time between them; false where they cannot be compared: a reading is missing, or a counter fell.
func CheckStates(timeline []Interval, first, last map[string]Sample) (StateCheck, bool) {
	var span Span
	counted := map[string]int64{}
	for state, b := range last {
		a, ok := first[state]
		if !ok || b.Value < a.Value || b.At <= a.At || !span.Empty() && span != (Span{a.At, b.At}) {
			return StateCheck{}, false
		}
		span = Span{Start: a.At, End: b.At}
		counted[state] = int64((b.Value-a.Value)*1000 + 0.5)
	}
	if span.Empty() || len(first) != len(last) {
		return StateCheck{}, false
	}
	derived := map[string]int64{}
	for _, iv := range timeline {
		if state, told := iv.told(); told {
			derived[state] += iv.Span.Clip(span).Duration()
		}
	}
	return checkOf(span, counted, derived), true
}

// told is the state that the card's own samples said in the interval; false where none did.
func (iv Interval) told() (string, bool) {
	switch {
	case iv.Vantage != "" || iv.Reason == ReasonNoSamples || iv.Reason == ReasonBlind || iv.Reason == ReasonMIGMissing:
		return "", false
	case iv.Reason == ReasonDegraded:
		return "ok", true // as the exporter says
	}
	return iv.Reason, true
}

// Add joins the check of a later span to this one.
func (c StateCheck) Add(o StateCheck) StateCheck {
	if c.Span.Empty() {
		return o
	}
	counted, derived := map[string]int64{}, map[string]int64{}
	for _, one := range slices.Concat(c.States, o.States) {
		counted[one.State] += one.CountedMS
		derived[one.State] += one.DerivedMS
	}
	out := checkOf(Span{Start: min(c.Span.Start, o.Span.Start), End: max(c.Span.End, o.Span.End)}, counted, derived)
	// What differs one way on one day and the other way on another differs on both.
	out.DifferenceMS = c.DifferenceMS + o.DifferenceMS
	return out
}

func checkOf(span Span, counted, derived map[string]int64) StateCheck {
	out := StateCheck{Span: span, States: []StateTime{}}
	seen := map[string]bool{}
	var more, less int64
	for _, of := range []map[string]int64{counted, derived} {
		for state := range of {
			if seen[state] || counted[state] == 0 && derived[state] == 0 {
				continue
			}
			seen[state] = true
			one := StateTime{State: state, CountedMS: counted[state], DerivedMS: derived[state]}
			more += max(0, one.CountedMS-one.DerivedMS)
			less += max(0, one.DerivedMS-one.CountedMS)
			out.States = append(out.States, one)
		}
	}
	slices.SortFunc(out.States, func(a, b StateTime) int { return cmp.Compare(a.State, b.State) })
	out.DifferenceMS = max(more, less)
	return out
}
