package rental

import (
	"fmt"
	"slices"
)

// Act is one thing that somebody did with a downtime, a credit, an RMA, a maintenance, a backup or a failure: who, when
// and why. Acts are only ever added, so that both sides read the same history.
type Act struct {
	At Millis `json:"at"`
	// By is the name of the person or program.
	By string `json:"by"`
	// Side is provider or tenant, for whom By speaks; empty for the server itself.
	Side string `json:"side,omitempty"`
	// Kind is one of the Act constants.
	Kind string `json:"kind"`
	// Outcome is what a dispute was decided as, approved or rejected, or what came of an RMA.
	Outcome string `json:"outcome,omitempty"`
	// Cause is what an approval says that the cause is.
	Cause string `json:"cause,omitempty"`
	// Amount is what an approval of a credit covers.
	Amount *Amount `json:"amount,omitempty"`
	// Tenant is to whom a notice of maintenance was delivered, and Way how: mail, portal, slack...
	Tenant string `json:"tenant,omitempty"`
	Way    string `json:"way,omitempty"`
	// Note is the reason in the person's own words.
	Note string `json:"note,omitempty"`
}

// Kinds of an Act.
const (
	ActRecorded  = "recorded"  // entered by hand
	ActApproved  = "approved"  // it may change money
	ActRejected  = "rejected"  // it may not
	ActDisputed  = "disputed"  // one side's word against it; it is held until a decision
	ActDecided   = "decided"   // the end of a dispute
	ActChanged   = "changed"   // later samples moved it past what was decided
	ActWithdrawn = "withdrawn" // later samples disprove it
)

// Sides of an Act.
const (
	SideProvider = "provider"
	SideTenant   = "tenant"
)

// Server is By of what the server does by itself.
const Server = "leasewatch"

// SideOf returns for whom a principal speaks: a tenant for itself, everybody else for the provider.
func SideOf(p Principal) string {
	if p.Role == RoleTenant {
		return SideTenant
	}
	return SideProvider
}

// SecondPerson refuses, as CodeRefused, that somebody settles what they had a hand in: by must be
// another than each of those before. Empty names and the server itself are nobody. what names the
// thing for the message.
func SecondPerson(what, by string, before ...string) error {
	if by == "" {
		return &Error{Code: CodeInvalid, Message: what + ": by: found nobody, expected the name of a person"}
	}
	if by != Server && slices.Contains(before, by) {
		return &Error{Code: CodeRefused, Message: fmt.Sprintf(
			"%s: %s had a hand in it: expected somebody else to settle it (each person has a token of their own)", what, by)}
	}
	return nil
}

// check returns what every act needs.
func (a Act) check(what string) error {
	var f faults
	f.required("by", a.By, "the name of who acts")
	f.check(a.At > 0, "at", "nothing", "a moment")
	f.required("note", a.Note, "the reason, in a few words")
	return invalidOf(what, f.list)
}

// invalidOf makes the faults an Error of CodeInvalid; nil where there are none.
func invalidOf(what string, list []FieldError) error {
	if err := Invalid(what, list); err != nil {
		return &Error{Code: CodeInvalid, Message: err.Error()}
	}
	return nil
}

func refusedf(format string, args ...any) error {
	return &Error{Code: CodeRefused, Message: fmt.Sprintf(format, args...)}
}
