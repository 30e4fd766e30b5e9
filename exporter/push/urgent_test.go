package push

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
)

// stuckQueue gives a pusher whose queue waits for ten minutes, as its receiver asked.
func stuckQueue(t *testing.T, r *receiver) *pusher {
	t.Helper()
	r.set(func(request int, w http.ResponseWriter) bool {
		if request == 1 {
			w.Header().Set("Retry-After", "600")
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return true
		}
		return false
	})
	p := startPusher(t, t.TempDir(), r, nil)
	p.Push(numbered(t, "1", 10))
	eventually(t, "the receiver asks to wait", func() bool { return r.count() == 1 })
	return p
}

func TestUrgentBatchesPassTheQueue(t *testing.T) {
	r := newReceiver(t)
	p := stuckQueue(t, r)
	p.PushNow(numbered(t, "urgent", 10))
	eventually(t, "the urgent one arrives while the queue waits", func() bool { return slices.Equal(r.taken(), []string{"urgent"}) })
	if n := p.metric("spool_records"); n != "2" {
		t.Errorf("%s records wait, want 2: the urgent one stays in the spool too", n)
	}
}

// All eight cards of a host fail in the same moment, as when the driver goes down.
func TestEightUrgentBatchesAtOnceAllPassTheQueue(t *testing.T) {
	r := newReceiver(t)
	p := stuckQueue(t, r)
	for _, n := range numbers(101, 108) {
		p.PushNow(numbered(t, n, 10))
	}
	eventually(t, "all eight arrive while the queue waits", func() bool { return len(r.taken()) == 8 })
	if got := r.taken(); !slices.Equal(got, numbers(101, 108)) {
		t.Errorf("arrived %v, want each once and in its order", got)
	}
	if n := p.metric("spool_records"); n != "9" {
		t.Errorf("%s records wait, want 9: the urgent ones stay in the spool too", n)
	}
}

func TestWhatComesWhileAnUrgentRequestIsUnderWayGoesTogetherInTheNext(t *testing.T) {
	under, answer := make(chan Batch), make(chan struct{})
	u := newUrgent(func(_ context.Context, b Batch) { under <- b; <-answer })
	defer u.close()
	u.add(numbered(t, "1", 10))
	<-under
	for _, n := range numbers(2, 8) {
		u.add(numbered(t, n, 10))
	}
	answer <- struct{}{}
	if rest := <-under; rest.samples != 7 {
		t.Errorf("the second request has %d samples, want the other 7", rest.samples)
	}
	answer <- struct{}{}
}

func TestTooMuchUrgencyKeepsTheNewest(t *testing.T) {
	under, answer := make(chan Batch), make(chan struct{})
	u := newUrgent(func(_ context.Context, b Batch) { under <- b; <-answer })
	defer u.close()
	u.add(numbered(t, "first", 10))
	<-under
	for n := range 20 {
		u.add(numbered(t, fmt.Sprint(n), maxUrgentBytes/8))
	}
	newest := numbered(t, "newest", 10)
	u.add(newest)
	answer <- struct{}{}
	rest := <-under
	if len(rest.body) > maxUrgentBytes || rest.samples != 8 {
		t.Errorf("%d samples in %d bytes wait, want 8 in at most %d", rest.samples, len(rest.body), maxUrgentBytes)
	}
	if tail := rest.body[len(rest.body)-len(newest.body):]; !slices.Equal(tail, newest.body) {
		t.Error("the newest batch is not among those kept")
	}
	answer <- struct{}{}
}
