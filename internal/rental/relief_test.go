package rental

import (
	"math"
	"slices"
	"testing"
	"time"
)

func TestDowntimeAndMaintenanceShareTheTimeBetweenThem(t *testing.T) {
	const hour = Millis(3_600_000)
	when := span(t, "2026-05-01T00:00:00Z", "2026-05-01T10:00:00Z")
	down := func(from, to Millis, cause, by string) Downtime {
		return Downtime{Lease: "L", UUIDs: []string{"A"}, Span: Span{when.Start + from, when.Start + to}, Cause: cause, ApprovedBy: by}
	}
	window := Maintenance{Leases: []string{"L"}, Start: when.Start + 3*hour, End: when.Start + 6*hour, Announced: when.Start}
	for _, tc := range []struct {
		name          string
		down, kept    *bool
		downtimes     []Downtime
		windows       []Maintenance
		chargedByHour string
	}{
		{"approved downtime is unbilled", no(), yes(), []Downtime{down(hour, 2*hour, CauseProvider, "anna")}, nil, "9"},
		{"overlapping downtimes are unbilled once", no(), yes(), []Downtime{down(hour, 3*hour, CauseProvider, "anna"), down(2*hour, 4*hour, CauseUndetermined, "anna")}, nil, "7"},
		{"unapproved downtime is billed", no(), yes(), []Downtime{down(hour, 2*hour, CauseProvider, "")}, nil, "10"},
		{"downtime that the tenant caused is billed", no(), yes(), []Downtime{down(hour, 2*hour, CauseTenant, "anna")}, nil, "10"},
		{"a withdrawn downtime is billed", no(), yes(), []Downtime{down(hour, hour, CauseProvider, "anna")}, nil, "10"},
		{"downtime that goes on is unbilled up to the lease's end", no(), yes(), []Downtime{down(8*hour, Forever-when.Start, CauseProvider, "anna")}, nil, "8"},
		{"downtime of another card is billed", no(), yes(), []Downtime{{Lease: "L", UUIDs: []string{"Z"}, Span: when, ApprovedBy: "anna"}}, nil, "10"},
		{"a window is unbilled where the contract says so", yes(), no(), nil, []Maintenance{window}, "7"},
		{"a downtime inside a window follows the word on maintenance", no(), yes(), []Downtime{down(4*hour, 5*hour, CauseProvider, "anna")}, []Maintenance{window}, "10"},
		{"what overruns the window follows the word on downtime", no(), yes(), []Downtime{down(5*hour, 7*hour, CauseProvider, "anna")}, []Maintenance{window}, "9"},
		{"a downtime that was open before the window follows the word on downtime", yes(), no(), []Downtime{down(2*hour, 4*hour, CauseProvider, "anna")}, []Maintenance{window}, "8"},
		{"both are unbilled once where both are", no(), no(), []Downtime{down(2*hour, 4*hour, CauseProvider, "anna")}, []Maintenance{window}, "6"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := hourly(t, "1")
			c.BillWhileDown, c.BillWhileMaintenance = tc.down, tc.kept
			f := facts(c, when, 1)
			f.Downtimes, f.Maintenances = tc.downtimes, tc.windows
			if lines := charge(t, f, when); lines[0].Quantity != tc.chargedByHour {
				t.Errorf("%s h charged, want %s", lines[0].Quantity, tc.chargedByHour)
			}
		})
	}
}

func TestASessionThatGoesOnIsNotRoundedYet(t *testing.T) {
	f := facts(minuteMode(t, RoundUp, RoundSession), Span{Start: ms(t, "2026-05-01T00:00:00Z"), End: Forever}, 1)
	if lines := charge(t, f, span(t, "2026-05-01T00:00:00Z", "2026-05-01T00:00:30Z")); lines[0].Quantity != "1/2" {
		t.Errorf("quantity = %s, want 1/2: the session has not ended", lines[0].Quantity)
	}
	f.Lease.End = ms(t, "2026-05-01T00:00:30Z")
	if lines := charge(t, f, span(t, "2026-05-01T00:00:00Z", "2026-05-01T00:00:30Z")); lines[0].Quantity != "1" {
		t.Errorf("quantity = %s, want 1: it has ended", lines[0].Quantity)
	}
}

func TestRoundedTimeIsChargedWhereTheSessionEnds(t *testing.T) {
	f := facts(minuteMode(t, RoundUp, RoundSession), span(t, "2026-05-31T23:59:30Z", "2026-06-01T00:00:31Z"), 1)
	lines := charge(t, f, f.Lease.Span())
	if len(lines) != 2 || lines[0].Quantity != "1/2" || lines[1].Quantity != "3/2" {
		t.Errorf("lines = %+v, want half a minute in May and one and a half in June", lines)
	}
}

