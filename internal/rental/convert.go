package rental

import (
	"fmt"
	"math/big"
)

// convert gives each piece the rate that its price is converted with, where the contract is
// priced in another currency than it is billed in. What accrues is cut where the rate changes.
func (in ChargeInput) convert(pieces []piece) ([]piece, error) {
	if in.Contract.PricedIn == "" || in.Contract.PricedIn == in.Contract.Currency {
		return pieces, nil
	}
	var out []piece
	for _, p := range pieces {
		if p.due != 0 {
			rate, _, err := in.rateAt(p.due)
			if err != nil {
				return nil, err
			}
			p.rate = rate
			out = append(out, p)
			continue
		}
		for cursor := p.span.Start; cursor < p.span.End; {
			rate, until, err := in.rateAt(cursor)
			if err != nil {
				return nil, err
			}
			part := clipPieces([]piece{p}, Span{Start: cursor, End: min(until, p.span.End)})
			part[0].rate = rate
			out = append(out, part...)
			cursor = part[0].span.End
		}
	}
	return out, nil
}

// rateAt returns the rate that holds at a moment, and until when it does.
func (in ChargeInput) rateAt(at Millis) (*Rate, Millis, error) {
	rates := in.Contract.Rates
	for i := len(rates) - 1; i >= 0; i-- {
		if rates[i].From > at {
			continue
		}
		until := Forever
		if i+1 < len(rates) {
			until = rates[i+1].From
		}
		return &rates[i], until, nil
	}
	return nil, 0, fmt.Errorf("contract %s: no rate from %s to %s holds at %s: expected one in rates with a from that is not later",
		in.Contract.Name, in.Contract.PricedIn, in.Contract.Currency, at)
}

// Conversion is the rate with which a line's price became the bill's currency.
type Conversion struct {
	From Currency `json:"from"`
	Rate Decimal  `json:"rate"`
	// On is when the rate began to hold.
	On     Millis `json:"on"`
	Source string `json:"source,omitempty"`
}

func (in ChargeInput) conversion(p piece) *Conversion {
	if p.rate == nil {
		return nil
	}
	return &Conversion{From: in.Contract.PricedIn, Rate: p.rate.Rate, On: p.rate.From, Source: p.rate.Source}
}

// exact returns the line's amount before its rounding: quantity x price, converted.
func (l BillLine) exact() *big.Rat {
	quantity, ok := new(big.Rat).SetString(l.Quantity)
	if !ok {
		return new(big.Rat)
	}
	exact := quantity.Mul(quantity, l.UnitPrice.Rat())
	if l.Converted != nil {
		exact.Mul(exact, l.Converted.Rate.Rat())
	}
	return exact
}
