package exporter_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/snappy"
	"github.com/prometheus/prometheus/prompb"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// taker is a remote-write receiver that keeps every sample under its series' text.
type taker struct {
	*httptest.Server
	mu  sync.Mutex
	got map[string]prompb.Sample
}

func newTaker(t testing.TB) *taker {
	r := &taker{got: map[string]prompb.Sample{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		raw, err := io.ReadAll(request.Body)
		if err == nil {
			raw, err = snappy.Decode(nil, raw)
		}
		var message prompb.WriteRequest
		if err == nil {
			err = message.Unmarshal(raw)
		}
		if err != nil {
			t.Errorf("a request that does not decode: %v", err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, series := range message.Timeseries {
			var text []string
			for _, label := range series.Labels {
				text = append(text, label.Name+"="+label.Value)
			}
			r.got[strings.Join(text, " ")] = series.Samples[0]
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *taker) find(parts ...string) (prompb.Sample, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
next:
	for text, sample := range r.got {
		for _, part := range parts {
			if !strings.Contains(text+" ", part+" ") {
				continue next
			}
		}
		return sample, true
	}
	return prompb.Sample{}, false
}

func (r *taker) size() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.got)
}

func TestCriticalEventsArePushedAtOnceWithTheirOwnTime(t *testing.T) {
	receiver := newTaker(t)
	source := newMachine(simulated(t))
	p := start(t, source, "--push.url="+receiver.URL, "--push.spool-dir="+t.TempDir(), "--push.events-only", "--push.interval=1h")
	who := source.Snapshot().GPUs[3].Identity
	source.emit <- gpu.Event{At: noon.Add(time.Second), GPU: who, XID: gpu.Some(uint64(13))} // an application's
	source.emit <- gpu.Event{At: noon.Add(1234 * time.Millisecond), GPU: who, XID: gpu.Some(uint64(79))}
	source.emit <- gpu.Event{At: noon.Add(2 * time.Second), Since: noon.Add(time.Second), GPU: who, From: gpu.OK, To: gpu.Lost, Reason: "GPU is lost"}
	eventually(t, "the change of state arrives", func() bool {
		s, ok := receiver.find("__name__=gpu_state", "state=lost", "uuid="+who.UUID, "gpu=3", "host=gpu-a1", "vantage=host", "job=leasewatch-exporter")
		return ok && s.Value == 1 && s.Timestamp == noon.Add(2*time.Second).UnixMilli()
	})
	if s, ok := receiver.find("__name__=gpu_state", "state=ok"); !ok || s.Value != 0 {
		t.Errorf("state ok: %v %v, want 0 with the others", s, ok)
	}
	if s, _ := receiver.find("__name__=gpu_state_since_timestamp_seconds"); s.Value != float64(noon.Unix()+1) {
		t.Errorf("since %v, want the event's own", s.Value)
	}
	eventually(t, "the XID arrives", func() bool { _, ok := receiver.find("__name__=gpu_xid_errors_total", "xid=79"); return ok })
	if s, _ := receiver.find("__name__=gpu_xid_errors_total", "xid=79"); s.Value != 1 {
		t.Errorf("XID count %v, want 1", s.Value)
	}
	if s, _ := receiver.find("__name__=gpu_xid_last_timestamp_seconds", "xid=79"); s.Value != float64(noon.UnixMilli()+1234)/1000 {
		t.Errorf("XID time %v", s.Value)
	}
	if _, ok := receiver.find("xid=13"); ok {
		t.Error("an application's XID was pushed at once")
	}
	if n := receiver.size(); n != 8+1+2 {
		t.Errorf("%d series arrived, want the 11 of the two events", n)
	}
	if body, _, _ := get(t, p.url+"/metrics"); !strings.Contains(body, `leasewatch_exporter_events_total{host="gpu-a1",vantage="host"} 2`) {
		t.Error("the page does not count two critical events")
	}
}

func TestTheWholePageIsPushedAtTheInterval(t *testing.T) {
	receiver := newTaker(t)
	start(t, newMachine(simulated(t)), "--push.url="+receiver.URL, "--push.spool-dir="+t.TempDir(), "--push.interval=1s")
	eventually(t, "the page arrives", func() bool {
		_, gpus := receiver.find("__name__=gpu_temperature_celsius", "gpu=7", "instance=gpu-a1", "job=leasewatch-exporter")
		_, own := receiver.find("__name__=leasewatch_exporter_scrapes_total", "host=gpu-a1")
		_, process := receiver.find("__name__=process_resident_memory_bytes", "host=gpu-a1")
		return gpus && own && process
	})
}

func TestEventsWithoutAReceiverAreCountedOnly(t *testing.T) {
	source := newMachine(simulated(t))
	p := start(t, source)
	for range 5000 {
		select {
		case source.emit <- gpu.Event{At: noon, From: gpu.OK, To: gpu.Lost}:
		case <-time.After(20 * time.Second):
			t.Fatal("an event blocks the source")
		}
	}
	eventually(t, "the events are counted", func() bool {
		body, _, _ := get(t, p.url+"/metrics")
		return strings.Contains(body, `leasewatch_exporter_events_total{host="gpu-a1",vantage="host"} 5000`)
	})
}
