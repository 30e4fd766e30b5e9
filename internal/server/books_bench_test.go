package server

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/billing"
	"github.com/leasewatch/leasewatch/internal/monitor"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// BenchmarkBillAndUseOfAMonth bills 1,000 leases on 8,000 GPUs for a month with their use, from the
// kept totals, in June with a closed May behind it, and one of them alone. Beside it stands PromQL's
// mean use of the one lease over its raw samples of the same month, one every 15 s.
func BenchmarkBillAndUseOfAMonth(b *testing.B) {
	const leases = 1000
	june := rental.Span{Start: mayMonth.End, End: rental.At(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC))}
	at := time.Date(2026, 6, 5, 0, 0, 0, 0, time.UTC)
	now := func() time.Time { return at }
	l := rentedOut(b, leases, now)
	bills := billing.New(l, billing.Options{Now: now})
	all := books{ledger: l, billing: bills, now: now}
	for i := range leases {
		for h := range rental.Millis(2) { // a total is as large whatever it sums
			used(b, l, i, mayMonth.Start+h*3_600_000, 1_200_000)
			used(b, l, i, june.Start+h*3_600_000, 1_200_000)
		}
		if _, _, _, err := bills.Close(b.Context(), l, "fin", fmt.Sprintf("L-%d", i), mayMonth); err != nil {
			b.Fatal(err)
		}
	}
	at = time.Date(2026, 7, 2, 0, 0, 0, 0, time.UTC)
	raw := rawMonth(b, now, june)
	var ofAll, ofOne, ofRaw time.Duration
	for b.Loop() {
		began := time.Now()
		got, err := all.Bills(b.Context(), api.BillQuery{Period: api.Period{Month: "2026-06"}})
		if err != nil || len(got.Bills) != leases || len(got.Failures) > 0 || got.Bills[0].Use.UtilisationPercent != "33.33" {
			b.Fatalf("%d bills, %v", len(got.Bills), err)
		}
		ofAll += time.Since(began)
		began = time.Now()
		const times = 20
		for range times {
			if _, err := all.Bills(b.Context(), api.BillQuery{Lease: "L-7", Period: api.Period{Month: "2026-06"}}); err != nil {
				b.Fatal(err)
			}
		}
		ofOne += time.Since(began) / times
		began = time.Now()
		mean, err := raw.Query(b.Context(), `sum(sum_over_time(gpu_utilization_ratio[30d])) / sum(count_over_time(gpu_utilization_ratio[30d]))`, june.End.Time())
		if err != nil || len(mean) != 1 {
			b.Fatalf("%+v, %v", mean, err)
		}
		ofRaw += time.Since(began)
	}
	n := time.Duration(b.N)
	b.ReportMetric((ofAll / n).Seconds(), "s/1000-leases")
	b.ReportMetric((ofOne/n).Seconds()*1000, "ms/lease")
	b.ReportMetric((ofRaw/n).Seconds()*1000, "ms/lease-by-PromQL")
	b.ReportMetric(float64(ofRaw)/float64(ofAll/leases), "times-faster-than-PromQL")
	b.ReportMetric(0, "ns/op")
}

// rawMonth is a store with the raw samples of eight cards for a month, 1.4 million of them.
func rawMonth(b *testing.B, now func() time.Time, month rental.Span) *monitor.Monitor {
	b.Helper()
	m, err := monitor.New(monitor.Options{DataDir: b.TempDir(), Now: now, Retention: 90 * 24 * time.Hour, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = m.Stop(b.Context()) })
	if _, err := m.WriteHistory(b.Context(), monitor.BackfillOptions{SkipRules: true}, func(h *monitor.History) error {
		for card := range 8 {
			id, err := h.Series(map[string]string{"__name__": "gpu_utilization_ratio", "uuid": fmt.Sprintf("GPU-7-%d", card)})
			if err != nil {
				return err
			}
			for at := month.Start; at < month.End; at += 15_000 {
				if err := h.Append(id, at, float64(at/15_000%100)/100); err != nil {
					return err
				}
			}
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	return m
}
