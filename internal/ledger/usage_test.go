package ledger_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func newBenchStore(b *testing.B) *ledger.Ledger {
	l, err := ledger.Open(b.Context(), "sqlite:"+b.TempDir()+"/ledger.db", ledger.Options{Logger: slog.New(slog.DiscardHandler), Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	return l
}

func usage(uuid, from, to string, usedMS int64) rental.UsageRecord {
	sp := span(from, to)
	return rental.UsageRecord{Lease: "L", UUID: uuid, Span: sp, AllocatedMS: sp.Duration(), MeasuredMS: sp.Duration(),
		UsedMicros: usedMS * 1000, UpMS: sp.Duration()}
}

func (s *store) saveUsage(records ...rental.UsageRecord) {
	s.t.Helper()
	if err := s.SaveUsage(s.t.Context(), records); err != nil {
		s.t.Fatal(err)
	}
	if err := s.CheckTotals(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

func withLease(s *store, zone string) {
	r := fleet()
	r.Contracts[0].TimeZone = zone
	r.Leases = []rental.Lease{lease("L", "acme", "2026-03-01T00:00:00Z", "open", "GPU-A", "GPU-B")}
	s.apply(r)
}

func TestMeteringAgainAppendsARevisionAndMovesTheMonthByTheDifference(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		withLease(s, "UTC")
		may := span("2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z")
		first := usage("GPU-A", "2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z", 1000)
		s.saveUsage(first, usage("GPU-B", "2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z", 500))
		s.saveUsage(first) // the same again
		got := must[[]rental.UsageRecord](t)(s.UsageRecords(t.Context(), "L", may))
		if len(got) != 2 || got[0].Revision != 1 {
			t.Errorf("found %+v, expected two records of revision 1", got)
		}
		// Metered again in two pieces: together they replace the hour.
		s.saveUsage(usage("GPU-A", "2026-05-01T10:30:00Z", "2026-05-01T11:00:00Z", 70), usage("GPU-A", "2026-05-01T10:00:00Z", "2026-05-01T10:30:00Z", 30))
		got = must[[]rental.UsageRecord](t)(s.UsageRecordsAt(t.Context(), may))
		if len(got) != 3 || got[0].Revision != 2 || got[0].UsedMicros != 30_000 {
			t.Errorf("found %+v, expected two pieces of revision 2 and the other card", got)
		}
		totals := must[[]rental.UsageRecord](t)(s.MonthTotals(t.Context(), "L", may))
		if len(totals) != 2 || totals[0].UsedMicros != 100_000 || totals[0].AllocatedMS != 3_600_000 || totals[0].Span != may {
			t.Errorf("totals %+v, expected May with 100 ms used of an hour", totals)
		}
		// Taken back.
		s.saveUsage(rental.UsageRecord{Lease: "L", UUID: "GPU-A", Span: first.Span})
		if got := must[[]rental.UsageRecord](t)(s.UsageRecords(t.Context(), "L", may)); len(got) != 1 {
			t.Errorf("found %+v, expected the other card alone", got)
		}
	})
}

func TestMonthTotalsAreOfTheContractsMonth(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		withLease(s, "Asia/Shanghai") // C21: its April begins at 16:00 UTC on 31 March
		s.saveUsage(usage("GPU-A", "2026-03-31T15:00:00Z", "2026-03-31T16:00:00Z", 1), usage("GPU-A", "2026-03-31T16:00:00Z", "2026-03-31T17:00:00Z", 2))
		totals := must[[]rental.UsageRecord](t)(s.MonthTotals(t.Context(), "L", span("2026-03-01T00:00:00Z", "2026-05-01T00:00:00Z")))
		if len(totals) != 2 || totals[0].UsedMicros != 1000 || totals[1].UsedMicros != 2000 || totals[1].Span.Start != at("2026-03-31T16:00:00Z") {
			t.Errorf("totals %+v, expected an hour in each month", totals)
		}
		if err := s.SaveUsage(t.Context(), []rental.UsageRecord{usage("GPU-A", "2026-03-31T15:30:00Z", "2026-03-31T16:30:00Z", 1)}); rental.CodeOf(err) != rental.CodeInvalid {
			t.Errorf("a record over two hours: %v, expected it invalid", err)
		}
		if err := s.SaveUsage(t.Context(), []rental.UsageRecord{{Lease: "none", UUID: "G", Span: span("2026-03-31T15:00:00Z", "2026-03-31T16:00:00Z"), AllocatedMS: 1}}); rental.CodeOf(err) != rental.CodeNotFound {
			t.Errorf("a record of no lease: %v, expected it not found", err)
		}
	})
}

func TestCheckTotalsNamesATotalThatDrifted(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		withLease(s, "UTC")
		s.saveUsage(usage("GPU-A", "2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z", 1000))
		if _, err := s.raw().Exec("UPDATE month_totals SET used_us = used_us + 1"); err != nil {
			t.Fatal(err)
		}
		want := `lease "L", GPU GPU-A, month from 2026-05-01T00:00:00Z: the total says 3600000 ms allocated and 1000001 us used, the records sum to 3600000 and 1000000`
		if err := s.CheckTotals(t.Context()); err == nil || err.Error() != want {
			t.Errorf("found    %v\nexpected %s", err, want)
		}
	})
}

func TestSampleIntervalsTheNewestWordWins(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		day := span("2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z")
		noon := at("2026-05-01T12:00:00Z")
		for _, w := range []rental.SampleInterval{{Span: day, IntervalMS: 60_000}, {Span: rental.Span{Start: noon, End: day.End + 1000}, IntervalMS: 15_000}} {
			if err := s.SaveSampleInterval(ctx, w.Span, w.IntervalMS); err != nil {
				t.Fatal(err)
			}
		}
		got := must[[]rental.SampleInterval](t)(s.SampleIntervals(ctx, day))
		if len(got) != 2 || got[0].Span.End != noon || got[0].IntervalMS != 60_000 || got[1].IntervalMS != 15_000 || got[1].Span.End != day.End {
			t.Errorf("found %+v, expected a minute before noon and 15 s after", got)
		}
		if err := s.SaveSampleInterval(ctx, day, 0); rental.CodeOf(err) != rental.CodeInvalid {
			t.Errorf("an interval of 0: %v, expected it invalid", err)
		}
	})
}

// BenchmarkSavingAnHourOf8000Cards writes an hour of usage records of a large fleet.
func BenchmarkSavingAnHourOf8000Cards(b *testing.B) {
	l := newBenchStore(b)
	r := fleet()
	r.Leases = []rental.Lease{lease("L", "acme", "2026-03-01T00:00:00Z", "open", "GPU-A")}
	if _, err := l.Apply(b.Context(), "bench", "", r, false); err != nil {
		b.Fatal(err)
	}
	start := at("2026-05-01T00:00:00Z")
	for b.Loop() {
		records := make([]rental.UsageRecord, 8000)
		for i := range records {
			records[i] = rental.UsageRecord{Lease: "L", UUID: fmt.Sprintf("GPU-%d", i), Span: rental.Span{Start: start, End: start + 3_600_000}, AllocatedMS: 3_600_000}
		}
		if err := l.SaveUsage(b.Context(), records); err != nil {
			b.Fatal(err)
		}
		start += 3_600_000
	}
}
