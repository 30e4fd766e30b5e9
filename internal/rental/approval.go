package rental

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// What a change may need a second person for.
const (
	ApprovePrices     = "prices"      // a contract's money: prices, items, tax, what is billed while down
	ApproveBackdated  = "backdated"   // a lease that begins, ends or stops more than a day ago
	ApproveCredits    = "credits"     // an amount that is booked by hand
	ApproveMonthClose = "month_close" // a month's bills
	ApproveDowntime   = "downtime"    // downtime that is entered by hand: it always does
	ApprovePeople     = "people"      // the erasure of a person's name
	ApproveMass       = "mass_change" // many GPUs at once; the policy sets it by a share, not by name
)

// ApprovalTopics are those that a policy may name.
var ApprovalTopics = []string{ApprovePrices, ApproveDowntime, ApproveBackdated, ApproveCredits, ApproveMonthClose, ApprovePeople}

// backdatedAfter is how long ago a lease may begin, end or stop without being back-dated: what
// happened at night is entered the next day.
const backdatedAfter Millis = 24 * 3_600_000

// ApprovalPolicy says which changes wait for a second person.
type ApprovalPolicy struct {
	// Topics are the changes by kind; none where it is empty.
	Topics []string `json:"topics,omitempty"`
	// MassPercent is the share of the GPUs in slots that may move or leave at once; 0 holds nothing.
	MassPercent int `json:"mass_percent,omitempty"`
	// ExpiresMS is how long a change waits, in milliseconds.
	ExpiresMS int64 `json:"expires_ms,omitempty"`
}

// DefaultApprovalPolicy holds where none is configured: nothing waits but a mass change, for a week.
func DefaultApprovalPolicy() ApprovalPolicy {
	return ApprovalPolicy{MassPercent: 10, ExpiresMS: 7 * 24 * 3_600_000}
}

// Needs tells whether the policy names the topic.
func (p ApprovalPolicy) Needs(topic string) bool { return slices.Contains(p.Topics, topic) }

// Mass tells whether moving so many of the GPUs in slots is a mass change; one GPU never is.
func (p ApprovalPolicy) Mass(moved, total int) bool {
	return p.MassPercent > 0 && moved > 1 && moved*100 > total*p.MassPercent
}

// Backdates tells whether a lease says something else than before about time that is more than a
// day gone. old is nil of a new lease.
func Backdates(old *Lease, l Lease, now Millis) bool {
	past := now - backdatedAfter
	if old == nil {
		return l.Start < past
	}
	return old.Start != l.Start && min(old.Start, l.Start) < past ||
		min(old.End, past) != min(l.End, past) || !reflect.DeepEqual(stopsUntil(*old, past), stopsUntil(l, past))
}

// stopsUntil returns the stops of a lease up to a moment.
func stopsUntil(l Lease, until Millis) []Span {
	return ClipSpans(l.Stops, Span{Start: l.Start, End: max(until, l.Start)})
}

// MoneyBefore returns what a contract says of money up to a moment: two contracts that are equal
// in it charge and judge the same until then. Versions of prices and rates that begin later, the
// language of sentences and the price of energy, which no bill charges, are not in it.
func (c Contract) MoneyBefore(until Millis) Contract {
	c.Plan.Prices = versionsBefore(c.Plan.Prices, until, func(p PriceVersion) Millis { return p.From })
	c.Rates = versionsBefore(c.Rates, until, func(r Rate) Millis { return r.From })
	items := make([]Item, len(c.Items))
	for i, item := range c.Items {
		item.Prices = versionsBefore(item.Prices, until, func(p ItemPrice) Millis { return p.From })
		items[i] = item
	}
	c.Items = items
	c.Language, c.Energy = "", nil
	return c
}

func versionsBefore[T any](all []T, until Millis, from func(T) Millis) []T {
	kept := []T{}
	for i, v := range all {
		if i == 0 || from(v) < until {
			kept = append(kept, v)
		}
	}
	return kept
}

// Pending is a change that waits for a second person, or waited: nothing of it holds before it
// was approved.
type Pending struct {
	ID string `json:"id"` // P-1, P-2, ...
	// Action is apply, end, close or erase: what approving it does.
	Action    string   `json:"action"`
	EnteredAt Millis   `json:"entered_at"`
	EnteredBy string   `json:"entered_by"`
	Why       string   `json:"why"`
	ExpiresAt Millis   `json:"expires_at"`
	Topics    []string `json:"topics"`
	// Reasons say in sentences why it waits, with what it costs where it is about money.
	Reasons []string `json:"reasons,omitempty"`
	// Changes are what approving it changes, old -> new.
	Changes []Change `json:"changes"`
	// Decision is empty while it waits, else one of the Decision constants.
	Decision  string `json:"decision,omitempty"`
	DecidedAt Millis `json:"decided_at,omitempty"`
	DecidedBy string `json:"decided_by,omitempty"`
	Note      string `json:"note,omitempty"`
	// Request is what was asked, as it is carried out.
	Request json.RawMessage `json:"-"`
}

// What a Pending does when it is approved.
const (
	PendingApply = "apply" // records resources
	PendingEnd   = "end"   // ends a lease
	PendingClose = "close" // closes a month's bills
	PendingErase = "erase" // erases a person's name
)

// How a Pending was decided.
const (
	DecisionApproved = "approved"
	DecisionRejected = "rejected"
	DecisionExpired  = "expired"
)

// At returns the change as it stands at a moment: what nobody decided in its time has expired.
func (p Pending) At(now Millis) Pending {
	if p.Decision == "" && now >= p.ExpiresAt {
		p.Decision, p.DecidedAt = DecisionExpired, p.ExpiresAt
	}
	return p
}

// Decide refuses who may not settle the change at a moment: whoever entered it may reject but not
// approve it, and a program may do neither. A mass change alone is held against slips, not against
// people: who entered it may confirm it.
func (p Pending) Decide(by Principal, approve bool, now Millis) error {
	p = p.At(now)
	switch {
	case by.Service:
		return &Error{Code: CodeRefused, Message: fmt.Sprintf("change %s: the token %s is a program's: expected a person to decide", p.ID, by.Name)}
	case p.Decision == DecisionExpired:
		return &Error{Code: CodeRefused, Message: fmt.Sprintf("change %s expired at %s: enter it again", p.ID, p.ExpiresAt)}
	case p.Decision != "":
		return &Error{Code: CodeConflict, Message: fmt.Sprintf("change %s was %s by %s at %s: expected one that waits", p.ID, p.Decision, p.DecidedBy, p.DecidedAt)}
	case approve && !slices.Equal(p.Topics, []string{ApproveMass}):
		return SecondPerson("change "+p.ID, by.Name, p.EnteredBy)
	}
	return SecondPerson("change "+p.ID, by.Name)
}

// SameChanges compares what a change would do now with what was shown when it was entered, and
// refuses where the two differ: nobody approves what they did not see.
func (p Pending) SameChanges(now []Change) error {
	changed := func(all []Change) []Change {
		return slices.DeleteFunc(slices.Clone(all), func(c Change) bool { return c.Action == ActionUnchanged })
	}
	if reflect.DeepEqual(changed(p.Changes), changed(now)) {
		return nil
	}
	return &Error{Code: CodeRefused, Message: fmt.Sprintf("change %s would not do any more what was shown when %s entered it, because other things were recorded since: reject it and enter it again", p.ID, p.EnteredBy)}
}
