package rental

import (
	"testing"
)

func TestWhoMayDecideOnAChange(t *testing.T) {
	const now, week = Millis(1_000_000), Millis(7 * 24 * 3_600_000)
	waiting := Pending{ID: "P-1", EnteredBy: "ada", EnteredAt: now, ExpiresAt: now + week, Topics: []string{ApprovePrices}}
	mass, both := waiting, waiting
	mass.Topics, both.Topics = []string{ApproveMass}, []string{ApprovePrices, ApproveMass}
	decided := waiting
	decided.Decision, decided.DecidedBy, decided.DecidedAt = DecisionApproved, "bob", now
	for name, c := range map[string]struct {
		p       Pending
		by      Principal
		approve bool
		at      Millis
		want    Code
	}{
		"another person approves":                             {waiting, Principal{Name: "bob"}, true, now, ""},
		"another person rejects":                              {waiting, Principal{Name: "bob"}, false, now, ""},
		"who entered it may not approve it":                   {waiting, Principal{Name: "ada"}, true, now, CodeRefused},
		"who entered it may take it back":                     {waiting, Principal{Name: "ada"}, false, now, ""},
		"a program approves nothing":                          {waiting, Principal{Name: "ci", Service: true}, true, now, CodeRefused},
		"a program rejects nothing":                           {waiting, Principal{Name: "ci", Service: true}, false, now, CodeRefused},
		"nobody approves nothing":                             {waiting, Principal{}, true, now, CodeInvalid},
		"in the last millisecond it still waits":              {waiting, Principal{Name: "bob"}, true, now + week - 1, ""},
		"after its time it has expired":                       {waiting, Principal{Name: "bob"}, true, now + week, CodeRefused},
		"a decision is taken once":                            {decided, Principal{Name: "eve"}, false, now, CodeConflict},
		"who entered a mass change may confirm it":            {mass, Principal{Name: "ada"}, true, now, ""},
		"a program does not confirm its own mass change":      {mass, Principal{Name: "ada", Service: true}, true, now, CodeRefused},
		"a mass change with prices needs the other after all": {both, Principal{Name: "ada"}, true, now, CodeRefused},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.p.Decide(c.by, c.approve, c.at); CodeOf(err) != c.want {
				t.Errorf("%v, expected code %q", err, c.want)
			}
		})
	}
}

func TestWhichChangeOfALeaseIsBackdated(t *testing.T) {
	var now Millis = 1_779_278_400_000 // 2026-05-20T12:00:00Z
	day := Millis(24 * 3_600_000)
	lease := func(start, end Millis, stops ...Span) Lease {
		return Lease{ID: "L", Start: start, End: end, Stops: stops}
	}
	running := lease(now-10*day, Forever)
	for name, c := range map[string]struct {
		old  *Lease
		new  Lease
		want bool
	}{
		"a new one that begins tomorrow":              {nil, lease(now+day, Forever), false},
		"a new one that began last night":             {nil, lease(now-day+1, Forever), false},
		"a new one that began the day before":         {nil, lease(now-2*day, Forever), true},
		"an end that is to come":                      {&running, lease(running.Start, now+day), false},
		"an end of last night":                        {&running, lease(running.Start, now-day/2), false},
		"an end of last week":                         {&running, lease(running.Start, now-7*day), true},
		"the same again":                              {&running, running, false},
		"a start that moves back":                     {&running, lease(running.Start-day, Forever), true},
		"a start that moves on after it has begun":    {&running, lease(now, Forever), true},
		"a stop of last night":                        {&running, lease(running.Start, Forever, Span{now - day/2, now}), false},
		"a stop of last week":                         {&running, lease(running.Start, Forever, Span{now - 7*day, now - 6*day}), true},
		"an end that was and moves from past to past": {ptrTo(lease(now-10*day, now-5*day)), lease(now-10*day, now-4*day), true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Backdates(c.old, c.new, now); got != c.want {
				t.Errorf("found %t, expected %t", got, c.want)
			}
		})
	}
}

func TestWhatIsAMassChange(t *testing.T) {
	p := ApprovalPolicy{MassPercent: 10}
	for _, c := range []struct {
		moved, total int
		want         bool
	}{{1, 2, false}, {2, 20, false}, {3, 20, true}, {0, 0, false}, {800, 8000, false}, {801, 8000, true}} {
		if got := p.Mass(c.moved, c.total); got != c.want {
			t.Errorf("%d of %d: found %t, expected %t", c.moved, c.total, got, c.want)
		}
	}
	if (ApprovalPolicy{}).Mass(100, 100) {
		t.Error("a share of 0 holds a change, expected none to be held")
	}
}

func ptrTo[T any](v T) *T { return &v }
