package rental

import "math/big"

// ReservationUse says whether a reservation paid off: what an hour of it that was used really cost,
// and from which load on it costs less than the plan's price (R20). Decimals are for show.
type ReservationUse struct {
	// ReservedHours and UsedHours are card-hours, exactly ("5952", "31/6").
	ReservedHours string `json:"reserved_hours"`
	UsedHours     string `json:"used_hours"`
	// LoadPercent is used / reserved, BreakEvenPercent cost / what all of it would cost at the
	// plan's price: 60 for a discount of 40. Both are rounded half up to two digits.
	LoadPercent      string `json:"load_percent"`
	BreakEvenPercent string `json:"break_even_percent"`
	// EffectivePrice is the cost of used, unused and prepaid time over the used hours; nil where none was used.
	EffectivePrice *Amount `json:"effective_price,omitempty"`
}

// UseOfReservation sums the lines of a reservation; nil where there are none. An upfront payment
// counts whole in the period in which it falls due.
func UseOfReservation(c Currency, lines []BillLine) (*ReservationUse, error) {
	used, unused, cost, list := new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)
	for _, l := range lines {
		if l.Corrects != nil {
			continue
		}
		quantity, ok := new(big.Rat).SetString(l.Quantity)
		if !ok {
			continue
		}
		switch l.Item {
		case ItemReservedUsed:
			used.Add(used, quantity)
		case ItemReservedUnused:
			unused.Add(unused, quantity)
		case ItemReservedUpfront, ItemReservedMonthly:
			quantity.SetInt64(0)
		default:
			continue
		}
		cost.Add(cost, l.exact())
		full := l
		full.UnitPrice, full.Quantity = l.ListPrice, quantity.RatString()
		list.Add(list, full.exact())
	}
	whole := new(big.Rat).Add(used, unused)
	if whole.Sign() == 0 {
		return nil, nil
	}
	out := &ReservationUse{ReservedHours: whole.RatString(), UsedHours: used.RatString(), LoadPercent: percentOf(used, whole), BreakEvenPercent: percentOf(cost, list)}
	if used.Sign() == 0 {
		return out, nil
	}
	price, err := NewMoney(c, cost.Quo(cost, used)).Round(HalfUp)
	out.EffectivePrice = &price
	return out, err
}

func percentOf(part, whole *big.Rat) string {
	if whole.Sign() == 0 {
		return "-"
	}
	share := new(big.Rat).Quo(part, whole)
	return trimZeros(share.Mul(share, hundred).FloatString(2))
}
