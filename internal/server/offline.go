package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/prometheus/common/config"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/httpapi"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/monitor"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// OfflineOptions says which data a command opens by itself, where no server runs.
type OfflineOptions struct {
	StoragePath string
	// DSN is the ledger's where it is not the directory's own SQLite file.
	DSN       string
	Retention time.Duration
	Log       *slog.Logger
	Now       func() time.Time
}

// Offline is the ledger and the store of samples without a server around them.
type Offline struct{ app *App }

// OpenOffline opens the data directory; a server that runs on it keeps it closed to others.
func OpenOffline(ctx context.Context, o OfflineOptions) (_ *Offline, err error) {
	o.Now, o.Log = clock(o.Now), discard(o.Log)
	cfg := DefaultConfig()
	if o.DSN != "" {
		cfg.Ledger.DSN = config.Secret(o.DSN)
	}
	a := &App{
		opts: Options{Config: cfg, StoragePath: o.StoragePath, Retention: o.Retention, ListenAddress: "127.0.0.1:8080", Version: "offline", Log: o.Log, Now: o.Now},
		log:  o.Log, now: o.Now, registry: newRegistry("offline"), failed: make(chan error, 1), noPaging: "no server runs",
	}
	a.lifetime, a.end = context.WithCancel(context.WithoutCancel(ctx))
	a.config.Store(&cfg)
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close(ctx))
		}
	}()
	for _, open := range []func(context.Context) error{a.openStorage, a.openLedger, a.openSigner, a.openJudges, a.openMonitor, a.openPaging} {
		if err := open(ctx); err != nil {
			return nil, err
		}
	}
	return &Offline{app: a}, nil
}

// clock is the machine's where none is given.
func clock(now func() time.Time) func() time.Time {
	if now == nil {
		return time.Now
	}
	return now
}

// discard drops the log where none is given.
func discard(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return log
}

// Client speaks the API to what is open, in the name of the machine's own user.
func (o *Offline) Client() (*api.Client, error) {
	gate := httpapi.NewGate(o.app.ledger, &httpapi.Local, o.app.log)
	handler, err := httpapi.New(o.app.deps(gate))
	if err != nil {
		return nil, err
	}
	return api.NewInProcess(handler, api.Secret{}), nil
}

// Ledger returns the ledger that is open, for copies of it.
func (o *Offline) Ledger() *ledger.Ledger { return o.app.ledger }

// Close closes what is open.
func (o *Offline) Close() error { return o.app.close(context.Background()) }

// BackfillOpenMetrics writes history into the store, evaluates the recording rules over it,
// derives downtime and meters before it returns.
func (o *Offline) BackfillOpenMetrics(ctx context.Context, r io.Reader, dryRun bool) (monitor.BackfillResult, error) {
	return o.app.backfill(ctx, monitor.BackfillOptions{DryRun: dryRun}, func(opts monitor.BackfillOptions) (monitor.BackfillResult, error) {
		return o.app.monitor.Backfill(ctx, r, opts)
	})
}

// WriteHistory writes samples of the past into the running server's store as
// BackfillOpenMetrics does; skipRules leaves the recording rules out, which take most of the time.
func (a *App) WriteHistory(ctx context.Context, skipRules bool, fill func(*monitor.History) error) (monitor.BackfillResult, error) {
	return a.backfill(ctx, monitor.BackfillOptions{SkipRules: skipRules}, func(opts monitor.BackfillOptions) (monitor.BackfillResult, error) {
		return a.monitor.WriteHistory(ctx, opts, fill)
	})
}

func (a *App) backfill(ctx context.Context, opts monitor.BackfillOptions, write func(monitor.BackfillOptions) (monitor.BackfillResult, error)) (monitor.BackfillResult, error) {
	opts.RetentionFlag = "--storage.retention"
	result, err := write(opts)
	if err != nil || opts.DryRun || result.Samples == 0 {
		return result, err
	}
	// The last sample speaks for one more interval, up to whatever comes next.
	sampled := result.Span
	if interval := longest(result.Intervals); interval > 0 {
		sampled.End += rental.Millis(interval.Milliseconds())
		if err := a.ledger.SaveSampleInterval(ctx, sampled, interval.Milliseconds()); err != nil {
			return result, err
		}
	}
	leases, err := a.ledger.Leases(ctx)
	if err != nil {
		return result, err
	}
	for _, lease := range leases {
		if !lease.Span().Overlaps(sampled) {
			continue
		}
		if err := a.sla.Derive(ctx, lease.ID, sampled); err != nil {
			return result, fmt.Errorf("downtime of the history: %w", err)
		}
	}
	if _, err := a.metering.Meter(ctx, wholeHours(sampled)); err != nil {
		return result, fmt.Errorf("metering of the history: %w", err)
	}
	a.series.Forget()
	return result, nil
}

// longest is the longest of the metrics' sampling intervals: a reading of the slowest metric
// must still reach the next.
func longest(intervals map[string]time.Duration) time.Duration {
	var out time.Duration
	for _, interval := range intervals {
		out = max(out, interval)
	}
	return out
}

// wholeHours widens a span to hours of UTC, which usage records are cut at.
func wholeHours(span rental.Span) rental.Span {
	return rental.Span{Start: span.Start - span.Start%millisPerHour, End: span.End + (millisPerHour-span.End%millisPerHour)%millisPerHour}
}
