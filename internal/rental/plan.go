package rental

import (
	"math/big"
	"time"
)

// unitMillis returns the length of the plan's unit of time in milliseconds; 0 for calendar units.
func (p Plan) unitMillis() int64 {
	switch p.Mode {
	case ModeSecond:
		return time.Second.Milliseconds()
	case ModeMinute:
		return time.Minute.Milliseconds()
	case ModeHour:
		return time.Hour.Milliseconds()
	default:
		return 0
	}
}

// roundsSessions tells whether the length of a whole session decides what a part of it costs.
func (p Plan) roundsSessions() bool {
	return !p.calendar() && (p.Minimum > 0 || p.Rounding != Exact && p.RoundingScope == RoundSession)
}

// unitName names what one price buys: "gpu-hour".
func (p Plan) unitName() string { return p.Unit + "-" + p.Mode }

// priceAt returns the price that holds at the moment; the first holds from the beginning.
func (p Plan) priceAt(at Millis) Decimal {
	price := p.Prices[0].Price
	for _, v := range p.Prices[1:] {
		if v.From <= at {
			price = v.Price
		}
	}
	return price
}

// cut cuts a span where the month of the zone or the price changes, and for calendar units at
// every midnight: within a part, all time costs the same.
func (p Plan) cut(cal almanac, s Span) []Span {
	var out []Span
	for cursor := s.Start; cursor < s.End; {
		_, month := cal.month(cursor)
		end := min(s.End, month.span.End)
		if p.calendar() {
			end = min(end, cal.day(cursor).End)
		}
		for _, v := range p.Prices[1:] {
			if v.From > cursor && v.From < end {
				end = v.From
			}
		}
		out = append(out, Span{Start: cursor, End: end})
		cursor = end
	}
	return out
}

// quantity returns how many units a part that cut made is, exactly. Calendar units go by days:
// each day counts the part of it that was used, so a day of 23 h is one day.
func (p Plan) quantity(cal almanac, s Span) *big.Rat {
	if unit := p.unitMillis(); unit > 0 {
		return big.NewRat(s.Duration(), unit)
	}
	days := big.NewRat(s.Duration(), cal.day(s.Start).Duration())
	switch p.Mode {
	case ModeWeek:
		return days.Quo(days, big.NewRat(7, 1))
	case ModeMonth:
		_, month := cal.month(s.Start)
		return days.Quo(days, big.NewRat(int64(len(month.days)), 1))
	default:
		return days
	}
}

// weights tells which share of the priced unit one card is.
type weights struct {
	unit  string
	lease int64
	hosts map[string]int64
}

// newWeights counts the cards that one price buys: a price per lease is spread evenly over its
// seats, a price per instance over the seats that the host has in the lease.
func newWeights(in ChargeInput, seats []seat) weights {
	w := weights{unit: in.Contract.Plan.Unit, lease: int64(len(seats)), hosts: map[string]int64{}}
	for _, s := range seats {
		seen := map[string]bool{}
		for _, part := range s.parts {
			if !seen[part.Host] {
				seen[part.Host] = true
				w.hosts[part.Host]++
			}
		}
	}
	return w
}

func (w weights) of(host string) *big.Rat {
	switch w.unit {
	case UnitLease:
		return big.NewRat(1, max(w.lease, 1))
	case UnitInstance:
		return big.NewRat(1, max(w.hosts[host], 1))
	default:
		return big.NewRat(1, 1)
	}
}
