// Package billing makes bills from ledger facts: the lines that rental.Charge gives, the credits
// that were booked, and what may still change them. The same ledger gives the same bytes; only an
// open month also depends on the moment, and says so.
package billing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// Ledger reads the facts of a lease.
type Ledger interface {
	Lease(ctx context.Context, id string) (rental.Lease, error)
	Contract(ctx context.Context, name string) (rental.Contract, error)
	Assignments(ctx context.Context, lease string) ([]rental.Assignment, error)
	Downtimes(ctx context.Context, lease string, span rental.Span) ([]rental.Downtime, error)
	Maintenances(ctx context.Context, span rental.Span) ([]rental.Maintenance, error)
	Consumptions(ctx context.Context, lease string) ([]rental.Consumption, error)
	Adjustments(ctx context.Context, lease string) ([]rental.Adjustment, error)
	ClosedMonths(ctx context.Context, lease string) ([]rental.ClosedMonth, error)
	GPUs(ctx context.Context) ([]rental.GPU, error)
	UsageRecords(ctx context.Context, lease string, span rental.Span) ([]rental.UsageRecord, error)
	// UsageSums sums the records that begin in the span, by card.
	UsageSums(ctx context.Context, lease string, span rental.Span) ([]rental.UsageRecord, error)
	// EnergyTariffs returns what a kWh costs at each host whose site has a tariff, by its name.
	EnergyTariffs(ctx context.Context) (map[string]rental.EnergyTariff, error)
	// LearntSince tells whether anything was recorded since a moment that may change what the lease
	// costs before another; yes where that is not known.
	LearntSince(ctx context.Context, lease string, since, before rental.Millis) (bool, error)
}

// Credits tells what missed objectives pay back in a period.
type Credits interface {
	Credits(ctx context.Context, lease string, period rental.Span) ([]rental.Credit, error)
}

// ItemCredit is the item of lines that pay back for a missed objective.
const ItemCredit = "sla_credit"

// Service makes bills.
type Service struct {
	ledger  Ledger
	credits Credits
	now     func() time.Time
	late    time.Duration
}

// Options complete a Service.
type Options struct {
	// Credits may be nil: then bills carry none.
	Credits Credits
	// Now is mandatory; it decides what is still open.
	Now func() time.Time
	// Late is how long after its time a sample is still taken, and may change downtime; 26 h
	// where it is 0.
	Late time.Duration
}

// New returns a service over the ledger.
func New(ledger Ledger, opts Options) *Service {
	return &Service{ledger: ledger, credits: opts.Credits, now: opts.Now, late: cmp.Or(opts.Late, 26*time.Hour)}
}

// Over returns the same service over another reader of the same facts.
func (s *Service) Over(ledger Ledger) *Service {
	over := *s
	over.ledger = ledger
	return &over
}

// At returns the same service at a moment that stands still: what it says is what was to be said then.
func (s *Service) At(moment rental.Millis) *Service {
	at := *s
	at.now = moment.Time
	return &at
}

// Bill returns what the lease costs in the period, which needs an end. A period that has not
// ended is charged up to now and marked provisional; once it has ended, a lease that is still open
// is charged to the period's end. Errors of the ledger pass through, so that a lease that does not
// exist stays rental.CodeNotFound.
//
// The bill of a closed month is the frozen one. What was learnt since about closed months is in
// the bill of the next, as corrections.
//
// Sentences in the bill are in the contract's language; BillIn chooses another.
func (s *Service) Bill(ctx context.Context, lease string, period rental.Span) (rental.Bill, error) {
	return s.BillIn(ctx, lease, period, "")
}

// BillIn is Bill with its sentences in English ("en") or Chinese ("zh"); the figures are the same.
// Where lang is empty it is the contract's language. A credit's arithmetic stays in that language.
func (s *Service) BillIn(ctx context.Context, lease string, period rental.Span, lang string) (rental.Bill, error) {
	return s.bill(ctx, lease, period, lang, true)
}

// Running is Bill without corrections of closed months, each of which is reckoned anew: for lists
// of many leases, which are asked for often.
func (s *Service) Running(ctx context.Context, lease string, period rental.Span) (rental.Bill, error) {
	return s.bill(ctx, lease, period, "", false)
}

