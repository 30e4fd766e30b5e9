package exporter_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// machine is a source that a test sets by hand.
type machine struct {
	mu       sync.Mutex
	snapshot *gpu.Snapshot
	emit     chan gpu.Event
	hang     bool // Run does not return when its context ends, as behind a hanging driver call
}

var _ gpu.Source = (*machine)(nil)

func newMachine(s *gpu.Snapshot) *machine {
	return &machine{snapshot: s, emit: make(chan gpu.Event, 100)}
}

func (m *machine) Run(ctx context.Context, emit func(gpu.Event)) error {
	for {
		select {
		case e := <-m.emit:
			emit(e)
		case <-ctx.Done():
			if m.hang {
				select {}
			}
			return nil
		}
	}
}

func (m *machine) Snapshot() *gpu.Snapshot {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.snapshot
}

func (m *machine) set(s *gpu.Snapshot) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.snapshot = s
}

// running is the program under test.
type running struct {
	url  string
	stop func() int
	log  *safeBuffer
}

// safeBuffer may be read while the program still writes.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// start runs the program on a free port, with the source as its driver.
func start(t testing.TB, source gpu.Source, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	listening := make(chan []net.Addr, 1)
	ended := make(chan int, 1)
	log := &safeBuffer{}
	args = append([]string{"--web.listen-address=127.0.0.1:0", "--host.name=gpu-a1"}, args...)
	go func() {
		ended <- exporter.Run(ctx, args, io.Discard, log, exporter.Options{
			Sources:   map[string]exporter.NewSource{"nvml": func(exporter.SourceConfig) (gpu.Source, error) { return source, nil }},
			Listening: func(addrs []net.Addr) { listening <- addrs },
		})
	}()
	select {
	case addrs := <-listening:
		stop := sync.OnceValue(func() int { cancel(); return <-ended })
		t.Cleanup(func() { stop() })
		return &running{url: "http://" + addrs[0].String(), stop: stop, log: log}
	case code := <-ended:
		cancel()
		t.Fatalf("the program ended with %d before it listened:\n%s", code, log)
		return nil
	}
}

// get asks for a page and returns it with its content type.
func get(t testing.TB, url string, header ...string) (body, contentType string, status int) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw), response.Header.Get("Content-Type"), response.StatusCode
}

// patience is long enough for a slow machine that runs other tests as well.
const patience = 2 * time.Minute

// eventually polls until ok, or fails with the reason.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	// Not too often: what is asked is mostly a whole page, and many programs run beside each other.
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("within %s this did not come true: %s", patience, what)
}

// help returns what --help prints.
func help(t testing.TB) string {
	t.Helper()
	var stdout bytes.Buffer
	code := exporter.Run(context.Background(), []string{"--help"}, &stdout, io.Discard, exporter.Options{Sources: map[string]exporter.NewSource{"nvml": nil}})
	if code != 0 {
		t.Fatalf("--help ends with %d", code)
	}
	return stdout.String()
}
