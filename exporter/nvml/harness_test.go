//go:build linux && cgo

package nvml

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// childEnv is set in the process that runs a test's body.
const childEnv = "LEASEWATCH_NVML_TEST_CHILD"

// inChild runs a test's body in a process of its own: a driver library, once loaded, is there
// for the whole process, and a call to a function that it lacks ends the process.
func inChild(t *testing.T, s *fakenvml.Scenario, body func(t *testing.T, m *machine)) {
	t.Helper()
	if os.Getenv(childEnv) == "" {
		runChild(t, fakenvml.Install(t, s).Env()...)
		return
	}
	m := &machine{file: os.Getenv(fakenvml.ScenarioEnv), scenario: s, log: os.Getenv(fakenvml.LogEnv)}
	body(t, m)
}

func runChild(t *testing.T, env ...string) {
	t.Helper()
	t.Parallel()
	var pattern []string
	for _, part := range strings.Split(t.Name(), "/") {
		pattern = append(pattern, "^"+part+"$")
	}
	cmd := exec.Command(os.Args[0], "-test.run="+strings.Join(pattern, "/"), "-test.v", "-test.timeout=90s")
	cmd.Env = append(os.Environ(), append(env, childEnv+"=1")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the test's own process ended with %v:\n%s", err, out)
	}
}

// machine is a host under test: its scenario, a reader on it, and what the reader told.
type machine struct {
	scenario  *fakenvml.Scenario
	file, log string
	reader    *Reader
	set       *metrics.Set

	said sayings // the reader's log

	mu     sync.Mutex
	events []gpu.Event
}

// sayings are the lines of a log, which may be read while more are written.
type sayings struct {
	mu    sync.Mutex
	lines []string
}

func (s *sayings) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, string(p))
	return len(p), nil
}

// of returns the lines that have the text.
func (s *sayings) of(text string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.lines), func(line string) bool { return !strings.Contains(line, text) })
}

// change rewrites the scenario.
func (m *machine) change(t *testing.T, f func(s *fakenvml.Scenario)) {
	t.Helper()
	f(m.scenario)
	if err := m.scenario.Write(m.file); err != nil {
		t.Fatal(err)
	}
}

// quick are tiers fast enough for tests.
func quick() Options {
	return Options{Fast: 20 * time.Millisecond, Slow: 60 * time.Millisecond, Identity: time.Hour,
		Retry: 10 * time.Millisecond, RetryMax: 50 * time.Millisecond}
}

// start runs a reader until the test ends.
func (m *machine) start(t *testing.T, options Options) {
	t.Helper()
	m.set = metrics.NewSet()
	options.Metrics = m.set
	options.Logger = slog.New(slog.NewTextHandler(io.MultiWriter(t.Output(), &m.said), nil))
	r, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	m.reader = r
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- r.Run(ctx, func(e gpu.Event) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.events = append(m.events, e)
		})
	}()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("Run returned %v", err)
			}
		case <-time.After(2 * time.Minute):
			t.Error("Run did not return")
		}
	})
}

// told returns the events so far.
func (m *machine) told() []gpu.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]gpu.Event(nil), m.events...)
}

// calls returns what the library noted of its life.
func (m *machine) calls(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(m.log)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}

// lives says why the library was not started so many times yet.
func (m *machine) lives(t *testing.T, want int) error {
	t.Helper()
	if got := strings.Count(m.calls(t), "nvmlInit"); got != want {
		return fmt.Errorf("the library was started %d times, want %d", got, want)
	}
	return nil
}

// wait polls until the snapshot is as wanted; what says why it is not.
func (m *machine) wait(t *testing.T, what func(s *gpu.Snapshot) error) *gpu.Snapshot {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		s := m.reader.Snapshot()
		err := what(s)
		if err == nil {
			return s
		}
		if time.Now().After(deadline) {
			t.Fatalf("after two minutes still: %v", err)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// waitForHang waits until one and the same call of a GPU has been out for a while.
func (m *machine) waitForHang(t *testing.T, index int) {
	t.Helper()
	var seen *inCall
	since := time.Now()
	m.wait(t, func(*gpu.Snapshot) error {
		m.reader.mu.Lock()
		out := m.reader.slots[index].caller.current.Load()
		m.reader.mu.Unlock()
		if out != seen {
			seen, since = out, time.Now()
		}
		if seen == nil || time.Since(since) < 100*time.Millisecond {
			return fmt.Errorf("no call of GPU %d hangs", index)
		}
		return nil
	})
}

// all wants so many GPUs, each in the state.
func all(n int, state gpu.State) func(s *gpu.Snapshot) error {
	return func(s *gpu.Snapshot) error {
		if len(s.GPUs) != n {
			return fmt.Errorf("%d GPUs, want %d; driver %+v", len(s.GPUs), n, s.Driver)
		}
		for _, g := range s.GPUs {
			if g.Status.State != state {
				return fmt.Errorf("GPU %d is %s (%s), want %s", g.Identity.Index, g.Status.State, g.Status.Reason, state)
			}
		}
		return nil
	}
}

// one wants one GPU in a state, and the others ok.
func one(uuid string, state gpu.State) func(s *gpu.Snapshot) error {
	return func(s *gpu.Snapshot) error {
		found := false
		for _, g := range s.GPUs {
			want := gpu.OK
			if g.Identity.UUID == uuid {
				found, want = true, state
			}
			if g.Status.State != want {
				return fmt.Errorf("GPU %d (%s) is %s (%s), want %s", g.Identity.Index, g.Identity.UUID, g.Status.State, g.Status.Reason, want)
			}
		}
		if !found {
			return fmt.Errorf("no GPU %s", uuid)
		}
		return nil
	}
}

func find(t *testing.T, s *gpu.Snapshot, uuid string) gpu.GPU {
	t.Helper()
	for _, g := range s.GPUs {
		if g.Identity.UUID == uuid {
			return g
		}
	}
	t.Fatalf("no GPU %s in the snapshot", uuid)
	return gpu.GPU{}
}

// h100 is the UUID of a GPU of fakenvml.H100x8.
func h100(i int) string { return fmt.Sprintf("GPU-6f1e2d3c-0000-4a5b-8c9d-%012d", i) }
