package rental

import (
	"fmt"
	"slices"
	"time"
)

// Kinds of data that end by their age. What is in none of them is kept: facts, closed months, heads,
// month totals and the classes of time are what money and proof rest on.
const (
	// RetainIncidentTexts are annotations and notes of incidents that are over; their times, kinds
	// of events, leases and machines stay.
	RetainIncidentTexts = "incident_texts"
	// RetainDeliveries are entries of the outbox, of incidents that are over, that were sent or given up.
	RetainDeliveries = "deliveries"
	// RetainTokens are revoked tokens, and enrolments that nobody used in their time.
	RetainTokens = "tokens"
	// RetainSchedulerEvents are what schedulers said of time whose bills are closed; the assignments
	// that were made of it stay.
	RetainSchedulerEvents = "scheduler_events"
	// RetainUsageHours are usage records of months whose bills are closed; their totals stay.
	RetainUsageHours = "usage_hours"
)

// RetentionKind is one kind of data that ends by its age.
type RetentionKind struct {
	Name string
	// DefaultMS is how long it is kept where nothing is configured, in milliseconds; 0 is for ever.
	DefaultMS int64
	// MinimumMS is the least that may be configured, in milliseconds, and Why what needs it.
	MinimumMS int64
	Why       string
}

const retentionDay = int64(24 * time.Hour / time.Millisecond)

// RetentionKinds are all, in the order in which they are shown. The defaults are 400 days, a year and
// the month in which it is looked back upon, and three years for what people wrote about incidents.
var RetentionKinds = []RetentionKind{
	{RetainIncidentTexts, 1095 * retentionDay, 90 * retentionDay, "a claim of a credit quotes them"},
	{RetainDeliveries, 400 * retentionDay, 30 * retentionDay, "they prove who was told what"},
	{RetainTokens, 400 * retentionDay, 30 * retentionDay, "they tell who had access"},
	{RetainSchedulerEvents, 400 * retentionDay, 90 * retentionDay, "a scheduler may repeat them"},
	{RetainUsageHours, 0, 400 * retentionDay, "reports and heads are made of them"},
}

// RetentionPolicy says how long each kind of data is kept, in milliseconds by kind; 0 is for ever.
type RetentionPolicy map[string]int64

// DefaultRetention holds where nothing is configured.
func DefaultRetention() RetentionPolicy {
	p := RetentionPolicy{}
	for _, k := range RetentionKinds {
		p[k.Name] = k.DefaultMS
	}
	return p
}

// Validate returns what is wrong with the policy.
func (p RetentionPolicy) Validate() []FieldError {
	var f faults
	for _, k := range RetentionKinds {
		keep := p[k.Name]
		f.check(keep == 0 || keep >= k.MinimumMS, k.Name, fmt.Sprintf("%d days", keep/retentionDay),
			fmt.Sprintf("0s, for ever, or at least %dd: %s", k.MinimumMS/retentionDay, k.Why))
	}
	for name := range p {
		f.check(slices.ContainsFunc(RetentionKinds, func(k RetentionKind) bool { return k.Name == name }), name, "a kind that is not known", "one of RetentionKinds")
	}
	return f.list
}

// Retained is what retention did with one kind of data, or would do.
type Retained struct {
	Kind string `json:"kind"`
	// KeepMS is how long it is kept, in milliseconds; 0 is for ever.
	KeepMS int64 `json:"keep_ms"`
	// Before is the moment before which it ends; 0 where it is kept for ever.
	Before Millis `json:"before,omitempty"`
	// Rows were deleted, or would be; Held are those that only a hold keeps.
	Rows int64 `json:"rows"`
	Held int64 `json:"held"`
}

// UsageKeptMark names the moment before which a lease's usage records were deleted by retention.
func UsageKeptMark(lease string) string { return "usage kept of " + lease }

// disputeMargin is how much longer than a credit may be claimed a month may be disputed.
const disputeMargin = Millis(90 * 24 * 3_600_000)

// DisputableUntil returns until when what was recorded of a month may be needed in a dispute: until
// its credits can no longer be claimed, and 90 days more.
func (c Contract) DisputableUntil(month Span) Millis {
	until := month.End + disputeMargin
	if c.Credits != nil {
		until += Millis(int64(c.Credits.ClaimDays) * retentionDay)
	}
	return until
}
