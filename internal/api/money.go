package api

import "github.com/leasewatch/leasewatch/internal/rental"

// Money is an amount with a copy for show. Reckon with Minor; never read Decimal back.
type Money struct {
	Currency rental.Currency `json:"currency"`
	// Minor is the amount in the currency's minor units: cents, fen, yen.
	Minor int64 `json:"minor"`
	// Decimal is the same amount with as many digits as the currency has: "5365.33".
	Decimal string `json:"decimal"`
}

// Share is a part of time as two integers, with a copy for show.
type Share struct {
	rental.Bound

	// Percent is floored, never rounded up into a pass: "99.4969". Empty where Denominator is 0.
	Percent string `json:"percent"`
}

// MoneyOf returns the amount with its copy for show.
func MoneyOf(a rental.Amount) Money {
	return Money{Currency: a.Currency, Minor: a.Minor, Decimal: a.Decimal()}
}

// Amount returns the money without its copy for show.
func (m Money) Amount() rental.Amount { return rental.Amount{Currency: m.Currency, Minor: m.Minor} }

// ShareOf returns the share with its copy for show, with the digits that the target needs.
func ShareOf(b rental.Bound, target rental.Decimal) Share {
	s := Share{Bound: b}
	if b.Denominator > 0 {
		s.Percent = b.Percent(target)
	}
	return s
}
