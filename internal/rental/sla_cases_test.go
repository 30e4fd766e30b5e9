package rental

import (
	"strings"
	"testing"
	"time"
)

// april is a 30-day month and a lease of one card that fills it.
func april(t testing.TB, c Contract) (Facts, Span) {
	month := span(t, "2026-04-01T00:00:00Z", "2026-05-01T00:00:00Z")
	return facts(c, month, 1), month
}

// downFor is a month with one downtime of the length, on its second day.
func downFor(month Span, length time.Duration) []Interval {
	day := 24 * time.Hour
	rest := time.Duration(month.Duration())*time.Millisecond - day - length
	return upDown(month.Start, "ok", day, "lost", length, "ok", rest)
}

func TestC51AMinuteDecidesAndThePercentageIsFloored(t *testing.T) {
	for _, tc := range []struct {
		down    time.Duration
		outcome Outcome
		percent string
	}{
		{216 * time.Minute, Kept, "99.5000"},
		{217 * time.Minute, Breached, "99.4976"},
		{216*time.Minute + time.Millisecond, Breached, "99.4999"},
	} {
		f, month := april(t, withTarget(t, hourly(t, "10"), "99.5"))
		v := judge(t, JudgeInput{Facts: f, Period: month, Timelines: map[string][]Interval{"A": downFor(month, tc.down)}})
		if v.Outcome != tc.outcome || v.Low.Percent(v.Target) != tc.percent || v.High != v.Low {
			t.Errorf("%s down: %s at %s, want %s at %s", tc.down, v.Outcome, v.Low.Percent(v.Target), tc.outcome, tc.percent)
		}
	}
}

func withTiers(t testing.TB, c Contract) Contract {
	c = withTarget(t, c, "99.5")
	c.Credits = &Credits{Base: BaseGross, Scope: UnitLease, CapPercent: dec(t, "100"), Tiers: []CreditTier{
		{Under: dec(t, "99.5"), Percent: dec(t, "10")},
		{Under: dec(t, "99"), Percent: dec(t, "30")},
		{Under: dec(t, "95"), Percent: dec(t, "100")},
	}}
	c.AutoCredit = true
	return c
}

func creditOf(t testing.TB, f Facts, v Verdict) Credit {
	t.Helper()
	in := ChargeInput{Facts: f, Period: v.Period}
	gross, err := Charge(in.Gross())
	if err != nil {
		t.Fatal(err)
	}
	net, err := Charge(in)
	if err != nil {
		t.Fatal(err)
	}
	credit, err := CreditFor(CreditInput{Facts: f, Verdict: v, Gross: gross, Net: net, Approved: true})
	if err != nil {
		t.Fatal(err)
	}
	return credit
}

func TestC52TiersHoldStrictlyUnderTheirBound(t *testing.T) {
	for _, tc := range []struct {
		minutes int
		percent string
		amount  string
	}{
		{216, "0", "0.00"}, {217, "10", "720.00"}, {432, "10", "720.00"}, {433, "30", "2160.00"},
		{2160, "30", "2160.00"}, {2161, "100", "7200.00"},
	} {
		f, month := april(t, withTiers(t, hourly(t, "10")))
		v := judge(t, JudgeInput{Facts: f, Period: month, Timelines: map[string][]Interval{"A": downFor(month, time.Duration(tc.minutes)*time.Minute)}})
		credit := creditOf(t, f, v)
		if credit.Percent.String() != tc.percent || credit.Amount.Decimal() != tc.amount {
			t.Errorf("%d min down: %s %% = %s, want %s %% = %s", tc.minutes, credit.Percent, credit.Amount.Decimal(), tc.percent, tc.amount)
		}
	}
}

