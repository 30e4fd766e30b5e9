// Package metering turns samples into usage records: how each card of each lease spent each
// hour, with what was measured and what was not. Metering again gives the same records; late
// data and changed assignments give new revisions.
package metering

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Samples is where readings come from.
type Samples interface {
	// Select returns the series of a metric whose labels equal the matchers, with their samples
	// in the span in order of time.
	Select(ctx context.Context, metric string, matchers map[string]string, span rental.Span) ([]rental.Series, error)
}

// Leases tells who leased which card under what contract.
type Leases interface {
	AssignmentsAt(ctx context.Context, span rental.Span) ([]rental.Assignment, error)
	Leases(ctx context.Context) ([]rental.Lease, error)
	Contracts(ctx context.Context) ([]rental.Contract, error)
}

// Evidence tells what is known of time: a card's classes, and how far apart samples are.
type Evidence interface {
	Timeline(ctx context.Context, lease, uuid string, span rental.Span) ([]rental.Interval, error)
	SampleIntervals(ctx context.Context, span rental.Span) ([]rental.SampleInterval, error)
}

// Records keeps usage. SaveUsage replaces the hours of the cards that it is given.
type Records interface {
	UsageRecordsAt(ctx context.Context, span rental.Span) ([]rental.UsageRecord, error)
	UsageRecords(ctx context.Context, lease string, span rental.Span) ([]rental.UsageRecord, error)
	MonthTotals(ctx context.Context, lease string, span rental.Span) ([]rental.UsageRecord, error)
	SaveUsage(ctx context.Context, records []rental.UsageRecord) error
}

// Marks keeps how far metering has come.
type Marks interface {
	Mark(ctx context.Context, name string) (rental.Millis, error)
	SetMark(ctx context.Context, name string, at rental.Millis) error
}

// Ledger is all that metering asks of the ledger.
type Ledger interface {
	Leases
	Evidence
	Records
	Marks
}

// Options say how to meter. Logger and Now are mandatory.
type Options struct {
	Logger *slog.Logger
	Now    func() time.Time
	// Interval is how far apart samples are where no other interval was recorded; 15 s where it is 0.
	Interval time.Duration
	// Every is how often Run looks for work; 1 min where it is 0.
	Every time.Duration
	// Delay is how long after its end an hour is metered first, so that samples which are under
	// way count; 2 min where it is 0.
	Delay time.Duration
	// Grace is how far back late samples are still looked for with every new hour; 2 h where it is 0.
	Grace time.Duration
	// Late is how long after its time the store takes a sample, and LateEvery how often all of
	// that is looked through again; 26 h and 6 h where they are 0.
	Late, LateEvery time.Duration
	// Running is how often the hour under way is metered too; never where it is 0. Each time
	// adds a revision for each card: for demonstrations and small fleets.
	Running time.Duration
}

// Service meters. Its methods may be called at the same time; the ledger puts them in order.
type Service struct {
	samples Samples
	ledger  Ledger
	o       Options

	dropped atomic.Int64
	saved   atomic.Int64

	mu         sync.Mutex                   // one CatchUp at a time; it guards what follows
	reconciled map[string][sha256.Size]byte // by lease: the assignments that its records agree with
	running    rental.Millis
}

// New makes a Service.
func New(samples Samples, ledger Ledger, o Options) *Service {
	o.Interval = orElse(o.Interval, 15*time.Second)
	o.Every = orElse(o.Every, time.Minute)
	o.Delay = orElse(o.Delay, 2*time.Minute)
	o.Grace = orElse(o.Grace, 2*time.Hour)
	o.Late, o.LateEvery = orElse(o.Late, 26*time.Hour), orElse(o.LateEvery, 6*time.Hour)
	return &Service{samples: samples, ledger: ledger, o: o, reconciled: map[string][sha256.Size]byte{}}
}

func orElse(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}

// Stats is what the service tells of itself.
type Stats struct {
	Dropped int64 // readings that cannot be true (a sentinel, not a number, more than a card can draw)
	Saved   int64 // records written
}

// Stats returns counters since the start.
func (s *Service) Stats() Stats { return Stats{Dropped: s.dropped.Load(), Saved: s.saved.Load()} }

// Run meters until ctx ends: what was missed while nobody ran, then every hour as it ends.
// A failure is logged and tried again at the next look.
func (s *Service) Run(ctx context.Context) error {
	tick := time.NewTicker(s.o.Every)
	defer tick.Stop()
	for {
		if err := s.CatchUp(ctx); err != nil && ctx.Err() == nil {
			s.o.Logger.Error("metering failed; it is tried again", "in", s.o.Every, "error", err)
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return nil
			}
			return ctx.Err()
		case <-tick.C:
		}
	}
}

const (
	markName = "metering"
	hour     = rental.Millis(3_600_000)
)

func floorHour(m rental.Millis) rental.Millis { return m - m%hour }

// CatchUp does all that is due now: the hours that ended since the last time, those inside the
// grace window again, and whatever a changed assignment made wrong.
func (s *Service) CatchUp(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := rental.At(s.o.Now())
	target := floorHour(now - rental.Millis(s.o.Delay.Milliseconds()))
	mark, err := s.ledger.Mark(ctx, markName)
	if err != nil {
		return err
	}
	if mark < target {
		from := mark
		if from == 0 {
			if from, err = s.firstHour(ctx, target); err != nil {
				return err
			}
		} else {
			from = floorHour(max(0, min(from, target-s.reach(mark, target))))
		}
		if err := s.meterAndMark(ctx, from, mark, target); err != nil {
			return err
		}
	}
	if err := s.reconcile(ctx, target); err != nil {
		return err
	}
	if s.o.Running > 0 && now-s.running >= rental.Millis(s.o.Running.Milliseconds()) {
		if _, err := s.Meter(ctx, rental.Span{Start: target, End: now}); err != nil {
			return err
		}
		s.running = now
	}
	return nil
}

// reach is how far back from target late samples are looked for. Each time the hours pass a
// multiple of LateEvery it is so far that an hour is metered once more after the last moment
// at which the store takes a sample of it.
func (s *Service) reach(mark, target rental.Millis) rental.Millis {
	every := rental.Millis(s.o.LateEvery.Milliseconds())
	if mark/every == target/every {
		return rental.Millis(s.o.Grace.Milliseconds())
	}
	return rental.Millis(s.o.Late.Milliseconds()) + every + hour
}

// meterAndMark meters day by day and notes each, so that a restart goes on where it stopped.
func (s *Service) meterAndMark(ctx context.Context, from, mark, target rental.Millis) error {
	for from < target {
		to := min(from+24*hour, target)
		if _, err := s.Meter(ctx, rental.Span{Start: from, End: to}); err != nil {
			return err
		}
		if to > mark {
			if err := s.ledger.SetMark(ctx, markName, to); err != nil {
				return err
			}
		}
		from = to
	}
	return nil
}

// firstHour returns the hour in which the first assignment began, target where there is none.
func (s *Service) firstHour(ctx context.Context, target rental.Millis) (rental.Millis, error) {
	all, err := s.ledger.AssignmentsAt(ctx, rental.Span{Start: 0, End: target})
	if err != nil {
		return 0, err
	}
	first := target
	for _, a := range all {
		first = min(first, floorHour(a.Span.Start))
	}
	return first, nil
}
