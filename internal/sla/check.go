package sla

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// counterMetric is how long the exporter counts a card in each state: the check sum of its states.
const counterMetric = "gpu_state_seconds_total"

// CheckStates sets the exporter's own count of a card's states over the span beside the line of
// time that was derived, day by day; nil where nothing can be compared. MIG instances have no count.
func (s *Service) CheckStates(ctx context.Context, lease string, a rental.Assignment, span rental.Span) (*rental.StateCheck, error) {
	if a.Card != "" {
		return nil, nil
	}
	span = span.Clip(a.Span)
	span.End = min(span.End, s.now())
	var sum rental.StateCheck
	for at := span.Start; at < span.End; at += chunk {
		one, ok, err := s.checkPart(ctx, lease, a, rental.Span{Start: at, End: min(at+chunk, span.End)})
		if err != nil {
			return nil, err
		}
		if ok {
			sum = sum.Add(one)
		}
	}
	if sum.Span.Empty() {
		return nil, nil
	}
	return &sum, nil
}

// checkPart compares one part by the first and the last readings in it.
func (s *Service) checkPart(ctx context.Context, lease string, a rental.Assignment, span rental.Span) (rental.StateCheck, bool, error) {
	edge := rental.Millis(4 * s.opts.SampleInterval.Milliseconds())
	head, err := s.counters(ctx, a.UUID, rental.Span{Start: span.Start, End: min(span.Start+edge, span.End)})
	if err != nil || len(head) == 0 {
		return rental.StateCheck{}, false, err
	}
	tail, err := s.counters(ctx, a.UUID, rental.Span{Start: max(span.End-edge, span.Start), End: span.End})
	if err != nil || len(tail) == 0 {
		return rental.StateCheck{}, false, err
	}
	timeline, err := s.ledger.Timeline(ctx, lease, a.UUID, span)
	if err != nil {
		return rental.StateCheck{}, false, err
	}
	check, ok := rental.CheckStates(timeline, head[0], tail[len(tail)-1])
	return check, ok, nil
}

// counters reads the counters of all states of a card, as the host told them, by the moment at
// which they were read.
func (s *Service) counters(ctx context.Context, uuid string, span rental.Span) ([]map[string]rental.Sample, error) {
	series, err := s.samples.Select(ctx, counterMetric, map[string]string{"uuid": uuid}, span)
	if err != nil {
		return nil, fmt.Errorf("samples of %s: %w", counterMetric, err)
	}
	at := map[rental.Millis]map[string]rental.Sample{}
	for _, one := range series {
		if one.Labels["vantage"] == rental.VantageGuest {
			continue
		}
		for _, sample := range one.Samples {
			if at[sample.At] == nil {
				at[sample.At] = map[string]rental.Sample{}
			}
			at[sample.At][one.Labels["state"]] = sample
		}
	}
	return wholeReadings(at), nil
}

// wholeReadings are the moments at which most states were told, in order of time: what is pushed at
// an event tells the states that changed alone.
func wholeReadings(at map[rental.Millis]map[string]rental.Sample) []map[string]rental.Sample {
	most := 0
	for _, states := range at {
		most = max(most, len(states))
	}
	var out []map[string]rental.Sample
	for _, moment := range slices.Sorted(maps.Keys(at)) {
		if len(at[moment]) == most {
			out = append(out, at[moment])
		}
	}
	return out
}