func (s *Service) bill(ctx context.Context, lease string, period rental.Span, lang string, corrections bool) (rental.Bill, error) {
	if period.End == rental.Forever || period.Empty() {
		return rental.Bill{}, &rental.Error{Code: rental.CodeInvalid,
			Message: fmt.Sprintf("bill of lease %s from %s to %s: expected a period with time in it and an end", lease, period.Start, period.End)}
	}
	closed, err := s.ledger.ClosedMonths(ctx, lease)
	if err != nil {
		return rental.Bill{}, err
	}
	for _, c := range closed {
		if c.Span == period {
			return thaw(c)
		}
	}
	f, err := s.facts(ctx, lease, period.End)
	if err != nil {
		return rental.Bill{}, err
	}
	if lang != "" {
		f.Contract.Language = phrase.Match(lang)
	}
	c := f.Contract
	bill := rental.Bill{
		Lease: f.Lease.ID, Tenant: f.Lease.Tenant, Provider: c.Provider, Contract: f.Lease.Contract,
		Currency: c.Currency, TimeZone: c.TimeZone, Period: period, Language: phrase.Match(c.Language),
	}
	charged := s.until(period)
	lines, err := rental.Charge(rental.ChargeInput{Facts: f, Period: charged})
	if err != nil {
		return rental.Bill{}, &rental.Error{Code: rental.CodeInvalid, Message: "bill of lease " + lease, Cause: err}
	}
	bill.Lines = lines
	credits, err := s.creditsOf(ctx, f, period)
	if err != nil {
		return rental.Bill{}, err
	}
	bill.Lines = append(bill.Lines, creditLines(credits, charged)...)
	if corrections {
		corrected, err := s.correctionLines(ctx, f, period, closed)
		if err != nil {
			return rental.Bill{}, err
		}
		bill.Lines = append(bill.Lines, corrected...)
	}
	adjusted, err := s.adjustmentLines(ctx, f, period)
	if err != nil {
		return rental.Bill{}, err
	}
	bill.Lines = append(bill.Lines, adjusted...)
	if err := total(&bill, c, charged); err != nil {
		return rental.Bill{}, fmt.Errorf("bill of lease %s: %w", lease, err)
	}
	if bill.Reservation, err = rental.UseOfReservation(c.Currency, bill.Lines); err != nil {
		return rental.Bill{}, fmt.Errorf("bill of lease %s: %w", lease, err)
	}
	if err := s.addUse(ctx, &bill, f, period); err != nil {
		return rental.Bill{}, err
	}
	if corrections && charged.End < period.End && period.Start < rental.At(s.now()) {
		if bill.Outlook, err = rental.OutlookOf(f, period, charged.End); err != nil {
			return rental.Bill{}, fmt.Errorf("outlook of lease %s: %w", lease, err)
		}
	}
	bill.Provisional = s.provisional(f, period, charged, credits)
	return bill, nil
}

// total adds tax to a bill and sums its lines.
func total(bill *rental.Bill, c rental.Contract, charged rental.Span) error {
	taxes, contained, err := rental.TaxLines(c, charged, bill.Lines)
	if err != nil {
		return err
	}
	bill.Lines, bill.TaxContained = append(bill.Lines, taxes...), contained
	amounts := make([]rental.Amount, len(bill.Lines))
	for i, l := range bill.Lines {
		amounts[i] = l.Amount
	}
	bill.Total, err = rental.SumAmounts(c.Currency, amounts...)
	return err
}

// ItemAdjustment is the item of lines that a person booked.
const ItemAdjustment = "adjustment"

// adjustmentLines returns what persons booked into the bills of the months that lie in the period.
func (s *Service) adjustmentLines(ctx context.Context, f rental.Facts, period rental.Span) ([]rental.BillLine, error) {
	booked, err := s.ledger.Adjustments(ctx, f.Lease.ID)
	if err != nil {
		return nil, err
	}
	var out []rental.BillLine
	for _, a := range booked {
		month, err := rental.ParseMonth(a.Month)
		if err != nil {
			return nil, fmt.Errorf("adjustment %s: %w", a.ID, err)
		}
		span, err := month.Span(f.Contract.TimeZone)
		if err != nil {
			return nil, fmt.Errorf("adjustment %s: %w", a.ID, err)
		}
		amount, err := a.Money()
		if err != nil {
			return nil, fmt.Errorf("adjustment %s: %w", a.ID, err)
		}
		if span.Clip(period) == span && amount.Minor != 0 {
			about := rental.Span{Start: a.Start, End: a.End}
			out = append(out, rental.BillLine{Item: ItemAdjustment, Name: a.ID, Charged: about, Corrects: &about, Amount: amount, Note: a.Reason})
		}
	}
	return out, nil
}

// Simulate prices a lease's time in the period, up to now, under each contract.
func (s *Service) Simulate(ctx context.Context, lease string, period rental.Span, contracts []rental.Contract) ([]rental.Quote, error) {
	f, err := s.facts(ctx, lease, period.End)
	if err != nil {
		return nil, err
	}
	return rental.Simulate(f, contracts, s.until(period)), nil
}

// Outlook returns what a period of the lease costs so far and will have cost by its end.
func (s *Service) Outlook(ctx context.Context, lease string, period rental.Span) (*rental.Outlook, error) {
	f, err := s.facts(ctx, lease, period.End)
	if err != nil {
		return nil, err
	}
	return rental.OutlookOf(f, period, rental.At(s.now()))
}

