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
	if err != nil {
		return nil, err
	}
	if c.Credits == nil {
		return nil, nil
	}
	months, err := rental.Months(c.TimeZone, l.Span().Clip(period))
	if err != nil {
		return nil, fmt.Errorf("credits of lease %s: %w", lease, err)
	}
	cases, err := s.ledger.CreditCases(ctx, lease)
	if err != nil {
		return nil, err
	}
	var out []rental.Credit
	for _, m := range months {
		month, err := m.Span(c.TimeZone)
		if err != nil {
			return nil, err
		}
		if month.Start < period.Start || month.End > period.End || month.Start >= s.now() {
			continue
		}
		credit, err := s.credit(ctx, lease, month, caseOf(cases, lease, m))
		if err != nil {
			return nil, fmt.Errorf("credit of lease %s for %s: %w", lease, m, err)
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
	credit, err := s.credit(ctx, lease, month, caseOf(cases, lease, m))
	if err != nil {
		return credit, judged, err
	}
	if credit.Amount.Minor == 0 && len(credit.Acts) == 0 {
		return credit, judged, none
	}
	judged, err = s.Judged(ctx, lease, month)
	return credit, judged, err
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

func (s *Service) credit(ctx context.Context, lease string, month rental.Span, of rental.CreditCase) (rental.Credit, error) {
	in, err := s.input(ctx, lease, month)
	if err != nil {
		return rental.Credit{}, err
	}
	verdict, err := rental.Judge(in)
	if err != nil {
		return rental.Credit{}, err
	}
	charged := rental.ChargeInput{Facts: in.Facts, Period: rental.Span{Start: month.Start, End: max(min(month.End, s.now()), month.Start)}}
	net, err := rental.Charge(charged)
	if err != nil {
		return rental.Credit{}, err
	}
	gross, err := rental.Charge(charged.Gross())
	if err != nil {
		return rental.Credit{}, err
	}
	decided := approved(in, verdict)
	credit, err := rental.CreditFor(rental.CreditInput{
		Facts: in.Facts, Verdict: verdict, Gross: gross, Net: net, Approved: decided, Language: in.Contract.Language,
	})
	if err != nil {
		return credit, err
	}
	credit.Provisional = s.now() < month.End+rental.Millis(s.opts.Grace.Milliseconds())
	until, err := in.Contract.ClaimUntil(month)
	return credit.Stand(of, rental.CreditTerms{Until: until, Now: s.now(), Held: !decided, Auto: in.Contract.AutoCredit}), err
}

// approved tells whether all time that the verdict counts as down may change money: no downtime
// of the period waits for a person and, where the contract takes unknown time for down, there is
// none of it, or the contract approves by itself. A person approves unknown time by recording it
// as a downtime.
func approved(in rental.JudgeInput, v rental.Verdict) bool {
	for _, d := range in.Downtimes {
		if d.Undecided() && d.Span.Overlaps(in.Period) {
			return false
		}
	}
	if in.Contract.DowntimeApproval == rental.ApprovalAutomatic || v.UnknownRule != string(rental.Down) {
		return true
	}
	unknown := v.UnknownMS - v.UnmeasuredMS
	for _, card := range v.PerGPU {
		unknown = max(unknown, card.UnknownMS-card.UnmeasuredMS)
	}
	return unknown == 0
}

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