// c27 is the RMA case: A dies at 12:10, B is attached at 13:00. The ledger may know of the gap
// as no assignment, or as downtime of a card that stayed assigned until it was swapped.
func c27(t testing.TB, gap bool) (Facts, map[string][]Interval) {
	c := withTarget(t, hourly(t, "10"), "99.5")
	c.BillWhileDown = no()
	f := facts(c, span(t, "2026-05-01T10:00:00Z", "2026-05-01T16:00:00Z"), 1)
	died, swapped := ms(t, "2026-05-01T12:10:00Z"), ms(t, "2026-05-01T13:00:00Z")
	until := swapped
	if gap {
		until = died
	} else {
		f.Downtimes = []Downtime{{ID: "D-1", Lease: "L", UUIDs: []string{"A"}, Span: Span{Start: died, End: swapped},
			Cause: CauseProvider, Reason: "lost", Witnesses: []string{"gpu_state"}, ApprovedBy: "automatic"}}
	}
	f.Assignments = []Assignment{
		{Lease: "L", UUID: "A", Span: Span{Start: f.Lease.Start, End: until}, Reason: "start"},
		{Lease: "L", UUID: "B", Span: Span{Start: swapped, End: f.Lease.End}, Reason: ReasonRMA},
	}
	return f, map[string][]Interval{
		"A": upDown(f.Lease.Start, "ok", 130*time.Minute, "lost", 50*time.Minute),
		"B": upDown(swapped, "ok", 3*time.Hour),
	}
}

func TestC27ASwappedCardIsBilledAndJudgedAsOneLease(t *testing.T) {
	for name, gap := range map[string]bool{"the dead card stayed assigned": false, "nothing was assigned": true} {
		t.Run(name, func(t *testing.T) {
			f, timelines := c27(t, gap)
			lines := charge(t, f, f.Lease.Span())
			if len(lines) != 1 || lines[0].Amount.Decimal() != "51.67" || lines[0].QuantityMS != 310*60_000 {
				t.Errorf("lines = %+v, want 310 min for 51.67", lines)
			}
			if lines[0].PerGPU["A"]+lines[0].PerGPU["B"] != 5167 {
				t.Errorf("the cards' parts %v do not sum to the line", lines[0].PerGPU)
			}
			for _, scope := range []string{ScopeGPU, ScopeAll, ScopeWeighted} {
				f.Contract.Availability.Scope = scope
				v := judge(t, JudgeInput{Facts: f, Period: span(t, "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z"), Timelines: timelines})
				if v.Low.Percent(v.Target) != "86.1111" || v.UpMS != 310*60_000 || v.PeriodMS != 360*60_000 || v.Outcome != Breached {
					t.Errorf("%s: %s", scope, v.Arithmetic)
				}
			}
			paid := f
			paid.Contract.BillWhileDown = yes()
			if got := total(t, "CNY", charge(t, paid, f.Lease.Span())); got != "60.00" {
				t.Errorf("billed while down: %s, want 60.00", got)
			}
		})
	}
}

func TestC27UtilisationIsARatioOfSums(t *testing.T) {
	u := SumUse([]UsageRecord{
		{UUID: "A", AllocatedMS: 130 * 60_000, MeasuredMS: 130 * 60_000, UsedMicros: 117 * 60_000_000},
		{UUID: "B", AllocatedMS: 180 * 60_000, MeasuredMS: 180 * 60_000, UsedMicros: 108 * 60_000_000},
	})
	if got := u.Utilisation().RoundedPercent(2); got != "72.58" {
		t.Errorf("utilisation = %s, want 72.58", got)
	}
}

func TestC33EightFullCardsAreFullyUsed(t *testing.T) {
	var records []UsageRecord
	for i := range 8 {
		records = append(records, UsageRecord{UUID: card(i), AllocatedMS: 3_600_000, MeasuredMS: 3_600_000, BusyMS: 3_600_000, UsedMicros: 3_600_000_000})
	}
	if got := SumUse(records).Utilisation().RoundedPercent(1); got != "100.0" {
		t.Errorf("utilisation = %s, want 100.0", got)
	}
}

