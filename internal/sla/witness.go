package sla

import (
	"context"
	"fmt"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// The series of a host that speak when its cards are silent.
const (
	probeMetric = "host_probe_success"
	powerMetric = "host_power_on"
)

// aliveMetrics are the series that a host's own programs tell while it lives, whatever its cards do.
var aliveMetrics = []string{"leasewatch_exporter_build_info", "host_heartbeat"}

// lookBack are the lengths by which the beginning of an outage is looked for: the last success of
// a witness is nearly always in the first.
var lookBack = []rental.Millis{rental.WitnessWithin, 2 * hour, 26 * hour, 10 * 24 * hour, 90 * 24 * hour}

const hour = rental.Millis(3_600_000)

// underHost lays what the host's witnesses say over the states of an assigned card. It asks them
// only where the card is silent, which is seldom: told are the samples of the card itself.
func (s *Service) underHost(ctx context.Context, a rental.Assignment, span rental.Span, states []rental.Interval, told []rental.Series, known classes) ([]rental.Interval, error) {
	silent := slices.ContainsFunc(states, func(iv rental.Interval) bool { return iv.Class == rental.NoData })
	if a.Host == "" || !silent {
		return states, nil
	}
	key := heardOf{a.Host, span}
	w, heard := known.heard[key]
	if !heard {
		var err error
		if w, err = s.witnesses(ctx, a.Host, span); err != nil {
			return nil, err
		}
		known.heard[key] = w
	}
	w.Alive = append(w.Alive[:len(w.Alive):len(w.Alive)], moments(told)...)
	return rental.UnderHostDown(states, s.hostDown(span, w)), nil
}

func (s *Service) hostDown(span rental.Span, w rental.HostWitnesses) []rental.HostOutage {
	return rental.HostDown(span, w, 2*s.opts.WitnessInterval.Milliseconds(), 2*s.opts.SampleInterval.Milliseconds())
}

// witnesses reads what was told of a host in the span, and before it as far as the witnesses' last
// successes need.
func (s *Service) witnesses(ctx context.Context, host string, span rental.Span) (rental.HostWitnesses, error) {
	var w rental.HostWitnesses
	var err error
	of := map[string]string{"host": host}
	for _, back := range lookBack {
		around := rental.Span{Start: max(span.Start-back, 0), End: span.End}
		if w.Probes, err = s.samples.Select(ctx, probeMetric, of, around); err != nil {
			return w, fmt.Errorf("samples of %s: %w", probeMetric, err)
		}
		if w.Power, err = s.samples.Select(ctx, powerMetric, of, around); err != nil {
			return w, fmt.Errorf("samples of %s: %w", powerMetric, err)
		}
		if !beganBefore(w.Probes) {
			break
		}
	}
	around := rental.Span{Start: max(span.Start-2*rental.WitnessWithin, 0), End: span.End}
	for _, metric := range aliveMetrics {
		series, err := s.samples.Select(ctx, metric, of, around)
		if err != nil {
			return w, fmt.Errorf("samples of %s: %w", metric, err)
		}
		w.Alive = append(w.Alive, moments(series)...)
	}
	return w, nil
}

// beganBefore tells whether some witness failed from the first reading on, so that its last success
// lies further back, if it ever had one.
func beganBefore(probes []rental.Series) bool {
	for _, p := range probes {
		if len(p.Samples) > 0 && p.Samples[0].Value == 0 {
			return true
		}
	}
	return false
}

// moments returns when the host told any of the samples. What a guest tells is no word of the host.
func moments(told []rental.Series) []rental.Millis {
	var out []rental.Millis
	for _, series := range told {
		if series.Labels["vantage"] == rental.VantageGuest {
			continue
		}
		for _, sample := range series.Samples {
			out = append(out, sample.At)
		}
	}
	return out
}

// hostProof names the readings that prove that the host was down in the span.
func (s *Service) hostProof(ctx context.Context, host string, span rental.Span) ([]rental.Evidence, error) {
	around := rental.Span{Start: span.Start, End: min(span.End+rental.WitnessWithin, s.now())}
	w, err := s.witnesses(ctx, host, around)
	if err != nil {
		return nil, err
	}
	for _, o := range s.hostDown(around, w) {
		if o.Span.Overlaps(span) {
			return o.Evidence, nil
		}
	}
	return nil, nil
}
