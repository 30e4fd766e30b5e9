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
		sum.Add(sum, p.cost())
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

// piece is a stretch of charged time within one month and one price.
type piece struct {
	item, name string // name is that of a contract's item
	unit       string
	uuid       string // empty where no card is meant
	span       Span
	month      Month
	price      Decimal
	quantity   *big.Rat // in units, after time rounding
	// list is what the time would cost without its reservation; unset where price is that.
	list Decimal
	// session is when the card's session began.
	session Millis
	// due is the moment at which a piece that is charged whole falls due; 0 where it accrues over its span.
	due Millis
	// time is the card-time behind the quantity in milliseconds, where it is not the span.
	time *big.Rat
	rate *Rate // what the price is converted with
}

// cardTime returns the card-milliseconds behind the piece.
func (p piece) cardTime() *big.Rat {
	switch {
	case p.uuid == "":
		return new(big.Rat)
	case p.time != nil:
		return p.time
	default:
		return big.NewRat(p.span.Duration(), 1)
	}
}

// cost returns the exact cost in the bill's currency.
func (p piece) cost() *big.Rat {
	cost := new(big.Rat).Mul(p.quantity, p.price.Rat())
	if p.rate != nil {
		cost.Mul(cost, p.rate.Rate.Rat())
	}
	return cost
}

// chargePieces returns what is charged within the period: cards in order of seat and time, then
// what else the contract charges.
func chargePieces(in ChargeInput) ([]piece, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	cal, err := newAlmanac(in.Contract.TimeZone, in.Lease.Start)
	if err != nil {
		return nil, err
	}
	in.Contract.Plan = in.Contract.Plan.withTrial(in.Lease.Start)
	plan := in.Contract.Plan
	reach := in.Period
	if plan.matched() {
		reach = in.matchedSpan(cal)
	}
	seats := in.seats()
	out, undelivered, err := in.cardPieces(cal, seats, reach.End)
	if err != nil {
		return nil, err
	}
	if plan.matched() {
		out = in.match(cal, clipPieces(out, reach), reach, undelivered)
	}
	out = clipPieces(out, in.Period)
	if plan.RoundingScope == RoundSum && plan.Rounding != Exact && plan.unitMillis() > 0 {
		if err := roundSums(plan, out); err != nil {
			return nil, err
		}
	}
	more, err := in.otherPieces(cal, seats)
	if err != nil {
		return nil, err
	}
	return in.convert(append(out, clipPieces(more, in.Period)...))
}

// cardPieces returns the charged time of all cards up to a moment, and the time for which the
// contract does not charge them.
func (in ChargeInput) cardPieces(cal almanac, seats []seat, until Millis) (out []piece, undelivered []Span, err error) {
	// A session is rounded as a whole, so all of the lease's time up to the period's end counts,
	// and a lease whose end is known is followed to it. Where no session is rounded the time past
	// the period changes nothing, and an end in the year 9999 costs nothing to reckon.
	horizon := in.Lease.Span()
	if horizon.End == Forever || !in.Contract.Plan.roundsSessions() {
		horizon.End = max(min(horizon.End, until), horizon.Start)
	}
	weights, err := newWeights(in, seats)
	if err != nil {
		return nil, nil, err
	}
	for i, s := range seats {
		var cut []piece
		for _, run := range in.sessions(s, horizon) {
			pieces, free, err := in.sessionPieces(cal, run)
			if err != nil {
				return nil, nil, err
			}
			cut, undelivered = append(cut, pieces...), append(undelivered, free...)
		}
		if in.Contract.Plan.started() {
			cut = in.startedPieces(cal, cut)
		}
		for k := range cut {
			cut[k].quantity.Mul(cut[k].quantity, weights.of(i, cut[k].span.Start))
		}
		out = append(out, cut...)
	}
	return out, undelivered, nil
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

// sessionPieces cuts a session at months and prices, leaves out what is unbilled, and rounds. It
// also returns what it left out.
func (in ChargeInput) sessionPieces(cal almanac, run session) (out []piece, free []Span, err error) {
	plan := in.Contract.Plan
	for _, a := range run.parts {
		unbilled := in.unbilled(a)
		free = append(free, ClipSpans(unbilled, a.Span)...)
		for _, s := range SubtractSpans([]Span{a.Span}, unbilled) {
			for _, part := range plan.cut(cal, s) {
				month, _ := cal.month(part.Start)
				out = append(out, piece{item: ItemGPUTime, unit: plan.unitName(), uuid: a.UUID, span: part, month: month, session: run.parts[0].Span.Start,
					price: plan.priceAt(part.Start), quantity: plan.quantity(cal, part)})
			}
		}
	}
	if plan.unitMillis() == 0 || run.open || len(out) == 0 {
		return out, free, nil
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
			return nil, nil, err
		}
		target.SetInt(whole)
	}
	adjust(out, target.Sub(target, total))
	return out, free, nil
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
