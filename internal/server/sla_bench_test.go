package server

import (
	"fmt"
	"log/slog"
	"syscall"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/sla"
)

// promised is what the benchmarks' leases are promised.
func promised(b *testing.B) rental.Contract {
	b.Helper()
	yes := true
	decimal := func(text string) rental.Decimal {
		d, err := rental.ParseDecimal(text)
		if err != nil {
			b.Fatal(err)
		}
		return d
	}
	return rental.Contract{
		Name: "hourly", Provider: "north", Currency: "USD", TimeZone: "Asia/Shanghai",
		Plan:          rental.Plan{Mode: rental.ModeHour, Unit: rental.UnitGPU, Rounding: rental.Exact, Prices: []rental.PriceVersion{{Price: decimal("2")}}},
		BillWhileDown: &yes, BillWhileMaintenance: &yes, LineRounding: rental.HalfUp, DowntimeApproval: rental.ApprovalAutomatic,
		Availability: &rental.Availability{
			TargetPercent: decimal("99.9"), Scope: rental.ScopeGPU, Period: rental.PeriodCalendarMonth, Denominator: rental.DenominatorPeriod,
			Outage: rental.OutageExact, Degraded: "up", Unknown: "excluded", ExcludedLeavesDenominator: &yes,
		},
		Credits: &rental.Credits{Tiers: []rental.CreditTier{{Under: decimal("99.9"), Percent: decimal("10")}, {Under: decimal("99"), Percent: decimal("25")}},
			Base: rental.BaseGross, Scope: rental.UnitGPU, CapPercent: decimal("50")},
	}
}

// judgedWorld is a ledger of leases of so many cards each, begun at start. Every card was lost for
// ten minutes and unseen for five in each 10 days, on a day of its own.
func judgedWorld(b *testing.B, leases, cards int, start, end rental.Millis, now func() time.Time) *ledger.Ledger {
	b.Helper()
	l, err := ledger.Open(b.Context(), "sqlite:"+b.TempDir()+"/ledger.db", ledger.Options{Logger: slog.New(slog.DiscardHandler), Now: now})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	r := rental.Resources{
		Providers: []rental.Provider{{Name: "north"}}, Tenants: []rental.Tenant{{Name: "acme"}}, Sites: []rental.Site{{Name: "oslo", Provider: "north"}},
		SKUs: []rental.SKU{{Name: "h100", Model: "H100", FormFactor: "SXM5", MemoryMiB: 81559}}, Contracts: []rental.Contract{promised(b)},
	}
	for i := range leases {
		host := fmt.Sprintf("host-%d", i)
		r.Hosts = append(r.Hosts, rental.Host{Name: host, Site: "oslo", Slots: 8})
		lease := rental.Lease{ID: fmt.Sprintf("L-%d", i), Tenant: "acme", Contract: "hourly", Start: start, End: rental.Forever}
		for slot := range cards {
			uuid := fmt.Sprintf("GPU-%d-%d", i, slot)
			r.GPUs = append(r.GPUs, rental.GPU{UUID: uuid, Serial: uuid, SKU: "h100", Host: host, Slot: slot, Life: rental.GPUService})
			lease.GPUs = append(lease.GPUs, rental.GPURef{UUID: uuid})
		}
		r.Leases = append(r.Leases, lease)
	}
	if _, err := l.Apply(b.Context(), "ada", "", r, false); err != nil {
		b.Fatal(err)
	}
	const minute, day = 60_000, 24 * 3_600_000
	for i, lease := range r.Leases {
		for slot, gpu := range lease.GPUs {
			var line []rental.Interval
			at := start
			add := func(until rental.Millis, class rental.Class, reason string) {
				if until = min(until, end); until > at {
					line = append(line, rental.Interval{Span: rental.Span{Start: at, End: until}, Class: class, Reason: reason})
					at = until
				}
			}
			for from := start + rental.Millis((i+slot)%9)*day; from < end; from += 10 * day {
				add(from+30*minute, rental.Up, "ok")
				lost := rental.Span{Start: at, End: at + 10*minute}
				add(lost.End, rental.Down, "lost")
				add(at+5*minute, rental.NoData, "no_samples")
				if lost.End > end {
					continue
				}
				id := fmt.Sprintf("%s%d-%d-%d", rental.AutomaticPrefix, i, slot, from)
				if _, err := l.ChangeDowntime(b.Context(), id, func(*rental.Downtime) (*rental.Downtime, error) {
					return &rental.Downtime{ID: id, Lease: lease.ID, UUIDs: []string{gpu.UUID}, Span: lost, Cause: rental.CauseProvider, Reason: "lost",
						Witnesses: []string{"gpu_state"}, ApprovedBy: rental.ApprovalAutomatic}, nil
				}); err != nil {
					b.Fatal(err)
				}
			}
			add(end, rental.Up, "ok")
			if err := l.SaveTimeline(b.Context(), lease.ID, gpu.UUID, rental.Span{Start: start, End: end}, line); err != nil {
				b.Fatal(err)
			}
		}
	}
	return l
}

