package rental

import "math/big"

// Budget returns how much downtime the objective allows in the whole period, and what is left of
// it at the low bound, in the milliseconds of the verdict; left is negative where it is overspent.
// Time that nobody could measure spends none. While the period is open, its rest counts as time to come. Both are 0 without an objective.
func Budget(a Availability, v Verdict, lease Lease, period Span) (allowed, left int64) {
	if a.Denominator == DenominatorLease {
		period = lease.Span().Clip(period)
	}
	whole := period.Duration() * int64(max(v.Cards, 1))
	if v.ExcludedLeaves {
		whole -= v.ExcludedMS
	}
	share := new(big.Rat).Sub(hundred, a.TargetPercent.Rat())
	share.Mul(share, big.NewRat(max(whole, 0), 100))
	allowed = new(big.Int).Quo(share.Num(), share.Denom()).Int64()
	return allowed, allowed - v.DownMS - v.UnknownMS + v.UnmeasuredMS
}

// BurnRate is how fast a window spends the error budget: 1 spends exactly the whole budget over
// the whole period. Known is false where too little was measured for a rate.
type BurnRate struct {
	Window Span
	Rate   float64
	Known  bool
}

// Burn returns the burn rate of each window: down / (up + down), as a ratio of sums over the
// cards or the lease as the scope says, divided by 1 - target (ALERTING.md 5.1). Outages shorter
// than minBad milliseconds do not count (5.4), and a window with less than minObserved
// milliseconds of known time has no rate (5.5, 5.7). Excluded and unknown time is in neither sum.
func Burn(in JudgeInput, windows []Span, minBad, minObserved int64) []BurnRate {
	out := make([]BurnRate, len(windows))
	for i, w := range windows {
		out[i].Window = w
	}
	if in.Contract.Availability == nil || len(windows) == 0 {
		return out
	}
	a := *in.Contract.Availability
	reach := windows[0]
	for _, w := range windows {
		reach = Span{Start: min(reach.Start, w.Start), End: max(reach.End, w.End)}
	}
	reach.Start -= Millis(minBad) // an outage that began before the window is as long as it is
	lines := scoped(a, reach, in.timelines(reach.Clip(in.Lease.Span())))
	target, _ := new(big.Rat).Quo(a.TargetPercent.Rat(), hundred).Float64()
	for i, w := range windows {
		var down, known int64
		for _, line := range lines {
			for _, iv := range line {
				part := iv.Span.Clip(w).Duration()
				if iv.Class == Up || iv.Class == Down {
					known += part
				}
			}
			for _, run := range outageRuns(Availability{}, line, false) {
				if run.Duration() >= minBad {
					down += run.Clip(w).Duration()
				}
			}
		}
		if known > 0 && known >= minObserved {
			out[i].Known, out[i].Rate = true, float64(down)/float64(known)/(1-target)
		}
	}
	return out
}

// timelines returns every seat's time over the span.
func (in JudgeInput) timelines(span Span) [][]Interval {
	seats := in.seats()
	out := make([][]Interval, len(seats))
	for i, s := range seats {
		out[i] = in.seatTimeline(s, i < len(in.Lease.GPUs), span)
	}
	return out
}

// StatesAt returns what each card of the lease counts as just before the moment: the state that
// samples told, or the ledger's word over it (maintenance, stopped).
func StatesAt(in JudgeInput, at Millis) map[string]Interval {
	out := map[string]Interval{}
	for _, s := range in.seats() {
		for _, part := range s.parts {
			if part.Span.Contains(at - 1) {
				line := in.seatTimeline(s, true, Span{Start: part.Span.Start, End: at})
				if len(line) > 0 {
					out[part.UUID] = line[len(line)-1]
				}
			}
		}
	}
	return out
}
