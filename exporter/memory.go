package exporter

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/leasewatch/leasewatch/exporter/gpu"
	"github.com/leasewatch/leasewatch/exporter/statefile"
)

const (
	// saveEvery is how often the state file is written where nothing happens: that long may the
	// time be that a crash leaves unknown.
	saveEvery = 30 * time.Second
	// savePause keeps a storm of events from keeping the disk busy.
	savePause = time.Second
	// lastSaveFor bounds the last save, whose disk may hang.
	lastSaveFor = 300 * time.Millisecond
)

// memory keeps the state file: what is known of the GPUs, for the exporter's next life.
type memory struct {
	path   string // "" for no file
	source gpu.Source
	log    *slog.Logger
	wake   chan struct{}

	mu      sync.Mutex // one save at a time
	failing bool
	last    *gpu.Snapshot
	saved   atomic.Int64 // milliseconds: the page must not wait for a disk that hangs

	errors *metrics.Counter
}

// recall reads the state file. One that cannot be used is set aside with one warning, and
// nothing is known: it is no reason not to look at the GPUs.
func recall(path string, log *slog.Logger) *gpu.Snapshot {
	if path == "" {
		return &gpu.Snapshot{}
	}
	known, err := statefile.Load(path)
	if err == nil {
		return known
	}
	aside, asideErr := statefile.SetAside(path)
	if asideErr != nil {
		aside = asideErr.Error()
	}
	log.Warn("the state file cannot be used: starting without what was known of the GPUs; those that were released are asked again",
		"err", err, "kept_as", aside)
	return &gpu.Snapshot{}
}

func newMemory(path string, source gpu.Source, set *metrics.Set, log *slog.Logger) *memory {
	m := &memory{path: path, source: source, log: log, wake: make(chan struct{}, 1)}
	if path == "" {
		return m
	}
	m.errors = set.NewCounter("leasewatch_exporter_state_file_errors_total")
	set.NewGauge("leasewatch_exporter_state_file_timestamp_seconds", func() float64 { return float64(m.saved.Load()) / 1000 })
	return m
}

// runSource runs the source and keeps what it brings. The channel gets how the source ended.
func (m *memory) runSource(ctx context.Context, emit func(gpu.Event)) <-chan error {
	ended := make(chan error, 1)
	go func() {
		ended <- m.source.Run(ctx, func(e gpu.Event) {
			emit(e)
			m.note()
		})
	}()
	go m.run(ctx) // not waited for: the disk may hang
	return ended
}

// note has the file written at once: something happened that must not be forgotten.
func (m *memory) note() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// run writes the file until ctx ends.
func (m *memory) run(ctx context.Context) {
	if m.path == "" {
		return
	}
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-m.wake:
		}
		m.save()
		select {
		case <-ctx.Done():
			return
		case <-time.After(savePause):
		}
	}
}

// save writes the file and tells whether what is known now is on the disk. A failure is
// logged when it begins and when it ends, and counted each time.
func (m *memory) save() bool {
	if m.path == "" {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.source.Snapshot()
	if s.At.IsZero() {
		return false // nothing is known yet
	}
	if s == m.last {
		return true
	}
	if err := statefile.Save(m.path, s); err != nil {
		m.errors.Inc()
		if !m.failing {
			m.log.Error("what is known of the GPUs cannot be kept: after a restart it is forgotten", "err", err)
		}
		m.failing = true
		return false
	}
	if m.failing {
		m.log.Info("the state file takes writes again", "path", m.path)
	}
	m.failing, m.last = false, s
	m.saved.Store(s.At.UnixMilli())
	return true
}

// saveLast is save at the end, which waits no longer than a moment.
func (m *memory) saveLast() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.save()
	}()
	select {
	case <-done:
	case <-time.After(lastSaveFor):
		m.log.Warn("the state file is not written in time", "path", m.path)
	}
}
