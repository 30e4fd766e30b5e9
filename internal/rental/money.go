package rental

// Currency is an ISO 4217 code.
type Currency string

// Rounding says what becomes of a fraction.
type Rounding string

// The ways to round.
const (
	Exact    Rounding = "exact"
	HalfUp   Rounding = "half_up"
	HalfEven Rounding = "half_even"
	RoundUp  Rounding = "up"
	RoundOff Rounding = "down"
)
