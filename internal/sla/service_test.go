package sla_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/billing"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/sla"
)

// The rooms meet in the server; here they are held together.
var (
	_ sla.Ledger      = (*ledger.Ledger)(nil)
	_ billing.Ledger  = (*ledger.Ledger)(nil)
	_ billing.Credits = (*sla.Service)(nil)
	_ sla.Samples     = (*recording)(nil)
)

// recording is a store of samples that the test fills.
type recording struct {
	series map[string][]rental.Series // states, by uuid
	parts  map[string][]rental.Series // what tells that a MIG instance is there, by uuid
	others map[string][]rental.Series // readings of cards and hosts, by metric
}

func (r *recording) Select(_ context.Context, metric string, matchers map[string]string, span rental.Span) ([]rental.Series, error) {
	from := r.series
	switch metric {
	case "gpu_state":
	case "gpu_mig_info":
		from = r.parts
	default:
		from = r.others
	}
	var out []rental.Series
	for _, s := range append(slices.Clone(from[matchers["uuid"]]), from[metric]...) {
		if !labelled(s, matchers) {
			continue
		}
		part := rental.Series{Labels: s.Labels}
		for _, sample := range s.Samples {
			if span.Contains(sample.At) {
				part.Samples = append(part.Samples, sample)
			}
		}
		out = append(out, part)
	}
	return out, nil
}

// labelled tells whether the labels that a series has are those that are asked for.
func labelled(s rental.Series, matchers map[string]string) bool {
	for name, value := range matchers {
		if got, ok := s.Labels[name]; ok && got != value {
			return false
		}
	}
	return true
}

// read records a reading every 15 s of the span.
func (r *recording) read(metric string, labels map[string]string, value float64, span rental.Span) {
	if r.others == nil {
		r.others = map[string][]rental.Series{}
	}
	s := rental.Series{Labels: labels}
	for at := span.Start; at < span.End; at += 15_000 {
		s.Samples = append(s.Samples, rental.Sample{At: at, Value: value})
	}
	r.others[metric] = append(r.others[metric], s)
}

// tell records the state of a card every 15 s of the span, as scraping does: a state set.
func (r *recording) tell(uuid, state string, span rental.Span) {
	if r.series == nil {
		r.series = map[string][]rental.Series{}
	}
	for at := span.Start; at < span.End; at += 15_000 {
		for _, name := range []string{"ok", "lost"} {
			value := 0.0
			if name == state {
				value = 1
			}
			r.series[uuid] = append(r.series[uuid], rental.Series{
				Labels: map[string]string{"uuid": uuid, "state": name}, Samples: []rental.Sample{{At: at, Value: value}},
			})
		}
	}
}

// world is a real ledger with one lease, and a clock.
type world struct {
	*ledger.Ledger
	sla     *sla.Service
	billing *billing.Service
	samples *recording
	now     time.Time
}

func at(clock string) rental.Millis {
	t, err := time.Parse(time.RFC3339, "2026-05-10T"+clock+"Z")
	if err != nil {
		panic(err)
	}
	return rental.At(t)
}

func between(from, to string) rental.Span { return rental.Span{Start: at(from), End: at(to)} }

func decimal(text string) rental.Decimal {
	d, err := rental.ParseDecimal(text)
	if err != nil {
		panic(err)
	}
	return d
}

func contract() rental.Contract {
	yes, no := true, false
	return rental.Contract{
		Name: "hourly", Provider: "north", Currency: "CNY", TimeZone: "UTC", Language: "en",
		Plan: rental.Plan{Mode: rental.ModeHour, Unit: rental.UnitGPU, Rounding: rental.Exact,
			Prices: []rental.PriceVersion{{Price: decimal("10")}}},
		BillWhileDown: &yes, BillWhileMaintenance: &yes, LineRounding: rental.HalfUp,
		Availability: &rental.Availability{
			TargetPercent: decimal("99.5"), Scope: rental.ScopeGPU, Period: rental.PeriodCalendarMonth,
			Denominator: rental.DenominatorLease, Outage: rental.OutageExact, Degraded: "up", Unknown: "excluded",
			ExcludedLeavesDenominator: &no,
		},
		Credits: &rental.Credits{Base: rental.BaseGross, Scope: rental.UnitGPU, CapPercent: decimal("100"),
			Tiers: []rental.CreditTier{{Under: decimal("99.5"), Percent: decimal("10")}, {Under: decimal("95"), Percent: decimal("25")}}},
		DowntimeApproval: rental.ApprovalAutomatic, AutoCredit: true,
	}
}

