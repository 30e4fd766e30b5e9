package rental

// Outcome is how an objective was judged.
type Outcome string

// The outcomes.
const (
	Kept        Outcome = "kept"
	Breached    Outcome = "breached"
	NotProven   Outcome = "not_proven"
	NotMeasured Outcome = "not_measured"
	// Open is a clock that still runs, within its limit.
	Open Outcome = "open"
)

// Verdict is the judgement of a lease's availability over a period. Bounds are exact
// fractions of integers: Numerator / Denominator, in card-milliseconds where the scope is
// weighted, else in milliseconds.
type Verdict struct {
	Lease   string  `json:"lease"`
	Period  Span    `json:"period"`
	Target  Decimal `json:"target_percent"`
	Outcome Outcome `json:"outcome"`
	// Low counts unknown time as down, High as up; both are floored for show.
	Low  Bound `json:"low"`
	High Bound `json:"high"`

	UpMS       int64 `json:"up_ms"`
	DownMS     int64 `json:"down_ms"`
	ExcludedMS int64 `json:"excluded_ms"`
	UnknownMS  int64 `json:"unknown_ms"`
	// UnmeasuredMS is the part of UnknownMS that nobody could measure, because a card was let go of or
	// only its tenant sees it: under no contract is it taken for down.
	UnmeasuredMS int64 `json:"unmeasured_ms,omitempty"`
	// PeriodMS is the denominator before exclusions.
	PeriodMS int64 `json:"period_ms"`
	// Coverage is (up + down) / (period - excluded).
	Coverage Bound `json:"coverage"`

	// Judged is the share that the contract's word on unknown time makes the headline: Low where
	// unknown is down (but for unmeasured time), (up + excluded that stays) / known where it is excluded.
	Judged Bound `json:"judged"`
	// MeasuredDownMS is down time before the contract's way to count outages.
	MeasuredDownMS int64 `json:"measured_down_ms"`
	// DownByGPU is each card's measured down time in milliseconds, whatever the scope, with
	// unknown time where the contract takes it for down.
	DownByGPU map[string]int64 `json:"down_by_gpu,omitempty"`
	// UnknownRule is the contract's: down or excluded.
	UnknownRule string `json:"unknown_rule,omitempty"`
	// OutageRule is how the contract counts outages, Denominator what its share is of.
	OutageRule  string `json:"outage_rule,omitempty"`
	Denominator string `json:"denominator,omitempty"`
	// Cards is over how many timelines the milliseconds are summed: the lease's cards where the
	// scope is weighted, else 1.
	Cards int `json:"cards,omitempty"`
	// ExcludedBy is the excluded time by reason, in milliseconds: maintenance, stopped, tenant.
	ExcludedBy map[string]int64 `json:"excluded_by,omitempty"`
	// ExcludedLeaves tells whether excluded time is out of the denominator.
	ExcludedLeaves bool `json:"excluded_leaves_denominator"`
	// Worst is the card whose figures the lease's are, where the scope is gpu.
	Worst string `json:"worst,omitempty"`

	// PerGPU holds each card's own verdict where the scope is gpu.
	PerGPU map[string]Verdict `json:"per_gpu,omitempty"`
	// Arithmetic says the sum in words, so that a reader can redo it with a pencil.
	Arithmetic string `json:"arithmetic"`
	// Open says that the period has not ended: the verdict is provisional.
	Open bool `json:"open"`
}

// Bound is a share of time as two integers.
type Bound struct {
	Numerator   int64 `json:"numerator"`
	Denominator int64 `json:"denominator"`
}

// Credit is what a missed objective pays back for a period.
type Credit struct {
	Lease   string  `json:"lease"`
	Period  Span    `json:"period"`
	Percent Decimal `json:"percent"`
	Amount  Amount  `json:"amount"`
	// State is one of CreditStates; a booked one is a line of the bill.
	State       string `json:"state"`
	Provisional bool   `json:"provisional"`
	Arithmetic  string `json:"arithmetic"`

	// ID names the case: "L-1:2026-05".
	ID string `json:"id,omitempty"`
	// ClaimUntil is until when it may be claimed; 0 where the contract names no date.
	ClaimUntil Millis `json:"claim_until,omitempty"`
	// Held tells that time it rests on waits for a decision, or is disputed.
	Held bool `json:"held,omitempty"`
	// Unapproved is what is computed over the amount that was approved, in minor units.
	Unapproved int64 `json:"unapproved,omitempty"`
	// Acts are what people did with it, the oldest first.
	Acts []Act `json:"acts,omitempty"`
}
