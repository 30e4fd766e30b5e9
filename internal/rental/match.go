package rental

import (
	"math/big"
	"slices"
)

// The items of a reservation.
const (
	ItemReservedUsed    = "reserved_used"
	ItemReservedUnused  = "reserved_unused"
	ItemReservedUpfront = "reserved_upfront"
	ItemReservedMonthly = "reserved_monthly"
)

// matchedSpan returns the time that must be known to price the period hour by hour: its hours as
// a whole, and for steps of volume its months from their first day.
func (in ChargeInput) matchedSpan(cal almanac) Span {
	if in.Period.Empty() {
		return in.Period
	}
	reach := Span{Start: cal.hour(in.Period.Start).Start, End: cal.hour(in.Period.End - 1).End}
	if len(in.Contract.Plan.Steps) > 0 {
		_, month := cal.month(in.Period.Start)
		reach.Start = min(reach.Start, month.span.Start)
	}
	return reach
}

// match prices the cards' time hour by hour of the zone's clock: what the reservation covers,
// what of it is left unused, and what the steps of the month's volume make of the rest.
func (in ChargeInput) match(cal almanac, pieces []piece, reach Span, undelivered []Span) []piece {
	hours := cal.hours(reach.Clip(in.Lease.Span()))
	byHour := make([][]piece, len(hours))
	for _, p := range pieces {
		for i := hourAt(hours, p.span.Start); i < len(hours) && hours[i].Start < p.span.End; i++ {
			byHour[i] = append(byHour[i], clipPieces([]piece{p}, hours[i])...)
		}
	}
	free := make([]int64, len(hours))
	for _, s := range undelivered {
		for i := hourAt(hours, s.Start); i < len(hours) && hours[i].Start < s.End; i++ {
			free[i] += s.Clip(hours[i]).Duration()
		}
	}
	volume := volume{steps: in.Contract.Plan.Steps}
	var out []piece
	for i, hour := range hours {
		month, _ := cal.month(hour.Start)
		parts := byHour[i]
		if in.Contract.Plan.Reserved != nil {
			parts = in.reserve(hour, month, parts, free[i])
		}
		out = append(out, volume.price(month, parts)...)
	}
	return out
}

func hourAt(hours []Span, at Millis) int {
	i, _ := slices.BinarySearchFunc(hours, at, func(h Span, at Millis) int {
		if h.End <= at {
			return -1
		}
		return 1
	})
	return i
}

// hours cuts a span at the hours of the zone's clock.
func (a almanac) hours(span Span) []Span {
	var out []Span
	for cursor := span.Start; cursor < span.End; {
		end := min(a.hour(cursor).End, span.End)
		out = append(out, Span{Start: cursor, End: end})
		cursor = end
	}
	return out
}

// reserve takes from an hour's time what the reservation covers, the same share of every card's,
// and adds what it leaves unused (C38). Time that was not delivered is no unused reservation.
func (in ChargeInput) reserve(hour Span, month Month, parts []piece, undelivered int64) []piece {
	reserved := in.Contract.Plan.Reserved
	capacity := big.NewRat(int64(reserved.Cards)*hour.Duration(), int64(millisOfHour))
	used := new(big.Rat)
	for _, p := range parts {
		used.Add(used, p.quantity)
	}
	covered := big.NewRat(1, 1)
	if used.Cmp(capacity) > 0 {
		covered.Quo(capacity, used)
	}
	out := splitPieces(parts, covered, func(p *piece) {
		p.item, p.list, p.price = ItemReservedUsed, p.price, reserved.priceOf(p.price)
	})
	left := new(big.Rat).Sub(capacity, new(big.Rat).Mul(used, covered))
	left.Sub(left, big.NewRat(undelivered, int64(millisOfHour)))
	if left.Sign() <= 0 {
		return out
	}
	// What is left over an hour in which the price changes is left of both its parts.
	for cursor := hour.Start; cursor < hour.End; {
		end, list := hour.End, in.Contract.Plan.priceAt(cursor)
		if next := in.Contract.Plan.nextPrice(cursor); next < len(in.Contract.Plan.Prices) {
			end = min(end, in.Contract.Plan.Prices[next].From)
		}
		part := new(big.Rat).Mul(left, big.NewRat(int64(end-cursor), hour.Duration()))
		out = append(out, piece{item: ItemReservedUnused, unit: in.Contract.Plan.unitName(), span: Span{Start: cursor, End: end}, month: month,
			list: list, price: reserved.priceOf(list), quantity: part})
		cursor = end
	}
	return out
}

// splitPieces changes a share of each piece and leaves the rest of it as it is.
func splitPieces(parts []piece, share *big.Rat, change func(*piece)) []piece {
	rest := new(big.Rat).Sub(big.NewRat(1, 1), share)
	var out []piece
	for _, p := range parts {
		p.time = p.cardTime()
		if taken := p.scaled(share); share.Sign() > 0 {
			change(&taken)
			out = append(out, taken)
		}
		if rest.Sign() > 0 {
			out = append(out, p.scaled(rest))
		}
	}
	return out
}

// volume prices on-demand time by how much of it the month has had before.
type volume struct {
	steps []Step
	month Month
	had   big.Rat
}

// price gives the hour's parts the prices of the steps that the month's volume reaches in it;
// where it passes a step within the hour, every card passes it with the same share of its time.
func (v *volume) price(month Month, parts []piece) []piece {
	if len(v.steps) == 0 {
		return parts
	}
	if month != v.month {
		v.month = month
		v.had.SetInt64(0)
	}
	var out []piece
	left := new(big.Rat)
	var onDemand []piece
	for _, p := range parts {
		if p.item != ItemGPUTime {
			out = append(out, p)
			continue
		}
		onDemand = append(onDemand, p)
		left.Add(left, p.quantity)
	}
	for left.Sign() > 0 {
		step, room := v.step()
		share := big.NewRat(1, 1)
		if room != nil && room.Cmp(left) < 0 {
			share.Quo(room, left)
		}
		taken := new(big.Rat).Mul(left, share)
		v.had.Add(&v.had, taken)
		left.Sub(left, taken)
		var rest []piece
		for _, p := range splitPieces(onDemand, share, func(p *piece) {
			if p.name = "taken"; step >= 0 {
				p.price = v.steps[step].Price
			}
		}) {
			if p.name == "taken" {
				p.name = ""
				out = append(out, p)
			} else {
				rest = append(rest, p)
			}
		}
		onDemand = rest
	}
	return out
}

// step returns the step that holds, -1 before the first, and how much of it is left; nil for the last.
func (v *volume) step() (int, *big.Rat) {
	for i, s := range v.steps {
		if over := s.Over.Rat(); v.had.Cmp(over) < 0 {
			return i - 1, over.Sub(over, &v.had)
		}
	}
	return len(v.steps) - 1, nil
}
