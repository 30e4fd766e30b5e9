package metering_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestC57AGapInTheSamplesLowersCoverageAndNotUse(t *testing.T) {
	w := newWorld(t)
	hour := span("2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z")
	w.lease("L", hour, "GPU-A")
	w.put("gpu_utilization_ratio", "GPU-A", "scrape", append(
		every(span("2026-05-01T10:00:00Z", "2026-05-01T10:20:00Z"), 15_000, 0.9),
		every(span("2026-05-01T10:40:00Z", "2026-05-01T11:00:00Z"), 15_000, 0.9)...)...)
	up := []rental.Interval{
		{Span: span("2026-05-01T10:00:00Z", "2026-05-01T10:20:00Z"), Class: rental.Up},
		{Span: span("2026-05-01T10:40:00Z", "2026-05-01T11:00:00Z"), Class: rental.Up},
	}
	if err := w.ledger.SaveTimeline(t.Context(), "L", "GPU-A", hour, up); err != nil {
		t.Fatal(err)
	}
	w.meter(hour)
	want := rental.UsageRecord{AllocatedMS: 3_600_000, MeasuredMS: 2_400_000, BusyMS: 2_400_000, UsedMicros: 2_160_000_000,
		UpMS: 2_400_000, UnknownMS: 1_200_000}
	if got := w.total("L"); got != want {
		t.Errorf("found    %+v\nexpected %+v: billed 60 min, 90 %% of the 40 min measured, 20 min unknown", got, want)
	}
}

func TestC60EnergyIsCountedOverAReset(t *testing.T) {
	w := newWorld(t)
	w.lease("L", span("2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z"), "GPU-A")
	start := at("2026-05-01T10:10:00Z")
	var samples []rental.Sample
	for i, joules := range []float64{1000, 1600, 200, 500} {
		samples = append(samples, rental.Sample{At: start + rental.Millis(i)*15_000, Value: joules})
	}
	w.put("gpu_energy_joules_total", "GPU-A", "scrape", samples...)
	w.meter(span("2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z"))
	if got := w.total("L").EnergyMilliJoules; got != 1_100_000 {
		t.Errorf("found %d mJ, expected 1,100,000", got)
	}
}

func TestEnergyOnTheBorderOfTwoHoursIsSplitAndSums(t *testing.T) {
	w := newWorld(t)
	w.lease("L", span("2026-05-01T10:00:00Z", "2026-05-01T12:00:00Z"), "GPU-A")
	w.put("gpu_energy_joules_total", "GPU-A", "scrape",
		rental.Sample{At: at("2026-05-01T10:59:50Z"), Value: 1}, rental.Sample{At: at("2026-05-01T11:00:20Z"), Value: 1001})
	w.meter(span("2026-05-01T10:00:00Z", "2026-05-01T12:00:00Z"))
	records, err := w.ledger.UsageRecords(t.Context(), "L", span("2026-05-01T10:00:00Z", "2026-05-01T12:00:00Z"))
	if err != nil || len(records) != 2 || records[0].EnergyMilliJoules != 333_333 || records[1].EnergyMilliJoules != 666_667 {
		t.Errorf("found %+v (%v), expected 333,333 and 666,667 mJ", records, err)
	}
}

func TestC61SentinelsAndWhatIsNoNumberAreDroppedAndCounted(t *testing.T) {
	for name, bad := range map[string]float64{"a 32-bit sentinel": 42949672.95, "a 64-bit sentinel": 9.22e16, "no number": math.NaN(), "negative": -1, "infinite": math.Inf(1)} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.lease("L", span("2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z"), "GPU-A")
			start := at("2026-05-01T10:00:00Z")
			w.put("gpu_utilization_ratio", "GPU-A", "scrape", rental.Sample{At: start, Value: 0.5},
				rental.Sample{At: start + 15_000, Value: bad}, rental.Sample{At: start + 30_000, Value: 0.5})
			w.put("gpu_energy_joules_total", "GPU-A", "scrape", rental.Sample{At: start, Value: bad})
			s := w.service()
			if _, err := s.Meter(t.Context(), span("2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z")); err != nil {
				t.Fatal(err)
			}
			got := w.total("L")
			if got.MeasuredMS != 30_000 || got.UsedMicros != 15_000_000 || got.EnergyMilliJoules != 0 {
				t.Errorf("found %d ms measured, %d us used, expected 30 s at 50 %%", got.MeasuredMS, got.UsedMicros)
			}
			if d := s.Stats().Dropped; d < 1 {
				t.Errorf("found %d dropped, expected the bad reading counted", d)
			}
		})
	}
}

func TestASeriesThatIsScrapedAndPushedCountsOnce(t *testing.T) {
	w := newWorld(t)
	hour := span("2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z")
	w.lease("L", hour, "GPU-A")
	for _, job := range []string{"scrape", "push"} {
		w.put("gpu_utilization_ratio", "GPU-A", job, every(hour, 15_000, 0.5)...)
		w.put("gpu_allocated", "GPU-A", job, every(hour, 15_000, 1)...)
	}
	var scraped, pushed []rental.Sample
	for i := range rental.Millis(241) {
		pushed = append(pushed, rental.Sample{At: hour.Start + i*15_000, Value: 1e6 + float64(i)*15*700})
		// The page shows the snapshot before: read alone it rises, read together it falls each time.
		scraped = append(scraped, rental.Sample{At: hour.Start + i*15_000 + 100, Value: 1e6 + float64(max(i-1, 0))*15*700})
	}
	w.put("gpu_energy_joules_total", "GPU-A", "push", pushed...)
	w.put("gpu_energy_joules_total", "GPU-A", "scrape", scraped...)
	w.meter(hour)
	got := w.total("L")
	if got.MeasuredMS != 3_600_000 || got.UsedMicros != 1_800_000_000 || got.HeldMS != 3_600_000 {
		t.Errorf("found %+v, expected one hour at 50 %%, held", got)
	}
	if joules := got.EnergyMilliJoules / 1000; joules != 3600*700 {
		t.Errorf("found %d J, expected 2,520,000: an hour at 700 W", joules)
	}
}

