// Package push delivers samples to a remote-write receiver: for hosts that nobody can scrape,
// and for critical events that must not wait. Every batch goes through a spool on disk, so
// that an outage of the receiver, of the network or of the exporter itself loses nothing
// inside the spool's cap, and what the cap costs is counted.
package push

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// Config is what a Pusher is made from.
type Config struct {
	// URL is the receiver's remote-write endpoint.
	URL string
	// TokenFile holds the bearer token; "" for none. It is read again for each request.
	TokenFile string
	// Headers are sent with each request, such as Mimir's X-Scope-OrgID; they hold no secret.
	Headers map[string]string
	// SpoolDir keeps what is not delivered; SpoolMaxBytes is its cap.
	SpoolDir      string
	SpoolMaxBytes int64
	// MinBackoff and MaxBackoff bound the wait after a failed request; zero means 1 s and 30 s.
	MinBackoff, MaxBackoff time.Duration
	// Timeout bounds one request; zero means 30 s.
	Timeout time.Duration
	Now     func() time.Time
	Log     *slog.Logger
	Metrics *metrics.Set
}

// Pusher takes batches and delivers them. Push and PushNow may be called from any goroutine.
type Pusher struct {
	config Config
	spool  *spool
	reader *spoolReader
	sender *sender

	urgent       *urgent
	fits         int // series that one request may hold, 0 while no receiver found one too big
	deliveredSeq atomic.Uint64
	lost         atomic.Uint64
	lastSuccess  atomic.Int64 // milliseconds
	clockOffset  atomic.Int64 // milliseconds
	failing      bool
	spoolFails   atomic.Bool

	samples, discarded, spoolErrors *metrics.Counter
	requests                        map[outcome]*metrics.Counter
}

// New opens the spool and prepares the delivery. It fails where the spool cannot be used.
func New(config Config) (*Pusher, error) {
	config.MinBackoff = orElse(config.MinBackoff, time.Second)
	config.MaxBackoff = max(orElse(config.MaxBackoff, 30*time.Second), config.MinBackoff)
	config.Timeout = orElse(config.Timeout, 30*time.Second)
	from, err := readCursor(config.SpoolDir)
	if err != nil {
		return nil, err
	}
	spool, err := openSpool(config.SpoolDir, config.SpoolMaxBytes, from, config.Log)
	if err != nil {
		return nil, err
	}
	p := &Pusher{config: config, spool: spool, reader: newSpoolReader(spool, from)}
	p.deliveredSeq.Store(from.seq)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	var beside *sender
	if p.sender, err = newSender(config.URL, config.TokenFile, config.Headers, transport, config.Timeout, config.Now); err == nil {
		beside, err = newSender(config.URL, config.TokenFile, config.Headers, transport, config.Timeout, config.Now)
	}
	if err != nil {
		return nil, errors.Join(err, spool.close())
	}
	p.urgent = newUrgent(func(ctx context.Context, b Batch) { p.note(beside.send(ctx, b), b) })
	p.instrument()
	return p, nil
}

func orElse(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}

func (p *Pusher) instrument() {
	set := p.config.Metrics
	p.requests = map[outcome]*metrics.Counter{}
	for _, o := range []outcome{delivered, refused, tooBig, later} {
		p.requests[o] = set.NewCounter(fmt.Sprintf("leasewatch_exporter_push_requests_total{outcome=%q}", string(o)))
	}
	p.samples = set.NewCounter("leasewatch_exporter_push_samples_total")
	p.discarded = set.NewCounter("leasewatch_exporter_push_discarded_samples_total")
	p.spoolErrors = set.NewCounter("leasewatch_exporter_push_spool_errors_total")
	gauge := func(name string, f func() float64) { set.NewGauge("leasewatch_exporter_push_"+name, f) }
	gauge("spool_bytes", func() float64 { return float64(p.spool.bytes.Load()) })
	gauge("spool_limit_bytes", func() float64 { return float64(p.config.SpoolMaxBytes) })
	gauge("spool_records", func() float64 { return float64(p.backlog()) })
	gauge("spool_dropped_segments_total", func() float64 { return float64(p.spool.dropped.Load()) })
	gauge("spool_dropped_records_total", func() float64 { return float64(p.lost.Load()) })
	gauge("last_success_timestamp_seconds", func() float64 { return float64(p.lastSuccess.Load()) / 1000 })
	gauge("clock_offset_seconds", func() float64 { return float64(p.clockOffset.Load()) / 1000 })
}

// backlog is how many records wait for delivery.
func (p *Pusher) backlog() uint64 {
	newest, done := p.spool.newest.Load(), p.deliveredSeq.Load()
	if newest < done {
		return 0
	}
	return newest - done
}

// Push puts a batch into the spool; it is delivered in its turn. It never waits for the network.
// Where the disk takes nothing, the batch is sent once from memory.
func (p *Pusher) Push(b Batch) {
	if b.samples == 0 {
		return
	}
	_, err := p.spool.append(b)
	if err == nil {
		if p.spoolFails.Swap(false) {
			p.config.Log.Info("the spool takes writes again")
		}
		return
	}
	p.spoolErrors.Inc()
	if !p.spoolFails.Swap(true) {
		p.config.Log.Error("the spool takes no writes: samples are sent once, and lost where that fails", "err", err)
	}
	p.urgent.add(b)
}

// PushNow is Push for what must not wait: where older records are still undelivered, the
// batch is also sent past them at once. The receiver may so get it twice, with the same
// times and values.
func (p *Pusher) PushNow(b Batch) {
	waiting := p.backlog() > 0
	p.Push(b)
	if waiting && b.samples > 0 && !p.spoolFails.Load() {
		p.urgent.add(b)
	}
}

// Run delivers until ctx ends. It returns an error only where the spool cannot be read.
func (p *Pusher) Run(ctx context.Context) error {
	defer p.reader.close()
	for {
		r, err := p.reader.next(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the spool: %w", err)
		}
		if !p.deliver(ctx, r) {
			return nil
		}
	}
}

// jitter spreads retries of many hosts: between half of d and d.
func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }

// note counts a result.
func (p *Pusher) note(r result, b Batch) {
	p.requests[r.outcome].Inc()
	now := p.config.Now()
	if !r.date.IsZero() {
		p.clockOffset.Store(now.Sub(r.date).Milliseconds())
	}
	switch r.outcome {
	case delivered:
		p.samples.Add(b.samples)
		p.lastSuccess.Store(now.UnixMilli())
	case refused:
		p.discarded.Add(b.samples)
	}
}

// tell logs a change between working and failing, and each refusal: once, not at each retry.
func (p *Pusher) tell(r result) {
	switch {
	case r.outcome == refused:
		p.config.Log.Error("the receiver refused samples for good; they are discarded and counted", "err", r.err)
	case (r.outcome == later || r.outcome == tooBig) && !p.failing:
		p.failing = true
		p.config.Log.Warn("pushing fails; samples wait in the spool", "err", r.err)
	case r.outcome == delivered && p.failing:
		p.failing = false
		p.config.Log.Info("pushing works again", "waiting", p.backlog())
	}
}

// Close cuts off a request beside the queue (its batch is in the spool) and closes the
// spool. Run must have returned, and Push must not be called any more.
func (p *Pusher) Close() error {
	p.urgent.close()
	return p.spool.close()
}
