package rental

import (
	"fmt"
	"math/big"
)

// Use is how cards spent time, as sums of usage records: a ratio of it is a ratio of sums, never
// a mean of ratios.
type Use struct {
	AllocatedMS int64 `json:"allocated_ms"`
	MeasuredMS  int64 `json:"measured_ms"`
	BusyMS      int64 `json:"busy_ms"`
	UsedMicros  int64 `json:"used_us"`
	HeldKnownMS int64 `json:"held_known_ms"`
	HeldMS      int64 `json:"held_ms"`

	// What follows is left out of JSON where it is 0, so that bills that were closed before it was
	// kept are written as they were.

	// EnergyMilliJoules is what was drawn in EnergyKnownMS, over resets of the counters.
	EnergyMilliJoules int64 `json:"energy_mj,omitempty"`
	EnergyKnownMS     int64 `json:"energy_known_ms,omitempty"`
	// WorkingMicros is the activity of the multiprocessors x time, WorkingKnownMS where it was measured.
	WorkingKnownMS int64 `json:"working_known_ms,omitempty"`
	WorkingMicros  int64 `json:"working_us,omitempty"`
	// What of the time was at night; it holds for SplitMS of the allocated time.
	SplitMS         int64 `json:"split_ms,omitempty"`
	NightMS         int64 `json:"night_ms,omitempty"`
	NightMeasuredMS int64 `json:"night_measured_ms,omitempty"`
	NightUsedMicros int64 `json:"night_used_us,omitempty"`
}

// SumUse adds usage records; of several revisions of one record the newest counts.
func SumUse(records []UsageRecord) Use {
	type key struct {
		lease, uuid string
		span        Span
	}
	newest := map[key]int{}
	for i, r := range records {
		k := key{r.Lease, r.UUID, r.Span}
		if at, seen := newest[k]; !seen || records[at].Revision < r.Revision {
			newest[k] = i
		}
	}
	var u Use
	for _, i := range newest {
		u.Add(records[i])
	}
	return u
}

// Add adds one record.
func (u *Use) Add(r UsageRecord) { u.Sum(r.Use()) }

// Utilisation returns used time / measured time. Its denominator is 0 where nothing was measured,
// which is "not measured" and not 0 %.
func (u Use) Utilisation() Bound {
	return Bound{Numerator: u.UsedMicros, Denominator: u.MeasuredMS * 1000}
}

// Coverage returns measured time / allocated time: how much of the time a utilisation speaks of.
func (u Use) Coverage() Bound { return Bound{Numerator: u.MeasuredMS, Denominator: u.AllocatedMS} }

// Working returns the activity of the multiprocessors as a share of the time in which it was
// measured: work that keeps few of them busy is utilisation, and little of this.
func (u Use) Working() Bound {
	return Bound{Numerator: u.WorkingMicros, Denominator: u.WorkingKnownMS * 1000}
}

// WorkingCoverage returns the share of the allocated time that Working speaks of.
func (u Use) WorkingCoverage() Bound {
	return Bound{Numerator: u.WorkingKnownMS, Denominator: u.AllocatedMS}
}

// EnergyCoverage returns the share of the allocated time in which energy was counted.
func (u Use) EnergyCoverage() Bound {
	return Bound{Numerator: u.EnergyKnownMS, Denominator: u.AllocatedMS}
}

// HeldShare returns the share of known time in which a scheduler held the card for a job.
func (u Use) HeldShare() Bound { return Bound{Numerator: u.HeldMS, Denominator: u.HeldKnownMS} }

// HeldCoverage returns the share of allocated time in which a scheduler said whether the card was held.
func (u Use) HeldCoverage() Bound { return Bound{Numerator: u.HeldKnownMS, Denominator: u.AllocatedMS} }

// IdleMS returns the measured time without any use, in card-milliseconds.
func (u Use) IdleMS() int64 { return max(u.MeasuredMS-u.BusyMS, 0) }

// FreeMS returns the time in which a scheduler said that no job held the card, in card-milliseconds.
func (u Use) FreeMS() int64 { return max(u.HeldKnownMS-u.HeldMS, 0) }

