package rental

import (
	"math/big"
	"slices"
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

// started tells whether every started unit is charged whole, when it begins.
func (p Plan) started() bool {
	return p.Mode == ModeClockHour || p.Mode == ModePrepaidHour || p.calendar() && p.Rounding == RoundUp
}

// byHost tells whether one price buys all cards of the lease on one host.
func (p Plan) byHost() bool { return p.Unit == UnitInstance || p.Unit == UnitHost }

// matched tells whether time is priced hour by hour: by a reservation, or by what the month used before.
func (p Plan) matched() bool { return p.Reserved != nil || len(p.Steps) > 0 }

// unitAt returns the started unit that holds a moment of a session.
func (p Plan) unitAt(cal almanac, session, at Millis) Span {
	switch p.Mode {
	case ModePrepaidHour:
		start := at - (at-session)%millisOfHour
		return Span{Start: start, End: start + millisOfHour}
	case ModeClockHour:
		return cal.hour(at)
	case ModeWeek:
		return cal.week(at)
	case ModeAnniversary:
		return cal.anniversaryMonth(at)
	default:
		return cal.day(at)
	}
}

// withTrial returns the plan as it is for a lease that starts at the moment: its trial is a price of 0.
func (p Plan) withTrial(start Millis) Plan {
	if p.Trial == 0 {
		return p
	}
	end := start + Millis(p.Trial.Milliseconds())
	prices := []PriceVersion{{Price: Decimal{text: "0"}}, {From: end, Price: p.priceAt(end)}}
	for _, v := range p.Prices {
		if v.From > end {
			prices = append(prices, v)
		}
	}
	p.Prices = prices
	return p
}

// PriceChanges returns the moments at which another price holds for a lease that starts at start.
func (p Plan) PriceChanges(start Millis) []Millis {
	var out []Millis
	for _, v := range p.withTrial(start).Prices[1:] {
		out = append(out, v.From)
	}
	return out
}

// roundsSessions tells whether the length of a whole session decides what a part of it costs.
func (p Plan) roundsSessions() bool {
	return p.unitMillis() > 0 && (p.Minimum > 0 || p.Rounding != Exact && p.RoundingScope == RoundSession)
}

// unitName names what one price buys: "gpu-hour".
func (p Plan) unitName() string {
	switch p.Mode {
	case ModeClockHour, ModePrepaidHour:
		return p.Unit + "-" + ModeHour
	case ModeAnniversary:
		return p.Unit + "-" + ModeMonth
	default:
		return p.Unit + "-" + p.Mode
	}
}

// priceAt returns the price that holds at the moment; the first holds from the beginning.
func (p Plan) priceAt(at Millis) Decimal { return p.Prices[p.nextPrice(at)-1].Price }

// nextPrice returns the place of the first price after the one that holds at the moment. A price
// that follows a market has a version an hour, so it is searched for.
func (p Plan) nextPrice(at Millis) int {
	later, _ := slices.BinarySearchFunc(p.Prices[1:], at, func(v PriceVersion, at Millis) int {
		if v.From <= at {
			return -1
		}
		return 1
	})
	return later + 1
}

// byDays tells whether a part of the plan's unit goes by calendar days.
func (p Plan) byDays() bool {
	return p.Mode == ModeDay || p.Mode == ModeWeek || p.Mode == ModeMonth && (p.Proration == "" || p.Proration == ProrateDays)
}

// cut cuts a span where the month of the zone, the price or the plan's own unit changes: within a
// part, all time costs the same.
func (p Plan) cut(cal almanac, s Span) []Span {
	var out []Span
	for cursor := s.Start; cursor < s.End; {
		_, month := cal.month(cursor)
		end := min(s.End, month.span.End)
		switch {
		case p.Mode == ModeAnniversary:
			end = min(end, cal.anniversaryMonth(cursor).End)
		case p.byDays():
			end = min(end, cal.day(cursor).End)
		}
		if next := p.nextPrice(cursor); next < len(p.Prices) {
			end = min(end, p.Prices[next].From)
		}
		out = append(out, Span{Start: cursor, End: end})
		cursor = end
	}
	return out
}

// quantity returns how many units a part that cut made is, exactly. What goes by days counts of
// each day the part that was used, so a day of 23 h is one day; an anniversary month goes by its
// own length, so that a whole one is its price whatever the clock does.
func (p Plan) quantity(cal almanac, s Span) *big.Rat {
	if unit := p.unitMillis(); unit > 0 {
		return big.NewRat(s.Duration(), unit)
	}
	switch {
	case p.Mode == ModeAnniversary:
		return big.NewRat(s.Duration(), cal.anniversaryMonth(s.Start).Duration())
	case p.Proration == ProrateFlat:
		return big.NewRat(s.Duration(), 730*int64(millisOfHour))
	case p.Proration == ProrateHours:
		_, month := cal.month(s.Start)
		return big.NewRat(s.Duration(), month.span.Duration())
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