func TestC34IdleCardsCostMoney(t *testing.T) {
	when := span(t, "2026-05-01T00:00:00Z", "2026-05-01T10:00:00Z")
	lines := charge(t, facts(hourly(t, "10"), when, 8), when)
	var records []UsageRecord
	for i := range 8 {
		r := UsageRecord{UUID: card(i), Span: when, AllocatedMS: when.Duration(), MeasuredMS: when.Duration()}
		if i < 4 {
			r.BusyMS, r.UsedMicros = when.Duration(), when.Duration()*1000
		}
		records = append(records, r)
	}
	u := SumUse(records)
	idle, err := ShareOf(lines[0].Amount, u.IdleMS(), lines[0].QuantityMS)
	if err != nil {
		t.Fatal(err)
	}
	if lines[0].Amount.Decimal() != "800.00" || idle.Decimal() != "400.00" || u.Utilisation().RoundedPercent(1) != "50.0" {
		t.Errorf("cost %s, idle %s, use %s", lines[0].Amount, idle, u.Utilisation().RoundedPercent(1))
	}
}

func TestC35AUsefulHourCostsMoreThanAnHour(t *testing.T) {
	fleet := Amount{Currency: "CNY", Minor: 192_000}
	for _, tc := range []struct {
		percent      int64
		useful, hour string
	}{{45, "864.00", "22.22"}, {78, "1497.60", "12.82"}} {
		use := Bound{Numerator: tc.percent, Denominator: 100}
		useful, err := UsefulCost(fleet, use)
		if err != nil {
			t.Fatal(err)
		}
		hour, err := PerUsefulHour("CNY", dec(t, "10"), use)
		if err != nil {
			t.Fatal(err)
		}
		if useful.Decimal() != tc.useful || hour.Decimal() != tc.hour {
			t.Errorf("at %d %%: %s and %s, want %s and %s", tc.percent, useful.Decimal(), hour.Decimal(), tc.useful, tc.hour)
		}
	}
}

func TestC54AnnouncedMaintenanceIsNoDowntimeAndTheContractSaysWhetherItIsBilled(t *testing.T) {
	for _, tc := range []struct {
		name   string
		notice time.Duration
		billed *bool
		total  string
		down   int64
	}{
		{"billed, with notice", 48 * time.Hour, yes(), "4320.00", 0},
		{"not billed, with notice", 48 * time.Hour, no(), "4314.00", 0},
		{"announced too late, it is downtime and billed", 47 * time.Hour, no(), "4320.00", 60},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := withTarget(t, hourly(t, "6"), "99.5")
			c.BillWhileMaintenance, c.Availability.MaintenanceNotice = tc.billed, Duration(48*time.Hour)
			f, month := april(t, c)
			start := ms(t, "2026-04-02T00:00:00Z")
			f.Maintenances = []Maintenance{{ID: "M", Hosts: []string{"host-0"}, Start: start, End: start + 3_600_000, Announced: start - Millis(tc.notice.Milliseconds())}}
			v := judge(t, JudgeInput{Facts: f, Period: month, Timelines: map[string][]Interval{"A": downFor(month, time.Hour)}})
			if v.DownMS != tc.down*60_000 || v.ExcludedMS != (60-tc.down)*60_000 {
				t.Errorf("%s", v.Arithmetic)
			}
			if got := total(t, "CNY", charge(t, f, month)); got != tc.total {
				t.Errorf("total = %s, want %s", got, tc.total)
			}
		})
	}
}

func TestC55TheLimitItselfPasses(t *testing.T) {
	limit := Duration(15 * time.Minute)
	if JudgeClock(0, 900_000, limit) != Kept || JudgeClock(0, 900_001, limit) != Breached {
		t.Error("15:00.000 must pass and 15:00.001 must not")
	}
}

