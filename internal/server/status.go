package server

import (
	"context"
	"strings"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// status tells how the server itself is.
type status struct{ a *App }

// Status reads the present moment. A part that cannot be read is told as a failure of its own.
func (s status) Status(ctx context.Context) (api.Status, error) {
	now := s.a.now()
	out := api.Status{
		Version: s.a.opts.Version, At: rental.At(now),
		Paging: api.Paging{Enabled: s.a.noPaging == "", Reason: s.a.noPaging},
		Store:  s.a.storeStatus(),
	}
	pending, err := s.a.ledger.PendingDeliveries(ctx)
	if err != nil {
		return out, err
	}
	var oldest rental.Delivery
	for _, d := range pending {
		if d.State == rental.DeliveryFailed {
			out.Outbox.Failed++
		} else {
			out.Outbox.Pending++
		}
		if oldest.CreatedAt == 0 || d.CreatedAt < oldest.CreatedAt {
			oldest = d
		}
	}
	if oldest.CreatedAt != 0 {
		out.Outbox.OldestSeconds = (int64(rental.At(now)) - int64(oldest.CreatedAt)) / 1000
		out.Outbox.Reason = oldest.Error
	}
	out.EvaluationFailures = s.failures(ctx, `sum by (rule_group) (increase(prometheus_rule_evaluation_failures_total[5m])) > 0`, "rule_group", "")
	out.TargetsDown = s.failures(ctx, `up == 0`, "instance", "")
	return out, nil
}

// failures are the series of an expression as named failures; the log says why, in its own words.
func (s status) failures(ctx context.Context, expr, label, reason string) []api.Failure {
	out := []api.Failure{}
	series, err := s.a.monitor.Query(ctx, expr, s.a.now())
	if err != nil {
		return append(out, api.Failure{Name: "query", Reason: err.Error()})
	}
	for _, one := range series {
		name := one.Labels[label]
		if host := one.Labels["host"]; host != "" {
			name = host
		}
		if i := strings.LastIndexByte(name, ';'); label == "rule_group" && i >= 0 {
			name = name[i+1:]
		}
		out = append(out, api.Failure{Name: name, Reason: reason})
	}
	return out
}