func TestC26ASampleOnTheBorderBelongsToTheSecondLease(t *testing.T) {
	w := newWorld(t)
	w.lease("A", span("2026-05-01T10:00:00Z", "2026-05-01T12:00:00Z"), "GPU-A")
	w.lease("B", span("2026-05-01T12:00:00Z", "2026-05-01T13:00:00Z"), "GPU-A")
	w.put("gpu_utilization_ratio", "GPU-A", "scrape", append(
		every(span("2026-05-01T10:00:00Z", "2026-05-01T11:59:45Z"), 15_000, 0),
		every(span("2026-05-01T12:00:00Z", "2026-05-01T13:00:00Z"), 15_000, 1)...)...)
	w.meter(span("2026-05-01T10:00:00Z", "2026-05-01T13:00:00Z"))
	a, b := w.total("A"), w.total("B")
	if a.MeasuredMS != 7_200_000 || a.UsedMicros != 0 || b.UsedMicros != 3_600_000_000 {
		t.Errorf("A used %d us of %d ms, B %d us: expected none and a whole hour", a.UsedMicros, a.MeasuredMS, b.UsedMicros)
	}
}

func TestHoursAreCutAtTheContractsMidnightAndAtANewPrice(t *testing.T) {
	w := newWorld(t)
	w.zone = "Asia/Kolkata" // its midnight is 18:30 UTC
	w.prices = append(w.prices, rental.PriceVersion{From: at("2026-05-01T19:10:00Z"), Price: decimal("12")})
	w.lease("L", span("2026-05-01T18:15:00Z", "2026-05-01T20:00:00Z"), "GPU-A")
	w.meter(span("2026-05-01T18:00:00Z", "2026-05-01T20:00:00Z"))
	records, err := w.ledger.UsageRecords(t.Context(), "L", span("2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z"))
	if err != nil {
		t.Fatal(err)
	}
	want := []rental.Span{span("2026-05-01T18:15:00Z", "2026-05-01T18:30:00Z"), span("2026-05-01T18:30:00Z", "2026-05-01T19:00:00Z"),
		span("2026-05-01T19:00:00Z", "2026-05-01T19:10:00Z"), span("2026-05-01T19:10:00Z", "2026-05-01T20:00:00Z")}
	if len(records) != len(want) {
		t.Fatalf("found %d records, expected %d", len(records), len(want))
	}
	for i, r := range records {
		if r.Span != want[i] {
			t.Errorf("record %d: found %v, expected %v", i, r.Span, want[i])
		}
	}
}

func TestMeteringAgainSavesNothingAndLateDataMovesTheTotals(t *testing.T) {
	w := newWorld(t)
	hour := span("2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z")
	w.lease("L", hour, "GPU-A")
	if n := w.meter(hour); n != 1 {
		t.Errorf("found %d records saved, expected 1", n)
	}
	if n := w.meter(hour); n != 0 {
		t.Errorf("found %d records saved the second time, expected none", n)
	}
	w.put("gpu_utilization_ratio", "GPU-A", "push", every(hour, 15_000, 0.5)...)
	if n := w.meter(hour); n != 1 {
		t.Errorf("found %d records saved after late data, expected 1", n)
	}
	totals, err := w.ledger.MonthTotals(t.Context(), "L", hour)
	if err != nil || len(totals) != 1 || totals[0].UsedMicros != 1_800_000_000 || totals[0].AllocatedMS != 3_600_000 {
		t.Errorf("totals %+v (%v), expected the hour once, at 50 %%", totals, err)
	}
}

func TestTheSumOfTheRecordsIsTheSumOfTheSamples(t *testing.T) {
	w := newWorld(t)
	runs := 0
	rapid.Check(t, func(r *rapid.T) {
		runs++
		lease, card := fmt.Sprintf("L-%d", runs), fmt.Sprintf("GPU-%d", runs)
		start := at("2026-05-01T10:00:00Z")
		leased := rental.Span{Start: start + rental.Millis(rapid.IntRange(0, 3600).Draw(r, "start"))*1000}
		leased.End = leased.Start + rental.Millis(rapid.IntRange(1, 7200).Draw(r, "length"))*1000
		w.lease(lease, leased, card)
		var samples []rental.Sample
		for moment := start - 600_000; moment < start+4*3_600_000; {
			samples = append(samples, rental.Sample{At: moment, Value: float64(rapid.IntRange(0, 100).Draw(r, "percent")) / 100})
			moment += rental.Millis(rapid.SampledFrom([]int{5, 15, 15, 15, 30, 31, 120}).Draw(r, "gap")) * 1000
		}
		w.put("gpu_utilization_ratio", card, "scrape", samples...)
		w.meter(leased)
		// By the second, the plain way: each second of the lease looks for the samples around it.
		var measured, used int64
		for i := 1; i < len(samples); i++ {
			for second := samples[i-1].At; second < samples[i].At && samples[i].At-samples[i-1].At <= 30_000; second += 1000 {
				if leased.Contains(second) {
					measured += 1000
					used += 1000 * 1000 * int64(math.Round(samples[i-1].Value*100)) / 100
				}
			}
		}
		got := w.total(lease)
		if got.MeasuredMS != measured || got.UsedMicros != used || got.AllocatedMS != leased.Duration() {
			r.Fatalf("found %d ms measured and %d us used, expected %d and %d", got.MeasuredMS, got.UsedMicros, measured, used)
		}
	})
}
