package rental

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// ItemEarlyEnd is the item of the line that a lease pays for ending before its minimum term.
const ItemEarlyEnd = "early_end"

// otherPieces returns what the contract charges besides the cards' time, over the whole lease.
func (in ChargeInput) otherPieces(cal almanac, seats []seat) ([]piece, error) {
	if in.Lease.Span().Empty() {
		return nil, nil
	}
	var out []piece
	plan := in.Contract.Plan
	if r := plan.Reserved; r != nil && r.Upfront.IsSet() {
		out = append(out, in.once(cal, piece{item: ItemReservedUpfront, unit: "commitment", price: r.Upfront, quantity: big.NewRat(1, 1)}, in.Lease.Start))
	}
	if r := plan.Reserved; r != nil && r.Monthly.IsSet() {
		out = append(out, in.reservedMonths(cal, r.Monthly)...)
	}
	if early := in.earlyEnd(cal, seats); early != nil {
		out = append(out, *early)
	}
	for _, item := range in.Contract.Items {
		pieces, err := in.itemPieces(cal, item)
		if err != nil {
			return nil, fmt.Errorf("lease %s: item %q: %w", in.Lease.ID, item.Name, err)
		}
		out = append(out, pieces...)
	}
	return out, nil
}

// reservedMonths charges what a reservation costs by the month, whether the lease runs or is stopped.
func (in ChargeInput) reservedMonths(cal almanac, price Decimal) []piece {
	monthly := Plan{Mode: ModeMonth, Rounding: Exact, Prices: []PriceVersion{{Price: price}}}
	var out []piece
	for _, part := range monthly.cut(cal, in.Lease.Span().Clip(in.Period)) {
		month, _ := cal.month(part.Start)
		out = append(out, piece{item: ItemReservedMonthly, unit: "commitment-" + ModeMonth, span: part, month: month,
			price: price, quantity: monthly.quantity(cal, part)})
	}
	return out
}

// once completes a piece that falls due at a moment.
func (in ChargeInput) once(cal almanac, p piece, due Millis) piece {
	p.month, _ = cal.month(due)
	p.due = due
	if p.span.Empty() {
		p.span = Span{Start: due, End: due + 1}
	}
	return p
}

// earlyEnd returns what a lease that ended before its minimum term pays for what is missing of
// it: the price that held at its end, times the contract's percentage, for each of its seats.
func (in ChargeInput) earlyEnd(cal almanac, seats []seat) *piece {
	plan := in.Contract.Plan
	term := Span{Start: in.Lease.End, End: in.Lease.Start + Millis(plan.MinimumTerm.Milliseconds())}
	if plan.MinimumTerm == 0 || in.Lease.End == Forever || term.Empty() {
		return nil
	}
	due := in.Lease.End - 1
	missing := new(big.Rat)
	whole := plan
	whole.Rounding, whole.Prices = Exact, plan.Prices[:1]
	for _, part := range whole.cut(cal, term) {
		missing.Add(missing, whole.quantity(cal, part))
	}
	missing.Mul(missing, big.NewRat(in.priced(seats), 1))
	p := in.once(cal, piece{item: ItemEarlyEnd, unit: plan.unitName(), price: plan.priceAt(due).percent(plan.EarlyEndPercent),
		quantity: missing, span: term}, due)
	return &p
}

// priced counts how many of the plan's units the lease has: its cards, its instances or itself.
func (in ChargeInput) priced(seats []seat) int64 {
	switch in.Contract.Plan.Unit {
	case UnitLease:
		return 1
	case UnitInstance, UnitHost:
		hosts := map[string]bool{}
		for _, s := range seats {
			if len(s.parts) > 0 {
				hosts[s.parts[len(s.parts)-1].Host] = true
			}
		}
		return int64(len(hosts))
	default:
		if in.Lease.Floating != nil {
			return int64(in.Lease.Floating.Number)
		}
		return int64(len(seats))
	}
}

// percent returns d times p percent, exactly.
func (d Decimal) percent(p Decimal) Decimal {
	product := new(big.Rat).Mul(d.Rat(), p.Rat())
	product.Quo(product, hundred)
	_, a, _ := strings.Cut(d.text, ".")
	_, b, _ := strings.Cut(p.text, ".")
	return Decimal{text: trimZeros(product.FloatString(len(a) + len(b) + 2))}
}

