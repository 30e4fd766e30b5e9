package rental

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
)

// EnergyTariff is what a kWh costs whoever pays for it. It stands beside bills and changes no
// amount of them.
type EnergyTariff struct {
	Currency Currency `json:"currency" yaml:"currency"`
	// Prices are the versions of the price of a kWh in order of From; the first holds from the beginning.
	Prices []PriceVersion `json:"prices" yaml:"prices"`
}

func (t *EnergyTariff) validate(f *faults) {
	if t == nil {
		return
	}
	if _, err := t.Currency.MinorDigits(); err != nil {
		f.add("energy.currency", orNothing(string(t.Currency)), "an active ISO 4217 code in capitals, such as USD or CNY")
	}
	f.check(len(t.Prices) > 0, "energy.prices", "nothing", "at least one price of a kWh")
	for i, v := range t.Prices {
		path := fmt.Sprintf("energy.prices[%d]", i)
		f.price(path+".price", v.Price)
		if i > 0 {
			f.check(v.From > t.Prices[i-1].From, path+".from", v.From.String(), "a time after the price above it, "+t.Prices[i-1].From.String())
		}
	}
}

// Within returns the versions of the price that hold somewhere in a span, which is not empty.
func (t EnergyTariff) Within(span Span) []PriceVersion {
	first, _ := slices.BinarySearchFunc(t.Prices[min(1, len(t.Prices)):], span.Start+1, byFrom)
	end, _ := slices.BinarySearchFunc(t.Prices[min(1, len(t.Prices)):], span.End, byFrom)
	return t.Prices[first:min(end+1, len(t.Prices))]
}

func byFrom(v PriceVersion, at Millis) int { return cmp.Compare(v.From, at) }

// EnergyCosts are what energy cost in one currency: Amount for KWh, a decimal rounded half up to
// three digits.
type EnergyCosts struct {
	Amount
	KWh string `json:"kwh"`
}

// EnergyBill adds up what energy costs, one sum for each currency, each rounded once.
type EnergyBill struct {
	sums []energySum
}

type energySum struct {
	currency    Currency
	exact       *big.Rat
	milliJoules int64
}

// Add adds energy at a price per kWh. Energy is never negative.
func (b *EnergyBill) Add(currency Currency, milliJoules int64, perKWh Decimal) {
	if milliJoules <= 0 {
		return
	}
	i := slices.IndexFunc(b.sums, func(s energySum) bool { return s.currency == currency })
	if i < 0 {
		i = len(b.sums)
		b.sums = append(b.sums, energySum{currency: currency, exact: new(big.Rat)})
	}
	b.sums[i].milliJoules += milliJoules
	b.sums[i].exact.Add(b.sums[i].exact, EnergyCost(currency, milliJoules, perKWh).Rat())
}

// Costs returns the sums by currency, rounded half up; nothing where no energy has a price.
func (b *EnergyBill) Costs() ([]EnergyCosts, error) {
	var out []EnergyCosts
	for _, s := range b.sums {
		amount, err := NewMoney(s.currency, s.exact).Round(HalfUp)
		if err != nil {
			return nil, fmt.Errorf("energy in %s: %w", s.currency, err)
		}
		out = append(out, EnergyCosts{Amount: amount, KWh: KilowattHours(s.milliJoules)})
	}
	slices.SortFunc(out, func(a, b EnergyCosts) int { return cmp.Compare(a.Currency, b.Currency) })
	return out, nil
}

// milliJoulesPerKWh turns what a counter counts into what is paid for.
const milliJoulesPerKWh = 3_600_000_000

// EnergyCost returns what energy costs at a price per kWh, exactly; energy is never negative.
func EnergyCost(currency Currency, milliJoules int64, perKWh Decimal) Money {
	quantity := big.NewRat(max(milliJoules, 0), milliJoulesPerKWh)
	return NewMoney(currency, quantity.Mul(quantity, perKWh.Rat()))
}

// KilowattHours writes energy in kWh, rounded half up to three digits.
func KilowattHours(milliJoules int64) string {
	return trimZeros(big.NewRat(milliJoules, milliJoulesPerKWh).FloatString(3))
}
