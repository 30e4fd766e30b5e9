package rental

import (
	"slices"
	"strconv"
	"strings"
)

// name is how a verdict names a seat: the uuids of its cards in order of service.
func (s seat) name(i int) string {
	var uuids []string
	for _, part := range s.parts {
		if n := len(uuids); n == 0 || uuids[n-1] != part.UUID {
			uuids = append(uuids, part.UUID)
		}
	}
	if len(uuids) == 0 {
		return "not delivered #" + strconv.Itoa(i+1)
	}
	return strings.Join(uuids, ",")
}

// seatTimeline returns what one seat's time counts as over the judged span: what samples said,
// then the ledger's facts over it. A promised seat without a card is down; another one is
// outside the lease, as is all time before the lease began and after it ended.
func (in JudgeInput) seatTimeline(s seat, promised bool, judged Span) []Interval {
	// The whole lease is looked at, not only the judged part, so that a downtime is known to
	// have been open when a window began.
	reach := in.Lease.Span().Clip(Span{Start: in.Lease.Start, End: judged.End})
	var told []Interval
	var windows []Span
	cursor, host := reach.Start, ""
	gap := func(until Millis) {
		empty := Interval{Span: Span{Start: cursor, End: until}, Class: Down, Reason: ReasonNotDelivered}
		switch {
		case in.Lease.Floating != nil:
			empty.Class, empty.Reason = Excluded, ReasonNotAssigned
		case !promised:
			empty.Class, empty.Reason = Up, ReasonOutside
		}
		told = appendInterval(told, empty)
		windows = append(windows, ClipSpans(in.windows(host), empty.Span)...)
	}
	for _, a := range s.parts {
		part := a.Span.Clip(reach)
		if part.Empty() {
			continue
		}
		gap(part.Start)
		for _, iv := range in.cardTimeline(a.UUID, part) {
			told = appendInterval(told, iv)
		}
		windows = append(windows, ClipSpans(in.windows(a.Host), part)...)
		cursor, host = part.End, a.Host
	}
	gap(reach.End)
	return frame(in.excused(told, windows, reach), judged, reach)
}

// cardTimeline returns what the time of one assigned card counts as before windows: samples, and
// over them the downtimes that people entered and approved.
func (in JudgeInput) cardTimeline(uuid string, part Span) []Interval {
	told := Unwatched(Partition(part, in.Timelines[uuid]))
	for i := range told {
		if told[i].Reason == ReasonDegraded && in.Contract.Availability != nil {
			told[i].Class = Class(in.Contract.Availability.Degraded)
		}
	}
	for _, d := range in.Downtimes {
		if d.Lease != in.Lease.ID || !slices.Contains(d.UUIDs, uuid) {
			continue
		}
		switch spans := []Span{d.Span.Clip(part)}; {
		case d.RejectedBy != "" && d.measured(): // a person does not believe the samples: nobody knows, and it is not up
			told = overlay(told, ClipSpans(downSpans(told), spans[0]), NoData, ReasonRejected)
		case !d.counts():
		case d.Cause != CauseTenant && d.measured(): // the samples say it themselves
		case d.Cause != CauseTenant:
			told = overlay(told, spans, Down, d.Reason)
		case d.measured(): // a person found the tenant behind what the samples show
			told = overlay(told, ClipSpans(downSpans(told), spans[0]), Excluded, ReasonTenant)
		default:
			told = overlay(told, spans, Excluded, ReasonTenant)
		}
	}
	return told
}

// excused lays the windows of maintenance and stop over a seat's time; they excuse only what
// began inside them.
func (in JudgeInput) excused(told []Interval, windows []Span, reach Span) []Interval {
	stops := ClipSpans(in.Lease.Stops, reach)
	counted := excuse(downSpans(told), append(slices.Clone(windows), stops...))
	told = overlay(told, SubtractSpans(windows, counted), Excluded, ReasonMaintenance)
	return overlay(told, SubtractSpans(stops, counted), Excluded, ReasonStopped)
}

func downSpans(told []Interval) []Span {
	var downs []Span
	for _, iv := range told {
		if iv.Class == Down {
			downs = append(downs, iv.Span)
		}
	}
	return downs
}

// frame clips a lease's intervals to the judged span; what of it lies outside the lease is up.
func frame(intervals []Interval, judged, lease Span) []Interval {
	inside := lease.Clip(judged)
	if inside.Empty() {
		return appendInterval(nil, Interval{Span: judged, Class: Up, Reason: ReasonOutside})
	}
	out := appendInterval(nil, Interval{Span: Span{Start: judged.Start, End: inside.Start}, Class: Up, Reason: ReasonOutside})
	for _, iv := range intervals {
		out = appendInterval(out, Interval{Span: iv.Span.Clip(judged), Class: iv.Class, Reason: iv.Reason, Vantage: iv.Vantage})
	}
	return appendInterval(out, Interval{Span: Span{Start: inside.End, End: judged.End}, Class: Up, Reason: ReasonOutside})
}