func clockAt(text string) (rental.Millis, func() time.Time) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return rental.At(t), func() time.Time { return t }
}

// cpu is the time that this process has computed for, which says more than a clock where others
// compute too.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// BenchmarkBurnSeriesOf10000Leases works out availability, budget, burn rates and states of 10,000
// running leases of one card, as the server does for each reading of its own series. Rules read
// them every 15 s: a quarter of that is 3.75 s.
func BenchmarkBurnSeriesOf10000Leases(b *testing.B) {
	end, now := clockAt("2026-05-25T12:00:00Z")
	l := judgedWorld(b, 10_000, 1, mayMonth.Start, end, now)
	series := &leaseSeries{ledger: l, now: now, sla: sla.New(l, nil, sla.Options{Now: now, Log: slog.New(slog.DiscardHandler)})}
	var took, computed time.Duration
	for b.Loop() {
		began, before := time.Now(), cpu(b)
		live, err := series.live(b.Context())
		if err != nil || len(live) != 10_000 || len(live[0].Burn) != len(sla.Windows()) {
			b.Fatalf("%d leases, %v", len(live), err)
		}
		took, computed = took+time.Since(began), computed+cpu(b)-before
	}
	seconds := took.Seconds() / float64(b.N)
	b.ReportMetric(seconds, "s/10000-leases")
	b.ReportMetric(computed.Seconds()/float64(b.N), "cpu-s/10000-leases")
	b.ReportMetric(100*seconds/15, "%-of-15s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkSLAOfAMonth judges 1,000 leases on 8,000 GPUs for a month with their credits.
func BenchmarkSLAOfAMonth(b *testing.B) {
	end, now := clockAt("2026-06-03T00:00:00Z")
	l := judgedWorld(b, 1000, 8, mayMonth.Start, end, now)
	view := availability{ledger: l, sla: sla.New(l, nil, sla.Options{Now: now, Log: slog.New(slog.DiscardHandler)}), now: now}
	var ofAll, computed time.Duration
	for b.Loop() {
		began, before := time.Now(), cpu(b)
		table, err := view.SLATable(b.Context(), api.SLAQuery{Period: api.Period{Month: "2026-05"}})
		if err != nil || len(table.Rows) != 1000 || len(table.Failures) > 0 || table.Rows[0].Verdict == nil {
			b.Fatalf("%d rows, %v", len(table.Rows), err)
		}
		ofAll, computed = ofAll+time.Since(began), computed+cpu(b)-before
	}
	b.ReportMetric(ofAll.Seconds()/float64(b.N), "s/1000-leases")
	b.ReportMetric(computed.Seconds()/float64(b.N), "cpu-s/1000-leases")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkSLAOfAYear judges a year of one lease of eight cards.
func BenchmarkSLAOfAYear(b *testing.B) {
	start, _ := clockAt("2025-05-01T00:00:00Z")
	end, now := clockAt("2026-05-02T00:00:00Z")
	l := judgedWorld(b, 1, 8, start, end, now)
	view := availability{ledger: l, sla: sla.New(l, nil, sla.Options{Now: now, Log: slog.New(slog.DiscardHandler)}), now: now}
	year := api.Period{Span: rental.Span{Start: start, End: mayMonth.Start}}
	for b.Loop() {
		if got, err := view.SLA(b.Context(), "L-0", year); err != nil || got.Verdict == nil {
			b.Fatal(err)
		}
	}
}
