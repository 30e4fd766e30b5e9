package push

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/prompb"
	"pgregory.net/rapid"
)

// batchOfSeries has one sample of each series.
func batchOfSeries(t rapid.TB, names []string) Batch {
	var samples []Sample
	for i, n := range names {
		samples = append(samples, Sample{Name: "gpu_state", At: noon, Value: float64(i), Labels: []Label{{"n", n}}})
	}
	b, err := NewBatch(samples)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// seriesOf reads the label n of each series.
func seriesOf(t rapid.TB, b Batch) []string {
	var request prompb.WriteRequest
	if err := request.Unmarshal(b.body); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range request.Timeseries {
		names = append(names, s.Labels[1].Value)
	}
	return names
}

// A proxy in between takes small requests only: the queue goes on, and nothing is lost or told twice.
func TestAReceiverThatTakesSmallRequestsOnlyGetsThem(t *testing.T) {
	r := newReceiver(t)
	r.limit = 3
	p := startPusher(t, t.TempDir(), r, nil)
	p.Push(batchOfSeries(t, numbers(1, 20)))
	p.Push(batchOfSeries(t, numbers(21, 40)))
	eventually(t, "both batches are delivered", func() bool { return p.metric("spool_records") == "0" && len(r.taken()) == 40 })
	if got := r.taken(); !slices.Equal(got, numbers(1, 40)) {
		t.Errorf("arrived %v, want 1 to 40, each once", got)
	}
	if n := p.metric("discarded_samples_total"); n != "0" {
		t.Errorf("%s samples were discarded", n)
	}
	if n := strings.Count(p.log.String(), "413"); n != 1 {
		t.Errorf("the log tells %d times of smaller requests, want once:\n%s", n, p.log)
	}
	refused := p.metric(`requests_total{outcome="too_big"}`)
	p.Push(batchOfSeries(t, numbers(41, 60)))
	eventually(t, "the third is delivered", func() bool { return len(r.taken()) == 60 })
	if now := p.metric(`requests_total{outcome="too_big"}`); refused == "0" || now != refused {
		t.Errorf("%s requests were too big, %s before the third batch: it was sent whole again before it was cut", now, refused)
	}
}

func TestOneSeriesThatIsTooBigWaits(t *testing.T) {
	r := newReceiver(t)
	r.set(down(http.StatusRequestEntityTooLarge))
	p := startPusher(t, t.TempDir(), r, nil)
	p.Push(batchOfSeries(t, numbers(1, 4)))
	eventually(t, "the smallest part is tried again", func() bool { return r.count() > 10 })
	if n := p.metric("spool_records"); n != "1" {
		t.Errorf("%s records wait, want the one", n)
	}
	r.set(nil)
	eventually(t, "all arrives once the limit is lifted", func() bool { return p.metric("spool_records") == "0" })
	if got := r.taken(); !slices.Equal(got, numbers(1, 4)) {
		t.Errorf("arrived %v", got)
	}
}

func TestAnyBatchIsTheSameInHalvesAndTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := make([]string, rapid.IntRange(2, 50).Draw(t, "series"))
		for i := range names {
			names[i] = fmt.Sprint(rapid.IntRange(0, 1000).Draw(t, "name"))
		}
		whole := batchOfSeries(t, names)
		halves, ok := whole.halves()
		if !ok {
			t.Fatal("it was not cut")
		}
		if n := halves[0].samples + halves[1].samples; n != len(names) {
			t.Fatalf("%d samples in the halves, want %d", n, len(names))
		}
		if got := seriesOf(t, merge(halves[:])); !slices.Equal(got, names) {
			t.Fatalf("%v became %v", names, got)
		}
	})
}
