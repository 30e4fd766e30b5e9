package server

import (
	"context"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// The check of states looks at the day up to checkUpTo ago: what is newer may still come late.
const (
	checkOver = 24 * time.Hour
	checkUpTo = 5 * time.Minute
)

// readChecks tells how far the exporters' own counts of states are from what was derived.
func (s *leaseSeries) readChecks(ctx context.Context, now time.Time, p *page) error {
	span := rental.Span{Start: rental.At(now.Add(-checkOver)), End: rental.At(now.Add(-checkUpTo))}
	leases, err := s.ledger.Leases(ctx)
	if err != nil {
		return err
	}
	for _, lease := range leases {
		if !lease.Span().Contains(rental.At(now)) {
			continue
		}
		assignments, err := s.ledger.Assignments(ctx, lease.ID)
		if err != nil {
			return err
		}
		for _, a := range assignments {
			check, err := s.sla.CheckStates(ctx, lease.ID, a, span.Clip(lease.Span()))
			if err != nil {
				return err
			}
			if check != nil && a.Span.Contains(rental.At(now)) {
				p.gauge("lease_gpu_state_difference_seconds", "Time of the last 24 hours of which the exporter's own count of states says another thing than what was derived.",
					float64(check.DifferenceMS)/1000, "lease", lease.ID, "uuid", a.UUID)
			}
		}
	}
	return nil
}
