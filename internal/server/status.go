package server

import (
	"context"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/monitor"
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
	if s.a.noPaging == noToken {
		out.Paging.Cause = api.PagingNoToken
	}
	waiting, err := s.a.ledger.PendingChanges(ctx)
	if err != nil {
		return out, err
	}
	for _, p := range waiting {
		if p.Decision == "" {
			out.ChangesWaiting++
		}
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
	out.EvaluationFailures, out.TargetsDown = failures(s.a.monitor.FailingRules()), failures(s.a.monitor.FailingTargets())
	return out, nil
}

// failures are troubles of the monitor as the API tells them.
func failures(troubles []monitor.Trouble) []api.Failure {
	out := make([]api.Failure, len(troubles))
	for i, one := range troubles {
		out[i] = api.Failure{Name: one.Name, Reason: one.Reason}
	}
	return out
}
