package metering_test

import (
	"fmt"
	"testing"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// BenchmarkAnHourOf8000Cards meters 1,000 leases of eight cards with four readings a minute of
// four metrics, into a SQLite ledger on disk.
func BenchmarkAnHourOf8000Cards(b *testing.B) {
	w := newWorld(b)
	hour := span("2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z")
	around := rental.Span{Start: hour.Start - 10*minute, End: hour.End + 10*minute}
	use, held := every(around, 15_000, 0.5), every(around, 15_000, 1)
	var drawn []rental.Sample
	for i, s := range use {
		drawn = append(drawn, rental.Sample{At: s.At, Value: float64(i) * 15 * 700})
	}
	var leases []rental.Lease
	for l := range 1000 {
		var cards []string
		for c := range 8 {
			uuid := fmt.Sprintf("GPU-%d-%d", l, c)
			cards = append(cards, uuid)
			w.put("gpu_utilization_ratio", uuid, "scrape", use...)
			w.put("gpu_sm_active_ratio", uuid, "scrape", use...)
			w.put("gpu_allocated", uuid, "scrape", held...)
			w.put("gpu_energy_joules_total", uuid, "scrape", drawn...)
		}
		leases = append(leases, w.leaseOf(fmt.Sprintf("L-%d", l), rental.Span{Start: around.Start, End: rental.Forever}, cards...))
	}
	w.apply(leases...)
	s := w.service()
	for b.Loop() {
		if _, err := s.Meter(b.Context(), hour); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		for i := range w.series["gpu_utilization_ratio"] { // next time every record differs
			w.series["gpu_utilization_ratio"][i].Samples = every(around, 15_000, 0.5+float64(b.N%40)/100)
		}
		b.StartTimer()
	}
}
