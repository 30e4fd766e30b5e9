package rental

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
)

// ChargeInput is what Charge reads. The period needs an end; it may be a month, a day or any span.
type ChargeInput struct {
	Facts
	Period Span
}

// ItemGPUTime is the item of lines that charge for cards.
const ItemGPUTime = "gpu_time"

// Charge returns the lines that the lease's time in the period costs, by the contract's plan: one
// line for each calendar month of the contract's zone and each unit price. The cards of a line are
// summed exactly, as integer milliseconds times the price, and rounded once. A lease without time
// in the period has no lines. Charge is pure: the same facts give the same lines.
func Charge(in ChargeInput) ([]BillLine, error) {
	pieces, err := chargePieces(in)
	if err != nil {
		return nil, err
	}
	return makeLines(in, pieces)
}

// ChargeExact returns what Charge's lines sum to before any is rounded: with exact time
// rounding it is additive over any split of a span.
func ChargeExact(in ChargeInput) (Money, error) {
	pieces, err := chargePieces(in)
	if err != nil {
		return Money{}, err
	}
	sum := new(big.Rat)
	for _, p := range pieces {
		sum.Add(sum, new(big.Rat).Mul(p.quantity, p.price.Rat()))
	}
	return NewMoney(in.Contract.Currency, sum), nil
}

// Gross returns the input as if nothing were left unbilled: what the fee is before downtime and
// maintenance take from it.
func (in ChargeInput) Gross() ChargeInput {
	yes := true
	in.Contract.BillWhileDown, in.Contract.BillWhileMaintenance = &yes, &yes
	return in
}

// CostStep is what one step of time cost, exactly.
type CostStep struct {
	Span Span
	Cost Money
	// CardMS is the charged time of all cards in the step, in milliseconds.
	CardMS int64
}

// ChargeSteps returns the exact cost of each step; the steps are in order of time and do not
// overlap. Where they have no gaps they sum to ChargeExact of the span that they make.
func ChargeSteps(f Facts, steps []Span) ([]CostStep, error) {
	out := make([]CostStep, len(steps))
	for i, s := range steps {
		out[i] = CostStep{Span: s, Cost: NewMoney(f.Contract.Currency, new(big.Rat))}
		if i > 0 && s.Start < steps[i-1].End {
			return nil, fmt.Errorf("step from %s: expected one that begins after the step before it ends, %s", s.Start, steps[i-1].End)
		}
	}
	if len(steps) == 0 {
		return out, nil
	}
	pieces, err := chargePieces(ChargeInput{Facts: f, Period: Span{Start: steps[0].Start, End: steps[len(steps)-1].End}})
	if err != nil {
		return nil, err
	}
	// Within a piece all time costs the same, so steps gather integer milliseconds by rate and
	// are multiplied once.
	var rates []*big.Rat
	var charged [][]int64
	for _, p := range pieces {
		rate := new(big.Rat).Mul(p.quantity, p.price.Rat())
		rate.Quo(rate, big.NewRat(p.span.Duration(), 1))
		k := slices.IndexFunc(rates, func(r *big.Rat) bool { return r.Cmp(rate) == 0 })
		if k < 0 {
			k = len(rates)
			rates, charged = append(rates, rate), append(charged, make([]int64, len(out)))
		}
		first, _ := slices.BinarySearchFunc(out, p.span.Start, func(c CostStep, at Millis) int {
			if c.Span.End <= at {
				return -1
			}
			return 1
		})
		for i := first; i < len(out) && out[i].Span.Start < p.span.End; i++ {
			ms := p.span.Clip(out[i].Span).Duration()
			charged[k][i] += ms
			out[i].CardMS += ms
		}
	}
	for k, rate := range rates {
		for i, ms := range charged[k] {
			if ms > 0 {
				out[i].Cost.value.Add(out[i].Cost.value, new(big.Rat).Mul(rate, big.NewRat(ms, 1)))
			}
		}
	}
	return out, nil
}