func (in ChargeInput) itemPieces(cal almanac, item Item) ([]piece, error) {
	blank := piece{item: item.Kind, name: item.Name, unit: item.Unit, price: Decimal{text: "0"}, quantity: item.Quantity.Rat()}
	switch item.Charge {
	case ChargeOnce:
		if !item.Included {
			blank.price = item.plan(false).priceAt(in.Lease.Start)
		}
		return []piece{in.once(cal, blank, in.Lease.Start)}, nil
	case ChargeMonth:
		blank.unit += "-" + ModeMonth
		return in.monthlyPieces(cal, item, blank), nil
	default:
		return in.meteredPieces(cal, item, blank)
	}
}

// plan is the item's price as one of a calendar month, while the lease runs or is stopped.
func (i Item) plan(stopped bool) Plan {
	p := Plan{Mode: ModeMonth, Rounding: Exact}
	if i.Included {
		p.Prices = []PriceVersion{{Price: Decimal{text: "0"}}}
	}
	for _, v := range i.Prices {
		price := v.Price
		if stopped {
			price = v.Stopped
		}
		p.Prices = append(p.Prices, PriceVersion{From: v.From, Price: price})
	}
	return p
}

// monthlyPieces charges an item for the lease's time in the period, at its price while the lease
// runs and at the other while it is stopped (C44).
func (in ChargeInput) monthlyPieces(cal almanac, item Item, blank piece) []piece {
	lease := in.Lease.Span().Clip(in.Period)
	var out []piece
	for _, stopped := range []bool{false, true} {
		times := ClipSpans(in.Lease.Stops, lease)
		if !stopped {
			times = SubtractSpans([]Span{lease}, in.Lease.Stops)
		}
		plan := item.plan(stopped)
		for _, time := range times {
			for _, part := range plan.cut(cal, time) {
				p := blank
				p.span, p.price = part, plan.priceAt(part.Start)
				p.month, _ = cal.month(part.Start)
				p.quantity = new(big.Rat).Mul(blank.quantity, plan.quantity(cal, part))
				out = append(out, p)
			}
		}
	}
	return out
}

// meteredPieces charges what the item's consumptions say, in the order in which they ended; a
// month that used nothing has a line of zero.
func (in ChargeInput) meteredPieces(cal almanac, item Item, blank piece) ([]piece, error) {
	var used []Consumption
	for _, c := range in.Consumptions {
		if c.Lease == in.Lease.ID && c.Item == item.Name {
			used = append(used, c)
		}
	}
	slices.SortFunc(used, func(a, b Consumption) int { return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.ID, b.ID)) })
	plan, quota := item.plan(false), item.IncludedQuantity.Rat()
	var out []piece
	for lease, cursor := in.Lease.Span().Clip(in.Period), in.Lease.Span().Clip(in.Period).Start; cursor < lease.End; {
		name, month := cal.month(cursor)
		p := blank
		p.span, p.month, p.quantity = month.span.Clip(lease), name, new(big.Rat)
		if quota.Sign() == 0 {
			p.price = plan.priceAt(cursor)
		}
		out = append(out, p)
		cursor = month.span.End
	}
	var month Month
	left := new(big.Rat)
	for _, c := range used {
		quantity, err := convertUnit(c.Quantity.Rat(), c.Unit, item.Unit)
		if err != nil {
			return nil, fmt.Errorf("consumption %q: %w", c.ID, err)
		}
		p := blank
		p.span = Span{Start: c.Start, End: c.End}
		p = in.once(cal, p, c.End-1)
		if p.month != month {
			month = p.month
			left.Set(quota)
		}
		if free := least(left, quantity); free.Sign() > 0 {
			inQuota := p
			inQuota.quantity = free
			out = append(out, inQuota)
			left.Sub(left, free)
			quantity.Sub(quantity, free)
		}
		if quantity.Sign() > 0 {
			p.price, p.quantity = plan.priceAt(p.due), quantity
			out = append(out, p)
		}
	}
	return out, nil
}

func least(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		return new(big.Rat).Set(a)
	}
	return new(big.Rat).Set(b)
}

// byteUnits are the units of data in bytes: GB is 10^9 and GiB 2^30, and the bill says which.
var byteUnits = map[string]int64{"MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "PiB": 1 << 50}

func convertUnit(quantity *big.Rat, from, to string) (*big.Rat, error) {
	if from == to {
		return quantity, nil
	}
	a, b := byteUnits[from], byteUnits[to]
	if a == 0 || b == 0 {
		return nil, fmt.Errorf("found the unit %q, expected %q", from, to)
	}
	return quantity.Mul(quantity, big.NewRat(a, b)), nil
}

// UnitsConvert tells whether a quantity in one unit can be told in the other.
func UnitsConvert(from, to string) bool {
	_, err := convertUnit(new(big.Rat), from, to)
	return err == nil
}
