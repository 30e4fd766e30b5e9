package sla

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// stateMetric is the state set that exporters tell of cards, and migMetric what they tell of
// each MIG instance while its card has it.
const (
	stateMetric = "gpu_state"
	migMetric   = "gpu_mig_info"
)

// Derive works out the timelines and downtime facts of a lease over the span again, up to now,
// from the samples. It is idempotent: the same samples give the same facts, in any order of arrival.
func (s *Service) Derive(ctx context.Context, lease string, span rental.Span) error {
	l, err := s.ledger.Lease(ctx, lease)
	if err != nil {
		return err
	}
	assignments, err := s.ledger.Assignments(ctx, lease)
	if err != nil {
		return err
	}
	known, err := s.classes(ctx)
	if err != nil {
		return err
	}
	for _, a := range assignments {
		if err := s.deriveCard(ctx, l, a, span, known); err != nil {
			return fmt.Errorf("lease %s, gpu %s: %w", lease, a.UUID, err)
		}
	}
	return nil
}

// deriveCard derives the part of one assignment that lies in the span.
func (s *Service) deriveCard(ctx context.Context, lease rental.Lease, a rental.Assignment, span rental.Span, known classes) error {
	contract, err := s.ledger.Contract(ctx, lease.Contract)
	if err != nil {
		return err
	}
	sku := known.promised(contract, a.CardUUID())
	a.Host = cmp.Or(a.Host, known.cards[a.CardUUID()].Host)
	span = span.Clip(a.Span).Clip(lease.Span())
	span.End = min(span.End, s.now())
	if span.Empty() {
		return nil
	}
	// Day by day, so that a long history is never in memory as a whole.
	for at := span.Start; at < span.End; at += chunk {
		part := rental.Span{Start: at, End: min(at+chunk, span.End)}
		intervals, err := s.read(ctx, a, part, sku, known)
		if err != nil {
			return err
		}
		if err := s.ledger.SaveTimeline(ctx, lease.ID, a.UUID, part, intervals); err != nil {
			return err
		}
	}
	return s.saveDowntimes(ctx, lease, a, span, promise{contract, sku})
}

// chunk is how much time is derived at once.
const chunk = rental.Millis(24 * 3_600_000)

// promise is what a lease was promised of a card.
type promise struct {
	contract rental.Contract
	sku      rental.SKU
}

// read turns the samples of an assigned card over the span into intervals: its states, its host's
// witnesses where it is silent, and whether it does what its class promises. A MIG instance is as
// its card is, while the card has it.
func (s *Service) read(ctx context.Context, a rental.Assignment, span rental.Span, sku rental.SKU, known classes) ([]rental.Interval, error) {
	parts, err := s.sampled(ctx, span)
	if err != nil {
		return nil, err
	}
	hold := rental.Millis(0)
	for _, p := range parts {
		hold = max(hold, rental.Millis(2*p.IntervalMS))
	}
	around := rental.Span{Start: span.Start - hold, End: span.End}
	series, err := s.samples.Select(ctx, stateMetric, map[string]string{"uuid": a.CardUUID()}, around)
	if err != nil {
		return nil, fmt.Errorf("samples of %s: %w", stateMetric, err)
	}
	var present []rental.Series
	if a.Card != "" {
		if present, err = s.samples.Select(ctx, migMetric, map[string]string{"uuid": a.UUID}, around); err != nil {
			return nil, fmt.Errorf("samples of %s: %w", migMetric, err)
		}
	}
	var intervals []rental.Interval
	for _, p := range parts {
		states := rental.StateTimeline(p.Span, series, p.IntervalMS)
		if a.Card != "" {
			states = rental.MIGTimeline(states, present, p.IntervalMS)
		}
		if states, err = s.underHost(ctx, a, p.Span, states, series, known); err != nil {
			return nil, err
		}
		if states, err = s.underBlindness(ctx, p.Span, states); err != nil {
			return nil, err
		}
		if states, err = s.underPromise(ctx, a.CardUUID(), sku, p, states); err != nil {
			return nil, err
		}
		intervals = append(intervals, states...)
	}
	return intervals, nil
}

