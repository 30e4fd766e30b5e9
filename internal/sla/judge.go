package sla

import (
	"context"
	"fmt"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Verdict judges the lease's availability in the period. An open period is judged as far as its
// samples were read, and marked open. A lease without an objective is "not measured".
func (s *Service) Verdict(ctx context.Context, lease string, period rental.Span) (rental.Verdict, error) {
	in, err := s.input(ctx, lease, period)
	if err != nil {
		return rental.Verdict{}, err
	}
	return rental.Judge(in)
}

// Judged is a verdict with all that it was judged from.
type Judged struct {
	Input   rental.JudgeInput
	Verdict rental.Verdict
	// Forecast is how the period ends at the rate of the last days; nil where it has ended.
	Forecast *rental.Forecast
}

// Judged is Verdict with what it rests on and, for an open period, the forecast.
func (s *Service) Judged(ctx context.Context, lease string, period rental.Span) (Judged, error) {
	var out Judged
	var err error
	if out.Input, err = s.input(ctx, lease, period); err != nil {
		return out, err
	}
	if out.Verdict, err = rental.Judge(out.Input); err != nil {
		return out, err
	}
	out.Forecast, err = rental.ForecastOf(out.Input, out.Verdict)
	return out, err
}

// Credits returns what missed objectives pay back, for each calendar month of the contract's zone
// that lies wholly in the period. The credit of a month is provisional until the month has ended
// and late samples are no longer taken. Months without a credit are absent.
func (s *Service) Credits(ctx context.Context, lease string, period rental.Span) ([]rental.Credit, error) {
	l, err := s.ledger.Lease(ctx, lease)
	if err != nil {
		return nil, err
	}
	c, err := s.ledger.Contract(ctx, l.Contract)
	if err != nil || c.Credits == nil {
		return nil, err
	}
	var out []rental.Credit
	at := s.now()
	months, err := rental.Facts{Contract: c, Lease: l}.WholeMonths(period)
	if err != nil {
		return nil, fmt.Errorf("credits of lease %s: %w", lease, err)
	}
	for _, m := range months {
		month, err := m.Span(c.TimeZone)
		if err != nil {
			return nil, err
		}
		if month.Start >= at {
			continue
		}
		in, err := s.input(ctx, lease, month)
		if err != nil {
			return nil, err
		}
		some, err := s.CreditsFrom(ctx, in, at)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}

// CreditsNow is CreditsFrom at the present moment.
func (s *Service) CreditsNow(ctx context.Context, in rental.JudgeInput) ([]rental.Credit, error) {
	return s.CreditsFrom(ctx, in, s.now())
}

// CreditsFrom is Credits of the months of in.Period at a moment, worked out from facts that were
// read already: the same facts give the same credits.
func (s *Service) CreditsFrom(ctx context.Context, in rental.JudgeInput, at rental.Millis) ([]rental.Credit, error) {
	if in.Contract.Credits == nil {
		return nil, nil
	}
	months, err := in.WholeMonths(in.Period)
	if err != nil {
		return nil, fmt.Errorf("credits of lease %s: %w", in.Lease.ID, err)
	}
	cases, err := s.ledger.CreditCases(ctx, in.Lease.ID)
	if err != nil {
		return nil, err
	}
	var out []rental.Credit
	for _, m := range months {
		if in.Period, err = m.Span(in.Contract.TimeZone); err != nil {
			return nil, err
		}
		if in.Period.Start >= at {
			continue
		}
		credit, err := s.credit(in, at, caseOf(cases, in.Lease.ID, m))
		if err != nil {
			return nil, fmt.Errorf("credit of lease %s for %s: %w", in.Lease.ID, m, err)
		}
		if credit.Amount.Minor != 0 {
			out = append(out, credit)
		}
	}
	return out, nil
}

// CreditOf returns the credit of one month of the contract's zone with the facts that it was
// computed from; CodeNotFound where nothing is paid back for that month and nobody acted on it.
func (s *Service) CreditOf(ctx context.Context, lease string, m rental.Month) (rental.Credit, Judged, error) {
	var judged Judged
	none := &rental.Error{Code: rental.CodeNotFound, Message: fmt.Sprintf("no credit is computed for lease %q in %s", lease, m)}
	l, err := s.ledger.Lease(ctx, lease)
	if err != nil {
		return rental.Credit{}, judged, err
	}
	c, err := s.ledger.Contract(ctx, l.Contract)
	if err != nil {
		return rental.Credit{}, judged, err
	}
	month, err := m.Span(c.TimeZone)
	if err != nil {
		return rental.Credit{}, judged, err
	}
	if c.Credits == nil || month.Start >= s.now() || !l.Span().Overlaps(month) {
		return rental.Credit{}, judged, none
	}
	cases, err := s.ledger.CreditCases(ctx, lease)
	if err != nil {
		return rental.Credit{}, judged, err
	}
	if judged, err = s.Judged(ctx, lease, month); err != nil {
		return rental.Credit{}, judged, err
	}
	credit, err := s.credit(judged.Input, s.now(), caseOf(cases, lease, m))
	if err != nil {
		return credit, judged, err
	}
	if credit.Amount.Minor == 0 && len(credit.Acts) == 0 {
		return credit, Judged{}, none
	}
	return credit, judged, nil
}

// caseOf is what people did with the credit of a month.
func caseOf(cases []rental.CreditCase, lease string, m rental.Month) rental.CreditCase {
	for _, c := range cases {
		if c.Month == m.String() {
			return c
		}
	}
	return rental.CreditCase{Lease: lease, Month: m.String()}
}

// credit works out the credit of in.Period, a month, as its case has it.
func (s *Service) credit(in rental.JudgeInput, at rental.Millis, of rental.CreditCase) (rental.Credit, error) {
	computed, err := rental.CreditForMonth(in, at)
	if err != nil {
		return rental.Credit{}, err
	}
	return computed.Standing(in.Contract, of, at, s.Late())
}

// Late is how long after its end a month's samples are still taken, in milliseconds.
func (s *Service) Late() rental.Millis { return rental.Millis(s.opts.Grace.Milliseconds()) }

// input reads what a verdict over the period rests on.
func (s *Service) input(ctx context.Context, lease string, period rental.Span) (rental.JudgeInput, error) {
	in := rental.JudgeInput{Period: period}
	var err error
	if in.Lease, err = s.ledger.Lease(ctx, lease); err != nil {
		return in, err
	}
	if in.Contract, err = s.ledger.Contract(ctx, in.Lease.Contract); err != nil {
		return in, err
	}
	in.Contract.Name, in.Language = in.Lease.Contract, in.Contract.Language
	if in.Assignments, err = s.ledger.Assignments(ctx, lease); err != nil {
		return in, err
	}
	// Windows and downtime are read from the lease's start, so that what was open is known to be.
	known := rental.Span{Start: in.Lease.Start, End: max(min(period.End, in.Lease.End), in.Lease.Start+1)}
	if in.Downtimes, err = s.ledger.Downtimes(ctx, lease, known); err != nil {
		return in, err
	}
	if in.Maintenances, err = s.ledger.Maintenances(ctx, known); err != nil {
		return in, err
	}
	if in.NeedsHosts() {
		gpus, err := s.ledger.GPUs(ctx)
		if err != nil {
			return in, err
		}
		in.FillHosts(gpus)
	}
	return in, s.timelines(ctx, &in, known)
}

// timelines reads what was derived of the lease's cards, and how far that goes.
func (s *Service) timelines(ctx context.Context, in *rental.JudgeInput, known rental.Span) error {
	lease := in.Lease.ID
	in.Timelines = map[string][]rental.Interval{}
	derived := s.now()
	var err error
	for _, a := range in.Assignments {
		if in.Timelines[a.UUID] == nil {
			if in.Timelines[a.UUID], err = s.ledger.Timeline(ctx, lease, a.UUID, known); err != nil {
				return err
			}
		}
		if a.Span.Contains(s.now()) {
			end, err := s.ledger.TimelineEnd(ctx, lease, a.UUID)
			if err != nil {
				return err
			}
			derived = min(derived, end)
		}
	}
	if in.Period.End > s.now() {
		// What is newer than the last round was not read yet and says nothing; a round that is
		// long overdue is blindness and shows as unknown.
		in.Now = max(derived, s.now()-rental.Millis((s.opts.Every+time.Minute).Milliseconds()))
	}
	return nil
}