// RoundedPercent writes the share as percent, rounded half up to the given digits, for figures
// that no verdict hangs on. A share of nothing is "-".
func (b Bound) RoundedPercent(digits int) string {
	if b.Denominator == 0 {
		return "-"
	}
	scaled := new(big.Rat).Mul(big.NewRat(b.Numerator, b.Denominator), new(big.Rat).SetInt(pow10(digits+2)))
	rounded, err := RoundRat(scaled, HalfUp)
	if err != nil {
		return "-"
	}
	return new(big.Rat).SetFrac(rounded, pow10(digits)).FloatString(digits)
}

// ShareOf returns the part of an amount that falls on some of its charged time (both in
// card-milliseconds), rounded half up: the idle cost of C34. Time past what was charged costs
// nothing more; where nothing was charged the part is 0.
func ShareOf(amount Amount, partMS, chargedMS int64) (Amount, error) {
	if chargedMS <= 0 || partMS <= 0 {
		return Amount{Currency: amount.Currency}, nil
	}
	return scale(amount, big.NewRat(min(partMS, chargedMS), chargedMS))
}

// UsefulCost returns the part of a total that paid for use (C35).
func UsefulCost(total Amount, utilisation Bound) (Amount, error) {
	if utilisation.Denominator == 0 {
		return Amount{}, fmt.Errorf("useful cost of %s: use was not measured", total)
	}
	return scale(total, big.NewRat(utilisation.Numerator, utilisation.Denominator))
}

// PerUsefulHour returns what an hour of full use cost: a unit price per card-hour divided by the
// utilisation (C35), rounded half up to the currency's minor unit.
func PerUsefulHour(c Currency, pricePerHour Decimal, utilisation Bound) (Amount, error) {
	if utilisation.Numerator <= 0 || utilisation.Denominator == 0 {
		return Amount{}, fmt.Errorf("cost per useful hour: expected measured use over 0")
	}
	value := new(big.Rat).Mul(pricePerHour.Rat(), big.NewRat(utilisation.Denominator, utilisation.Numerator))
	return NewMoney(c, value).Round(HalfUp)
}

func scale(a Amount, share *big.Rat) (Amount, error) {
	minor, err := roundToInt64(new(big.Rat).Mul(share, big.NewRat(a.Minor, 1)), HalfUp)
	if err != nil {
		return Amount{}, err
	}
	return Amount{Currency: a.Currency, Minor: minor}, nil
}

// HolderAt returns the assignment that holds the card at the moment. Spans are half-open, so a
// sample at the hand-over belongs to the later one alone (C26).
func HolderAt(assignments []Assignment, uuid string, at Millis) (Assignment, bool) {
	for _, a := range assignments {
		if a.UUID == uuid && a.Span.Contains(at) {
			return a, true
		}
	}
	return Assignment{}, false
}

// JudgeClock tells whether a clock that ran from start to stop kept its limit: the limit itself
// passes, a millisecond more does not (C55).
func JudgeClock(start, stop Millis, limit Duration) Outcome {
	if int64(stop-start) <= limit.Milliseconds() {
		return Kept
	}
	return Breached
}

// Sum adds other sums.
func (u *Use) Sum(o Use) {
	u.AllocatedMS += o.AllocatedMS
	u.MeasuredMS += o.MeasuredMS
	u.BusyMS += o.BusyMS
	u.UsedMicros += o.UsedMicros
	u.HeldKnownMS += o.HeldKnownMS
	u.HeldMS += o.HeldMS
	u.EnergyMilliJoules += o.EnergyMilliJoules
	u.EnergyKnownMS += o.EnergyKnownMS
	u.WorkingKnownMS += o.WorkingKnownMS
	u.WorkingMicros += o.WorkingMicros
	u.SplitMS += o.SplitMS
	u.NightMS += o.NightMS
	u.NightMeasuredMS += o.NightMeasuredMS
	u.NightUsedMicros += o.NightUsedMicros
}
