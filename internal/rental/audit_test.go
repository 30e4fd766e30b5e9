package rental

import (
	"strings"
	"testing"
	"time"
)

// What an audit of the arithmetic found, each as the case that showed it.

func TestALeaseThatEndsInTheYear9999IsChargedByTheMonthAsAnyOther(t *testing.T) {
	when := span(t, "2026-05-01T00:00:00Z", "9999-12-31T23:59:59Z")
	f := facts(monthly(t, "3000"), when, 8)
	f.Contract.Plan.Prices = append(f.Contract.Plan.Prices, PriceVersion{From: ms(t, "2026-05-16T12:00:00Z"), Price: dec(t, "6200")})
	lines := charge(t, f, span(t, "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z"))
	if got := amounts(lines); len(got) != 2 || got[0] != "12000.00" || got[1] != "24800.00" {
		t.Errorf("lines = %v, want 8 x 15.5/31 x 3000 and 8 x 15.5/31 x 6200", got)
	}
	pieces, err := chargePieces(ChargeInput{Facts: f, Period: span(t, "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z")})
	if err != nil || len(pieces) > 8*33 {
		t.Errorf("%d pieces of time, %v: what lies after the period is reckoned too", len(pieces), err)
	}
}

func TestAStopAndAStartAtOneMomentAreTwoSessions(t *testing.T) {
	f := facts(minuteMode(t, RoundUp, RoundSession), span(t, "2026-05-01T00:00:00Z", "2026-05-01T01:00:00Z"), 1)
	at := func(second int) Millis { return f.Lease.Start + Millis(second)*1000 }
	f.Assignments = []Assignment{
		{Lease: "L", UUID: "A", Span: Span{at(0), at(61)}, Reason: "scheduler job-1"},
		{Lease: "L", UUID: "A", Span: Span{at(61), at(122)}, Reason: "scheduler job-2"},
		{Lease: "L", UUID: "B", Span: Span{at(122), at(183)}, Reason: ReasonRMA},
	}
	// 61 s round up to 2 min; 61 s and the replacement's 61 s are one session of 3 min.
	if lines := charge(t, f, f.Lease.Span()); lines[0].Quantity != "5" {
		t.Errorf("quantity = %s, want 5", lines[0].Quantity)
	}
}

func TestDowntimeThatAPersonLaysToTheTenantIsNoDowntimeOfTheVerdict(t *testing.T) {
	when := span(t, "2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z")
	for _, tc := range []struct {
		name, cause, by string
		down, excluded  int64
	}{
		{"as measured", CauseUndetermined, ApprovalAutomatic, 600_000, 0},
		{"the tenant's, by a person's word", CauseTenant, "anna", 0, 600_000},
		{"the tenant's, as proposed", CauseTenant, "", 600_000, 0},
	} {
		f := facts(withTarget(t, hourly(t, "10"), "99.5"), when, 1)
		f.Downtimes = []Downtime{{ID: AutomaticPrefix + "1", Lease: "L", UUIDs: []string{"A"}, Cause: tc.cause, Reason: "driver_down", ApprovedBy: tc.by,
			Span: Span{Start: when.Start + 600_000, End: Forever}}}
		v := judge(t, JudgeInput{Facts: f, Period: when, Timelines: map[string][]Interval{
			"A": upDown(when.Start, "ok", 10*time.Minute, "driver_down", 10*time.Minute, "ok", 40*time.Minute)}})
		if v.DownMS != tc.down || v.ExcludedMS != tc.excluded || v.UpMS != 3_600_000-tc.down-tc.excluded {
			t.Errorf("%s: up %d, down %d, excluded %d ms", tc.name, v.UpMS, v.DownMS, v.ExcludedMS)
		}
	}
}

func TestACardIsNeverPaidBackMoreThanWasChargedForIt(t *testing.T) {
	for _, tc := range []struct{ scope, amount string }{{UnitGPU, "2880.00"}, {UnitLease, "24480.00"}} {
		c := withTiers(t, hourly(t, "10"))
		c.Availability.Scope, c.BillWhileDown = ScopeGPU, no()
		c.Credits.Scope, c.Credits.Base, c.Credits.CapPercent = tc.scope, BaseGross, dec(t, "100")
		month := span(t, "2026-04-01T00:00:00Z", "2026-05-01T00:00:00Z")
		f := facts(c, month, 4)
		down := Span{Start: month.Start, End: month.Start + 432*3_600_000} // 60 % of the month
		f.Downtimes = []Downtime{{ID: AutomaticPrefix + "1", Lease: "L", UUIDs: []string{"A"}, Span: down, Cause: CauseProvider, Reason: "lost", ApprovedBy: "anna"}}
		in := JudgeInput{Facts: f, Period: month, Timelines: map[string][]Interval{"A": upDown(month.Start, "lost", 432*time.Hour, "ok", 288*time.Hour)}}
		for _, uuid := range []string{"B", "C", "D"} {
			in.Timelines[uuid] = upDown(month.Start, "ok", 720*time.Hour)
		}
		charged := ChargeInput{Facts: f, Period: month}
		net, err := Charge(charged)
		if err != nil {
			t.Fatal(err)
		}
		gross, err := Charge(charged.Gross())
		if err != nil {
			t.Fatal(err)
		}
		credit, err := CreditFor(CreditInput{Facts: f, Verdict: judge(t, in), Gross: gross, Net: net, Approved: true})
		if err != nil {
			t.Fatal(err)
		}
		// 100 % of the card's 7,200 would be 4,320 more than the 2,880 that were charged for it;
		// the lease by its worst card gets all that was charged: 28,800 - 4,320.
		if credit.Amount.Decimal() != tc.amount || credit.Percent.String() != "100" {
			t.Errorf("by %s: %+v, want %s", tc.scope, credit, tc.amount)
		}
		if tc.scope == UnitGPU && !strings.Contains(credit.Arithmetic, "no part gets back more than was charged for it, so 2,880.00 CNY") {
			t.Errorf("arithmetic: %s", credit.Arithmetic)
		}
	}
}

func TestALeaseGetsTheCreditThatItsCardsProve(t *testing.T) {
	c := withTiers(t, hourly(t, "10"))
	c.Availability.Scope, c.Availability.Unknown, c.Credits.Scope = ScopeGPU, "excluded", UnitLease
	f, month := april(t, c)
	two := facts(c, month, 2)
	f.Lease, f.Assignments = two.Lease, two.Assignments
	in := JudgeInput{Facts: f, Period: month, Timelines: map[string][]Interval{
		// A is the worse of what is known (down 5 of 20 h), but proves only 99.31 %; B proves 94.44 %.
		"A": upDown(month.Start, "lost", 5*time.Hour, "ok", 15*time.Hour, "unknown", 700*time.Hour),
		"B": upDown(month.Start, "lost", 40*time.Hour, "ok", 680*time.Hour),
	}}
	if credit := creditOf(t, f, judge(t, in)); credit.Percent.String() != "100" {
		t.Errorf("credit of %s %%, want 100: card B was down for 5.56 %% of the month", credit.Percent)
	}
}
