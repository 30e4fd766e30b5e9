package sla

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	for _, a := range assignments {
		if err := s.deriveCard(ctx, l, a, span); err != nil {
			return fmt.Errorf("lease %s, gpu %s: %w", lease, a.UUID, err)
		}
	}
	return nil
}

// deriveCard derives the part of one assignment that lies in the span.
func (s *Service) deriveCard(ctx context.Context, lease rental.Lease, a rental.Assignment, span rental.Span) error {
	span = span.Clip(a.Span).Clip(lease.Span())
	span.End = min(span.End, s.now())
	if span.Empty() {
		return nil
	}
	// Day by day, so that a long history is never in memory as a whole.
	for at := span.Start; at < span.End; at += chunk {
		part := rental.Span{Start: at, End: min(at+chunk, span.End)}
		intervals, err := s.read(ctx, a, part)
		if err != nil {
			return err
		}
		if err := s.ledger.SaveTimeline(ctx, lease.ID, a.UUID, part, intervals); err != nil {
			return err
		}
	}
	return s.saveDowntimes(ctx, lease, a, span)
}

// chunk is how much time is derived at once.
const chunk = rental.Millis(24 * 3_600_000)

// read turns the samples of an assigned card over the span into intervals. A MIG instance is as
// its card is, while the card has it.
func (s *Service) read(ctx context.Context, a rental.Assignment, span rental.Span) ([]rental.Interval, error) {
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
func (s *Service) saveDowntimes(ctx context.Context, lease rental.Lease, a rental.Assignment, span rental.Span) error {
	contract, err := s.ledger.Contract(ctx, lease.Contract)
	if err != nil {
		return err
	}
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
	for _, run := range downRuns(timeline) {
		if run.span.End < span.Start || run.span.Start > span.End {
			continue
		}
		d := fact(lease.ID, a, run, contract)
		if run.span.End == end && end < service.End {
			d.Span.End = rental.Forever // it goes on; a good sample or silence will end it
		}
		found[d.ID] = d
	}
	known, err := s.ledger.Downtimes(ctx, lease.ID, rental.Span{Start: span.Start - 1, End: span.End + 1})
	if err != nil {
		return err
	}
	for _, old := range known {
		mine := strings.HasPrefix(old.ID, rental.AutomaticPrefix) && len(old.UUIDs) == 1 && old.UUIDs[0] == a.UUID
		if !mine || old.Span.Empty() || old.Span.Start < service.Start || old.Span.Start >= service.End {
			continue
		}
		now, still := found[old.ID]
		switch {
		case still && sameFact(old, now):
			delete(found, old.ID)
		case !still:
			if err := s.withdraw(ctx, old.ID); err != nil {
				return err
			}
		}
	}
	for _, d := range found {
		if err := s.renew(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// sameFact tells whether a recorded fact says what was derived. What people said of it is kept.
func sameFact(old, derived rental.Downtime) bool {
	return old.Span == derived.Span && old.Reason == derived.Reason && slices.Equal(old.Evidence, derived.Evidence)
}

// renew records a derived downtime, with what people said of an earlier revision.
func (s *Service) renew(ctx context.Context, derived rental.Downtime) error {
	_, err := s.ledger.ChangeDowntime(ctx, derived.ID, func(old *rental.Downtime) (*rental.Downtime, error) {
		if old == nil {
			return &derived, nil
		}
		next := old.Renewed(derived, s.now())
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

// run is a stretch of down time that one vantage told, the states that it went through and what came after it.
type run struct {
	span   rental.Span
	states []rental.Interval
	after  *rental.Interval // nil where it goes on
}

func downRuns(timeline []rental.Interval) []run {
	var runs []run
	for i, iv := range timeline {
		n := len(runs)
		touches := n > 0 && runs[n-1].span.End == iv.Span.Start
		switch {
		case iv.Class != rental.Down:
			if touches {
				runs[n-1].after = &timeline[i]
			}
		case touches && runs[n-1].vantage() == iv.Vantage:
			runs[n-1].span.End = iv.Span.End
			runs[n-1].states = append(runs[n-1].states, iv)
		default:
			if touches {
				runs[n-1].after = &timeline[i]
			}
			runs = append(runs, run{span: iv.Span, states: []rental.Interval{iv}})
		}
	}
	return runs
}

// evidence names the samples at which the run's states began and at which it ended.
func (r run) evidence(uuid string) []rental.Evidence {
	told := func(iv rental.Interval) rental.Evidence {
		if iv.Reason == rental.ReasonNoSamples {
			return rental.Evidence{Kind: rental.EvidenceSilence, ID: fmt.Sprintf("%s{uuid=%q} @ %s", stateMetric, uuid, iv.Span.Start)}
		}
		return rental.Evidence{Kind: rental.EvidenceTransition, ID: fmt.Sprintf("%s @ %s", sample(uuid, iv), iv.Span.Start)}
	}
	var out []rental.Evidence
	for _, iv := range r.states {
		out = append(out, told(iv))
	}
	if r.after != nil {
		out = append(out, told(*r.after))
	}
	return out
}

// fact makes the downtime of a run. Its id depends on lease, card and start alone, so deriving it
// again, or its longer end, is the same fact.
func fact(lease string, a rental.Assignment, r run, c rental.Contract) rental.Downtime {
	sum := sha256.Sum256([]byte(lease + "\x00" + a.UUID + "\x00" + r.span.Start.String()))
	d := rental.Downtime{
		ID: rental.AutomaticPrefix + hex.EncodeToString(sum[:8]), Lease: lease, UUIDs: []string{a.UUID}, Span: r.span,
		Cause: r.cause(), Reason: r.states[0].Reason,
		Witnesses: []string{fmt.Sprintf("%s == 1 at %s", sample(a.CardUUID(), r.states[0]), r.span.Start)},
		Evidence:  r.evidence(a.CardUUID()),
	}
	// What the tenant may have done himself, as who is root can unload the driver, waits for a
	// person under any contract.
	if c.DowntimeApproval == rental.ApprovalAutomatic && d.Cause == rental.CauseProvider {
		d.ApprovedBy = rental.ApprovalAutomatic
	}
	return d
}
