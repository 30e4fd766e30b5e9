package rental

import "slices"

// MonthCredit is the credit of one month with all that it was worked out from.
type MonthCredit struct {
	Credit
	Verdict Verdict
	// Settled tells whether all time that the verdict counts as down may change money.
	Settled bool
}

// CreditForMonth works the credit of in.Period, a month of the contract's zone, out from facts
// alone: the verdict, the fee of the time up to until with and without what is not billed, and the
// contract's table. Facts of after the month change nothing. It is pure, so whoever has the same
// facts and the contract comes to the same amount.
func CreditForMonth(in JudgeInput, until Millis) (MonthCredit, error) {
	var out MonthCredit
	month := in.Period
	known := Span{Start: min(in.Lease.Start, month.Start), End: max(min(month.End, in.Lease.End), in.Lease.Start+1)}
	in.Downtimes = slices.DeleteFunc(slices.Clone(in.Downtimes), func(d Downtime) bool { return !d.Span.Empty() && !d.Span.Overlaps(known) })
	if in.Now >= month.End {
		in.Now = 0
	}
	var err error
	if out.Verdict, err = Judge(in); err != nil {
		return out, err
	}
	var net, gross []BillLine
	if out.Verdict.Outcome == Breached { // nothing is paid back for another, and charging is most of the work
		charged := ChargeInput{Facts: in.Facts, Period: Span{Start: month.Start, End: max(min(month.End, until), month.Start)}}
		if net, err = Charge(charged); err != nil {
			return out, err
		}
		if gross, err = Charge(charged.Gross()); err != nil {
			return out, err
		}
	}
	out.Settled = in.settled(out.Verdict)
	out.Credit, err = CreditFor(CreditInput{
		Facts: in.Facts, Verdict: out.Verdict, Gross: gross, Net: net, Approved: out.Settled, Language: in.Contract.Language,
	})
	return out, err
}

// settled tells whether all time that the verdict counts as down may change money: no downtime of
// the period waits for a person and, where the contract takes unknown time for down, there is none
// of it, or the contract approves by itself. A person approves unknown time by recording it as a
// downtime.
func (in JudgeInput) settled(v Verdict) bool {
	for _, d := range in.Downtimes {
		if d.Undecided() && d.Span.Overlaps(in.Period) {
			return false
		}
	}
	if in.Contract.DowntimeApproval == ApprovalAutomatic || v.UnknownRule != string(Down) {
		return true
	}
	unknown := v.UnknownMS - v.UnmeasuredMS
	for _, card := range v.PerGPU {
		unknown = max(unknown, card.UnknownMS-card.UnmeasuredMS)
	}
	return unknown == 0
}

// WholeMonths returns the calendar months of the contract's zone that lie wholly in the period and
// in which the lease runs.
func (f Facts) WholeMonths(period Span) ([]Month, error) {
	months, err := Months(f.Contract.TimeZone, f.Lease.Span().Clip(period))
	if err != nil {
		return nil, err
	}
	var out []Month
	for _, m := range months {
		span, err := m.Span(f.Contract.TimeZone)
		if err != nil {
			return nil, err
		}
		if span.Start >= period.Start && span.End <= period.End {
			out = append(out, m)
		}
	}
	return out, nil
}

// Standing returns the credit at a moment as the contract and what people did have it. late is how
// long after the month samples are still taken: until then the credit is provisional.
func (m MonthCredit) Standing(c Contract, of CreditCase, at, late Millis) (Credit, error) {
	month := m.Verdict.Period
	m.Provisional = at < month.End+late
	until, err := c.ClaimUntil(month)
	if err != nil {
		return Credit{}, err
	}
	return m.Stand(of, CreditTerms{Until: until, Now: at, Held: !m.Settled, Auto: c.AutoCredit}), nil
}
