package witness

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// wires is a network whose addresses the test switches on and off, by path source and address.
type wires struct {
	mu    sync.Mutex
	dead  map[string]error
	sent  map[string]int
	after func(source, address string) // called once a probe was answered or not
}

var _ Prober = (*wires)(nil)

func (w *wires) Probe(_ context.Context, source netip.Addr, address string, way Way) error {
	w.mu.Lock()
	key := source.String() + " " + address
	w.sent[key]++
	err := errors.Join(w.dead[key], w.dead[address], w.dead[address+" "+string(way)])
	after := w.after
	w.mu.Unlock()
	if after != nil {
		after(source.String(), address)
	}
	return err
}

func (w *wires) cut(err error, keys ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range keys {
		w.dead[key] = err
	}
}

var errSilent = errors.New("no answer")

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newTestService(w *wires, c *clock, log *slog.Logger) *Service {
	w.dead, w.sent = map[string]error{}, map[string]int{}
	return New(Options{
		Paths: []Path{
			{Name: "a", Source: netip.MustParseAddr("192.0.2.10"), Reference: "192.0.2.1"},
			{Name: "b", Source: netip.MustParseAddr("198.51.100.10"), Reference: "198.51.100.1:22"},
		},
		Ways: []Way{ICMP, "tcp:22"}, Interval: 15 * time.Second, Prober: w, Now: c.Now, Log: log,
		Targets: func(context.Context) ([]Target, error) {
			return []Target{{Host: "gpu-a1", Address: "10.0.0.1"}, {Host: "gpu-a2", Address: "10.0.0.2"}}, nil
		},
	})
}

// seen are the values that the service gives out of a metric, by its labels.
func seen(t *testing.T, s *Service, metric string) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(s)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		if f.GetName() != metric {
			continue
		}
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			out[strings.Join(labels, " ")] = m.GetGauge().GetValue()
		}
	}
	return out
}

func TestEachHostIsProbedOnEachPathInEachWay(t *testing.T) {
	w, c := &wires{}, &clock{now: time.UnixMilli(1_780_000_000_000)}
	s := newTestService(w, c, slog.New(slog.DiscardHandler))
	w.cut(errSilent, "10.0.0.1")
	w.cut(errSilent, "198.51.100.10 10.0.0.2")
	s.Look(t.Context())
	want := map[string]float64{
		"gpu-a1 a icmp": 0, "gpu-a1 a tcp:22": 0, "gpu-a1 b icmp": 0, "gpu-a1 b tcp:22": 0,
		"gpu-a2 a icmp": 1, "gpu-a2 a tcp:22": 1, "gpu-a2 b icmp": 0, "gpu-a2 b tcp:22": 0,
	}
	if got := seen(t, s, "host_probe_success"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, expected %v", got, want)
	}
	if n := w.sent["192.0.2.10 10.0.0.1"]; n != 2*Attempts {
		t.Errorf("a host that is silent was probed %d times by two ways, expected %d attempts each", n, Attempts)
	}
	if n := w.sent["192.0.2.10 10.0.0.2"]; n != 2 {
		t.Errorf("a host that answers was probed %d times by two ways, expected once each", n)
	}
	if problems, err := testutil.CollectAndLint(s); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}

func TestAPathWhoseReferenceIsSilentSaysNothingOfHosts(t *testing.T) {
	w, c := &wires{}, &clock{now: time.UnixMilli(1_780_000_000_000)}
	var log strings.Builder
	s := newTestService(w, c, slog.New(slog.NewTextHandler(&log, nil)))
	w.cut(errSilent, "192.0.2.1", "10.0.0.1", "10.0.0.2")
	s.Look(t.Context())
	s.Look(t.Context())
	for labels := range seen(t, s, "host_probe_success") {
		if strings.Contains(labels, " a ") {
			t.Errorf("told on a blind path: %s", labels)
		}
	}
	if up := seen(t, s, "leasewatch_probe_path_up"); up["a"] != 0 || up["b"] != 1 {
		t.Errorf("paths: %v, expected a blind and b not", up)
	}
	if n := strings.Count(log.String(), "path a is blind"); n != 1 {
		t.Errorf("logged %d times, expected once:\n%s", n, log.String())
	}
}

func TestAPathThatGoesBlindWhileItProbesFailsNoHost(t *testing.T) {
	w, c := &wires{}, &clock{now: time.UnixMilli(1_780_000_000_000)}
	s := newTestService(w, c, slog.New(slog.DiscardHandler))
	w.cut(errSilent, "10.0.0.1")
	references := map[string]string{"192.0.2.10": "192.0.2.1", "198.51.100.10": "198.51.100.1"}
	w.after = func(source, address string) {
		if address != references[source] {
			w.cut(errSilent, source+" "+references[source])
		}
	}
	s.Look(t.Context())
	got := seen(t, s, "host_probe_success")
	for labels, value := range got {
		if value == 0 {
			t.Errorf("%s failed on a path that went blind", labels)
		}
	}
	if got["gpu-a2 a icmp"] != 1 {
		t.Errorf("%v, expected the answers that came to stand", got)
	}
}

func TestWhatCannotBeProbedFromHereIsNotTold(t *testing.T) {
	w, c := &wires{}, &clock{now: time.UnixMilli(1_780_000_000_000)}
	s := newTestService(w, c, slog.New(slog.DiscardHandler))
	w.cut(fmt.Errorf("%w: no permission", errCannot), "10.0.0.1 icmp", "10.0.0.2 icmp")
	s.Look(t.Context())
	var labels []string
	for l := range seen(t, s, "host_probe_success") {
		labels = append(labels, l)
	}
	slices.Sort(labels)
	if want := "gpu-a1 a tcp:22,gpu-a1 b tcp:22,gpu-a2 a tcp:22,gpu-a2 b tcp:22"; strings.Join(labels, ",") != want {
		t.Errorf("%q, expected %q", labels, want)
	}
}

func TestNoOldReadingIsGivenOutAsLive(t *testing.T) {
	w, c := &wires{}, &clock{now: time.UnixMilli(1_780_000_000_000)}
	s := newTestService(w, c, slog.New(slog.DiscardHandler))
	s.Look(t.Context())
	c.add(30 * time.Second)
	if got := seen(t, s, "host_probe_success"); len(got) != 8 {
		t.Errorf("%d readings after two intervals, expected 8", len(got))
	}
	c.add(time.Millisecond)
	if got := seen(t, s, "host_probe_success"); len(got) != 0 {
		t.Errorf("%v, expected nothing older than two intervals", got)
	}
}