// piece is a stretch of one card's charged time within one month and one price.
type piece struct {
	uuid, host string
	span       Span
	month      Month
	price      Decimal
	quantity   *big.Rat // in the plan's units, after time rounding
}

// chargePieces returns the charged time within the period, in order of seat and time.
func chargePieces(in ChargeInput) ([]piece, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	cal, err := newAlmanac(in.Contract.TimeZone)
	if err != nil {
		return nil, err
	}
	// A session is rounded as a whole, so all of the lease's time up to the period's end counts,
	// and a lease whose end is known is followed to it. Where no session is rounded the time past
	// the period changes nothing, and an end in the year 9999 costs nothing to reckon.
	horizon := in.Lease.Span()
	if horizon.End == Forever || !in.Contract.Plan.roundsSessions() {
		horizon.End = max(min(horizon.End, in.Period.End), horizon.Start)
	}
	var out []piece
	seats := in.seats()
	weights := newWeights(in, seats)
	for _, s := range seats {
		for _, run := range in.sessions(s, horizon) {
			cut, err := in.sessionPieces(cal, run)
			if err != nil {
				return nil, err
			}
			for k := range cut {
				cut[k].quantity.Mul(cut[k].quantity, weights.of(cut[k].host))
			}
			out = append(out, cut...)
		}
	}
	out = clipPieces(out, in.Period)
	if in.Contract.Plan.RoundingScope == RoundSum && in.Contract.Plan.Rounding != Exact && !in.Contract.Plan.calendar() {
		return out, roundSums(in.Contract.Plan, out)
	}
	return out, nil
}

func (in ChargeInput) check() error {
	if err := Invalid("contract "+in.Contract.Name, in.Contract.Validate()); err != nil {
		return err
	}
	if in.Lease.End < in.Lease.Start {
		return fmt.Errorf("lease %s ends %s, before its start %s: expected an end not before the start", in.Lease.ID, in.Lease.End, in.Lease.Start)
	}
	if in.Period.End == Forever {
		return fmt.Errorf("period from %s has no end: expected an end to charge to", in.Period.Start)
	}
	return nil
}

// session is one start of a card's use to its stop. A replacement goes on with it; downtime and
// maintenance do not end it.
type session struct {
	parts []Assignment
	open  bool // the lease goes on past the horizon: nothing is known yet of the session's end
}

// sessions returns the runs of one seat, without the time in which the tenant had stopped.
func (in ChargeInput) sessions(s seat, horizon Span) []session {
	var runs []session
	for i, a := range s.parts {
		joined := false
		if i > 0 && len(runs) > 0 {
			before := s.parts[i-1]
			touching := before.Span.End == a.Span.Start
			// A stop and the next start at one moment are two sessions: they have two reasons.
			if joined = touching && a.Reason == before.Reason || a.Reason == ReasonRMA; joined && !touching {
				// The contract pays on while the card is missing, or the gap is unbilled downtime.
				gap := before
				gap.Span, gap.Reason = Span{Start: before.Span.End, End: a.Span.Start}, ReasonNotDelivered
				runs[len(runs)-1].parts = append(runs[len(runs)-1].parts, gap)
			}
		}
		if !joined {
			runs = append(runs, session{})
		}
		runs[len(runs)-1].parts = append(runs[len(runs)-1].parts, a)
	}
	var out []session
	for _, run := range runs {
		whole := Span{Start: run.parts[0].Span.Start, End: run.parts[len(run.parts)-1].Span.End}
		for _, awake := range SubtractSpans([]Span{whole.Clip(horizon)}, in.Lease.Stops) {
			part := session{open: awake.End == horizon.End && whole.End > horizon.End}
			for _, a := range run.parts {
				if a.Span = a.Span.Clip(awake); !a.Span.Empty() {
					part.parts = append(part.parts, a)
				}
			}
			out = append(out, part)
		}
	}
	return out
}

