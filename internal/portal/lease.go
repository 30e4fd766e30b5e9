package portal

import (
	"errors"
	"net/http"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// leaseBody is what the page of one lease shows. Each section stands by itself: one that
// cannot be told says so, and the others are shown.
type leaseBody struct {
	ID      string
	Months  months
	Trouble []gpuRow
	Figures []figure
	Usage   usageSection
	States  stateSection
	Bill    billSection
	SLA     slaSection
	Windows maintenanceSection
	GPUs    []assignmentRow
}

// months is the choice of a month.
type months struct{ Shown, Before, After string }

// figure is one line of the month in figures.
type figure struct {
	Name, Value, How string
	Look             phrase.Look // with a Word where the value has a state
}

type assignmentRow struct {
	UUID, Serial, Host, Reason string
	Profile                    string // of a MIG instance
	Slot                       int
	Known                      bool
	From, To                   moment
}

// leaseData is what the sections of the page are made of.
type leaseData struct {
	say    phrase.Printer
	detail api.LeaseDetail
	month  string
	zone   *time.Location

	bill                              rental.Bill
	usage                             api.Usage
	sla                               api.SLA
	states                            api.StateHistory
	windows                           []api.MaintenanceFact
	billErr, useErr, slaErr, stateErr error
	windowErr                         error
}

func (p *portal) lease(r *http.Request, pg *page) error {
	ctx, id := r.Context(), r.PathValue("id")
	detail, err := p.opts.API.Lease(ctx, id)
	if err != nil {
		return err
	}
	d := leaseData{say: pg.Say, detail: detail, zone: zoneOf(detail.Contract.TimeZone)}
	if d.month, err = chosenMonth(r, detail.Summary.Month); err != nil {
		return err
	}
	period := api.Period{Month: d.month}
	d.bill, d.billErr = p.opts.API.Bill(ctx, id, period)
	d.usage, d.useErr = p.opts.API.Usage(ctx, id, period, api.StepDay)
	d.sla, d.slaErr = p.opts.API.SLA(ctx, id, d.month)
	d.windows, d.windowErr = p.opts.API.Maintenances(ctx, api.MaintenanceQuery{Lease: id})
	d.states, d.stateErr = p.opts.API.States(ctx, id, period)

	say := pg.Say
	body := leaseBody{
		ID: id, Months: monthsAround(d.month, detail), Figures: d.figures(),
		Usage: d.usageSection(), States: d.stateSection(), Bill: d.billSection(), SLA: d.slaSection(), Windows: d.maintenanceSection(), GPUs: d.assignments(),
	}
	if detail.Summary.Health != "" && detail.Summary.Health != "ok" {
		if fleet, err := p.opts.API.Fleet(ctx); err == nil {
			body.Trouble = troubleOf(say, fleet, id, d.zone)
		}
	}
	pg.Template, pg.Section, pg.Body = "lease", "leases", body
	pg.Title = say.Say(phrase.PortalLease) + " " + id
	pg.Heading = say.Say(phrase.PortalLeaseHeading, id, d.month)
	pg.Answer = d.answer()
	pg.Lead = say.Say(phrase.PortalLeaseOf, detail.Summary.Tenant, detail.Summary.Provider, detail.Contract.Name,
		say.Say(phrase.PortalGPUsOfSKU, detail.Summary.GPUs, detail.Summary.SKU))
	pg.Now = at(say, rental.At(p.opts.Now()), d.zone)
	return nil
}

// chosenMonth returns the month of the URL, by default the contract's present one.
func chosenMonth(r *http.Request, present string) (string, error) {
	asked := r.URL.Query().Get("month")
	if asked == "" {
		return present, nil
	}
	month, err := rental.ParseMonth(asked)
	if err != nil {
		return "", api.Errorf(http.StatusUnprocessableEntity, "%s", err)
	}
	return month.String(), nil
}

// monthsAround returns the months to go to from the one shown: none before the lease began,
// none after the present one.
func monthsAround(shown string, d api.LeaseDetail) months {
	out := months{Shown: shown}
	month, err := rental.ParseMonth(shown)
	if err != nil {
		return out
	}
	before := month.Before()
	if first, err := rental.MonthOf(d.Contract.TimeZone, d.Lease.Start); err == nil && before.String() >= first.String() {
		out.Before = before.String()
	}
	if after := month.Next().String(); after <= d.Summary.Month {
		out.After = after
	}
	return out
}

// monthsBefore returns the months to go to from the one shown, up to the present one.
func monthsBefore(shown, present string) months {
	out := months{Shown: shown}
	month, err := rental.ParseMonth(shown)
	if err != nil {
		return out
	}
	out.Before = month.Before().String()
	if after := month.Next().String(); after <= present {
		out.After = after
	}
	return out
}

// answer is the page's first line: cost, use, waste and availability.
func (d leaseData) answer() string {
	say := d.say
	used, idle, available := say.Say(phrase.NoDataWord), say.Say(phrase.NoDataWord), say.Say(phrase.NoDataWord)
	if d.useErr == nil {
		used = use(say, d.usage.Total.Utilisation, d.usage.Total.Coverage)
		idle = d.idle(d.usage.Total)
	}
	switch {
	case d.slaErr == nil && d.sla.Verdict == nil:
		available = say.Say(phrase.PortalNoObjective)
	case d.slaErr == nil:
		outcome := say.Outcome(d.sla.Verdict.Outcome)
		available = bounds(say, d.sla.AvailabilityLow, d.sla.AvailabilityHigh) + noBreak + "%, " + outcome.Glyph + noBreak + outcome.Word
	}
	if d.billErr != nil {
		return say.Say(phrase.PortalLeaseAnswerNoBill, used, available)
	}
	return say.Say(phrase.PortalLeaseAnswer, say.Money(d.bill.Total), used, idle, available)
}

// idle returns the cost of the time without use, or that it is not known.
func (d leaseData) idle(p api.UsagePoint) string {
	if p.IdleCost == nil {
		return d.say.Say(phrase.NotMeasuredWord)
	}
	return decimalMoney(d.say, d.usage.Currency, p.IdleCost)
}

func (d leaseData) figures() []figure {
	say := d.say
	var out []figure
	add := func(name phrase.Key, value, how string) {
		out = append(out, figure{Name: say.Say(name), Value: value, How: how})
	}
	if d.billErr == nil {
		add(phrase.PortalCost, say.Money(d.bill.Total), "")
	}
	if d.useErr == nil {
		total := d.usage.Total
		if d.billErr == nil {
			add(phrase.PortalIdleCost, d.idle(total), d.idleHow(total))
		}
		add(phrase.PortalUtilisation, use(say, total.Utilisation, total.Coverage), say.Say(phrase.PortalUtilisationHow))
		if total.Held != nil {
			add(phrase.PortalHeld, percent(say, total.Held), say.Say(phrase.PortalHeldHow))
		}
	}
	if d.slaErr == nil && d.sla.Verdict != nil {
		v := d.sla.Verdict
		how := v.Explain(say.Lang())
		if v.Low.Denominator > 0 && v.UnknownMS > 0 {
			how += ". " + say.Say(phrase.PortalLowToHighWhy)
		}
		out = append(out, figure{
			Name: say.Say(phrase.PortalAvailable), How: how, Look: say.Outcome(v.Outcome),
			Value: bounds(say, d.sla.AvailabilityLow, d.sla.AvailabilityHigh) + noBreak + "%",
		})
		if d.sla.BudgetMS != nil && d.sla.BudgetLeftMS != nil {
			left := say.Duration(*d.sla.BudgetLeftMS)
			if *d.sla.BudgetLeftMS < 0 {
				left = say.Say(phrase.PortalBudgetOver, say.Duration(-*d.sla.BudgetLeftMS))
			}
			add(phrase.PortalBudget, left, say.Say(phrase.PortalBudgetHow, say.Duration(*d.sla.BudgetMS)))
		}
		if c := d.sla.Coverage; c != nil && c.Denominator > 0 {
			add(phrase.PortalCoverage, c.Percent+noBreak+"%", d.coverageFlag(c.Bound))
		}
	}
	return out
}

func (d leaseData) idleHow(p api.UsagePoint) string {
	switch {
	case p.IdleCost == nil:
		return d.say.Say(phrase.PortalIdleUnknown)
	case p.IdleBasis == "allocation":
		return d.say.Say(phrase.PortalIdleByAllocation)
	}
	return d.say.Say(phrase.PortalIdleByUse)
}

// coverageFlag says where coverage of availability is under 99.9 % (rule 5 of the design).
func (d leaseData) coverageFlag(b rental.Bound) string {
	if b.Numerator*1000 < b.Denominator*999 {
		return d.say.Say(phrase.PortalCoverageFlag, "99.9"+noBreak+"%")
	}
	return ""
}

func (d leaseData) assignments() []assignmentRow {
	cards := map[string]rental.GPU{}
	for _, g := range d.detail.GPUs {
		cards[g.UUID] = g
	}
	profiles := map[string]string{}
	for _, m := range d.detail.MIGInstances {
		profiles[m.UUID] = m.Profile
	}
	out := make([]assignmentRow, 0, len(d.detail.Assignments))
	for _, a := range d.detail.Assignments {
		g, known := cards[a.CardUUID()]
		reason := a.Reason
		if reason == "start" {
			reason = d.say.Say(phrase.PortalAssignStart)
		}
		out = append(out, assignmentRow{
			UUID: a.UUID, Serial: g.Serial, Host: g.Host, Slot: g.Slot, Known: known, Reason: reason, Profile: profiles[a.UUID],
			From: at(d.say, a.Span.Start, d.zone), To: at(d.say, a.Span.End, d.zone),
		})
	}
	return out
}

// troubleOf returns the lease's GPUs that need somebody now.
func troubleOf(say phrase.Printer, f api.Fleet, lease string, zone *time.Location) []gpuRow {
	var out []gpuRow
	for _, h := range f.Hosts {
		for _, g := range h.GPUs {
			for _, row := range append(migViews(say, h.Host, g, f.At, zone), gpuView(say, h.Host, g, f.At, zone)) {
				if row.Lease == lease && wrong(row.Look) {
					out = append(out, row)
				}
			}
		}
	}
	sortBySuffering(out)
	return out
}

// sectionError says why a section is empty where its data could not be had; "" for none.
func (d leaseData) sectionError(err error) string {
	var told *api.Error
	switch {
	case err == nil:
		return ""
	case errors.Is(err, api.ErrForbidden):
		return d.say.Say(phrase.PortalForbidden)
	case errors.As(err, &told):
		return d.say.Say(phrase.PortalFailed, told.Error())
	}
	return d.say.Say(phrase.PortalFailed, http.StatusText(http.StatusInternalServerError))
}