// c57 is a lease from 10 to 11 whose samples stop at 10:20 for twenty minutes.
func c57(t testing.TB, unknown, gapState string) JudgeInput {
	c := withTarget(t, hourly(t, "10"), "99.5")
	c.Availability.Unknown, c.BillWhileDown = unknown, no()
	f := facts(c, span(t, "2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z"), 1)
	return JudgeInput{Facts: f, Period: f.Lease.Span(), Timelines: map[string][]Interval{
		"A": upDown(f.Lease.Start, "ok", 20*time.Minute, gapState, 20*time.Minute, "ok", 20*time.Minute),
	}}
}

func TestC57AnExporterGapIsUnknownAndBilled(t *testing.T) {
	in := c57(t, string(Excluded), "unknown")
	v := judge(t, in)
	if v.Outcome != NotProven || v.UnknownMS != 20*60_000 || v.DownMS != 0 || v.Low.Percent(v.Target) != "66.6666" || v.High.Percent(v.Target) != "100.0000" {
		t.Errorf("%s: %s", v.Outcome, v.Arithmetic)
	}
	if got := v.Coverage.RoundedPercent(1); got != "66.7" {
		t.Errorf("coverage = %s, want 66.7", got)
	}
	if got := total(t, "CNY", charge(t, in.Facts, in.Period)); got != "10.00" {
		t.Errorf("total = %s, want 10.00: unknown time is billed", got)
	}
	u := SumUse([]UsageRecord{{AllocatedMS: 60 * 60_000, MeasuredMS: 40 * 60_000, UsedMicros: 36 * 60_000_000}})
	if u.Utilisation().RoundedPercent(0) != "90" || u.Coverage().RoundedPercent(1) != "66.7" {
		t.Errorf("use %s, coverage %s", u.Utilisation().RoundedPercent(0), u.Coverage().RoundedPercent(1))
	}
	if v := judge(t, c57(t, string(Down), "unknown")); v.Outcome != Breached {
		t.Errorf("unknown as down: %s, want breached at the low bound", v.Outcome)
	}
}

func TestC58AHostDownByTwoWitnessesIsDowntimeAndUnbilled(t *testing.T) {
	in := c57(t, string(Excluded), "unknown")
	in.Downtimes = []Downtime{{ID: "D-9", Lease: "L", UUIDs: []string{"A"}, Span: Span{Start: in.Period.Start + 20*60_000, End: in.Period.Start + 40*60_000},
		Cause: CauseProvider, Reason: "host_down", Witnesses: []string{"icmp", "tcp"}, ApprovedBy: "anna"}}
	v := judge(t, in)
	if v.DownMS != 20*60_000 || v.Low.Percent(v.Target) != "66.6666" || v.Outcome != Breached || v.UnknownMS != 0 {
		t.Errorf("%s: %s", v.Outcome, v.Arithmetic)
	}
	lines := charge(t, in.Facts, in.Period)
	if lines[0].QuantityMS != 40*60_000 || lines[0].Amount.Decimal() != "6.67" {
		t.Errorf("lines = %+v, want 40 min for 6.67", lines)
	}
}

func TestTheArithmeticOfAVerdictCanBeRedoneWithAPencil(t *testing.T) {
	f, month := april(t, withTarget(t, hourly(t, "10"), "99.5"))
	start := month.Start + 20*24*3_600_000
	f.Maintenances = []Maintenance{{ID: "M", Leases: []string{"L"}, Start: start, End: start + 3_600_000, Announced: start - 1}}
	f.Contract.Availability.Denominator = DenominatorPeriod
	v := judge(t, JudgeInput{Facts: f, Period: month, Timelines: map[string][]Interval{"A": downFor(month, 217*time.Minute)}})
	want := "43,200 min in the period - 60 maintenance = 43,140; down 217, unknown 0: 99.4969 %, under 99.5"
	if v.Arithmetic != want {
		t.Errorf("arithmetic:\n%s\nwant:\n%s", v.Arithmetic, want)
	}
	zh := v.Explain("zh")
	if !strings.Contains(zh, "43,200") || !strings.Contains(zh, "停机 217") || !strings.Contains(zh, "99.4969 %，低于 99.5") {
		t.Errorf("Chinese arithmetic: %s", zh)
	}
}
