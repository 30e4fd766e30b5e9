package sla

import (
	"context"
	"fmt"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// classes are the cards and their SKUs, read once for a round, and what was heard of hosts in it.
type classes struct {
	skus  map[string]rental.SKU
	cards map[string]rental.GPU
	heard map[heardOf]rental.HostWitnesses
}

// heardOf is what the cards of one host have in common.
type heardOf struct {
	host string
	span rental.Span
}

// classes reads the cards and what their classes promise.
func (s *Service) classes(ctx context.Context) (classes, error) {
	out := classes{skus: map[string]rental.SKU{}, cards: map[string]rental.GPU{}, heard: map[heardOf]rental.HostWitnesses{}}
	skus, err := s.ledger.SKUs(ctx)
	if err != nil {
		return out, err
	}
	for _, sku := range skus {
		out.skus[sku.Name] = sku
	}
	gpus, err := s.ledger.GPUs(ctx)
	if err != nil {
		return out, err
	}
	for _, gpu := range gpus {
		out.cards[gpu.UUID] = gpu
	}
	return out, nil
}

// promised is what a card has to do: what its contract names, else what it is.
func (c classes) promised(contract rental.Contract, uuid string) rental.SKU {
	if sku, ok := c.skus[contract.SKU]; ok {
		return sku
	}
	return c.skus[c.cards[uuid].SKU]
}

// underPromise marks where a card that was ok did less than promised, as the host and as a guest tell.
func (s *Service) underPromise(ctx context.Context, uuid string, sku rental.SKU, p rental.SampleInterval, states []rental.Interval) ([]rental.Interval, error) {
	for _, vantage := range []string{"", rental.VantageGuest} {
		if !slices.ContainsFunc(states, func(iv rental.Interval) bool { return iv.Class == rental.Up && iv.Vantage == vantage }) {
			continue
		}
		found, err := s.degradations(ctx, uuid, sku, p, vantage)
		if err != nil {
			return nil, err
		}
		states = rental.UnderDegradation(states, found, vantage)
	}
	return states, nil
}

// degradations reads when a card did less than promised. Whole hours are read, since heat is judged
// by them.
func (s *Service) degradations(ctx context.Context, uuid string, sku rental.SKU, p rental.SampleInterval, vantage string) ([]rental.Degradation, error) {
	var r rental.CardReadings
	hold := rental.Millis(2 * p.IntervalMS)
	near := rental.Span{Start: p.Span.Start - rental.DegradedAfter - hold, End: p.Span.End + rental.DegradedAfter + hold}
	hours := rental.Span{Start: p.Span.Start - p.Span.Start%hour, End: p.Span.End - p.Span.End%hour + hour}
	for _, of := range []struct {
		metric  string
		limit   string
		into    *[]rental.Series
		around  rental.Span
		without bool
	}{
		{"gpu_pcie_link_width", "", &r.PCIeWidth, near, sku.PCIeWidth == 0},
		{"gpu_nvlink_active_links", "", &r.NVLinks, near, sku.NVLinks == 0},
		{"gpu_power_limit_watts", "enforced", &r.PowerLimit, near, sku.PowerWatts == 0},
		{"gpu_throttle_seconds_total", "", &r.HeldSeconds, hours, false},
		{"gpu_throttle_active", "", &r.HeldNow, hours, false},
		{"gpu_utilization_ratio", "", &r.Use, hours, false},
	} {
		if of.without {
			continue
		}
		matchers := map[string]string{"uuid": uuid}
		if of.limit != "" {
			matchers["limit"] = of.limit
		}
		series, err := s.samples.Select(ctx, of.metric, matchers, of.around)
		if err != nil {
			return nil, fmt.Errorf("samples of %s: %w", of.metric, err)
		}
		*of.into = slices.DeleteFunc(series, func(one rental.Series) bool {
			return (one.Labels["vantage"] == rental.VantageGuest) != (vantage == rental.VantageGuest)
		})
	}
	return rental.Degradations(sku, r, p.IntervalMS), nil
}

// slowProof names the readings that prove that a card did less than promised; those of the first
// hour do, however long it lasts.
func (s *Service) slowProof(ctx context.Context, uuid string, sku rental.SKU, iv rental.Interval) ([]rental.Evidence, error) {
	iv.Span.End = min(iv.Span.End, iv.Span.Start+hour)
	parts, err := s.sampled(ctx, iv.Span)
	if err != nil {
		return nil, err
	}
	var out []rental.Evidence
	for _, p := range parts {
		found, err := s.degradations(ctx, uuid, sku, p, iv.Vantage)
		if err != nil {
			return nil, err
		}
		for _, d := range found {
			if d.Span.Overlaps(iv.Span) && !slices.Contains(out, d.Evidence) {
				out = append(out, d.Evidence)
			}
		}
	}
	return out, nil
}
