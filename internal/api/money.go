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