// sampled cuts a span where the interval of samples changes; the configured one holds where the
// ledger knows of no other.
func (s *Service) sampled(ctx context.Context, span rental.Span) ([]rental.SampleInterval, error) {
	known, err := s.ledger.SampleIntervals(ctx, span)
	if err != nil {
		return nil, err
	}
	own := s.opts.SampleInterval.Milliseconds()
	var out []rental.SampleInterval
	cursor := span.Start
	for _, k := range known {
		if k.Span.Start > cursor {
			out = append(out, rental.SampleInterval{Span: rental.Span{Start: cursor, End: k.Span.Start}, IntervalMS: own})
		}
		out = append(out, k)
		cursor = k.Span.End
	}
	if cursor < span.End {
		out = append(out, rental.SampleInterval{Span: rental.Span{Start: cursor, End: span.End}, IntervalMS: own})
	}
	return out, nil
}

// saveDowntimes records the card's downtime around the span as facts, and withdraws facts that
// late samples disproved.
func (s *Service) saveDowntimes(ctx context.Context, lease rental.Lease, a rental.Assignment, span rental.Span, p promise) error {
	// A run that touches the span may have begun before it, so the whole service is read.
	service := a.Span.Clip(lease.Span())
	timeline, err := s.ledger.Timeline(ctx, lease.ID, a.UUID, rental.Span{Start: service.Start, End: min(service.End, s.now())})
	if err != nil {
		return err
	}
	end := service.Start
	if n := len(timeline); n > 0 {
		end = timeline[n-1].Span.End
	}
	found := map[string]rental.Downtime{}
	for _, run := range downRuns(p.judged(timeline)) {
		if run.span.End < span.Start || run.span.Start > span.End {
			continue
		}
		if err := s.prove(ctx, a, p.sku, &run); err != nil {
			return err
		}
		d := fact(lease.ID, a, run, p.contract)
		if run.span.End == end && end < service.End {
			d.Span.End = rental.Forever // it goes on; a good sample or silence will end it
		}
		found[d.ID] = d
	}
	known, err := s.ledger.Downtimes(ctx, lease.ID, rental.Span{Start: span.Start - 1, End: span.End + 1})
	if err != nil {
		return err
	}
	known = slices.DeleteFunc(known, func(old rental.Downtime) bool {
		mine := strings.HasPrefix(old.ID, rental.AutomaticPrefix) && len(old.UUIDs) == 1 && old.UUIDs[0] == a.UUID
		return !mine || old.Span.Empty() || old.Span.Start < service.Start || old.Span.Start >= service.End
	})
	var gone []string
	for _, old := range known {
		now, still := found[old.ID]
		switch {
		case still && sameFact(old, now):
			delete(found, old.ID)
		case !still:
			gone = append(gone, old.ID)
		}
	}
	// First what is, then what is no more: a crash in between must not lose what people said.
	for _, d := range found {
		if err := s.renew(ctx, d, known); err != nil {
			return err
		}
	}
	for _, id := range gone {
		if err := s.withdraw(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// sameFact tells whether a recorded fact says what was derived. What people said of it is kept.
func sameFact(old, derived rental.Downtime) bool {
	return old.Span == derived.Span && old.Reason == derived.Reason && slices.Equal(old.Evidence, derived.Evidence)
}

// renew records a derived downtime, with what people said of an earlier revision and of those whose
// time it takes over, which are among known.
func (s *Service) renew(ctx context.Context, derived rental.Downtime, known []rental.Downtime) error {
	_, err := s.ledger.ChangeDowntime(ctx, derived.ID, func(old *rental.Downtime) (*rental.Downtime, error) {
		next := derived
		if old != nil {
			next = old.Renewed(derived, s.now())
		}
		if old == nil || old.Span.Empty() {
			next = next.Succeeding(known, s.now())
		}
		return &next, nil
	})
	return err
}

// withdraw ends a downtime that later samples disproved.
func (s *Service) withdraw(ctx context.Context, id string) error {
	_, err := s.ledger.ChangeDowntime(ctx, id, func(old *rental.Downtime) (*rental.Downtime, error) {
		if old == nil || old.Span.Empty() {
			return nil, nil
		}
		next := old.Withdrawn(s.now())
		return &next, nil
	})
	return err
}
