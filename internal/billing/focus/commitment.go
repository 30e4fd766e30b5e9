package focus

import (
	"math/big"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// term returns the time that an upfront payment is for: the contract's minimum term, else the
// lease's own span; of a lease without an end nothing later than this billing period is known.
func (b Bill) term() rental.Span {
	term := b.Span
	if length := b.Contract.Plan.MinimumTerm; length > 0 {
		term.End = term.Start + rental.Millis(length.Milliseconds())
	} else if term.End == rental.Forever {
		term.End = max(b.Period.End, term.Start)
	}
	return term
}

// committed returns how many card-hours a payment for the reservation makes available.
func (b Bill) committed(l rental.BillLine) *big.Rat {
	over := l.Charged
	if l.Item == rental.ItemReservedUpfront {
		over = b.term()
	}
	cards := 0
	if r := b.Contract.Plan.Reserved; r != nil {
		cards = r.Cards
	}
	const millisOfHour = 3_600_000
	return new(big.Rat).Mul(big.NewRat(int64(cards), 1), big.NewRat(over.Duration(), millisOfHour))
}

// amortized returns, for each line, the minor units of prepaid cost that its time bears: the
// period's part of an upfront payment and the monthly fees of the bill, by quantity. Over all
// bills of the term they sum to what was paid.
func (b Bill) amortized() ([]int64, error) {
	out := make([]int64, len(b.Lines))
	var lines []int
	var quantities []*big.Rat
	var prepaid int64
	for i, l := range b.Lines {
		time, fee := reserved(l)
		if l.Corrects != nil {
			continue
		}
		if fee && l.Item == rental.ItemReservedMonthly {
			prepaid += l.Amount.Minor
		}
		if time {
			lines, quantities = append(lines, i), append(quantities, quantityOf(l.Quantity))
		}
	}
	upfront, err := b.upfrontOfPeriod()
	if err != nil || len(lines) == 0 {
		return out, err
	}
	for k, part := range rental.SplitLargestRemainder(prepaid+upfront, quantities) {
		out[lines[k]] = part
	}
	return out, nil
}

// upfrontOfPeriod returns the part of the upfront payment that the billing period uses up, in
// minor units: by time, and all that is left of it where the term or the lease ends.
func (b Bill) upfrontOfPeriod() (int64, error) {
	r := b.Contract.Plan.Reserved
	if r == nil || !r.Upfront.IsSet() {
		return 0, nil
	}
	exact := r.Upfront.Rat()
	for i := len(b.Contract.Rates) - 1; i >= 0; i-- {
		if rate := b.Contract.Rates[i]; rate.From <= b.Span.Start {
			exact.Mul(exact, rate.Rate.Rat())
			break
		}
	}
	paid, err := rental.NewMoney(b.Currency, exact).Round(b.Contract.LineRounding)
	if err != nil {
		return 0, err
	}
	term := b.term()
	end := min(term.End, max(b.Span.End, term.Start+1))
	usedUp := func(at rental.Millis) int64 {
		if at >= end {
			return paid.Minor
		}
		part := new(big.Rat).Mul(big.NewRat(paid.Minor, 1), big.NewRat((rental.Span{Start: term.Start, End: at}).Duration(), max(term.Duration(), 1)))
		return new(big.Int).Quo(part.Num(), part.Denom()).Int64()
	}
	return usedUp(b.Period.End) - usedUp(b.Period.Start), nil
}

func quantityOf(text string) *big.Rat {
	q, ok := new(big.Rat).SetString(text)
	if !ok {
		return new(big.Rat)
	}
	return q
}