// until clips a period to now.
func (s *Service) until(period rental.Span) rental.Span {
	period.End = max(min(period.End, rental.At(s.now())), period.Start)
	return period
}

// facts reads what the lease's charge rests on, up to a moment.
func (s *Service) facts(ctx context.Context, lease string, until rental.Millis) (rental.Facts, error) {
	var f rental.Facts
	var err error
	if f.Lease, err = s.ledger.Lease(ctx, lease); err != nil {
		return f, err
	}
	if f.Contract, err = s.ledger.Contract(ctx, f.Lease.Contract); err != nil {
		return f, err
	}
	f.Contract.Name = f.Lease.Contract
	if f.Assignments, err = s.ledger.Assignments(ctx, lease); err != nil {
		return f, err
	}
	// A session is rounded as a whole, so its downtime counts from the lease's start on.
	known := rental.Span{Start: f.Lease.Start, End: max(until, f.Lease.Start+1)}
	if f.Downtimes, err = s.ledger.Downtimes(ctx, lease, known); err != nil {
		return f, err
	}
	if f.Maintenances, err = s.ledger.Maintenances(ctx, known); err != nil {
		return f, err
	}
	if slices.ContainsFunc(f.Contract.Items, func(i rental.Item) bool { return i.Charge == rental.ChargeMetered }) {
		if f.Consumptions, err = s.ledger.Consumptions(ctx, lease); err != nil {
			return f, err
		}
	}
	if f.NeedsHosts() {
		gpus, err := s.ledger.GPUs(ctx)
		if err != nil {
			return f, err
		}
		f.FillHosts(gpus)
	}
	return f, nil
}

func (s *Service) creditsOf(ctx context.Context, f rental.Facts, period rental.Span) ([]rental.Credit, error) {
	if s.credits == nil || f.Contract.Credits == nil {
		return nil, nil
	}
	credits, err := s.credits.Credits(ctx, f.Lease.ID, period)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(credits), func(c rental.Credit) bool { return c.Amount.Minor == 0 }), nil
}

// chargeLines returns what a period costs by what is known now, with its booked credits.
func (s *Service) chargeLines(ctx context.Context, f rental.Facts, period rental.Span) ([]rental.BillLine, error) {
	lines, err := rental.Charge(rental.ChargeInput{Facts: f, Period: period})
	if err != nil {
		return nil, err
	}
	credits, err := s.creditsOf(ctx, f, period)
	return append(lines, creditLines(credits, period)...), err
}

// creditLines are those of the credits that are booked.
func creditLines(credits []rental.Credit, charged rental.Span) []rental.BillLine {
	var out []rental.BillLine
	for _, credit := range credits {
		if credit.State == rental.CreditBooked {
			out = append(out, creditLine(credit, charged))
		}
	}
	return out
}

// creditLine books a credit as a negative line.
func creditLine(c rental.Credit, charged rental.Span) rental.BillLine {
	return rental.BillLine{
		Item: ItemCredit, Charged: c.Period.Clip(charged), Unit: "percent", Quantity: c.Percent.String(),
		Amount: rental.Amount{Currency: c.Amount.Currency, Minor: -c.Amount.Minor}, Note: c.Arithmetic,
	}
}

// provisional says, in the contract's language, why the bill may still change.
func (s *Service) provisional(f rental.Facts, period, charged rental.Span, credits []rental.Credit) []string {
	p := phrase.For(f.Contract.Language)
	zone, err := rental.LoadZone(f.Contract.TimeZone)
	if err != nil {
		zone = time.UTC
	}
	var why []string
	switch {
	case charged.Empty() && charged.End <= period.Start:
		why = append(why, p.Say(phrase.BillNotBegun))
	case charged.End < period.End:
		why = append(why, p.Say(phrase.BillOpenPeriod, p.Time(charged.End, zone)))
	default:
		taken := min(period.End, f.Lease.End) + rental.Millis(s.late.Milliseconds())
		if rental.At(s.now()) < taken && f.Contract.DowntimePays() {
			why = append(why, p.Say(phrase.BillLateSamples, p.Time(taken, zone)))
		}
	}
	waiting := 0
	for _, d := range f.Downtimes {
		if d.Undecided() && d.Span.Overlaps(period) {
			waiting++
		}
	}
	if waiting > 0 {
		why = append(why, p.Say(phrase.BillDowntimeWaits, waiting))
	}
	for _, c := range credits {
		switch {
		case c.State == rental.CreditRefused || c.State == rental.CreditLapsed: // nothing comes of it
		case c.State != rental.CreditBooked:
			why = append(why, p.Say(phrase.BillCreditWaits, c.Amount.String()))
		case c.Provisional:
			why = append(why, p.Say(phrase.BillCreditProvisional, c.Amount.String()))
		}
	}
	return why
}
