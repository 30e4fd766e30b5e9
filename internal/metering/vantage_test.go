package metering_test

import (
	"testing"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// inside lays a guest's samples, with the host's if there are any.
func (w *world) inside(metric string, samples []rental.Sample) {
	w.put(metric, "GPU-A", "push", samples...)
	all := w.series[metric]
	all[len(all)-1].Labels["vantage"] = "guest"
}

func TestAGuestsReadingsCountOnlyWhereTheHostHasNone(t *testing.T) {
	hour := span("2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z")
	for what, c := range map[string]struct {
		host bool
		used int64 // millionths of a second x 1000
	}{"the guest alone": {false, 3_600_000_000}, "beside the host": {true, 900_000_000}} {
		w := newWorld(t)
		w.lease("L", hour, "GPU-A")
		w.inside("gpu_utilization_ratio", every(rental.Span{Start: hour.Start + 5000, End: hour.End}, 15_000, 1))
		w.inside("gpu_utilization_ratio", every(hour, 15_000, 1))
		w.inside("gpu_energy_joules_total", []rental.Sample{{At: hour.Start, Value: 0}, {At: hour.Start + 15_000, Value: 9e4}})
		if c.host {
			w.put("gpu_utilization_ratio", "GPU-A", "scrape", every(hour, 15_000, 0.25)...)
			w.put("gpu_energy_joules_total", "GPU-A", "scrape", []rental.Sample{{At: hour.Start, Value: 5e6}, {At: hour.Start + 15_000, Value: 5e6 + 100}}...)
		}
		w.meter(hour)
		got := w.total("L")
		if got.MeasuredMS != 3_600_000 || got.UsedMicros != c.used {
			t.Errorf("%s: measured %d ms, used %d; expected an hour and %d", what, got.MeasuredMS, got.UsedMicros, c.used)
		}
		if c.host && got.EnergyMilliJoules != 100_000 {
			t.Errorf("%s: %d mJ, expected the host's 100 J", what, got.EnergyMilliJoules)
		}
	}
}