// overlay replaces the class and reason of the intervals within the spans.
func overlay(intervals []Interval, spans []Span, class Class, reason string) []Interval {
	holes := UnionSpans(spans)
	if len(holes) == 0 {
		return intervals
	}
	var out []Interval
	for _, iv := range intervals {
		cursor := iv.Span.Start
		for _, h := range holes {
			part := h.Clip(Span{Start: cursor, End: iv.Span.End})
			if part.Empty() {
				continue
			}
			out = appendInterval(out, Interval{Span: Span{Start: cursor, End: part.Start}, Class: iv.Class, Reason: iv.Reason, Vantage: iv.Vantage})
			out = appendInterval(out, Interval{Span: part, Class: class, Reason: reason})
			cursor = part.End
		}
		out = appendInterval(out, Interval{Span: Span{Start: cursor, End: iv.Span.End}, Class: iv.Class, Reason: iv.Reason, Vantage: iv.Vantage})
	}
	return out
}

// combine makes one timeline of several: up while at least needed cards are up, and else the
// least bad that is still possible: excluded, then unknown, then down.
func combine(judged Span, timelines [][]Interval, needed int) []Interval {
	var edges []Millis
	for _, timeline := range timelines {
		for _, iv := range timeline {
			edges = append(edges, iv.Span.Start, iv.Span.End)
		}
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	next := make([]int, len(timelines))
	var out []Interval
	for i := 0; i+1 < len(edges); i++ {
		span := Span{Start: edges[i], End: edges[i+1]}
		counts := map[Class]int{}
		reasons := map[Class]string{}
		unmeasured, silent := 0, "" // of the unknown ones, those that nobody could look at
		for k, timeline := range timelines {
			for next[k] < len(timeline) && timeline[next[k]].Span.End <= span.Start {
				next[k]++
			}
			if next[k] < len(timeline) && timeline[next[k]].Span.Contains(span.Start) {
				iv := timeline[next[k]]
				counts[iv.Class]++
				if iv.unmeasured() {
					unmeasured, silent = unmeasured+1, iv.Reason
					continue
				}
				reasons[iv.Class] = iv.Reason
			}
		}
		class := Down
		switch {
		case counts[Up] >= needed:
			class = Up
		case counts[Up]+counts[Excluded] >= needed:
			class = Excluded
		case counts[Up]+counts[Excluded]+counts[NoData] >= needed:
			class = NoData
			if reasons[NoData] == "" || counts[Up]+counts[Excluded]+unmeasured >= needed {
				reasons[NoData] = silent
			}
		}
		out = appendInterval(out, Interval{Span: span.Clip(judged), Class: class, Reason: reasons[class]})
	}
	return out
}

// classTotals are milliseconds of each class.
type classTotals struct{ up, down, excluded, unknown int64 }

func (c classTotals) total() int64 { return c.up + c.down + c.excluded + c.unknown }

func countClasses(intervals []Interval) classTotals {
	var c classTotals
	for _, iv := range intervals {
		switch iv.Class {
		case Up:
			c.up += iv.Span.Duration()
		case Down:
			c.down += iv.Span.Duration()
		case Excluded:
			c.excluded += iv.Span.Duration()
		default:
			c.unknown += iv.Span.Duration()
		}
	}
	return c
}

// countOutage returns the milliseconds that count as outage by the contract's rule: runs joined
// over short flaps, runs under the minimum dropped, then counted exactly, by the whole minutes of
// each run, or by the clock minutes (UTC, as every zone's minutes are) that are wholly down.
func countOutage(a Availability, intervals []Interval, unknownIsDown bool) int64 {
	const minute = 60_000
	var total int64
	for _, run := range outageRuns(a, intervals, unknownIsDown) {
		length := run.Duration()
		if length < a.MinimumOutage.Milliseconds() {
			continue
		}
		switch a.Outage {
		case OutageWholeMinutes:
			total += length / minute * minute
		case OutageClockMinutes:
			first := (int64(run.Start) + minute - 1) / minute
			if last := int64(run.End) / minute; last > first {
				total += (last - first) * minute
			}
		default:
			total += length
		}
	}
	return total
}

// outageRuns returns the runs of down time, those joined whose gap is up and shorter than the
// contract's flap merge; the gap then counts as down.
func outageRuns(a Availability, intervals []Interval, unknownIsDown bool) []Span {
	var runs []Span
	merge := a.FlapMerge.Milliseconds()
	bridge := true // only up time since the last run
	for _, iv := range intervals {
		switch {
		case iv.Class == Down || iv.Class == NoData && unknownIsDown:
			if n := len(runs); n > 0 && (runs[n-1].End == iv.Span.Start || bridge && int64(iv.Span.Start-runs[n-1].End) < merge) {
				runs[n-1].End = iv.Span.End
			} else {
				runs = append(runs, iv.Span)
			}
			bridge = true
		case iv.Class == Excluded:
			bridge = false
		}
	}
	return runs
}

// downByGPU returns the downtime of each card, with unknown time where the contract takes it for
// down, but for what nobody could measure; time in which a seat had none counts to
// the card before it, else to the one after it.
func downByGPU(a Availability, seats []seat, timelines [][]Interval) map[string]int64 {
	out := map[string]int64{}
	for i, s := range seats {
		for _, iv := range timelines[i] {
			counts := iv.Class == Down || iv.Class == NoData && a.Unknown == string(Down) && !iv.unmeasured()
			if !counts || len(s.parts) == 0 {
				continue
			}
			for k, part := range s.parts {
				until := Forever
				if k+1 < len(s.parts) {
					until = s.parts[k+1].Span.Start
				}
				from := part.Span.Start
				if k == 0 {
					from = iv.Span.Start
				}
				if d := iv.Span.Clip(Span{Start: from, End: until}).Duration(); d > 0 {
					out[part.UUID] += d
				}
			}
		}
	}
	return out
}
