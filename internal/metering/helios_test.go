package metering_test

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/testenv"
)

// TestARealMonthOfEightCards meters a real cluster: a row a minute says how many of its eight
// GPUs a job held. As gpu_allocated of eight made-up cards the first n of them are held.
func TestARealMonthOfEightCards(t *testing.T) {
	w := newWorld(t)
	month := span("2020-05-01T00:00:00Z", "2020-06-01T00:00:00Z")
	var cards []string
	for i := range 8 {
		cards = append(cards, fmt.Sprintf("GPU-%d", i))
	}
	w.lease("L", month, cards...)
	if err := w.ledger.SaveSampleInterval(t.Context(), month, 60_000); err != nil {
		t.Fatal(err)
	}
	samples := heliosMinutes(t)
	for i, c := range cards {
		w.put("gpu_allocated", c, "backfill", samples[i]...)
	}
	w.meter(month)
	got := w.total("L")
	const gpuMinute = 60_000
	if got.AllocatedMS != 357_120*gpuMinute || got.HeldKnownMS != 357_120*gpuMinute || got.HeldMS != 324_928*gpuMinute {
		t.Errorf("found %d allocated, %d known, %d held GPU-minutes, expected 357,120, 357,120 and 324,928",
			got.AllocatedMS/gpuMinute, got.HeldKnownMS/gpuMinute, got.HeldMS/gpuMinute)
	}
	if got.MeasuredMS != 0 || got.UsedMicros != 0 || got.BusyMS != 0 {
		t.Errorf("found %d ms measured: holding is not use", got.MeasuredMS)
	}
}

func heliosMinutes(t *testing.T) [8][]rental.Sample {
	t.Helper()
	f, err := os.Open(testenv.Data(t, "helios_earth_vcgkz_minute_2020-05.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rows := csv.NewReader(unpacked)
	head, err := rows.Read()
	if err != nil || head[0] != "time" || head[8] != "running_gpu_num" {
		t.Fatalf("header %v (%v), expected time first and running_gpu_num ninth", head, err)
	}
	var samples [8][]rental.Sample
	for {
		row, err := rows.Read()
		if err == io.EOF {
			return samples
		}
		if err != nil {
			t.Fatal(err)
		}
		moment, err := time.Parse("2006-01-02 15:04:05", row[0])
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(row[8])
		if err != nil {
			t.Fatal(err)
		}
		for i := range samples {
			held := 0.0
			if i < n {
				held = 1
			}
			samples[i] = append(samples[i], rental.Sample{At: rental.At(moment), Value: held})
		}
	}
}
