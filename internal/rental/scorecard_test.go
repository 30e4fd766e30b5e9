package rental

import (
	"testing"
	"time"
)

// scored is a provider's May with two leases: one kept, one not proven, and a downtime of each cause.
func scored(t *testing.T) ScoreInput {
	t.Helper()
	may, err := MonthSpan("UTC", 2026, time.May)
	if err != nil {
		t.Fatal(err)
	}
	contract := withTiers(t, hourly(t, "10"))
	contract.SKU = "h100"
	contract.Plan.Prices = append(contract.Plan.Prices, PriceVersion{From: may.Start + 1000, Price: dec(t, "11")})
	verdict := func(o Outcome, up, down, unknown int64) *Verdict {
		whole := up + down + unknown
		return &Verdict{Outcome: o, Low: Bound{up, whole}, High: Bound{up + unknown, whole}, Coverage: Bound{up + down, whole}}
	}
	lost := func(id string, from, minutes int64, cause string) Downtime {
		start := may.Start + Millis(from*60_000)
		return Downtime{ID: id, UUIDs: []string{"A"}, Span: Span{Start: start, End: start + Millis(minutes*60_000)}, Cause: cause, ApprovedBy: "anna"}
	}
	waits := lost("D3", 900, 5, CauseUndetermined)
	waits.ApprovedBy = ""
	rejected := lost("D5", 2000, 50, CauseProvider)
	rejected.RejectedBy = "anna"
	swap := Assignment{Lease: "L-1", UUID: "B", Span: Span{Start: may.Start + 5_000_000, End: Forever}, Reason: ReasonRMA}
	page := func(id string, at, acked Millis, drill bool) Incident {
		return Incident{ID: id, Severity: Page, Provider: "north", Tenants: []string{"acme"}, Drill: drill, DetectedAt: may.Start + at, OpenedAt: may.Start + at, AckedAt: acked}
	}
	return ScoreInput{
		Provider: "north", Period: may, MadeAt: may.End + 1000,
		Leases: []ScoredLease{
			{Lease: Lease{ID: "L-2", Contract: "c"}, Contract: contract, Period: may, Verdict: verdict(NotProven, 900, 0, 100)},
			{Lease: Lease{ID: "L-1", Contract: "c"}, Contract: contract, Period: may, Verdict: verdict(Kept, 990, 10, 0),
				Downtimes:   []Downtime{lost("D1", 0, 10, CauseProvider), lost("D2", 100, 30, CauseProvider), waits, lost("D4", 1500, 60, CauseTenant), rejected},
				Credits:     []Credit{{Amount: Amount{"CNY", 500}, State: CreditBooked}, {Amount: Amount{"CNY", 100}, State: CreditClaimable}},
				Assignments: []Assignment{{Lease: "L-1", UUID: "A", Span: Span{Start: may.Start, End: swap.Span.Start}, Reason: "start"}, swap}},
			{Lease: Lease{ID: "L-3", Contract: "c"}, Contract: contract, Period: may},
		},
		Incidents: []Incident{
			page("INC-1", 1000, may.Start+61_000, false), page("INC-2", 2000, 0, false), page("INC-3", 3000, may.Start+600_000, true),
			{ID: "INC-4", Severity: Ticket, Provider: "north", OpenedAt: may.Start}, {ID: "INC-5", Severity: Page, Provider: "other", OpenedAt: may.Start},
		},
		Hardware: map[string]string{"A": "h100"},
	}
}