// newWorld is a lease of GPU-A from 10:00 to 11:00 under the contract, seen at the clock.
func newWorld(t *testing.T, c rental.Contract, clock string) *world {
	t.Helper()
	w := &world{samples: &recording{}, now: at("09:00:00").Time()}
	now := func() time.Time { return w.now }
	log := slog.New(slog.DiscardHandler)
	var err error
	w.Ledger, err = ledger.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"), ledger.Options{Logger: log, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	var r rental.Resources
	r.Providers = []rental.Provider{{Name: "north", DisplayName: "North"}}
	r.Tenants = []rental.Tenant{{Name: "acme", DisplayName: "Acme"}}
	r.Sites = []rental.Site{{Name: "oslo", Provider: "north"}}
	r.Hosts = []rental.Host{{Name: "gpu-a1", Site: "oslo", Slots: 8}}
	r.SKUs = []rental.SKU{{Name: "h100", Model: "H100 80GB HBM3", FormFactor: "SXM5", MemoryMiB: 81559}}
	for i, uuid := range []string{"GPU-A", "GPU-B"} {
		r.GPUs = append(r.GPUs, rental.GPU{UUID: uuid, Serial: uuid, SKU: "h100", Host: "gpu-a1", Slot: i, Life: rental.GPUService})
	}
	r.Contracts = []rental.Contract{c}
	r.Leases = []rental.Lease{{ID: "L-1", Tenant: "acme", Contract: c.Name, Start: at("10:00:00"), End: at("11:00:00"),
		GPUs: []rental.GPURef{{UUID: "GPU-A"}}}}
	if _, err := w.Apply(t.Context(), "ada", "test", r, false); err != nil {
		t.Fatal(err)
	}
	w.now = at(clock).Time()
	w.sla = sla.New(w.Ledger, w.samples, sla.Options{Now: now, Log: log})
	w.billing = billing.New(w.Ledger, billing.Options{Credits: w.sla, Now: now})
	return w
}

func (w *world) derive(t *testing.T) {
	t.Helper()
	if err := w.sla.Derive(t.Context(), "L-1", between("10:00:00", "11:00:00")); err != nil {
		t.Fatal(err)
	}
}

func (w *world) downtimes(t *testing.T) []rental.Downtime {
	t.Helper()
	all, err := w.Downtimes(t.Context(), "L-1", between("00:00:00", "23:59:59"))
	if err != nil {
		t.Fatal(err)
	}
	var out []rental.Downtime
	for _, d := range all {
		if !d.Span.Empty() {
			out = append(out, d)
		}
	}
	return out
}

func may(t *testing.T) rental.Span {
	t.Helper()
	span, err := rental.MonthSpan("UTC", 2026, time.May)
	if err != nil {
		t.Fatal(err)
	}
	return span
}

func (w *world) outage() {
	w.samples.tell("GPU-A", "ok", between("10:00:00", "10:30:00"))
	w.samples.tell("GPU-A", "lost", between("10:30:00", "10:36:00"))
	w.samples.tell("GPU-A", "ok", between("10:36:00", "11:00:00"))
}

