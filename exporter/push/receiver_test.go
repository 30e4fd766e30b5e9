package push

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"github.com/klauspost/compress/snappy"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/prompb"
)

// receiver is a remote-write endpoint that keeps what it takes.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	got      []string // value of label n, in the order of arrival
	times    map[string]int64
	requests int
	token    string
	limit    int                                           // series of one request, 0 for any number
	answer   func(request int, w http.ResponseWriter) bool // true: answered, nothing taken
	after    func(w http.ResponseWriter)                   // instead of 204, once taken
}

func newReceiver(t testing.TB) *receiver {
	r := &receiver{times: map[string]int64{}}
	r.Server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) serve(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests++
	r.token = request.Header.Get("Authorization")
	if r.answer != nil && r.answer(r.requests, w) {
		return
	}
	raw, err := io.ReadAll(request.Body)
	if err == nil {
		raw, err = snappy.Decode(nil, raw)
	}
	var message prompb.WriteRequest
	if err == nil {
		err = message.Unmarshal(raw)
	}
	if err != nil || request.Header.Get("X-Prometheus-Remote-Write-Version") == "" {
		http.Error(w, "no remote write", http.StatusTeapot)
		return
	}
	if r.limit > 0 && len(message.Timeseries) > r.limit {
		http.Error(w, "too big", http.StatusRequestEntityTooLarge)
		return
	}
	for _, series := range message.Timeseries {
		for i, label := range series.Labels {
			if i > 0 && series.Labels[i-1].Name >= label.Name {
				http.Error(w, "labels are out of order", http.StatusTeapot)
			}
			if label.Name == "n" {
				r.got = append(r.got, label.Value)
				r.times[label.Value] = series.Samples[0].Timestamp
			}
		}
	}
	if r.after != nil {
		r.after(w)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (r *receiver) set(answer func(int, http.ResponseWriter) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

func (r *receiver) taken() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.got...)
}

func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests
}

func down(code int) func(int, http.ResponseWriter) bool {
	return func(_ int, w http.ResponseWriter) bool {
		http.Error(w, "not now", code)
		return true
	}
}

// logBuffer may be read while it is written.
type logBuffer struct {
	mu  sync.Mutex
	buf strings.Builder
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// pusher is a Pusher that runs until stop.
type pusher struct {
	*Pusher
	set  *metrics.Set
	log  *logBuffer
	stop func()
}

func configFor(r *receiver, dir string, change func(*Config)) Config {
	config := Config{
		URL: r.URL + "/api/v1/write", SpoolDir: dir, SpoolMaxBytes: 16 << 20,
		MinBackoff: time.Millisecond, MaxBackoff: 5 * time.Millisecond, Timeout: 5 * time.Second,
		Now: time.Now, Log: promslog.NewNopLogger(), Metrics: metrics.NewSet(),
	}
	if change != nil {
		change(&config)
	}
	return config
}

func startPusher(t testing.TB, dir string, r *receiver, change func(*Config)) *pusher {
	t.Helper()
	return runPusher(t, configFor(r, dir, change))
}

// runPusher starts a pusher with instruments and a log of its own.
func runPusher(t testing.TB, config Config) *pusher {
	t.Helper()
	log := &logBuffer{}
	set := metrics.NewSet()
	config.Log, config.Metrics = promslog.New(&promslog.Config{Writer: log}), set
	p, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
		if err := p.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	t.Cleanup(stop)
	return &pusher{Pusher: p, set: set, log: log, stop: stop}
}

// metric reads one of the pusher's own instruments.
func (p *pusher) metric(name string) string {
	var page strings.Builder
	p.set.WritePrometheus(&page)
	for _, line := range strings.Split(page.String(), "\n") {
		if value, ok := strings.CutPrefix(line, "leasewatch_exporter_push_"+name+" "); ok {
			return value
		}
	}
	return "absent"
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// numbered is a batch of one sample that carries its number, padded to a size.
func numbered(t testing.TB, n string, padding int) Batch {
	t.Helper()
	b, err := NewBatch([]Sample{{Name: "gpu_state", At: noon, Value: 1, Labels: []Label{{"n", n}, {"pad", noise(padding)}, {"empty", ""}}}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// noise is text that does not compress away.
func noise(n int) string {
	x := uint64(88172645463325252)
	out := make([]byte, n)
	for i := range out {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		out[i] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-"[x%64]
	}
	return string(out)
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("within a minute this did not come true: %s", what)
}

func tokenFile(t testing.TB, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
