package sla

import (
	"context"
	"fmt"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// ownMetric is what the server stores of itself every few seconds as long as it runs and can store,
// and own tells it from another server's that it scrapes.
const ownMetric = "leasewatch_build_info"

var own = map[string]string{"job": "leasewatch", "instance": "self"}

// underBlindness names the silence in which the server itself was blind, where there is silence.
func (s *Service) underBlindness(ctx context.Context, span rental.Span, states []rental.Interval) ([]rental.Interval, error) {
	if !slices.ContainsFunc(states, func(iv rental.Interval) bool {
		return iv.Class == rental.NoData && iv.Reason == rental.ReasonNoSamples
	}) {
		return states, nil
	}
	var told []rental.Series
	for _, back := range lookBack {
		// A gap has a sample on both sides, and may be longer than the span.
		around := rental.Span{Start: max(span.Start-back, 0), End: min(span.End+back, s.now()+1)}
		var err error
		if told, err = s.samples.Select(ctx, ownMetric, own, around); err != nil {
			return nil, fmt.Errorf("samples of %s: %w", ownMetric, err)
		}
		if surrounds(told, span, s.now()) {
			break
		}
	}
	return rental.UnderBlindness(states, rental.BlindSpans(told)), nil
}

// surrounds tells whether there are samples before and after the span, or up to now.
func surrounds(told []rental.Series, span rental.Span, now rental.Millis) bool {
	before, after := false, span.End+rental.BlindAfter >= now
	for _, series := range told {
		for _, sample := range series.Samples {
			before, after = before || sample.At <= span.Start, after || sample.At >= span.End
		}
	}
	return before && after
}
