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
	// WorkingPercent is the activity of the multiprocessors over the time in which it was measured,
	// WorkingCoveragePercent that time / allocated time. Empty where it was not measured.
	WorkingPercent         string `json:"working_percent,omitempty"`
	WorkingCoveragePercent string `json:"working_coverage_percent,omitempty"`
	// Day and Night are the use by day (from DayBegins to DayEnds in the contract's zone) and by
	// night; nil where some of the time is from before the two were told apart.
	Day   *UseShare `json:"day,omitempty"`
	Night *UseShare `json:"night,omitempty"`
	// EnergyKWh is what the cards drew, rounded half up to three digits; EnergyCoveragePercent is the
	// share of the allocated time in which it was counted. Empty where it was not.
	EnergyKWh             string `json:"energy_kwh,omitempty"`
	EnergyCoveragePercent string `json:"energy_coverage_percent,omitempty"`
	// EnergyCosts are what that energy cost by the tariffs of the contract or the sites, one for each
	// currency; energy without a tariff is in none. They are in no line: no bill charges them.
	EnergyCosts []EnergyCosts `json:"energy_costs,omitempty"`
}

// UseShare is a part of a use: percentages as in BillUse, and the allocated time in card-milliseconds.
type UseShare struct {
	AllocatedMS        int64  `json:"allocated_ms"`
	UtilisationPercent string `json:"utilisation_percent,omitempty"`
	CoveragePercent    string `json:"coverage_percent,omitempty"`
}

func shareOf(u Use) *UseShare {
	return &UseShare{AllocatedMS: u.AllocatedMS, UtilisationPercent: shownPercent(u.Utilisation()), CoveragePercent: shownPercent(u.Coverage())}
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
	out := shownUse(all)
	cost, idle := new(big.Rat), new(big.Rat)
	var ms int64
	switch {
	case all.MeasuredMS > 0:
		out.IdleBasis = IdleByUse
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

// shownUse sets beside the sums the figures that are shown of them.
func shownUse(all Use) *BillUse {
	out := &BillUse{Use: all, UtilisationPercent: shownPercent(all.Utilisation()), CoveragePercent: shownPercent(all.Coverage())}
	if all.WorkingKnownMS > 0 {
		out.WorkingPercent, out.WorkingCoveragePercent = shownPercent(all.Working()), shownPercent(all.WorkingCoverage())
	}
	if all.EnergyKnownMS > 0 {
		out.EnergyKWh, out.EnergyCoveragePercent = KilowattHours(all.EnergyMilliJoules), shownPercent(all.EnergyCoverage())
	}
	if halves, known := all.DayNight(); known {
		out.Day, out.Night = shareOf(halves.Day), shareOf(halves.Night)
	}
	return out
}

func shownPercent(b Bound) string {
	if b.Denominator == 0 {
		return ""
	}
	return b.RoundedPercent(2)
}
