package monitor

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
)

// healsAfter returns how long writes must have passed before the store counts as well again: a round
// of the slowest scrapes, one of the recording rules that alerts read, and some seconds for the jitter
// of both, so that nothing looks ended for want of samples.
func (m *Monitor) healsAfter() time.Duration {
	slowest := m.opts.ScrapeInterval
	for _, job := range m.config.ScrapeConfigs {
		slowest = max(slowest, time.Duration(job.ScrapeInterval))
	}
	return slowest + m.opts.EvaluationInterval + 5*time.Second
}

// Health tells whether samples can be stored. It is known in this process, from the writes
// themselves: a store that takes nothing cannot be asked how it is.
type Health struct {
	// Failing is true from the first write that failed until writes have passed
	// for a round of scrapes and rules.
	Failing bool
	// Since is when the first of these writes failed.
	Since time.Time
	// Err is the newest failure.
	Err error
}

// Health returns how the store is now.
func (m *Monitor) Health() Health { return m.health.read() }

// Series returns how many series the store holds in memory.
func (m *Monitor) Series() int64 { return int64(m.db.Head().NumSeries()) }

// storeHealth keeps what became of the writes of scrapes, remote write and rules.
type storeHealth struct {
	now      func() time.Time
	heals    time.Duration
	failures prometheus.Counter

	mu    sync.Mutex
	state Health
	last  time.Time // of the failures
	good  bool      // a write has passed since the last failure
}

func newStoreHealth(now func() time.Time, heals time.Duration, reg prometheus.Registerer) (*storeHealth, error) {
	h := &storeHealth{now: now, heals: heals, failures: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "leasewatch_store_write_failures_total", Help: "Batches of samples that could not be stored.",
	})}
	failing := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "leasewatch_store_failing", Help: "1 while samples cannot be stored: nothing new is seen, and alerts stay as they were.",
	}, func() float64 {
		if h.read().Failing {
			return 1
		}
		return 0
	})
	for _, c := range []prometheus.Collector{h.failures, failing} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return h, nil
}

func (h *storeHealth) read() Health {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.state.Failing && h.good && h.now().Sub(h.last) >= h.heals {
		h.state = Health{}
	}
	return h.state
}

func (h *storeHealth) failed(err error) {
	h.failures.Inc()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last, h.good = h.now(), false
	if !h.state.Failing {
		h.state.Since = h.last
	}
	h.state.Failing, h.state.Err = true, err
}

func (h *storeHealth) passed() {
	h.mu.Lock()
	h.good = true
	h.mu.Unlock()
}

// watched is a store whose writes tell its health.
type watched struct {
	store  storage.AppendableV2
	health *storeHealth
}

var _ storage.AppendableV2 = watched{}

// AppenderV2 returns an appender whose commit is looked at.
func (w watched) AppenderV2(ctx context.Context) storage.AppenderV2 {
	return &watchedAppender{AppenderV2: w.store.AppenderV2(ctx), health: w.health}
}

type watchedAppender struct {
	storage.AppenderV2

	health *storeHealth
	filled bool
}

// Append remembers that there is something to commit: to write nothing always passes.
func (a *watchedAppender) Append(ref storage.SeriesRef, ls labels.Labels, st, t int64, v float64, h *histogram.Histogram, fh *histogram.FloatHistogram, opts storage.AppendV2Options) (storage.SeriesRef, error) {
	got, err := a.AppenderV2.Append(ref, ls, st, t, v, h, fh, opts)
	a.filled = a.filled || err == nil
	return got, err
}

// Commit writes, and tells the health what became of it.
func (a *watchedAppender) Commit() error {
	err := a.AppenderV2.Commit()
	switch {
	case err != nil:
		a.health.failed(err)
	case a.filled:
		a.health.passed()
	}
	return err
}
