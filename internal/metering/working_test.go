package metering_test

import (
	"testing"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// recordsOf meters a span and returns a lease's records in it.
func (w *world) recordsOf(lease string, s rental.Span) []rental.UsageRecord {
	w.t.Helper()
	w.meter(s)
	w.total(lease) // checks the rules of each record
	records, err := w.ledger.UsageRecords(w.t.Context(), lease, s)
	if err != nil {
		w.t.Fatal(err)
	}
	return records
}

func TestBusyTimeIsToldApartFromWorkingTimeEachWithItsOwnCoverage(t *testing.T) {
	w := newWorld(t)
	hour := span("2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z")
	w.lease("L", hour, "GPU-A")
	// A kernel that keeps a fifth of the multiprocessors busy: the driver calls that 100 % used.
	w.put("gpu_utilization_ratio", "GPU-A", "scrape", every(hour, 15_000, 1)...)
	w.put("gpu_sm_active_ratio", "GPU-A", "scrape", every(span("2026-05-01T10:00:00Z", "2026-05-01T10:30:00Z"), 15_000, 0.2)...)
	r := w.recordsOf("L", hour)[0]
	const ms = 3_600_000
	if r.UsedMicros != ms*1000 || r.WorkingKnownMS != ms/2 || r.WorkingMicros != ms/2*200 {
		t.Errorf("found %+v: expected an hour used, half of it seen at work with a fifth of the card", r)
	}
	use := r.Use()
	if got := use.Working().RoundedPercent(2) + " over " + use.WorkingCoverage().RoundedPercent(2); got != "20.00 over 50.00" {
		t.Errorf("working %s", got)
	}
}

func TestEnergyTellsOverWhatTimeItWasCounted(t *testing.T) {
	w := newWorld(t)
	hour := span("2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z")
	w.lease("L", hour, "GPU-A")
	w.put("gpu_energy_joules_total", "GPU-A", "scrape",
		rental.Sample{At: at("2026-05-01T10:10:00Z"), Value: 500}, rental.Sample{At: at("2026-05-01T10:20:00Z"), Value: 1100},
		rental.Sample{At: at("2026-05-01T10:25:00Z"), Value: 300}) // a reset: what it shows is a floor
	if r := w.recordsOf("L", hour)[0]; r.EnergyMilliJoules != 900_000 || r.EnergyKnownMS != 15*60_000 {
		t.Errorf("found %d mJ over %d ms, expected 900 J over 15 min of the hour", r.EnergyMilliJoules, r.EnergyKnownMS)
	}
}

func TestARecordLiesInTheDayOrTheNightOfItsContractsZone(t *testing.T) {
	for zone, want := range map[string]int64{ // night of the eight hours from 00:00 UTC, in minutes
		"UTC":           480,
		"Asia/Shanghai": 0,   // 08:00 to 16:00
		"Asia/Kolkata":  150, // 05:30 to 13:30; day begins at 02:30 UTC, in the middle of an hour
	} {
		t.Run(zone, func(t *testing.T) {
			w := newWorld(t)
			w.zone = zone
			eight := span("2026-05-01T00:00:00Z", "2026-05-01T08:00:00Z")
			w.lease("L", eight, "GPU-A")
			w.put("gpu_utilization_ratio", "GPU-A", "scrape", every(eight, 15_000, 0.5)...)
			w.recordsOf("L", eight)
			sums, err := w.ledger.UsageSums(t.Context(), "L", eight)
			if err != nil || len(sums) != 1 {
				t.Fatal(sums, err)
			}
			use := sums[0].Use()
			halves, known := use.DayNight()
			if !known || halves.Night.AllocatedMS != want*60_000 || halves.Night.UsedMicros != want*60_000*500 || halves.Day.MeasuredMS != (480-want)*60_000 {
				t.Errorf("found %+v (%v), expected %d minutes of night", halves, known, want)
			}
		})
	}
}

func TestAnHourThatIsSetBackIsNeitherLostNorTwiceInDayAndNight(t *testing.T) {
	w := newWorld(t)
	w.zone = "America/Los_Angeles"
	w.now = at("2026-12-10T00:00:00Z").Time()
	day := span("2026-11-01T07:00:00Z", "2026-11-02T08:00:00Z") // 25 h
	w.lease("L", day, "GPU-A")
	var night int64
	for _, r := range w.recordsOf("L", day) {
		night += r.NightMS
	}
	if night != 13*3_600_000 {
		t.Errorf("found %d h of night, expected 13 of 25: twelve of day are left", night/3_600_000)
	}
}