func TestALostGPUBecomesADowntimeAVerdictACreditAndABillLine(t *testing.T) {
	w := newWorld(t, contract(), "11:00:00")
	w.outage()
	w.derive(t)
	downs := w.downtimes(t)
	if len(downs) != 1 || downs[0].Span != between("10:30:00", "10:36:00") || downs[0].Cause != rental.CauseProvider ||
		downs[0].ApprovedBy != rental.ApprovalAutomatic || len(downs[0].Witnesses) == 0 {
		t.Fatalf("downtimes: %+v", downs)
	}
	v, err := w.sla.Verdict(t.Context(), "L-1", may(t))
	if err != nil {
		t.Fatal(err)
	}
	if v.Outcome != rental.Breached || v.Low.Percent(v.Target) != "90.0000" || !v.Open {
		t.Errorf("verdict: %s %s open=%v", v.Outcome, v.Arithmetic, v.Open)
	}
	bill, err := w.billing.Bill(t.Context(), "L-1", may(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(bill.Lines) != 2 || bill.Lines[0].Amount.Minor != 1000 || bill.Lines[1].Amount.Minor != -250 || bill.Total.Minor != 750 {
		t.Errorf("bill: %+v", bill)
	}
	if len(bill.Provisional) != 2 {
		t.Errorf("the open month and its credit are not marked provisional: %v", bill.Provisional)
	}
}

func TestDerivingAgainInSmallRoundsGivesTheSameFacts(t *testing.T) {
	w := newWorld(t, contract(), "11:00:00")
	w.outage()
	for clock := at("10:00:05"); clock <= at("11:00:05"); clock += 5000 {
		w.now = clock.Time()
		if err := w.sla.Update(t.Context(), 2*time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	rounds := w.downtimes(t)
	w.derive(t)
	whole := w.downtimes(t)
	if fmt.Sprint(rounds) != fmt.Sprint(whole) || len(whole) != 1 {
		t.Errorf("rounds gave %+v, the whole %+v", rounds, whole)
	}
}

func TestAnOutageThatGoesOnIsOpenUntilAGoodSample(t *testing.T) {
	w := newWorld(t, contract(), "10:33:00")
	w.outage()
	w.derive(t)
	if downs := w.downtimes(t); len(downs) != 1 || downs[0].Span.End != rental.Forever {
		t.Fatalf("downtimes: %+v, want one that is open", downs)
	}
	w.now = at("10:40:00").Time()
	w.derive(t)
	if downs := w.downtimes(t); len(downs) != 1 || downs[0].Span != between("10:30:00", "10:36:00") {
		t.Fatalf("downtimes: %+v, want one that ended at the first good sample", downs)
	}
}

func TestLateSamplesWithdrawWhatTheyDisprove(t *testing.T) {
	w := newWorld(t, contract(), "11:00:00")
	w.samples.tell("GPU-A", "ok", between("10:00:00", "10:30:00"))
	w.samples.tell("GPU-A", "lost", between("10:30:15", "10:36:00"))
	w.derive(t)
	first := w.downtimes(t)
	w.samples.tell("GPU-A", "lost", between("10:29:45", "10:30:15"))
	w.derive(t)
	second := w.downtimes(t)
	if len(first) != 1 || len(second) != 1 || first[0].ID == second[0].ID || second[0].Span.Start != at("10:29:45") {
		t.Errorf("first %+v, then %+v", first, second)
	}
}

func TestWhatPeopleSaidGoesOnWhereLateSamplesMoveAStartOrSplitADowntime(t *testing.T) {
	for name, tc := range map[string]struct {
		act  rental.Act
		late string // the state that the late samples tell
		span [2]string
		want map[rental.Millis]string // status by start
	}{
		"a dispute, and it began earlier": {rental.Act{By: "tom", Side: rental.SideTenant, Kind: rental.ActDisputed, Note: "not ours"}, "lost",
			[2]string{"10:29:45", "10:30:15"}, map[rental.Millis]string{at("10:29:45"): rental.DowntimeDisputed}},
		"a dispute, and it was two": {rental.Act{By: "tom", Side: rental.SideTenant, Kind: rental.ActDisputed, Note: "not ours"}, "ok",
			[2]string{"10:32:07", "10:32:08"}, map[rental.Millis]string{at("10:30:15"): rental.DowntimeDisputed, at("10:32:15"): rental.DowntimeDisputed}},
		"nothing, and it began earlier": {rental.Act{}, "lost",
			[2]string{"10:29:45", "10:30:15"}, map[rental.Millis]string{at("10:29:45"): rental.DowntimeApproved}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, contract(), "11:00:00")
			w.samples.tell("GPU-A", "ok", between("10:00:00", "10:30:00"))
			w.samples.tell("GPU-A", "lost", between("10:30:15", "10:36:00"))
			w.samples.tell("GPU-A", "ok", between("10:36:15", "11:00:00"))
			w.derive(t)
			if tc.act.Kind != "" {
				tc.act.At = at("10:50:00")
				d, err := w.downtimes(t)[0].Do(tc.act)
				if err != nil {
					t.Fatal(err)
				}
				if err := w.SaveDowntime(t.Context(), d); err != nil {
					t.Fatal(err)
				}
			}
			w.samples.tell("GPU-A", tc.late, between(tc.span[0], tc.span[1]))
			for range 2 { // to look again changes nothing
				w.derive(t)
				got := map[rental.Millis]string{}
				for _, d := range w.downtimes(t) {
					got[d.Span.Start] = d.Status()
					if tc.act.Kind != "" && !slices.Contains(d.Acts, tc.act) {
						t.Errorf("%s from %s has lost what was said: %+v", d.ID, d.Span.Start, d.Acts)
					}
				}
				if !maps.Equal(got, tc.want) {
					t.Errorf("downtimes %v, expected %v", got, tc.want)
				}
			}
		})
	}
}

func TestAGapIsUnknownAndBookedAsNothing(t *testing.T) {
	w := newWorld(t, contract(), "11:00:00")
	w.samples.tell("GPU-A", "ok", between("10:00:00", "10:20:00"))
	w.samples.tell("GPU-A", "ok", between("10:40:00", "11:00:00"))
	w.derive(t)
	if downs := w.downtimes(t); len(downs) != 0 {
		t.Errorf("a gap became downtime: %+v", downs)
	}
	v, err := w.sla.Verdict(t.Context(), "L-1", may(t))
	if err != nil {
		t.Fatal(err)
	}
	// The last sample before the gap, at 10:19:45, holds for two intervals.
	if v.Outcome != rental.NotProven || v.UnknownMS != (20*60-15)*1000 {
		t.Errorf("verdict: %s, unknown %d ms", v.Outcome, v.UnknownMS)
	}
}

func TestManualApprovalHoldsTheCreditBack(t *testing.T) {
	c := contract()
	c.DowntimeApproval = rental.ApprovalManual
	w := newWorld(t, c, "11:00:00")
	w.outage()
	w.derive(t)
	bill, err := w.billing.Bill(t.Context(), "L-1", may(t))
	if err != nil {
		t.Fatal(err)
	}
	if bill.Total.Minor != 1000 || len(bill.Provisional) != 3 {
		t.Fatalf("an unapproved downtime changed money: %+v", bill)
	}
	d := w.downtimes(t)[0]
	d.ApprovedBy = "anna"
	if err := w.SaveDowntime(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	w.derive(t)
	if d := w.downtimes(t)[0]; d.ApprovedBy != "anna" {
		t.Errorf("deriving again dropped the approval: %+v", d)
	}
	if bill, err = w.billing.Bill(t.Context(), "L-1", may(t)); err != nil || bill.Total.Minor != 750 {
		t.Errorf("the approved downtime pays nothing back: %+v, %v", bill, err)
	}
}

func TestALeaseThatEndedWhileNobodyLookedIsFinished(t *testing.T) {
	w := newWorld(t, contract(), "10:20:00")
	w.outage()
	w.derive(t)
	w.now = w.now.Add(72 * time.Hour)
	if err := w.sla.Update(t.Context(), 2*time.Minute); err != nil {
		t.Fatal(err)
	}
	if downs := w.downtimes(t); len(downs) != 0 {
		t.Fatalf("a short look back reached %+v", downs)
	}
	if err := w.sla.Update(t.Context(), 26*time.Hour); err != nil {
		t.Fatal(err)
	}
	if downs := w.downtimes(t); len(downs) != 1 || downs[0].Span != between("10:30:00", "10:36:00") {
		t.Errorf("downtimes: %+v", downs)
	}
	if end, err := w.TimelineEnd(t.Context(), "L-1", "GPU-A"); err != nil || end != at("11:00:00") {
		t.Errorf("derived up to %s, %v", end, err)
	}
}

func TestLoadedHistoryHasItsOwnInterval(t *testing.T) {
	w := newWorld(t, contract(), "11:00:00")
	for clock := at("10:00:00"); clock < at("11:00:00"); clock += 60_000 {
		w.samples.tell("GPU-A", "ok", rental.Span{Start: clock, End: clock + 1})
	}
	w.derive(t)
	verdict := func() rental.Verdict {
		v, err := w.sla.Verdict(t.Context(), "L-1", may(t))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := verdict(); v.UnknownMS != 30*60_000 {
		t.Errorf("minute samples under a 15 s interval leave %d ms unknown, want half the hour", v.UnknownMS)
	}
	if err := w.SaveSampleInterval(t.Context(), between("10:00:00", "11:00:00"), 60_000); err != nil {
		t.Fatal(err)
	}
	w.derive(t)
	if v := verdict(); v.UnknownMS != 0 || v.Outcome != rental.Kept {
		t.Errorf("with the interval known: %s", v.Arithmetic)
	}
}

func TestMaintenanceOfTheHostExcusesItsCards(t *testing.T) {
	w := newWorld(t, contract(), "11:00:00")
	w.outage()
	w.derive(t)
	r := rental.Resources{Maintenances: []rental.Maintenance{{ID: "M-1", Hosts: []string{"gpu-a1"},
		Start: at("10:25:00"), End: at("10:40:00"), Announced: at("09:00:00")}}}
	if _, err := w.Apply(t.Context(), "ada", "test", r, false); err != nil {
		t.Fatal(err)
	}
	v, err := w.sla.Verdict(t.Context(), "L-1", may(t))
	if err != nil {
		t.Fatal(err)
	}
	if v.DownMS != 0 || v.ExcludedMS != 15*60_000 || v.Outcome != rental.Kept {
		t.Errorf("%s", v.Arithmetic)
	}
	if bill, err := w.billing.Bill(t.Context(), "L-1", may(t)); err != nil || bill.Total.Minor != 1000 {
		t.Errorf("bill: %+v, %v", bill, err)
	}
}

func TestRunKeepsALeaseCurrent(t *testing.T) {
	w := newWorld(t, contract(), "10:40:00")
	w.outage()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { w.sla.Run(ctx); close(done) }()
	for deadline := time.Now().Add(20 * time.Second); len(w.downtimes(t)) == 0; {
		if time.Now().After(deadline) {
			t.Fatal("no downtime was derived")
		}
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	<-done
}
