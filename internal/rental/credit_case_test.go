package rental

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// owed is a final credit of 100 that nobody acted on, and its case.
func owed() (Credit, CreditCase) {
	return Credit{Lease: "L", Amount: Amount{"USD", 100}, State: CreditComputed}, CreditCase{Lease: "L", Month: "2026-05"}
}

func acted(kinds ...string) CreditCase {
	_, of := owed()
	for i, kind := range kinds {
		a := Act{At: Millis(i + 1), By: "ann", Kind: kind, Note: "n"}
		if kind == ActApproved {
			a.Amount = &Amount{"USD", 100}
		}
		of.Acts = append(of.Acts, a)
	}
	return of
}

func TestACreditStandsByItsCaseAndItsDeadline(t *testing.T) {
	for name, tc := range map[string]struct {
		of     CreditCase
		change func(*Credit, *CreditTerms)
		state  string
		minor  int64
	}{
		"a month that is not final":                  {acted(), func(c *Credit, _ *CreditTerms) { c.Provisional = true }, CreditComputed, 100},
		"a final month":                              {acted(), nil, CreditClaimable, 100},
		"a millisecond before the deadline":          {acted(), func(_ *Credit, t *CreditTerms) { t.Until, t.Now = 50, 49 }, CreditClaimable, 100},
		"at the deadline":                            {acted(), func(_ *Credit, t *CreditTerms) { t.Until, t.Now = 50, 50 }, CreditLapsed, 100},
		"claimed in time":                            {acted(ActClaimed), func(_ *Credit, t *CreditTerms) { t.Until, t.Now = 50, 90 }, CreditClaimed, 100},
		"approved":                                   {acted(ActClaimed, ActApproved), nil, CreditBooked, 100},
		"approved, and disputed since":               {acted(ActClaimed, ActApproved), func(_ *Credit, t *CreditTerms) { t.Held = true }, CreditClaimed, 100},
		"approved, and more is computed since":       {acted(ActClaimed, ActApproved), func(c *Credit, _ *CreditTerms) { c.Amount.Minor = 130 }, CreditBooked, 100},
		"approved, and less is computed since":       {acted(ActClaimed, ActApproved), func(c *Credit, _ *CreditTerms) { c.Amount.Minor = 70 }, CreditBooked, 70},
		"refused":                                    {acted(ActClaimed, ActRefused), nil, CreditRefused, 100},
		"refused, then approved":                     {acted(ActClaimed, ActRefused, ActApproved), nil, CreditBooked, 100},
		"the contract books it":                      {acted(), func(c *Credit, t *CreditTerms) { c.State, t.Auto = CreditBooked, true }, CreditBooked, 100},
		"the contract would book it, but it is held": {acted(), func(_ *Credit, t *CreditTerms) { t.Auto, t.Held = true, true }, CreditComputed, 100},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := owed()
			var terms CreditTerms
			if tc.change != nil {
				tc.change(&c, &terms)
			}
			computed := c.Amount.Minor
			got := c.Stand(tc.of, terms)
			if got.State != tc.state || got.Amount.Minor != tc.minor {
				t.Errorf("%s of %d, expected %s of %d", got.State, got.Amount.Minor, tc.state, tc.minor)
			}
			if got.State == CreditBooked && got.Amount.Minor+got.Unapproved != computed {
				t.Errorf("booked %d and not approved %d are not the computed %d", got.Amount.Minor, got.Unapproved, computed)
			}
		})
	}
}

