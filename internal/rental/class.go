package rental

// Class is what a stretch of time counts as.
type Class string

// The four classes partition every period.
const (
	Up       Class = "up"
	Down     Class = "down"
	Excluded Class = "excluded"
	NoData   Class = "unknown"
)

// Interval is a stretch of one class, with why.
type Interval struct {
	Span   Span   `json:"span"`
	Class  Class  `json:"class"`
	Reason string `json:"reason,omitempty"` // the GPU state or fact behind it: lost, maintenance...
	// Vantage is guest where only the guest of a lease told it, out-of-band where the host's
	// witnesses did, else empty.
	Vantage string `json:"vantage,omitempty"`
}

// UsageRecord says how one card of one lease spent a span within one UTC hour. All figures
// are integers so that sums are exact; millisecond figures never exceed the span.
type UsageRecord struct {
	Lease    string `json:"lease"`
	UUID     string `json:"uuid"`
	Span     Span   `json:"span"`
	Revision int    `json:"revision"`

	AllocatedMS int64 `json:"allocated_ms"` // the card was assigned to the lease
	MeasuredMS  int64 `json:"measured_ms"`  // use was measured
	BusyMS      int64 `json:"busy_ms"`      // use was above 0
	UsedMicros  int64 `json:"used_us"`      // use x time, in microseconds
	// HeldKnownMS is time in which a scheduler said whether the card was held, HeldMS in which it was.
	HeldKnownMS int64 `json:"held_known_ms"`
	HeldMS      int64 `json:"held_ms"`

	UpMS       int64 `json:"up_ms"`
	DownMS     int64 `json:"down_ms"`
	ExcludedMS int64 `json:"excluded_ms"`
	UnknownMS  int64 `json:"unknown_ms"`

	EnergyMilliJoules int64 `json:"energy_mj"`
	// EnergyKnownMS is the time over which the energy was counted.
	EnergyKnownMS int64 `json:"energy_known_ms"`
	// WorkingKnownMS is time in which the activity of the card's multiprocessors was measured,
	// WorkingMicros that activity x time, in microseconds.
	WorkingKnownMS int64 `json:"working_known_ms"`
	WorkingMicros  int64 `json:"working_us"`
	// SplitMS is the allocated time of which it is known whether it was day or night in the
	// contract's zone: all of it, but in records from before that was told apart. The next three
	// are what of the allocated, the measured and the used time was at night.
	SplitMS         int64 `json:"split_ms"`
	NightMS         int64 `json:"night_ms"`
	NightMeasuredMS int64 `json:"night_measured_ms"`
	NightUsedMicros int64 `json:"night_used_us"`
}

// Use returns the record's figures of use.
func (r UsageRecord) Use() Use {
	return Use{
		AllocatedMS: r.AllocatedMS, MeasuredMS: r.MeasuredMS, BusyMS: r.BusyMS, UsedMicros: r.UsedMicros,
		HeldKnownMS: r.HeldKnownMS, HeldMS: r.HeldMS,
		EnergyMilliJoules: r.EnergyMilliJoules, EnergyKnownMS: r.EnergyKnownMS,
		WorkingKnownMS: r.WorkingKnownMS, WorkingMicros: r.WorkingMicros,
		SplitMS: r.SplitMS, NightMS: r.NightMS, NightMeasuredMS: r.NightMeasuredMS, NightUsedMicros: r.NightUsedMicros,
	}
}
