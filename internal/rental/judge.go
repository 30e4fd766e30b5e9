package rental

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// JudgeInput is what Judge reads.
type JudgeInput struct {
	Facts
	// Timelines holds what the samples said of each card, by uuid. Time that they do not cover is
	// unknown. They should begin where the earliest window of maintenance or stop that reaches
	// into the period begins, so that a downtime that was open then is known to be.
	Timelines map[string][]Interval
	Period    Span
	// Now is the end of what can be known; a period that ends later is open and judged up to it.
	// 0 judges the whole period.
	Now Millis
	// Language of the arithmetic: "zh", else English.
	Language string
}

// Judge says whether the lease's availability objective was kept in the period. The classes of a
// verdict partition its period: Down is what counts as outage by the contract's rule with unknown
// time as up, Unknown is what counts besides if unknown time was down, Excluded is maintenance,
// stops and what the tenant caused, Up is the rest. It is pure and compares integers.
func Judge(in JudgeInput) (Verdict, error) {
	v := Verdict{Lease: in.Lease.ID, Period: in.Period, Outcome: NotMeasured}
	if in.Contract.Availability == nil {
		return v, nil
	}
	if err := Invalid("contract "+in.Contract.Name, in.Contract.Validate()); err != nil {
		return Verdict{}, err
	}
	if in.Period.End == Forever {
		return Verdict{}, fmt.Errorf("period from %s has no end: expected an end to judge to", in.Period.Start)
	}
	judged := in.Period
	if in.Now != 0 && in.Now < judged.End {
		v.Open = true
		judged.End = max(in.Now, judged.Start)
	}
	a := *in.Contract.Availability
	if a.Denominator == DenominatorLease {
		judged = in.Lease.Span().Clip(judged)
	}
	v.Target = a.TargetPercent
	if in.Lease.Span().Clip(judged).Empty() {
		// A month in which the lease did not run is no kept month.
		v.Arithmetic = v.Explain(in.Language)
		return v, nil
	}
	seats := in.seats()
	timelines := make([][]Interval, len(seats))
	names := make([]string, len(seats))
	for i, s := range seats {
		timelines[i] = in.seatTimeline(s, i < len(in.Lease.GPUs), judged)
		names[i] = s.name(i)
		if slices.Contains(names[:i], names[i]) {
			names[i] += fmt.Sprintf(" #%d", i+1) // one card in two seats, at two times
		}
	}
	v.DownByGPU = downByGPU(a, seats, timelines)
	judgeScope(&v, a, judged, names, timelines, in.Language)
	v.Arithmetic = v.Explain(in.Language)
	return v, nil
}

// judgeScope combines the seats' timelines as the contract's scope says.
func judgeScope(v *Verdict, a Availability, judged Span, names []string, timelines [][]Interval, lang string) {
	if a.Scope == ScopeGPU {
		judgeEach(v, a, names, timelines, lang)
		return
	}
	v.measure(a, scoped(a, judged, timelines))
}

// scoped returns the timelines whose time is summed under the contract's scope: one for the lease
// where its cards count together, else one for each card.
func scoped(a Availability, judged Span, timelines [][]Interval) [][]Interval {
	switch a.Scope {
	case ScopeAll:
		return [][]Interval{combine(judged, timelines, len(timelines))}
	case ScopeKOfN:
		return [][]Interval{combine(judged, timelines, a.Needed)}
	default:
		return timelines
	}
}

// judgeEach judges every card for itself; the lease's own figures are those of its worst card.
func judgeEach(v *Verdict, a Availability, names []string, timelines [][]Interval, lang string) {
	v.PerGPU = map[string]Verdict{}
	worst := ""
	outcome := Kept
	for i, name := range names {
		card := Verdict{Lease: v.Lease, Period: v.Period, Target: v.Target, Open: v.Open}
		card.measure(a, timelines[i:i+1])
		card.Arithmetic = card.Explain(lang)
		v.PerGPU[name] = card
		if worst == "" || card.worseThan(v.PerGPU[worst]) {
			worst = name
		}
		switch {
		case card.Outcome == Breached:
			outcome = Breached
		case outcome == Kept && (card.Outcome == NotProven || card.Outcome == NotMeasured && card.UnmeasuredMS > 0):
			outcome = NotProven
		}
	}
	if worst == "" {
		return
	}
	w := v.PerGPU[worst]
	w.PerGPU, w.Worst, w.DownByGPU = v.PerGPU, worst, v.DownByGPU
	if w.Outcome != NotMeasured {
		w.Outcome = outcome
	}
	*v = w
}

