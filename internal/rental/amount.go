package rental

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Money is an exact sum of one currency: what a bill line is before its one rounding.
// The zero value is no money of no currency.
type Money struct {
	Currency Currency
	value    *big.Rat
}

// NewMoney returns exact money in the currency's major unit (dollars, not cents).
func NewMoney(c Currency, major *big.Rat) Money {
	return Money{Currency: c, value: new(big.Rat).Set(major)}
}

// Rat returns a copy of the exact value in major units.
func (m Money) Rat() *big.Rat {
	if m.value == nil {
		return new(big.Rat)
	}
	return new(big.Rat).Set(m.value)
}

// Add returns the exact sum. Money of two currencies is never added.
func (m Money) Add(o Money) (Money, error) {
	if m.Currency != o.Currency {
		return Money{}, mixedError(m.Currency, o.Currency)
	}
	return Money{Currency: m.Currency, value: m.Rat().Add(m.Rat(), o.Rat())}, nil
}

// Round returns the money in minor units.
func (m Money) Round(mode Rounding) (Amount, error) {
	digits, err := m.Currency.MinorDigits()
	if err != nil {
		return Amount{}, err
	}
	minor, err := roundToInt64(new(big.Rat).Mul(m.Rat(), new(big.Rat).SetInt(pow10(digits))), mode)
	if err != nil {
		return Amount{}, fmt.Errorf("amount of %s: %w", m.Currency, err)
	}
	return Amount{Currency: m.Currency, Minor: minor}, nil
}

func mixedError(a, b Currency) error {
	return fmt.Errorf("cannot add %s to %s: expected one currency, or a conversion with its rate and date", b, a)
}

// Money returns the amount as exact money.
func (a Amount) Money() (Money, error) {
	digits, err := a.Currency.MinorDigits()
	if err != nil {
		return Money{}, err
	}
	return Money{Currency: a.Currency, value: new(big.Rat).SetFrac(big.NewInt(a.Minor), pow10(digits))}, nil
}

// Decimal returns the amount in major units with all digits of its currency: "59520.00".
// Of a currency that is not known it returns the minor units as they are.
func (a Amount) Decimal() string {
	digits, err := a.Currency.MinorDigits()
	if err != nil {
		return strconv.FormatInt(a.Minor, 10)
	}
	return new(big.Rat).SetFrac(big.NewInt(a.Minor), pow10(digits)).FloatString(digits)
}

// String returns the amount as people read it: "59,520.00 CNY".
func (a Amount) String() string { return GroupDigits(a.Decimal()) + " " + string(a.Currency) }

// GroupDigits puts commas between the thousands of a plain decimal number.
func GroupDigits(number string) string {
	sign := ""
	if strings.HasPrefix(number, "-") {
		sign, number = "-", number[1:]
	}
	whole, fraction, dotted := strings.Cut(number, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if dotted {
		return sign + whole + "." + fraction
	}
	return sign + whole
}

// SumAmounts adds amounts of one currency; the currency is named so that no amounts still sum
// to zero of it. Another currency among them is an error, and so is a sum past 64 bits.
func SumAmounts(c Currency, amounts ...Amount) (Amount, error) {
	sum := new(big.Int)
	for _, a := range amounts {
		if a.Currency != c {
			return Amount{}, mixedError(c, a.Currency)
		}
		sum.Add(sum, big.NewInt(a.Minor))
	}
	if !sum.IsInt64() {
		return Amount{}, fmt.Errorf("sum of %s: %s minor units do not fit 64 bits", c, sum)
	}
	return Amount{Currency: c, Minor: sum.Int64()}, nil
}

// Subtotals adds amounts of several currencies: one subtotal for each, in order of code.
func Subtotals(amounts []Amount) ([]Amount, error) {
	groups := map[Currency][]Amount{}
	for _, a := range amounts {
		groups[a.Currency] = append(groups[a.Currency], a)
	}
	out := make([]Amount, 0, len(groups))
	for c, group := range groups {
		sum, err := SumAmounts(c, group...)
		if err != nil {
			return nil, err
		}
		out = append(out, sum)
	}
	slices.SortFunc(out, func(a, b Amount) int { return strings.Compare(string(a.Currency), string(b.Currency)) })
	return out, nil
}
