package rental

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// Figures of rule 7 of the design: how long a card must be under its promise to be degraded, and
// the share of a busy hour that heat or the power brake may take.
const (
	DegradedAfter       = Millis(60_000)
	degradedHourPercent = 5
	millisOfClockHour   = Millis(3_600_000)
)

// HeldBack are the reasons of gpu_throttle_seconds_total and gpu_throttle_active that make a card
// degraded: heat, and the power brake. The software power cap is none of them, because a card under
// load runs into it in the best of health.
var HeldBack = []string{"hw_thermal", "sw_thermal", "thermal", "hw_power_brake"}

// CardReadings are the readings of one card that tell whether it does what its class promises, from
// one vantage. Copies of a reading may be told twice.
type CardReadings struct {
	PCIeWidth  []Series // gpu_pcie_link_width
	NVLinks    []Series // gpu_nvlink_active_links
	PowerLimit []Series // gpu_power_limit_watts{limit="enforced"}
	// HeldSeconds is gpu_throttle_seconds_total and HeldNow gpu_throttle_active; a driver that does
	// not count is judged by the second.
	HeldSeconds, HeldNow []Series
	Use                  []Series // gpu_utilization_ratio
}

// Degradation is a stretch in which a card was slower than promised.
type Degradation struct {
	Span     Span
	Evidence Evidence
}

// Degradations returns when a card was under what its class promises, in order of time: fewer PCIe
// lanes, fewer NVLinks or a lower enforced power limit for DegradedAfter without a break, or
// heat and power brake for over 5 % of the busy time of a UTC hour in which it was busy at least
// half the time; that reaches from the first to the last reading of the hour that shows it. What is
// not promised (0) or not measured makes nothing degraded. A reading counts up to the next one, at
// most two intervals (milliseconds) long.
func Degradations(sku SKU, r CardReadings, interval int64) []Degradation {
	hold := Millis(2 * interval)
	var out []Degradation
	out = append(out, under("gpu_pcie_link_width", sku.PCIeWidth, r.PCIeWidth, hold)...)
	out = append(out, under("gpu_nvlink_active_links", sku.NVLinks, r.NVLinks, hold)...)
	out = append(out, under("gpu_power_limit_watts{limit=\"enforced\"}", sku.PowerWatts, r.PowerLimit, hold)...)
	out = append(out, heldBack(r, hold)...)
	slices.SortStableFunc(out, func(a, b Degradation) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	return out
}

// UnderDegradation lays degradations over the line of time of a card: only what was ok becomes
// degraded, as seen from where it was told.
func UnderDegradation(card []Interval, found []Degradation, vantage string) []Interval {
	var spans []Span
	for _, d := range found {
		spans = append(spans, d.Span)
	}
	var out []Interval
	for _, iv := range card {
		if iv.Class != Up || iv.Vantage != vantage {
			out = appendInterval(out, iv)
			continue
		}
		for _, part := range overlay([]Interval{iv}, spans, Up, ReasonDegraded) {
			part.Vantage = vantage
			out = appendInterval(out, part)
		}
	}
	return out
}

// under returns the runs of readings below what is promised that are long enough.
func under(metric string, promised int, series []Series, hold Millis) []Degradation {
	if promised <= 0 {
		return nil
	}
	var bad []Span
	first := map[Millis]float64{}
	readings := merged(series)
	for i, r := range readings {
		// Half a unit is the rounding of drivers that tell a figure in thousandths.
		if r.Value+0.5 < float64(promised) {
			reach := witness{readings: readings}.reach(i, hold)
			bad = append(bad, reach)
			first[reach.Start] = r.Value
		}
	}
	var out []Degradation
	for _, run := range UnionSpans(bad) {
		if run.Duration() < int64(DegradedAfter) {
			continue
		}
		out = append(out, Degradation{Span: run, Evidence: Evidence{Kind: EvidenceReading, ID: fmt.Sprintf("%s == %s @ %s, promised %d",
			metric, strconv.FormatFloat(first[run.Start], 'f', -1, 64), run.Start, promised)}})
	}
	return out
}

// merged returns the readings of all copies in order of time; where two disagree at one moment,
// the higher is believed.
func merged(series []Series) []Sample {
	var out []Sample
	for _, s := range series {
		out = append(out, s.Samples...)
	}
	slices.SortFunc(out, func(a, b Sample) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(b.Value, a.Value)) })
	return slices.CompactFunc(out, func(a, b Sample) bool { return a.At == b.At })
}

// heldBack returns the stretches of busy hours in which heat or the power brake took too much.
func heldBack(r CardReadings, hold Millis) []Degradation {
	held := heldTime(r, hold)
	var busy []Span
	use := merged(r.Use)
	for i, one := range use {
		if one.Value > 0 {
			busy = append(busy, witness{readings: use}.reach(i, hold))
		}
	}
	busy = UnionSpans(busy)
	byHour := map[Millis][]heldFor{}
	for _, h := range held {
		hour := h.span.Start - h.span.Start%millisOfClockHour
		byHour[hour] = append(byHour[hour], h)
	}
	var out []Degradation
	for hour, parts := range byHour {
		clock := Span{Start: hour, End: hour + millisOfClockHour}
		worked := TotalMillis(ClipSpans(busy, clock))
		worst, span := worstReason(parts, clock)
		if 2*worked < clock.Duration() || 100*worst <= degradedHourPercent*float64(worked) {
			continue
		}
		out = append(out, Degradation{Span: span, Evidence: Evidence{Kind: EvidenceReading, ID: fmt.Sprintf(
			"clocks held back by heat or power brake for %.0f s of %d s busy in the hour from %s", worst/1000, worked/1000, hour)}})
	}
	return out
}

// heldFor is how many milliseconds of a stretch between two readings a reason held the clocks back.
type heldFor struct {
	reason string
	span   Span
	millis float64
}

// heldTime returns by reason how the clocks were held back: as the driver counts it, and where it
// does not count a reason, as the readings of the moment tell it.
func heldTime(r CardReadings, hold Millis) []heldFor {
	var out []heldFor
	for _, reason := range HeldBack {
		counted := merged(ofReason(r.HeldSeconds, reason))
		for i := 1; i < len(counted); i++ {
			a, b := counted[i-1], counted[i]
			if b.At-a.At <= hold && b.Value > a.Value {
				// A counter may have been read late, so no more than the time itself counts.
				out = append(out, heldFor{reason, Span{a.At, b.At}, min(1000*(b.Value-a.Value), float64(b.At-a.At))})
			}
		}
		if len(counted) > 0 {
			continue
		}
		now := merged(ofReason(r.HeldNow, reason))
		for i, one := range now {
			if one.Value == 1 {
				reach := witness{readings: now}.reach(i, hold)
				out = append(out, heldFor{reason, reach, float64(reach.Duration())})
			}
		}
	}
	return out
}

func ofReason(series []Series, reason string) []Series {
	var out []Series
	for _, s := range series {
		if s.Labels["reason"] == reason {
			out = append(out, s)
		}
	}
	return out
}

// worstReason returns the milliseconds of the reason that took most, since two may hold at once, and
// the stretch of the hour in which any did.
func worstReason(parts []heldFor, hour Span) (float64, Span) {
	sums := map[string]float64{}
	worst, span := 0.0, Span{Start: hour.End, End: hour.Start}
	for _, p := range parts {
		sums[p.reason] += p.millis
		worst = max(worst, sums[p.reason])
		span.Start, span.End = min(span.Start, p.span.Start), max(span.End, min(p.span.End, hour.End))
	}
	return worst, span
}
