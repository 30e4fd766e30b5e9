// Package sla turns the samples of leased cards into timelines and downtime facts, judges leases
// by them, and computes what missed objectives pay back. It keeps running leases current every few
// seconds and looks at a window of the past again for samples that came late.
package sla

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Leases reads the facts of leases.
type Leases interface {
	Leases(ctx context.Context) ([]rental.Lease, error)
	Lease(ctx context.Context, id string) (rental.Lease, error)
	Contract(ctx context.Context, name string) (rental.Contract, error)
	Assignments(ctx context.Context, lease string) ([]rental.Assignment, error)
	Maintenances(ctx context.Context, span rental.Span) ([]rental.Maintenance, error)
	GPUs(ctx context.Context) ([]rental.GPU, error)
	SKUs(ctx context.Context) ([]rental.SKU, error)
}

// Timelines keeps what was derived from samples. SaveTimeline replaces what was known of the
// card in the span; TimelineEnd is the moment up to which it was derived, 0 where it never was.
type Timelines interface {
	SaveTimeline(ctx context.Context, lease, uuid string, span rental.Span, intervals []rental.Interval) error
	Timeline(ctx context.Context, lease, uuid string, span rental.Span) ([]rental.Interval, error)
	TimelineEnd(ctx context.Context, lease, uuid string) (rental.Millis, error)
}

// Downtimes keeps downtime facts, append-only. ChangeDowntime hands fn what is recorded under the
// id, nil where nothing is, and saves what fn returns as its next revision, in one transaction; nil
// from fn, and what is recorded already, change nothing.
type Downtimes interface {
	Downtimes(ctx context.Context, lease string, span rental.Span) ([]rental.Downtime, error)
	ChangeDowntime(ctx context.Context, id string, fn func(old *rental.Downtime) (*rental.Downtime, error)) (rental.Downtime, error)
}

// CreditCases reads what people did with the credits of a lease.
type CreditCases interface {
	CreditCases(ctx context.Context, lease string) ([]rental.CreditCase, error)
}

// Intervals tells where samples were taken at another interval than the configured one, as
// history that was loaded is.
type Intervals interface {
	SampleIntervals(ctx context.Context, span rental.Span) ([]rental.SampleInterval, error)
}

// Ledger is what the service reads and writes.
type Ledger interface {
	Leases
	Timelines
	Downtimes
	CreditCases
	Intervals
}

// Samples reads raw samples. Copies of one sample (scraped and pushed) may be told twice.
type Samples interface {
	Select(ctx context.Context, metric string, matchers map[string]string, span rental.Span) ([]rental.Series, error)
}

// Options complete a Service. Zero lengths take the defaults that are named.
type Options struct {
	// Now and Log are mandatory.
	Now func() time.Time
	Log *slog.Logger
	// SampleInterval is the configured distance of samples; a state holds for two of them. 15 s.
	SampleInterval time.Duration
	// WitnessInterval is the distance of the readings of hosts' witnesses, probes and BMCs; one holds
	// for two of them. 15 s.
	WitnessInterval time.Duration
	// Every is how often running leases are brought up to date. 5 s.
	Every time.Duration
	// Recent is how far back each round looks, Grace how far every GraceEvery does, for samples
	// that come late. 2 min, 26 h (the store's out-of-order window), 10 min.
	Recent, Grace, GraceEvery time.Duration
	// MinBad is the shortest outage that burn rates count, so that one bad sample of one card
	// pages nobody; MinObserved the least measured time for a burn rate. Both 1 min
	// (ALERTING.md 5.4 and 5.5).
	MinBad, MinObserved time.Duration
}

// Service derives and judges.
type Service struct {
	ledger  Ledger
	samples Samples
	opts    Options
}

// New returns a service over the ledger and the samples.
func New(ledger Ledger, samples Samples, opts Options) *Service {
	orDefault(&opts.SampleInterval, 15*time.Second)
	orDefault(&opts.WitnessInterval, 15*time.Second)
	orDefault(&opts.Every, 5*time.Second)
	orDefault(&opts.Recent, 2*time.Minute)
	orDefault(&opts.Grace, 26*time.Hour)
	orDefault(&opts.GraceEvery, 10*time.Minute)
	orDefault(&opts.MinBad, time.Minute)
	orDefault(&opts.MinObserved, time.Minute)
	return &Service{ledger: ledger, samples: samples, opts: opts}
}

// Over returns the same service over another reader of the same facts.
func (s *Service) Over(ledger Ledger) *Service {
	over := *s
	over.ledger = ledger
	return &over
}

func orDefault(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}

func (s *Service) now() rental.Millis { return rental.At(s.opts.Now()) }

// Run keeps leases current until ctx ends. A lease that fails is logged and tried again in the
// next round; it never holds up the others.
func (s *Service) Run(ctx context.Context) {
	ticker := time.NewTicker(s.opts.Every)
	defer ticker.Stop()
	var lookedBack rental.Millis
	for {
		now := s.now()
		reach := s.opts.Recent
		if lookedBack == 0 || int64(now-lookedBack) >= s.opts.GraceEvery.Milliseconds() {
			reach, lookedBack = s.opts.Grace, now
		}
		if err := s.Update(ctx, reach); err != nil && ctx.Err() == nil {
			s.opts.Log.Error("availability is not up to date; it is tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// Update derives, for every lease that ran within reach of now, what is new since it was last
// derived and the reach before now again. With the whole grace window as reach it also finishes
// leases that ended while nobody derived them.
func (s *Service) Update(ctx context.Context, reach time.Duration) error {
	leases, err := s.ledger.Leases(ctx)
	if err != nil {
		return err
	}
	known, err := s.classes(ctx)
	if err != nil {
		return err
	}
	now := s.now()
	for _, lease := range leases {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		since := now - rental.Millis(reach.Milliseconds())
		if lease.Start >= now || lease.End <= since && reach < s.opts.Grace {
			continue
		}
		if err := s.update(ctx, lease, since, now, known); err != nil {
			s.opts.Log.Error("availability of a lease is not up to date; it is tried again", "lease", lease.ID, "error", err)
		}
	}
	return nil
}

// update derives each card of a lease from since, or from where it was derived up to if that is earlier.
func (s *Service) update(ctx context.Context, lease rental.Lease, since, now rental.Millis, known classes) error {
	assignments, err := s.ledger.Assignments(ctx, lease.ID)
	if err != nil {
		return err
	}
	for _, a := range assignments {
		service := a.Span.Clip(lease.Span()).Clip(rental.Span{Start: lease.Start, End: now})
		derived, err := s.ledger.TimelineEnd(ctx, lease.ID, a.UUID)
		if err != nil {
			return err
		}
		from := max(min(since, derived), service.Start)
		if from > service.Start {
			// A start that was moved back leaves time before that nobody has derived yet.
			first, err := s.ledger.Timeline(ctx, lease.ID, a.UUID, rental.Span{Start: service.Start, End: service.Start + 1})
			if err != nil {
				return err
			}
			if len(first) == 0 {
				from = service.Start
			}
		}
		if from >= service.End {
			continue
		}
		if err := s.deriveCard(ctx, lease, a, rental.Span{Start: from, End: service.End}, known); err != nil {
			return fmt.Errorf("gpu %s: %w", a.UUID, err)
		}
	}
	return nil
}
