package metering

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// reconcile finds the hours before target whose records do not say what the assignments say
// (a lease that was entered later, ended earlier, or swapped a card) and meters them again.
// After a start it compares month totals; later it looks closely at each lease whose
// assignments have changed.
func (s *Service) reconcile(ctx context.Context, target rental.Millis) error {
	all, err := s.ledger.AssignmentsAt(ctx, rental.Span{Start: 0, End: target})
	if err != nil {
		return fmt.Errorf("metering: %w", err)
	}
	leases, err := s.ledger.Leases(ctx)
	if err != nil {
		return fmt.Errorf("metering: %w", err)
	}
	byLease := map[string][]rental.Assignment{}
	for _, a := range all {
		byLease[a.Lease] = append(byLease[a.Lease], a)
	}
	for _, l := range leases { // a lease may have lost all its assignments
		if err := s.reconcileLease(ctx, l.ID, byLease[l.ID], target); err != nil {
			return fmt.Errorf("metering of lease %q: %w", l.ID, err)
		}
	}
	return nil
}

func (s *Service) reconcileLease(ctx context.Context, lease string, assignments []rental.Assignment, target rental.Millis) error {
	digest := digestOf(assignments)
	last, seen := s.reconciled[lease]
	if seen && last == digest {
		return nil
	}
	suspects := []rental.Span{{Start: 0, End: target}}
	if !seen {
		var err error
		if suspects, err = s.wrongMonths(ctx, lease, assignments, target); err != nil {
			return err
		}
	}
	for _, suspect := range suspects {
		wrong, err := s.wrongHours(ctx, lease, assignments, suspect)
		if err != nil {
			return err
		}
		for _, span := range wrong {
			if _, err := s.meter(ctx, span, lease); err != nil {
				return err
			}
		}
	}
	s.reconciled[lease] = digest
	return nil
}

// wrongMonths returns where the month totals do not say what the assignments say, in whole hours.
func (s *Service) wrongMonths(ctx context.Context, lease string, assignments []rental.Assignment, target rental.Millis) ([]rental.Span, error) {
	totals, err := s.ledger.MonthTotals(ctx, lease, rental.Span{Start: 0, End: target})
	if err != nil {
		return nil, err
	}
	var wrong []rental.Span
	months := map[string][]rental.Span{} // by card: the months of which there is a total
	for _, total := range totals {
		month := total.Span.Clip(rental.Span{Start: 0, End: target})
		months[total.UUID] = append(months[total.UUID], month)
		differ := total.AllocatedMS
		for _, a := range assignments {
			if a.UUID == total.UUID {
				differ -= a.Span.Clip(month).Duration()
			}
		}
		if differ != 0 {
			wrong = append(wrong, month)
		}
	}
	for _, a := range assignments {
		served := a.Span.Clip(rental.Span{Start: 0, End: target})
		wrong = append(wrong, rental.SubtractSpans([]rental.Span{served}, months[a.UUID])...)
	}
	for i, w := range wrong {
		wrong[i] = rental.Span{Start: floorHour(w.Start), End: min(floorHour(w.End+hour-1), target)}
	}
	return rental.UnionSpans(wrong), nil
}

// wrongHours compares the allocated time of each card and hour with the assignments.
func (s *Service) wrongHours(ctx context.Context, lease string, assignments []rental.Assignment, within rental.Span) ([]rental.Span, error) {
	kept, err := s.ledger.Mark(ctx, rental.UsageKeptMark(lease))
	if err != nil {
		return nil, err
	}
	if within.Start = max(within.Start, kept); within.Empty() { // the rest has ended by retention
		return nil, nil
	}
	records, err := s.ledger.UsageRecords(ctx, lease, within)
	if err != nil {
		return nil, err
	}
	differ := map[place]int64{}
	for _, r := range records {
		differ[placeOf(r)] += r.AllocatedMS
	}
	for _, a := range assignments {
		served := a.Span.Clip(within)
		for at := floorHour(served.Start); at < served.End; at += hour {
			differ[place{lease, a.UUID, at}] -= served.Clip(rental.Span{Start: at, End: at + hour}).Duration()
		}
	}
	var wrong []rental.Span
	for p, ms := range differ {
		if ms != 0 {
			wrong = append(wrong, rental.Span{Start: p.hour, End: p.hour + hour})
		}
	}
	return rental.UnionSpans(wrong), nil
}

func digestOf(assignments []rental.Assignment) [sha256.Size]byte {
	var text []byte
	for _, a := range assignments {
		text = fmt.Appendf(text, "%q %d %d\n", a.UUID, a.Span.Start, a.Span.End)
	}
	return sha256.Sum256(text)
}