func figureOf(t *testing.T, card Scorecard, name string) ScoreFigure {
	t.Helper()
	for _, f := range card.Figures {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no figure %s", name)
	return ScoreFigure{}
}

func TestAScorecardCountsWhatWasMeasuredAndNeverNotProvenAsKept(t *testing.T) {
	card := ScorecardOf(scored(t))
	counts := map[string][2]int64{ // -1: no second number
		ScoreKept: {1, 2}, ScoreBreached: {0, 2}, ScoreNotProven: {1, 2}, ScoreDowntimes: {3, -1}, ScoreUndecided: {1, -1}, ScoreAnswered: {1, 2},
		ScoreHardware: {1, 1}, ScoreReplaced: {1, 2}, ScorePrices: {1, -1},
	}
	for name, want := range counts {
		f := figureOf(t, card, name)
		if !f.Measured || f.Count == nil || *f.Count != want[0] || (f.Of == nil) != (want[1] < 0) || f.Of != nil && *f.Of != want[1] {
			t.Errorf("%s: %+v, expected %v", name, f, want)
		}
	}
	lengths := map[string]int64{ScoreDowntime: 45 * 60_000, ScoreRepair: 10 * 60_000, ScoreRepairMax: 30 * 60_000, ScoreResponse: 60_000}
	for name, want := range lengths {
		if f := figureOf(t, card, name); f.MS == nil || *f.MS != want {
			t.Errorf("%s: %+v, expected %d ms", name, f, want)
		}
	}
	if f := figureOf(t, card, ScoreAvailability); *f.Share != (Bound{1890, 2000}) || *f.High != (Bound{1990, 2000}) || *f.Coverage != (Bound{1900, 2000}) {
		t.Errorf("availability: %+v", f)
	}
	if f := figureOf(t, card, ScoreCredits); len(f.Amounts) != 1 || f.Amounts[0] != (Amount{"CNY", 600}) {
		t.Errorf("credits: %+v", f)
	}
	if f := figureOf(t, card, ScoreBooked); len(f.Amounts) != 1 || f.Amounts[0] != (Amount{"CNY", 500}) {
		t.Errorf("booked: %+v", f)
	}
	if f := figureOf(t, card, ScoreKept); f.CoverageOf != CoverLeases || *f.Coverage != (Bound{2, 3}) {
		t.Errorf("the lease that nobody judged must be seen: %+v", f)
	}
	if f := figureOf(t, card, ScoreHardware); *f.Coverage != (Bound{1, 2}) {
		t.Errorf("the card that the inventory does not know must be seen: %+v", f)
	}
}

func TestAScorecardOfNothingSaysNotMeasured(t *testing.T) {
	in := scored(t)
	in.Leases, in.Incidents = nil, nil
	for _, f := range ScorecardOf(in).Figures {
		if f.Measured || f.Count != nil || f.MS != nil || f.Share != nil || f.Amounts != nil || f.Source != "" {
			t.Errorf("%s was measured by nothing: %+v", f.Name, f)
		}
	}
	in = scored(t)
	for i := range in.Leases {
		in.Leases[i].Verdict, in.Leases[i].Downtimes = nil, nil
	}
	card := ScorecardOf(in)
	for _, name := range []string{ScoreAvailability, ScoreKept, ScoreDowntimes, ScoreNetwork, ScorePerformance, ScoreRecovery} {
		if f := figureOf(t, card, name); f.Measured {
			t.Errorf("%s: nobody looked, found %+v", name, f)
		}
	}
}

func TestEvidenceOverThirtyDaysOldWarns(t *testing.T) {
	in := scored(t)
	in.MadeAt = in.Period.End + ScoreStale
	if f := figureOf(t, ScorecardOf(in), ScoreKept); f.Stale {
		t.Errorf("exactly 30 days: %+v", f)
	}
	in.MadeAt++
	for _, f := range ScorecardOf(in).Figures {
		if f.Stale != f.Measured {
			t.Errorf("%s: %+v, expected a warning where it is measured", f.Name, f)
		}
	}
}

func TestATenantsScorecardHoldsItsOwnIncidents(t *testing.T) {
	in := scored(t)
	in.Tenant = "globex"
	if f := figureOf(t, ScorecardOf(in), ScoreAnswered); f.Measured {
		t.Errorf("incidents of another tenant were counted: %+v", f)
	}
}