func (v Verdict) worseThan(o Verdict) bool {
	order := []Outcome{Breached, NotProven, Kept, NotMeasured}
	if a, b := slices.Index(order, v.Outcome), slices.Index(order, o.Outcome); a != b {
		return a < b
	}
	return v.Judged.compare(o.Judged) < 0
}

// measure counts the classes over the timelines and judges.
func (v *Verdict) measure(a Availability, timelines [][]Interval) {
	var rawUnknown, measured int64
	v.Cards = len(timelines)
	for _, timeline := range timelines {
		c := countClasses(timeline)
		v.PeriodMS += c.total()
		v.ExcludedMS += c.excluded
		for _, iv := range timeline {
			if (iv.Class == Up || iv.Class == Down) && iv.Reason != ReasonOutside {
				measured += iv.Span.Duration()
			}
			if iv.Class == Excluded {
				if v.ExcludedBy == nil {
					v.ExcludedBy = map[string]int64{}
				}
				v.ExcludedBy[iv.Reason] += iv.Span.Duration()
			}
		}
		v.MeasuredDownMS += c.down
		rawUnknown += c.unknown
		high := countOutage(a, timeline, false)
		low := countOutage(a, timeline, true)
		v.DownMS += high
		v.UnknownMS += low - high
		v.UnmeasuredMS += low - countOutage(a, asMeasured(timeline), true)
	}
	v.UpMS = v.PeriodMS - v.ExcludedMS - v.DownMS - v.UnknownMS
	v.UnknownRule, v.OutageRule, v.Denominator = a.Unknown, a.Outage, a.Denominator
	v.ExcludedLeaves = *a.ExcludedLeavesDenominator
	whole := v.PeriodMS
	if v.ExcludedLeaves {
		whole -= v.ExcludedMS
	}
	v.Coverage = Bound{Numerator: v.PeriodMS - v.ExcludedMS - rawUnknown, Denominator: v.PeriodMS - v.ExcludedMS}
	v.Low = Bound{Numerator: whole - v.DownMS - v.UnknownMS, Denominator: whole}
	v.High = Bound{Numerator: whole - v.DownMS, Denominator: whole}
	// Time that nobody could measure is never taken for down, whatever the contract says of unknown time.
	v.Judged = v.Low.without(v.UnmeasuredMS)
	if a.Unknown == string(Excluded) {
		v.Judged = Bound{Numerator: whole - v.DownMS - v.UnknownMS, Denominator: whole - v.UnknownMS}
	}
	v.Outcome = v.judge()
	if v.UnmeasuredMS > 0 && measured == 0 {
		v.Outcome = NotMeasured
	}
}

// judge compares the bounds with the target (rule 5 of the design).
func (v *Verdict) judge() Outcome {
	if v.Low.Denominator == 0 {
		return NotMeasured
	}
	low, high := !v.Low.Under(v.Target), !v.High.Under(v.Target)
	switch {
	case v.UnknownRule == string(Down) && low, low && high:
		return Kept
	case v.UnknownRule == string(Down) && v.Judged.Under(v.Target), !low && !high:
		return Breached
	default:
		return NotProven
	}
}

// Under tells whether the share is strictly less than percent, without rounding (C51, C52).
// A share of nothing is under nothing.
func (b Bound) Under(percent Decimal) bool {
	if b.Denominator == 0 {
		return false
	}
	share := new(big.Rat).Mul(big.NewRat(b.Numerator, b.Denominator), hundred)
	return share.Cmp(percent.Rat()) < 0
}

func (b Bound) compare(o Bound) int {
	if b.Denominator == 0 || o.Denominator == 0 {
		return 0
	}
	return big.NewRat(b.Numerator, b.Denominator).Cmp(big.NewRat(o.Numerator, o.Denominator))
}

// Percent writes the share as percent, floored, so that a breach never looks like a pass: four
// decimals, or one more than the target has where that is more. A share of nothing is "-".
func (b Bound) Percent(target Decimal) string {
	if b.Denominator == 0 {
		return "-"
	}
	digits := 4
	if _, fraction, ok := strings.Cut(target.String(), "."); ok {
		digits = max(digits, len(fraction)+1)
	}
	scaled := new(big.Int).Mul(big.NewInt(b.Numerator), new(big.Int).Mul(big.NewInt(100), pow10(digits)))
	floor := new(big.Int).Div(scaled, big.NewInt(b.Denominator))
	return new(big.Rat).SetFrac(floor, pow10(digits)).FloatString(digits)
}

// Ratio returns the share as a copy for series and pictures; a share of nothing is 0, so callers
// look at Denominator first.
func (b Bound) Ratio() float64 {
	if b.Denominator == 0 {
		return 0
	}
	return float64(b.Numerator) / float64(b.Denominator)
}
