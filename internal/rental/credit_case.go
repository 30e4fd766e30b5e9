package rental

import (
	"fmt"
	"slices"
	"strings"
)

// KindCreditCase is the kind of the facts that hold what people did with credits.
const KindCreditCase = "CreditCase"

// CreditCase is what people did with the credit of one lease and month. The amount is no part of
// it: that is computed from facts, and an approval covers no more than was computed then.
type CreditCase struct {
	Lease string `json:"lease"`
	Month string `json:"month"` // of the contract's zone: 2026-05
	Acts  []Act  `json:"acts"`
}

// ID names the case: "L-1:2026-05".
func (c CreditCase) ID() string { return c.Lease + ":" + c.Month }

// ParseCreditID returns the lease and the month that a credit's id names.
func ParseCreditID(id string) (lease string, month Month, err error) {
	cut := strings.LastIndexByte(id, ':')
	if cut < 1 {
		return "", Month{}, &Error{Code: CodeInvalid, Message: fmt.Sprintf("credit %q: expected a lease and a month, such as L-1:2026-05", id)}
	}
	if month, err = ParseMonth(id[cut+1:]); err != nil {
		return "", Month{}, &Error{Code: CodeInvalid, Message: fmt.Sprintf("credit %q", id), Cause: err}
	}
	return id[:cut], month, nil
}

// Kinds of an Act upon a credit, besides ActApproved.
const (
	ActClaimed = "claimed" // the tenant asks for it
	ActRefused = "refused" // it is not paid
)

// States of a Credit, besides CreditComputed and CreditBooked.
const (
	CreditClaimable = "claimable" // the month is final; it is paid once it is claimed and approved
	CreditClaimed   = "claimed"   // it waits for an approval
	CreditRefused   = "refused"   // by a person, with the reason
	CreditLapsed    = "lapsed"    // nobody claimed it in time
)

// CreditStates lists every state, for checks.
var CreditStates = []string{CreditComputed, CreditClaimable, CreditClaimed, CreditBooked, CreditRefused, CreditLapsed}

// ClaimUntil is the moment up to which the credit of a month may be claimed: the contract's days
// after the month's end, in its zone; 0 where it names none.
func (c Contract) ClaimUntil(month Span) (Millis, error) {
	if c.Credits == nil || c.Credits.ClaimDays == 0 {
		return 0, nil
	}
	zone, err := LoadZone(c.TimeZone)
	if err != nil {
		return 0, err
	}
	return At(month.End.Time().In(zone).AddDate(0, 0, c.Credits.ClaimDays)), nil
}

// CreditTerms are under what a credit stands.
type CreditTerms struct {
	// Until is the end of the time to claim it, 0 where there is none; Now is the moment.
	Until, Now Millis
	// Held tells that time which it rests on is not decided, or is disputed: nothing is booked.
	Held bool
	// Auto is the contract's auto_credit: nobody has to claim it.
	Auto bool
}

// Stand returns the computed credit as its case has it: State, Amount, ClaimUntil and Acts. An approval books the amount that it was given for, or what is computed now where that is
// less; what is computed over it is in Unapproved. What the contract books by itself stays booked.
func (c Credit) Stand(of CreditCase, t CreditTerms) Credit {
	c.ID, c.ClaimUntil, c.Held, c.Acts = of.ID(), t.Until, t.Held, of.Acts
	settled, claimed := Act{}, false
	for _, a := range of.Acts {
		switch a.Kind {
		case ActApproved, ActRefused:
			settled = a
		case ActClaimed:
			claimed = true
		}
	}
	switch {
	case settled.Kind == ActApproved && !t.Held:
		c.State = CreditBooked
		if settled.Amount != nil && c.Amount.Minor > settled.Amount.Minor {
			c.Unapproved, c.Amount.Minor = c.Amount.Minor-settled.Amount.Minor, settled.Amount.Minor
		}
	case settled.Kind == ActApproved:
		c.State = CreditClaimed
	case settled.Kind == ActRefused:
		c.State = CreditRefused
	case t.Auto: // computed, or booked by the contract
	case claimed:
		c.State = CreditClaimed
	case c.Provisional:
		c.State = CreditComputed
	case t.Until != 0 && t.Now >= t.Until:
		c.State = CreditLapsed
	default:
		c.State = CreditClaimable
	}
	return c
}

// Do returns the case after an act of ActClaimed, ActApproved or ActRefused upon the credit as it
// stands. entered are those who entered downtime that it rests on: they, and who claimed it for the
// tenant, do not settle it. Errors are CodeInvalid and CodeRefused, as those of Downtime.Do.
func (c Credit) Do(of CreditCase, a Act, entered []string) (CreditCase, error) {
	what := "credit " + of.ID()
	if err := a.check(what); err != nil {
		return of, err
	}
	before := slices.Clone(entered)
	for _, old := range of.Acts {
		before = append(before, old.By)
	}
	if c.Provisional {
		return of, refusedf("%s: the month is not final: expected to act once it has ended and late samples are no longer taken", what)
	}
	var from []string
	switch a.Kind {
	case ActClaimed:
		from = []string{CreditClaimable}
	case ActApproved:
		from = []string{CreditClaimable, CreditClaimed, CreditRefused}
		if c.Unapproved > 0 {
			from = append(from, CreditBooked)
		}
	case ActRefused:
		from = []string{CreditClaimable, CreditClaimed}
	default:
		return of, &Error{Code: CodeInvalid, Message: fmt.Sprintf("%s: found the act %q, expected %s, %s or %s", what, a.Kind, ActClaimed, ActApproved, ActRefused)}
	}
	if !slices.Contains(from, c.State) {
		return of, refusedf("%s: it is %s: expected one that is %s to be %s%s", what, c.State, strings.Join(from, " or "), a.Kind, c.deadline())
	}
	if a.Kind != ActClaimed {
		if err := SecondPerson(what, a.By, before...); err != nil {
			return of, err
		}
	}
	if a.Kind == ActApproved {
		if c.Held {
			return of, refusedf("%s: downtime of the month is not decided: expected each to be approved or rejected first (downtime list --lease=%s)", what, of.Lease)
		}
		amount := c.Amount
		amount.Minor += c.Unapproved
		a.Amount = &amount
	}
	of.Acts = append(slices.Clone(of.Acts), a)
	return of, nil
}

func (c Credit) deadline() string {
	if c.State != CreditLapsed {
		return ""
	}
	return fmt.Sprintf("; it could be claimed until %s", c.ClaimUntil)
}
