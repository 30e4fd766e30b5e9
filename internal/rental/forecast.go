package rental

import (
	"fmt"
	"math/big"
)

// ForecastWindow is the recent past, in milliseconds, whose rate a forecast goes on with: three
// days, the longest burn window (ALERTING.md 5).
const ForecastWindow = 3 * 24 * 3_600_000

// Forecast is how an open period ends at the rate of its recent past (ALERTING.md 5.26). It is no
// promise and changes nothing; the period's verdict waits for its end.
type Forecast struct {
	// Window is the past whose rate goes on.
	Window Span `json:"window"`
	// DownMS and UnknownMS are what the window held, as the contract counts it.
	DownMS    int64 `json:"down_ms"`
	UnknownMS int64 `json:"unknown_ms"`
	// Low and High are the bounds at the period's end; unknown time goes on at its rate too.
	Low  Bound `json:"low"`
	High Bound `json:"high"`
	// Outcome is the verdict that those bounds would give.
	Outcome Outcome `json:"outcome"`
	// LeftMS is the downtime that would be left of the budget at the end, negative where it would
	// be overspent; never "without end".
	LeftMS int64 `json:"left_ms"`
	// ExhaustedAt is when the budget is spent at that rate; 0 where it lasts to the end, the end of
	// what is known where it is spent already.
	ExhaustedAt Millis  `json:"exhausted_at,omitempty"`
	Target      Decimal `json:"target_percent"`
}

// ForecastOf goes on with the rate of the last ForecastWindow before in.Now to the end of
// in.Period, whose verdict so far is v. It returns nil where there is nothing to forecast: the
// period has ended, there is no objective, or nothing of the window was judged.
func ForecastOf(in JudgeInput, v Verdict) (*Forecast, error) {
	if in.Contract.Availability == nil || !v.Open || v.Low.Denominator == 0 {
		return nil, nil
	}
	recent := in
	recent.Period = Span{Start: max(in.Now-ForecastWindow, in.Period.Start), End: in.Now}.Clip(in.Lease.Span())
	recent.Now = 0
	if recent.Period.Empty() {
		return nil, nil
	}
	past, err := Judge(recent)
	if err != nil {
		return nil, fmt.Errorf("forecast: %w", err)
	}
	if card, ok := past.PerGPU[v.Worst]; ok {
		past = card // the card that the lease is judged by so far
	}
	counted := past.PeriodMS - past.ExcludedMS
	if counted <= 0 {
		return nil, nil
	}
	end := in.Period.End
	if in.Contract.Availability.Denominator == DenominatorLease {
		end = min(end, in.Lease.End)
	}
	// Only the lease's own time can go wrong; what the denominator holds besides is up.
	toCome := Span{Start: in.Now, End: min(end, in.Lease.End)}.Duration() * int64(max(v.Cards, 1))
	rest := Span{Start: in.Now, End: end}.Duration() * int64(max(v.Cards, 1))
	goesOn := func(ms int64) int64 {
		share := new(big.Rat).Mul(big.NewRat(ms, counted), big.NewRat(toCome, 1))
		return new(big.Int).Quo(share.Num(), share.Denom()).Int64()
	}
	down, unknown, unmeasured := goesOn(past.DownMS), goesOn(past.UnknownMS), goesOn(past.UnmeasuredMS)
	whole := v.Low.Denominator + rest
	at := v
	at.Low = Bound{Numerator: v.Low.Numerator + rest - down - unknown, Denominator: whole}
	at.High = Bound{Numerator: v.High.Numerator + rest - down, Denominator: whole}
	at.Judged, at.UnmeasuredMS = at.Low.without(v.UnmeasuredMS+unmeasured), v.UnmeasuredMS+unmeasured
	out := &Forecast{Window: recent.Period, DownMS: past.DownMS, UnknownMS: past.UnknownMS, Low: at.Low, High: at.High, Outcome: at.judge(), Target: v.Target}
	_, left := Budget(*in.Contract.Availability, v, in.Lease, in.Period)
	out.LeftMS = left - down - unknown + unmeasured
	switch spent := past.DownMS + past.UnknownMS - past.UnmeasuredMS; {
	case left < 0:
		out.ExhaustedAt = in.Now
	case out.LeftMS < 0 && spent > 0:
		lasts := new(big.Rat).Mul(big.NewRat(left, spent), big.NewRat(counted, int64(max(v.Cards, 1))))
		out.ExhaustedAt = in.Now + Millis(new(big.Int).Quo(lasts.Num(), lasts.Denom()).Int64())
	}
	return out, nil
}

// Explain says the forecast in English or Chinese ("zh"): "at the rate of the last 72 h (down 12
// min, unknown 0) the period ends at 99.7222 %, under 99.9; the budget is spent at
// 2026-05-20T04:00:00Z". Times are in UTC.
func (f Forecast) Explain(lang string) string {
	zh := lang == "zh"
	u := unitFor(zh, f.DownMS, f.UnknownMS)
	against := func(b Bound) string {
		if b.Under(f.Target) {
			return fmt.Sprintf(pick(zh, "under %s", "低于 %s"), f.Target)
		}
		return fmt.Sprintf(pick(zh, "not under %s", "不低于 %s"), f.Target)
	}
	text := fmt.Sprintf(pick(zh, "at the rate of the last %[1]s h (down %[2]s %[4]s, unknown %[3]s) the period ends at ",
		"按最近 %[1]s 小时的速度（停机 %[2]s %[4]s，无数据 %[3]s），本期将止于 "),
		new(big.Rat).SetFrac64(f.Window.Duration(), 3_600_000).FloatString(0), u.of(f.DownMS), u.of(f.UnknownMS), u.name)
	if f.Low == f.High {
		text += fmt.Sprintf(pick(zh, "%s %%, %s", "%s %%，%s"), f.Low.Percent(f.Target), against(f.Low))
	} else {
		text += fmt.Sprintf(pick(zh, "%s %% at least (%s) and %s %% at most (%s)", "最低 %s %%（%s）、最高 %s %%（%s）"),
			f.Low.Percent(f.Target), against(f.Low), f.High.Percent(f.Target), against(f.High))
	}
	if f.ExhaustedAt != 0 {
		text += fmt.Sprintf(pick(zh, "; the budget is spent at %s", "；错误预算将于 %s 耗尽"), f.ExhaustedAt)
	}
	return text
}