func TestACreditIsClaimedByOneAndSettledByAnother(t *testing.T) {
	for name, tc := range map[string]struct {
		of   CreditCase
		held bool
		act  Act
		code Code
		says string
	}{
		"the tenant claims":                        {acted(), false, act(ActClaimed, by("tom"), side(SideTenant)), "", ""},
		"a claim of what was claimed":              {acted(ActClaimed), false, act(ActClaimed, by("tom")), CodeRefused, "it is claimed"},
		"who claimed it approves":                  {acted(ActClaimed), false, act(ActApproved), CodeRefused, "somebody else"},
		"another approves":                         {acted(ActClaimed), false, act(ActApproved, by("bob")), "", ""},
		"an approval without a claim":              {acted(), false, act(ActApproved, by("bob")), "", ""},
		"who entered the downtime approves":        {acted(), false, act(ActApproved, by("dan")), CodeRefused, "somebody else"},
		"who entered the downtime refuses":         {acted(), false, act(ActRefused, by("dan")), CodeRefused, "somebody else"},
		"an approval of what is held":              {acted(ActClaimed), true, act(ActApproved, by("bob")), CodeRefused, "not decided"},
		"a refusal without a reason":               {acted(ActClaimed), false, act(ActRefused, by("bob"), without), CodeInvalid, "note"},
		"another refuses":                          {acted(ActClaimed), false, act(ActRefused, by("bob")), "", ""},
		"who refused it approves":                  {acted(ActRefused), false, act(ActApproved), CodeRefused, "somebody else"},
		"a refusal of what is booked":              {acted(ActApproved), false, act(ActRefused, by("bob")), CodeRefused, "it is booked"},
		"an approval of what is booked as a whole": {acted(ActApproved), false, act(ActApproved, by("bob")), CodeRefused, "it is booked"},
		"an act that does not exist":               {acted(), false, act(ActDecided), CodeInvalid, ActDecided},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := owed()
			c = c.Stand(tc.of, CreditTerms{Held: tc.held})
			got, err := c.Do(tc.of, tc.act, []string{"dan"})
			if CodeOf(err) != tc.code || tc.code != "" && !strings.Contains(err.Error(), tc.says) {
				t.Fatalf("error %v, expected %q about %q", err, tc.code, tc.says)
			}
			if tc.code == "" && len(got.Acts) != len(tc.of.Acts)+1 {
				t.Errorf("acts: %+v", got.Acts)
			}
			if tc.code == "" && tc.act.Kind == ActApproved && (got.Acts[len(got.Acts)-1].Amount == nil || got.Acts[len(got.Acts)-1].Amount.Minor != 100) {
				t.Errorf("the approval covers %v", got.Acts[len(got.Acts)-1].Amount)
			}
		})
	}
	early, of := owed()
	early.Provisional = true
	if _, err := early.Stand(of, CreditTerms{}).Do(of, act(ActClaimed), nil); CodeOf(err) != CodeRefused || !strings.Contains(err.Error(), "not final") {
		t.Errorf("a claim in the month: %v", err)
	}
	late, of := owed()
	if _, err := late.Stand(of, CreditTerms{Until: 5, Now: 6}).Do(of, act(ActClaimed), nil); CodeOf(err) != CodeRefused || !strings.Contains(err.Error(), "could be claimed until") {
		t.Errorf("a late claim: %v", err)
	}
}

func TestNoOrderOfActsBooksMoreThanIsComputedOrApproved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, of := owed()
		var most int64 // the last approval
		for i := range rapid.IntRange(1, 12).Draw(t, "acts") {
			c, _ := owed()
			c.Amount.Minor = rapid.Int64Range(0, 500).Draw(t, "computed")
			terms := CreditTerms{Held: rapid.Bool().Draw(t, "held"), Until: 6, Now: Millis(i)}
			stands := c.Stand(of, terms)
			if stands.State == CreditBooked && (stands.Amount.Minor > c.Amount.Minor || stands.Amount.Minor > most || terms.Held) {
				t.Fatalf("%d is booked of %d computed and %d approved, held %t", stands.Amount.Minor, c.Amount.Minor, most, terms.Held)
			}
			a := Act{At: Millis(i + 1), By: rapid.SampledFrom([]string{"ann", "bob", "cid"}).Draw(t, "by"),
				Kind: rapid.SampledFrom([]string{ActClaimed, ActApproved, ActRefused}).Draw(t, "kind"), Note: "n"}
			next, err := stands.Do(of, a, nil)
			if err != nil {
				continue
			}
			if of = next; a.Kind == ActApproved {
				most = c.Amount.Minor
			}
		}
	})
}

func TestTheTimeToClaimEndsDaysAfterTheMonthInTheContractsZone(t *testing.T) {
	c := Contract{TimeZone: "Europe/Berlin", Credits: &Credits{ClaimDays: 30}}
	october, err := ParseMonth("2026-10")
	if err != nil {
		t.Fatal(err)
	}
	month, err := october.Span(c.TimeZone)
	if err != nil {
		t.Fatal(err)
	}
	// The month ends at midnight of winter time; thirty days on it is midnight there again.
	if until, err := c.ClaimUntil(month); err != nil || until.String() != "2026-11-30T23:00:00Z" {
		t.Errorf("%s, %v", until, err)
	}
	february, _ := ParseMonth("2026-02")
	if month, err = february.Span(c.TimeZone); err != nil {
		t.Fatal(err)
	}
	// Summer time begins in between: the last day still ends at its own midnight.
	if until, err := c.ClaimUntil(month); err != nil || until.String() != "2026-03-30T22:00:00Z" {
		t.Errorf("%s, %v", until, err)
	}
	c.Credits.ClaimDays = 0
	if until, err := c.ClaimUntil(month); err != nil || until != 0 {
		t.Errorf("without a date: %s, %v", until, err)
	}
}
