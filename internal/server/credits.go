package server

import (
	"bytes"
	"cmp"
	"context"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/sla"
)

// credits keeps the credits of leases as cases.
type credits struct {
	ledger *ledger.Ledger
	sla    *sla.Service
	now    func() time.Time
	// changed is told after each act, so that the server's own series follow at once.
	changed func()
}

// Credits returns those that the query chooses, by lease and month.
func (c credits) Credits(ctx context.Context, q api.CreditQuery) ([]api.CreditFact, error) {
	chosen, err := books{ledger: c.ledger, now: c.now}.chosen(ctx, api.BillQuery{Lease: q.Lease, Tenant: q.Tenant, Period: api.Period{Month: q.Month}})
	if err != nil {
		return nil, err
	}
	var out []api.CreditFact
	for _, one := range chosen {
		if one.contract.Credits == nil {
			continue
		}
		span := one.span
		if q.Month == "" {
			span.Start = 0 // every month up to the present one
		}
		found, err := c.sla.Credits(ctx, one.lease.ID, span)
		if err != nil {
			return nil, err
		}
		for _, credit := range found {
			fact, err := creditFact(credit, one.lease, one.contract)
			if err != nil {
				return nil, err
			}
			if q.State == "" || credit.State == q.State {
				out = append(out, fact)
			}
		}
	}
	return out, nil
}

func creditFact(credit rental.Credit, lease rental.Lease, contract rental.Contract) (api.CreditFact, error) {
	month, err := rental.MonthOf(contract.TimeZone, credit.Period.Start)
	return api.CreditFact{Credit: credit, Tenant: lease.Tenant, Provider: contract.Provider, Month: month.String()}, err
}

// Credit returns one credit.
func (c credits) Credit(ctx context.Context, id string) (api.CreditFact, error) {
	lease, month, err := rental.ParseCreditID(id)
	if err != nil {
		return api.CreditFact{}, err
	}
	credit, judged, err := c.sla.CreditOf(ctx, lease, month)
	if err != nil {
		return api.CreditFact{}, err
	}
	return creditFact(credit, judged.Input.Lease, judged.Input.Contract)
}

// ActOnCredit claims, approves or refuses, in the name of who asks.
func (c credits) ActOnCredit(ctx context.Context, by rental.Principal, id string, act rental.Act) (api.CreditFact, error) {
	lease, month, err := rental.ParseCreditID(id)
	if err != nil {
		return api.CreditFact{}, err
	}
	credit, judged, err := c.sla.CreditOf(ctx, lease, month)
	if err != nil {
		return api.CreditFact{}, err
	}
	var entered []string
	for _, d := range judged.Input.Downtimes {
		if d.EnteredBy != "" && d.Span.Overlaps(credit.Period) {
			entered = append(entered, d.EnteredBy)
		}
	}
	act.At, act.By = rental.At(c.now()), by.Name
	acted := len(credit.Acts)
	if _, err := c.ledger.ChangeCreditCase(ctx, lease, month.String(), func(of rental.CreditCase) (rental.CreditCase, error) {
		if len(of.Acts) != acted {
			return of, &rental.Error{Code: rental.CodeConflict, Message: "credit " + id + ": somebody acted on it just now: look at it again"}
		}
		return credit.Do(of, act, entered)
	}); err != nil {
		return api.CreditFact{}, err
	}
	c.changed()
	return c.Credit(ctx, id)
}

// CreditPack writes what a claim rests on, as json, html or zip.
func (c credits) CreditPack(ctx context.Context, id, format, lang string) ([]byte, error) {
	lease, month, err := rental.ParseCreditID(id)
	if err != nil {
		return nil, err
	}
	credit, judged, err := c.sla.CreditOf(ctx, lease, month)
	if err != nil {
		return nil, err
	}
	fact, err := creditFact(credit, judged.Input.Lease, judged.Input.Contract)
	if err != nil {
		return nil, err
	}
	in := judged.Input
	pack := api.CreditPack{
		Credit: fact, Made: rental.At(c.now()), TimeZone: in.Contract.TimeZone, Contract: in.Lease.Contract,
		Availability: in.Contract.Availability, Credits: in.Contract.Credits, Verdict: judged.Verdict,
		Downtimes: []rental.Downtime{}, Maintenances: []rental.Maintenance{}, Assignments: in.Assignments,
	}
	for _, d := range in.Downtimes {
		if d.Span.Overlaps(credit.Period) {
			pack.Downtimes = append(pack.Downtimes, d)
		}
	}
	hosts := map[string]bool{}
	for _, a := range in.Assignments {
		hosts[a.Host] = true
	}
	for _, m := range in.Maintenances {
		// What else a window touches is nobody's business.
		own := m.For(in.Lease.Tenant, func(l string) bool { return l == lease }, func(h string) bool { return hosts[h] })
		if len(own.Hosts)+len(own.Leases) > 0 && credit.Period.Overlaps(rental.Span{Start: m.Start, End: m.End}) {
			pack.Maintenances = append(pack.Maintenances, own)
		}
	}
	var out bytes.Buffer
	err = writePack(&out, pack, format, cmp.Or(lang, in.Contract.Language))
	return out.Bytes(), err
}
