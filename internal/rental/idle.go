package rental

import "math/big"

// UnleasedUse is how a card was used while nobody leased it; its allocated time is the time in
// which it was free.
type UnleasedUse struct {
	UUID string `json:"uuid"`
	Host string `json:"host"`
	Use  Use    `json:"use"`
	// EnergyMilliJoules is what it drew then, over resets of its counter.
	EnergyMilliJoules int64 `json:"energy_mj"`
}

// The hours of a day in the contract's zone that count as day; the rest is night.
const (
	DayBegins = 8
	DayEnds   = 20
)

// DayNight is a use split by the hour in which its records begin, in the contract's zone. A record
// lies within one hour of UTC; where a zone is half an hour off, its half counts with its start.
type DayNight struct {
	Day   Use `json:"day"`
	Night Use `json:"night"`
}

// SplitDayNight sums records by day and night.
func SplitDayNight(zone string, records []UsageRecord) (DayNight, error) {
	var d DayNight
	place, err := LoadZone(zone)
	if err != nil {
		return d, err
	}
	for _, r := range records {
		if hour := r.Span.Start.Time().In(place).Hour(); hour >= DayBegins && hour < DayEnds {
			d.Day.Add(r)
		} else {
			d.Night.Add(r)
		}
	}
	return d, nil
}

// milliJoulesPerKWh turns what a counter counts into what is paid for.
const milliJoulesPerKWh = 3_600_000_000

// EnergyCost returns what energy costs at a price per kWh, exactly; energy is never negative.
func EnergyCost(currency Currency, milliJoules int64, perKWh Decimal) Money {
	quantity := big.NewRat(max(milliJoules, 0), milliJoulesPerKWh)
	return NewMoney(currency, quantity.Mul(quantity, perKWh.Rat()))
}
