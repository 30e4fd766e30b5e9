package rental

import "math/big"

// BillUse is how paid time was used, beside what it cost. It changes no amount.
type BillUse struct {
	Use
	// UtilisationPercent is used / measured time, CoveragePercent measured / allocated time; rounded
	// half up to two digits. Without measured time there is no utilisation.
	UtilisationPercent string `json:"utilisation_percent,omitempty"`
	CoveragePercent    string `json:"coverage_percent,omitempty"`
	// IdleCost is what the time without use cost, of the lines for the cards' time; IdleBasis says
	// whether that is measured time without any use ("use") or, where use was not measured, time in
	// which a scheduler said that no job held the card ("allocation"). Nil where neither is known.
	IdleCost  *Amount `json:"idle_cost,omitempty"`
	IdleBasis string  `json:"idle_basis,omitempty"`
	// UsefulHour is what one fully used card-hour cost: the price of an hour over the utilisation.
	UsefulHour *Amount `json:"useful_hour,omitempty"`
}

// Bases of an idle cost.
const (
	IdleByUse        = "use"
	IdleByAllocation = "allocation"
)

// TimeOfCards tells whether the line charges for time of cards in the period itself.
func (l BillLine) TimeOfCards() bool {
	return l.Corrects == nil && len(l.PerGPU) > 0 && (l.Item == ItemGPUTime || l.Item == ItemReservedUsed)
}

// UseOfLines sets how cards spent their time beside what lines for it cost: uses are those of the
// lines, one each, and all is the use of the whole.
func UseOfLines(c Currency, lines []BillLine, uses []Use, all Use) (*BillUse, error) {
	out := &BillUse{Use: all, CoveragePercent: shownPercent(all.Coverage())}
	cost, idle := new(big.Rat), new(big.Rat)
	var ms int64
	switch {
	case all.MeasuredMS > 0:
		out.UtilisationPercent, out.IdleBasis = shownPercent(all.Utilisation()), IdleByUse
	case all.HeldKnownMS > 0:
		out.IdleBasis = IdleByAllocation
	}
	for i, l := range lines {
		exact := l.exact()
		cost.Add(cost, exact)
		ms += l.QuantityMS
		free := uses[i].IdleMS()
		if out.IdleBasis == IdleByAllocation {
			free = uses[i].FreeMS()
		}
		if l.QuantityMS > 0 {
			idle.Add(idle, exact.Mul(exact, big.NewRat(min(free, l.QuantityMS), l.QuantityMS)))
		}
	}
	if out.IdleBasis != "" {
		shown, err := NewMoney(c, idle).Round(HalfUp)
		if err != nil {
			return nil, err
		}
		out.IdleCost = &shown
	}
	if used := all.Utilisation(); ms > 0 && used.Numerator > 0 && used.Denominator > 0 {
		hour := cost.Mul(cost, big.NewRat(int64(millisOfHour), ms))
		shown, err := NewMoney(c, hour.Mul(hour, big.NewRat(used.Denominator, used.Numerator))).Round(HalfUp)
		if err != nil {
			return nil, err
		}
		out.UsefulHour = &shown
	}
	return out, nil
}

func shownPercent(b Bound) string {
	if b.Denominator == 0 {
		return ""
	}
	return b.RoundedPercent(2)
}