func TestACreditIsOfThePartThatTheContractNames(t *testing.T) {
	when := span(t, "2026-05-01T00:00:00Z", "2026-05-01T10:00:00Z")
	for _, tc := range []struct {
		name, judged, scope, amount string
	}{
		{"the whole lease", ScopeAll, UnitLease, "160.00"},
		{"the host whose card was down", ScopeAll, UnitInstance, "80.00"},
		{"the card that was down", ScopeAll, UnitGPU, "10.00"},
		{"each card by its own verdict", ScopeGPU, UnitGPU, "10.00"},
		{"the host of the worst card", ScopeGPU, UnitInstance, "80.00"},
		{"the lease by its worst card", ScopeGPU, UnitLease, "160.00"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := withTiers(t, hourly(t, "10"))
			c.Availability.Scope, c.Credits.Scope = tc.judged, tc.scope
			in := JudgeInput{Facts: facts(c, when, 16), Period: when, Timelines: map[string][]Interval{}}
			for i := range 16 {
				in.Timelines[card(i)] = upDown(when.Start, "ok", 10*time.Hour)
			}
			in.Timelines["A"] = upDown(when.Start, "lost", 4*time.Minute, "ok", 10*time.Hour)
			if credit := creditOf(t, in.Facts, judge(t, in)); credit.Amount.Decimal() != tc.amount || credit.State != CreditBooked {
				t.Errorf("credit %+v, want %s", credit, tc.amount)
			}
		})
	}
}

func TestACreditIsForWhatIsProven(t *testing.T) {
	for unknown, percent := range map[string]string{"down": "100", "excluded": "10"} {
		c := withTiers(t, hourly(t, "10"))
		c.Availability.Unknown = unknown
		f, month := april(t, c)
		hour := time.Hour
		v := judge(t, JudgeInput{Facts: f, Period: month, Timelines: map[string][]Interval{
			"A": upDown(month.Start, "lost", 5*hour, "unknown", 100*hour, "ok", 700*hour),
		}})
		if credit := creditOf(t, f, v); credit.Percent.String() != percent {
			t.Errorf("unknown %s: %s %%, want %s: %s", unknown, credit.Percent, percent, v.Arithmetic)
		}
	}
}

func TestTheCapHoldsUnbilledTimeAndCreditTogether(t *testing.T) {
	c := withTiers(t, hourly(t, "10"))
	c.BillWhileDown, c.Credits.CapPercent = no(), dec(t, "50")
	f, month := april(t, c)
	down := Span{Start: month.Start, End: month.Start + Millis(month.Duration()/4)}
	f.Downtimes = []Downtime{{ID: "D", Lease: "L", UUIDs: []string{"A"}, Span: down, Cause: CauseProvider, Reason: "lost", ApprovedBy: "anna"}}
	v := judge(t, JudgeInput{Facts: f, Period: month, Timelines: map[string][]Interval{"A": upDown(month.Start, "ok", 720*time.Hour)}})
	credit := creditOf(t, f, v)
	if credit.Percent.String() != "100" || credit.Amount.Decimal() != "1800.00" {
		t.Errorf("credit %+v, want the 1,800 that 1,800 of unbilled time leave of half of 7,200", credit)
	}
}

func TestAComputedCreditIsNotBookedByItself(t *testing.T) {
	for name, change := range map[string]func(*CreditInput){
		"without auto_credit": func(in *CreditInput) { in.Contract.AutoCredit = false },
		"without approval":    func(in *CreditInput) { in.Approved = false },
	} {
		f, month := april(t, withTiers(t, hourly(t, "10")))
		v := judge(t, JudgeInput{Facts: f, Period: month, Timelines: map[string][]Interval{"A": downFor(month, 300*time.Minute)}})
		lines := charge(t, f, month)
		in := CreditInput{Facts: f, Verdict: v, Gross: lines, Net: lines, Approved: true}
		change(&in)
		credit, err := CreditFor(in)
		if err != nil || credit.State != CreditComputed || credit.Amount.Minor != 72_000 {
			t.Errorf("%s: %+v, %v", name, credit, err)
		}
	}
}

func TestBurnCountsOutagesOfAtLeastTheMinimum(t *testing.T) {
	c := withTarget(t, hourly(t, "10"), "99.5")
	in := JudgeInput{Facts: facts(c, span(t, "2026-05-01T08:00:00Z", "2026-05-01T16:00:00Z"), 1)}
	now := in.Lease.Start + 3_600_000
	window := []Span{{now - 600_000, now}, {now - 3_600_000, now}}
	for _, tc := range []struct {
		name  string
		parts []any
		rates []int
	}{
		{"a minute counts", []any{"ok", 55 * time.Minute, "lost", time.Minute, "ok", time.Hour}, []int{20, 3}},
		{"59 s do not", []any{"ok", 55 * time.Minute, "lost", 59 * time.Second, "ok", time.Hour}, []int{0, 0}},
		{"an outage that began before the window counts by its whole length", []any{"ok", 49*time.Minute + 30*time.Second, "lost", time.Minute, "ok", time.Hour}, []int{10, 3}},
		{"unknown time is in neither sum", []any{"ok", 55 * time.Minute, "lost", time.Minute, "unknown", time.Hour}, []int{33, 4}},
	} {
		in.Timelines = map[string][]Interval{"A": upDown(in.Lease.Start, tc.parts...)}
		var got []int
		for _, b := range Burn(in, window, 60_000, 60_000) {
			got = append(got, int(math.Round(b.Rate)))
		}
		if !slices.Equal(got, tc.rates) {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.rates)
		}
	}
	in.Timelines = nil
	if b := Burn(in, window, 60_000, 60_000); b[0].Known {
		t.Errorf("nothing was measured, and yet %+v", b)
	}
}
