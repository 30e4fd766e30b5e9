package server

import (
	"context"
	"time"

	"github.com/leasewatch/leasewatch/internal/inventory"
	"github.com/leasewatch/leasewatch/internal/monitor"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// WriteLeases adds to a history which GPU served which lease, as this server would have told
// it at each step of the span: rules that judge a lease's use read it beside the exporters'
// series. What the ledger says today of that time counts.
func (a *App) WriteLeases(ctx context.Context, h *monitor.History, span rental.Span, step time.Duration) error {
	v, err := view(ctx, a.ledger, a.now())
	if err != nil {
		return err
	}
	ids := map[string]monitor.SeriesID{}
	for at := span.Start; at < span.End; at += rental.Millis(step.Milliseconds()) {
		for _, info := range inventory.InfoSeries(v, at) {
			if info.Name != inventory.LeaseGPU {
				continue
			}
			key := info.Labels["lease"] + "\x00" + info.Labels["uuid"]
			id, known := ids[key]
			if !known {
				info.Labels["__name__"] = info.Name
				info.Labels["job"], info.Labels["instance"] = monitor.SelfJob, monitor.SelfInstance
				if id, err = h.Series(info.Labels); err != nil {
					return err
				}
				ids[key] = id
			}
			if err := h.Append(id, at, 1); err != nil {
				return err
			}
		}
	}
	return nil
}
