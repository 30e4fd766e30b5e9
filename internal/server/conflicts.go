package server

import (
	"context"
	"fmt"
	"time"

	"github.com/leasewatch/leasewatch/internal/inventory"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// usedThroughout are the uuids that have been in use at each sample of five minutes: a test of a
// minute is nobody's conflict.
const usedThroughout = "min_over_time(gpu_utilization_ratio[5m]) > 0"

// clocksOff are the hosts whose clocks differ from ours by more than the rules' threshold, in seconds.
const clocksOff = `host:leasewatch_exporter_push_clock_offset_seconds:max
	and (abs(host:leasewatch_exporter_push_clock_offset_seconds:max) > scalar(max(threshold:default{name="clock_offset_seconds"})))`

// conflictsNow returns where records and reports contradict each other at a moment.
func conflictsNow(ctx context.Context, l *ledger.Ledger, s samples, now time.Time) ([]rental.InventoryConflict, error) {
	v, err := view(ctx, l, now)
	if err != nil {
		return nil, err
	}
	if v.Claims, err = l.Conflicts(ctx); err != nil {
		return nil, err
	}
	if err := readReported(ctx, &v, s, now); err != nil {
		return nil, err
	}
	if v.Used, err = s.Query(ctx, fmt.Sprintf(deduplicated, usedThroughout), now); err != nil {
		return nil, err
	}
	if v.ClockOffsets, err = s.Query(ctx, clocksOff, now); err != nil {
		return nil, err
	}
	return inventory.Conflicts(v, rental.At(now)), nil
}

// Conflicts returns where records and reports contradict each other.
func (a adoption) Conflicts(ctx context.Context) ([]rental.InventoryConflict, error) {
	return conflictsNow(ctx, a.keeping.ledger, a.samples, a.now())
}

// readConflicts counts them by kind; a kind without any is 0.
func (s *leaseSeries) readConflicts(ctx context.Context, now time.Time, p *page) error {
	found, err := conflictsNow(ctx, s.ledger, lateSamples{s.app}, now)
	if err != nil {
		return err
	}
	count := map[string]int{}
	for _, c := range found {
		count[c.Kind]++
	}
	for _, kind := range rental.InventoryConflicts {
		p.gauge("leasewatch_inventory_conflicts", "Where records and reports contradict each other, by kind; GET /api/v1/inventory/conflicts says where.",
			float64(count[kind]), "kind", kind)
	}
	return nil
}