// unbilled returns the time for which the contract does not charge the card.
func (in ChargeInput) unbilled(a Assignment) []Span {
	windows := in.windows(a.Host)
	down := excuse(in.approvedDowntime(a.UUID), windows)
	var free []Span
	if !*in.Contract.BillWhileDown {
		free = append(free, down...)
		if a.Reason == ReasonNotDelivered {
			free = append(free, excuse([]Span{a.Span}, windows)...)
		}
	}
	if !*in.Contract.BillWhileMaintenance {
		free = append(free, SubtractSpans(windows, down)...)
	}
	return free
}

// sessionPieces cuts a session at months and prices, leaves out what is unbilled, and rounds.
func (in ChargeInput) sessionPieces(cal almanac, run session) ([]piece, error) {
	plan := in.Contract.Plan
	var out []piece
	for _, a := range run.parts {
		for _, s := range SubtractSpans([]Span{a.Span}, in.unbilled(a)) {
			for _, part := range plan.cut(cal, s) {
				month, _ := cal.month(part.Start)
				out = append(out, piece{uuid: a.UUID, host: a.Host, span: part, month: month,
					price: plan.priceAt(part.Start), quantity: plan.quantity(cal, part)})
			}
		}
	}
	if plan.calendar() || run.open || len(out) == 0 {
		return out, nil
	}
	total := new(big.Rat)
	for _, p := range out {
		total.Add(total, p.quantity)
	}
	target := new(big.Rat).Set(total)
	if least := big.NewRat(plan.Minimum.Milliseconds(), plan.unitMillis()); target.Cmp(least) < 0 {
		target.Set(least)
	}
	if plan.RoundingScope == RoundSession && plan.Rounding != Exact {
		whole, err := RoundRat(target, plan.Rounding)
		if err != nil {
			return nil, err
		}
		target.SetInt(whole)
	}
	adjust(out, target.Sub(target, total))
	return out, nil
}

// adjust adds a difference to the last piece: rounded-up time is charged where the session ends,
// and rounded-off time is taken from there backwards.
func adjust(pieces []piece, difference *big.Rat) {
	for i := len(pieces) - 1; i >= 0 && difference.Sign() != 0; i-- {
		pieces[i].quantity.Add(pieces[i].quantity, difference)
		if pieces[i].quantity.Sign() >= 0 {
			return
		}
		difference = new(big.Rat).Set(pieces[i].quantity)
		pieces[i].quantity.SetInt64(0)
	}
}

// roundSums rounds the time of each billing month once, over all sessions and cards.
func roundSums(plan Plan, pieces []piece) error {
	inTime := slices.Clone(pieces) // the quantities are shared, so what is adjusted here is adjusted there
	slices.SortStableFunc(inTime, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.month.Year, b.month.Year), cmp.Compare(a.month.Month, b.month.Month), cmp.Compare(a.span.Start, b.span.Start))
	})
	for start := 0; start < len(inTime); {
		end, total := start, new(big.Rat)
		for ; end < len(inTime) && inTime[end].month == inTime[start].month; end++ {
			total.Add(total, inTime[end].quantity)
		}
		whole, err := RoundRat(total, plan.Rounding)
		if err != nil {
			return err
		}
		adjust(inTime[start:end], new(big.Rat).Sub(new(big.Rat).SetInt(whole), total))
		start = end
	}
	return nil
}

// clipPieces keeps what lies in the period. A piece that the period cuts keeps its share, so
// that the parts of any split sum to the whole.
func clipPieces(pieces []piece, period Span) []piece {
	var out []piece
	for _, p := range pieces {
		part := p.span.Clip(period)
		if part.Empty() {
			continue
		}
		if part != p.span {
			p.quantity = new(big.Rat).Mul(p.quantity, big.NewRat(part.Duration(), p.span.Duration()))
			p.span = part
		}
		out = append(out, p)
	}
	return out
}
