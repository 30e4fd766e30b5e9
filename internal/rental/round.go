package rental

import (
	"fmt"
	"math/big"
	"slices"
)

// RoundRat rounds to an integer. Half-up and half-even work on the distance from zero, up goes
// away from zero and down toward it, so that a credit rounds as the charge that it pays back.
// Exact accepts integers only.
func RoundRat(r *big.Rat, mode Rounding) (*big.Int, error) {
	abs := new(big.Rat).Abs(r)
	whole, rest := new(big.Int).QuoRem(abs.Num(), abs.Denom(), new(big.Int))
	up := false
	switch mode {
	case RoundOff:
	case RoundUp:
		up = rest.Sign() > 0
	case HalfUp, HalfEven:
		half := new(big.Int).Lsh(rest, 1).Cmp(abs.Denom())
		up = half > 0 || half == 0 && (mode == HalfUp || whole.Bit(0) == 1)
	case Exact:
		if rest.Sign() != 0 {
			return nil, fmt.Errorf("%s is no whole number, and rounding is %q", r.RatString(), mode)
		}
	default:
		return nil, fmt.Errorf("rounding %q: expected half_up, half_even, up or down", mode)
	}
	if up {
		whole.Add(whole, big.NewInt(1))
	}
	if r.Sign() < 0 {
		whole.Neg(whole)
	}
	return whole, nil
}

func roundToInt64(r *big.Rat, mode Rounding) (int64, error) {
	rounded, err := RoundRat(r, mode)
	if err != nil {
		return 0, err
	}
	if !rounded.IsInt64() {
		return 0, fmt.Errorf("%s minor units do not fit 64 bits", rounded)
	}
	return rounded.Int64(), nil
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// SplitLargestRemainder divides total over the weights so that the parts sum to total: each
// gets its floor, and what is left goes one by one to the largest remainders, the earlier
// first where they are equal. Weights are not negative; where all are zero they count as equal.
func SplitLargestRemainder(total int64, weights []*big.Rat) []int64 {
	if len(weights) == 0 {
		return nil
	}
	sum := new(big.Rat)
	for _, w := range weights {
		sum.Add(sum, w)
	}
	if sum.Sign() == 0 {
		equal := make([]*big.Rat, len(weights))
		for i := range equal {
			equal[i] = big.NewRat(1, 1)
		}
		return SplitLargestRemainder(total, equal)
	}
	sign := int64(1)
	abs := new(big.Int).Abs(big.NewInt(total))
	if total < 0 {
		sign = -1
	}
	type part struct {
		index int
		rest  *big.Rat
	}
	out := make([]int64, len(weights))
	parts := make([]part, len(weights))
	left := new(big.Int).Set(abs)
	for i, w := range weights {
		share := new(big.Rat).Quo(new(big.Rat).Mul(new(big.Rat).SetInt(abs), w), sum)
		floor := new(big.Int).Quo(share.Num(), share.Denom())
		out[i] = sign * floor.Int64()
		left.Sub(left, floor)
		parts[i] = part{index: i, rest: share.Sub(share, new(big.Rat).SetInt(floor))}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return b.rest.Cmp(a.rest) })
	for i := int64(0); i < left.Int64(); i++ {
		out[parts[i].index] += sign
	}
	return out
}
