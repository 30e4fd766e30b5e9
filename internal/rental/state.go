package rental

import (
	"cmp"
	"slices"
)

// Reasons of intervals that no GPU state gives: facts of the lease, or the lack of samples.
const (
	ReasonNoSamples    = "no_samples"    // nobody told a state, or the last one is too old
	ReasonBlind        = "blind"         // the server itself stored nothing, so nobody could be heard
	ReasonMIGMissing   = "mig_missing"   // the card answers and is not cut into this MIG instance
	ReasonNotDelivered = "not_delivered" // a card was due and none was assigned
	ReasonMaintenance  = "maintenance"   // an announced window
	ReasonStopped      = "stopped"       // the tenant's act
	ReasonTenant       = "tenant"        // downtime that the tenant caused
	ReasonRejected     = "rejected"      // samples said down, and a person rejected that
	ReasonOutside      = "outside_lease" // time of the period in which the lease did not run
	ReasonDegraded     = "degraded"      // slower than promised; the contract says what it counts as
	ReasonReleased     = "released"      // an operator let go of the card
	ReasonOpaque       = "opaque"        // only the tenant could look, and did not
)

// ClassOfState returns what time in a GPU state counts as (rule 7 of the design). A state that
// is not known to this version is unknown, never up. Degraded is up here; Judge applies the contract.
func ClassOfState(state string) Class {
	switch state {
	case "ok", ReasonDegraded:
		return Up
	case "lost", "reset_required", "unresponsive", "driver_down", "fabric_incomplete", ReasonHostDown, ReasonNotDelivered:
		return Down
	case ReasonMaintenance, ReasonStopped, ReasonTenant, ReasonNotAssigned:
		return Excluded
	default:
		return NoData
	}
}

// CauseOfState returns who answers for time in a down state as far as the state alone tells:
// provider for what the hardware did, undetermined for a driver that is gone, a host that is down
// and a card that is slow, because whoever is root on the machine can unload the driver, switch the
// machine off, close it to probes and lower a card's power limit.
func CauseOfState(state string) string {
	switch state {
	case "lost", "reset_required", "unresponsive", "fabric_incomplete", ReasonNotDelivered:
		return CauseProvider
	default:
		return CauseUndetermined
	}
}

// Causes of a downtime.
const (
	CauseProvider     = "provider"
	CauseTenant       = "tenant"
	CauseUndetermined = "undetermined"
)

// stateAt is one telling of a card's state.
type stateAt struct {
	at    Millis
	state string
}

// StateTimeline turns the samples of one card's gpu_state (one series per label "state", value 1
// where it is the present state) into intervals that partition span. A state holds from its
// sample to the next one, at most two sampling intervals (milliseconds) long; after that the time
// is unknown. So a failure starts at the first bad sample and ends at the first good one. Copies
// of one sample are one; where two disagree at one moment, down wins. Samples before span.Start
// count as far as they hold, so callers select from two intervals earlier. What a guest told
// (label "vantage") counts where the host tells nothing, and is marked.
func StateTimeline(span Span, states []Series, interval int64) []Interval {
	if span.Empty() {
		return nil
	}
	host, guest := byVantage(states)
	out := stateTimeline(span, host, interval)
	if len(guest) == 0 {
		return out
	}
	return believed(out, stateTimeline(span, guest, interval))
}

func stateTimeline(span Span, states []Series, interval int64) []Interval {
	told := tellings(states)
	hold := Millis(2 * interval)
	var out []Interval
	cursor := span.Start
	emit := func(until Millis, class Class, reason string) {
		until = min(until, span.End)
		if until <= cursor {
			return
		}
		out = appendInterval(out, Interval{Span: Span{Start: cursor, End: until}, Class: class, Reason: reason})
		cursor = until
	}
	for i, s := range told {
		emit(s.at, NoData, ReasonNoSamples)
		end := s.at + hold
		if i+1 < len(told) {
			end = min(end, told[i+1].at)
		}
		emit(end, ClassOfState(s.state), s.state)
	}
	emit(span.End, NoData, ReasonNoSamples)
	return out
}

// MIGTimeline turns the classes of a card into those of a MIG instance of it: the card's, and
// unknown where the card is up and does not report the instance (MIG was switched off, or cut
// otherwise, under a lease). present are the copies of its gpu_mig_info; a sample says that the
// instance is there up to the next, at most two sampling intervals (milliseconds) long.
func MIGTimeline(card []Interval, present []Series, interval int64) []Interval {
	var there []Span
	for _, series := range present {
		for _, sample := range series.Samples {
			there = append(there, Span{Start: sample.At, End: sample.At + Millis(2*interval)})
		}
	}
	var up []Span
	for _, iv := range card {
		if iv.Class == Up {
			up = append(up, iv.Span)
		}
	}
	return overlay(card, SubtractSpans(up, there), NoData, ReasonMIGMissing)
}

// tellings returns the states that were told, in order of time, one per moment.
func tellings(states []Series) []stateAt {
	var told []stateAt
	for _, series := range states {
		for _, sample := range series.Samples {
			if sample.Value == 1 {
				told = append(told, stateAt{at: sample.At, state: series.Labels["state"]})
			}
		}
	}
	slices.SortFunc(told, func(a, b stateAt) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(rank(ClassOfState(a.state)), rank(ClassOfState(b.state))),
			cmp.Compare(a.state, b.state))
	})
	return slices.CompactFunc(told, func(a, b stateAt) bool { return a.at == b.at })
}

// rank orders classes by what a witness is worth against another at the same moment.
func rank(c Class) int { return slices.Index([]Class{Down, Up, Excluded, NoData}, c) }

// appendInterval appends next, joined with the last one where it only goes on.
func appendInterval(intervals []Interval, next Interval) []Interval {
	if next.Span.Empty() {
		return intervals
	}
	if n := len(intervals); n > 0 {
		last := &intervals[n-1]
		if last.Class == next.Class && last.Reason == next.Reason && last.Vantage == next.Vantage && last.Span.End == next.Span.Start {
			last.Span.End = next.Span.End
			return intervals
		}
	}
	return append(intervals, next)
}

// Partition returns intervals that cover span exactly: those given (in order of time, the
// earlier wins an overlap), clipped, and unknown where there is none.
func Partition(span Span, intervals []Interval) []Interval {
	if span.Empty() {
		return nil
	}
	sorted := slices.Clone(intervals)
	slices.SortStableFunc(sorted, func(a, b Interval) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	var out []Interval
	cursor := span.Start
	for _, iv := range sorted {
		part := iv.Span.Clip(Span{Start: cursor, End: span.End})
		if part.Empty() {
			continue
		}
		out = appendInterval(out, Interval{Span: Span{Start: cursor, End: part.Start}, Class: NoData, Reason: ReasonNoSamples})
		out = appendInterval(out, Interval{Span: part, Class: iv.Class, Reason: iv.Reason, Vantage: iv.Vantage})
		cursor = part.End
	}
	return appendInterval(out, Interval{Span: Span{Start: cursor, End: span.End}, Class: NoData, Reason: ReasonNoSamples})
}
