package rental

import (
	"errors"
	"fmt"
	"math/big"
)

// Ownership is what it costs to own the cards that a lease rents, as an owner reckons it. All
// amounts are of Currency, for all of the cards together.
type Ownership struct {
	Currency Currency `json:"currency"`
	// Price is paid once and used up evenly over LifeDays.
	Price    Decimal `json:"price"`
	LifeDays int     `json:"life_days"`
	// Power and Operations are per day.
	Power      Decimal `json:"power_per_day,omitzero"`
	Operations Decimal `json:"operations_per_day,omitzero"`
	// Disposal is what the end of life costs (wiping, carting away), Resale what it brings.
	Disposal Decimal `json:"disposal,omitzero"`
	Resale   Decimal `json:"resale,omitzero"`
}

// PerDay returns the exact cost of one day of ownership.
func (o Ownership) PerDay() (Money, error) {
	if err := o.check(); err != nil {
		return Money{}, err
	}
	sum := new(big.Rat).Add(o.Price.Rat(), o.Disposal.Rat())
	sum.Sub(sum, o.Resale.Rat())
	sum.Quo(sum, big.NewRat(int64(o.LifeDays), 1))
	sum.Add(sum, o.Power.Rat())
	return NewMoney(o.Currency, sum.Add(sum, o.Operations.Rat())), nil
}

func (o Ownership) check() error {
	if o.LifeDays < 1 {
		return fmt.Errorf("a life of %d days: expected at least 1", o.LifeDays)
	}
	if !o.Price.IsSet() {
		return errors.New("no price: expected what the cards cost to buy")
	}
	for _, d := range []Decimal{o.Price, o.Power, o.Operations, o.Disposal, o.Resale} {
		if d.Rat().Sign() < 0 {
			return fmt.Errorf("%s: expected an amount that is not negative", d)
		}
	}
	if o.Resale.Rat().Cmp(new(big.Rat).Add(o.Price.Rat(), o.Disposal.Rat())) > 0 {
		return fmt.Errorf("a resale of %s: expected at most the price and the disposal", o.Resale)
	}
	_, err := o.Currency.MinorDigits()
	return err
}

// Baseline is what owning is compared with: a bill, and how much its cards were really used.
// Without one there is no saving to speak of.
type Baseline struct {
	Bill Bill
	// Cards is how many there are, UsedMS how long they were busy and MeasuredMS how long that was
	// measured, in card-milliseconds.
	Cards              int
	UsedMS, MeasuredMS int64
}

// Comparison is owning against renting over the baseline's period. Amounts are rounded half up.
type Comparison struct {
	Rent      Amount `json:"rent"`
	Own       Amount `json:"own"`
	OwnPerDay Amount `json:"own_per_day"`
	// OwnPerCardDay is what each card costs its owner on a day, in use or not.
	OwnPerCardDay Amount `json:"own_per_card_day"`
	// Days is the length of the period in days of 24 h, exactly ("31", "743/24").
	Days string `json:"days"`
	// BreakEvenHours is how many hours a day every card must be rented, at what the baseline paid
	// for a card-hour, before owning costs less; empty where nothing was rented. Two digits.
	BreakEvenHours string `json:"break_even_hours_per_day,omitempty"`
	// NeverPays tells that the break-even is more hours than a day has: renting costs less at any load.
	NeverPays bool `json:"never_pays,omitempty"`
	// UsedHourOwn and UsedHourRent are the cost of a card-hour of measured use, by the measured
	// share of the time; nil where use was not measured.
	UsedHourOwn  *Amount `json:"used_hour_own,omitempty"`
	UsedHourRent *Amount `json:"used_hour_rent,omitempty"`
}

// Compare sets owning against a baseline.
func (o Ownership) Compare(b Baseline) (Comparison, error) {
	if b.Bill.Period.Empty() || b.Cards < 1 {
		return Comparison{}, errors.New("no baseline: expected the bill of a lease with cards and a period")
	}
	if b.Bill.Currency != o.Currency {
		return Comparison{}, mixedError(o.Currency, b.Bill.Currency)
	}
	perDay, err := o.PerDay()
	if err != nil {
		return Comparison{}, err
	}
	rent, err := b.Bill.Total.Money()
	if err != nil {
		return Comparison{}, err
	}
	days := big.NewRat(b.Bill.Period.Duration(), 24*int64(millisOfHour))
	own := new(big.Rat).Mul(perDay.Rat(), days)
	cards := big.NewRat(int64(b.Cards), 1)
	out := Comparison{Rent: b.Bill.Total, Days: days.RatString()}
	var rented int64
	for _, l := range b.Bill.Lines {
		rented += l.QuantityMS
	}
	hours := big.NewRat(rented, int64(millisOfHour))
	// The measured share stands for the whole of the card-time.
	share := new(big.Rat)
	if b.UsedMS > 0 && b.MeasuredMS > 0 {
		share.SetFrac64(b.UsedMS, b.MeasuredMS)
	}
	if rented > 0 && rent.Rat().Sign() > 0 {
		hour := new(big.Rat).Quo(rent.Rat(), hours)
		even := new(big.Rat).Quo(perDay.Rat(), hour.Mul(hour, cards))
		out.BreakEvenHours, out.NeverPays = even.FloatString(2), even.Cmp(big.NewRat(24, 1)) > 0
	}
	if share.Sign() > 0 {
		out.UsedHourOwn = new(Amount)
		if rented > 0 {
			out.UsedHourRent = new(Amount)
		}
	}
	owned := new(big.Rat).Mul(cards, new(big.Rat).Mul(days, big.NewRat(24, 1))) // card-hours
	for _, r := range []struct {
		to       *Amount
		sum, per *big.Rat
	}{
		{&out.Own, own, big.NewRat(1, 1)},
		{&out.OwnPerDay, perDay.Rat(), big.NewRat(1, 1)},
		{&out.OwnPerCardDay, perDay.Rat(), cards},
		{out.UsedHourOwn, own, owned.Mul(owned, share)},
		{out.UsedHourRent, rent.Rat(), new(big.Rat).Mul(hours, share)},
	} {
		if r.to == nil {
			continue
		}
		if *r.to, err = NewMoney(o.Currency, new(big.Rat).Quo(r.sum, r.per)).Round(HalfUp); err != nil {
			return Comparison{}, err
		}
	}
	return out, nil
}
