package httpapi

import (
	"context"
	"slices"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// view is what one principal sees. Every handler reads through it, so that a tenant's limit
// is enforced here and nowhere else: what belongs to another is not found, and answers
// that hold several things are cut down to the tenant's own.
type view struct {
	deps Deps
	who  rental.Principal
}

// asOf returns the view by what was known at the moment that the input asks for, if it does.
func (v view) asOf(in any) (view, error) {
	asked, ok := in.(interface {
		known(now rental.Millis) (rental.Millis, error)
	})
	if !ok {
		return v, nil
	}
	at, err := asked.known(rental.At(v.deps.Now()))
	if err != nil || at == 0 {
		return v, err
	}
	then := v.deps.Past.AsOf(at)
	v.deps.Leases, v.deps.Bills, v.deps.Books, v.deps.SLA = then.Leases, then.Bills, then.Books, then.SLA
	v.deps.Now = at.Time
	return v, nil
}

// own tells whether the principal may see what belongs to the tenant.
func (v view) own(tenant string) bool {
	return v.who.Role != rental.RoleTenant || tenant == v.who.Tenant
}

// tenantOnly is the tenant to whom answers are limited, "" for none.
func (v view) tenantOnly() string {
	if v.who.Role == rental.RoleTenant {
		return v.who.Tenant
	}
	return ""
}

// lease refuses, as not found, a lease that the principal may not see.
func (v view) lease(ctx context.Context, id string) error {
	tenant, err := v.deps.Leases.LeaseTenant(ctx, id)
	if rental.CodeOf(err) == rental.CodeNotFound || err == nil && !v.own(tenant) {
		return api.NotFound("lease", id)
	}
	return err
}

func (v view) status(ctx context.Context) (api.Status, error) {
	s, err := v.deps.Status.Status(ctx)
	if !slices.Contains(deciders, v.who.Role) {
		s.ChangesWaiting = 0
	}
	if err == nil && v.tenantOnly() != "" {
		s.EvaluationFailures, s.TargetsDown, s.Store, s.Outbox = nil, nil, api.Store{}, api.Outbox{}
	}
	return s, err
}

func (v view) leases(ctx context.Context, q api.LeaseQuery) ([]api.LeaseSummary, error) {
	if only := v.tenantOnly(); only != "" {
		if q.Tenant != "" && q.Tenant != only {
			return nil, nil
		}
		q.Tenant = only
	}
	found, err := v.deps.Leases.Leases(ctx, q)
	return slices.DeleteFunc(slices.Clone(found), func(l api.LeaseSummary) bool { return !v.own(l.Tenant) }), err
}

func (v view) leaseDetail(ctx context.Context, id string) (api.LeaseDetail, error) {
	if err := v.lease(ctx, id); err != nil {
		return api.LeaseDetail{}, err
	}
	d, err := v.deps.Leases.Lease(ctx, id)
	if v.tenantOnly() != "" {
		// One window may be about many machines: which others there are is nobody's business.
		own := func(host string) bool {
			return slices.ContainsFunc(d.GPUs, func(gpu rental.GPU) bool { return gpu.Host == host })
		}
		for i, m := range d.Maintenance {
			d.Maintenance[i] = m.For(v.tenantOnly(), func(l string) bool { return l == id }, own)
		}
	}
	return d, err
}

// history tells a tenant what was recorded of its lease and when; who of the provider did it,
// and what they noted, is not for tenants: a note may name others.
func (v view) history(ctx context.Context, id string) ([]rental.HistoryEntry, error) {
	if err := v.lease(ctx, id); err != nil {
		return nil, err
	}
	entries, err := v.deps.Leases.LeaseHistory(ctx, id)
	if v.tenantOnly() == "" {
		return entries, err
	}
	own := slices.Clone(entries)
	for i := range own {
		own[i].By, own[i].ApprovedBy, own[i].Why = "", "", ""
	}
	return own, err
}

func (v view) bill(ctx context.Context, id string, p api.Period, lang string) (rental.Bill, error) {
	if err := v.lease(ctx, id); err != nil {
		return rental.Bill{}, err
	}
	return v.deps.Bills.Bill(ctx, id, p, lang)
}

func (v view) usage(ctx context.Context, id string, p api.Period, step string) (api.Usage, error) {
	if err := v.lease(ctx, id); err != nil {
		return api.Usage{}, err
	}
	return v.deps.Usage.Usage(ctx, id, p, step)
}

func (v view) costTable(ctx context.Context, span rental.Span) (api.CostTable, error) {
	t, err := v.deps.Usage.CostVsUtilisation(ctx, span, v.tenantOnly())
	t.Rows = slices.DeleteFunc(slices.Clone(t.Rows), func(r api.CostRow) bool { return !v.own(r.Tenant) })
	return t, err
}

func (v view) sla(ctx context.Context, id string, p api.Period) (api.SLA, error) {
	if err := v.lease(ctx, id); err != nil {
		return api.SLA{}, err
	}
	return v.deps.SLA.SLA(ctx, id, p)
}

func (v view) downtime(ctx context.Context, id string, p api.Period) (api.DowntimeList, error) {
	if err := v.lease(ctx, id); err != nil {
		return api.DowntimeList{}, err
	}
	return v.deps.SLA.LeaseDowntime(ctx, id, p)
}

func (v view) states(ctx context.Context, id string, p api.Period) (api.StateHistory, error) {
	if err := v.lease(ctx, id); err != nil {
		return api.StateHistory{}, err
	}
	return v.deps.SLA.States(ctx, id, p)
}

// fleet cuts the fleet down to the tenant's GPUs, and hosts without one away.
func (v view) fleet(ctx context.Context) (api.Fleet, error) {
	f, err := v.deps.Fleet.Fleet(ctx)
	if err != nil || v.tenantOnly() == "" {
		return f, err
	}
	own := api.Fleet{At: f.At}
	for _, h := range f.Hosts {
		var cards []api.FleetGPU
		for _, g := range h.GPUs {
			if shown, ok := v.cardOf(g); ok {
				cards = append(cards, shown)
			}
		}
		h.GPUs = cards
		if len(h.GPUs) > 0 {
			own.Hosts = append(own.Hosts, h)
		}
	}
	return own, nil
}

// cardOf cuts a card down to what the tenant has of it. Of a card that it has a part of, it sees
// how the card is and its own parts; what the card reads as a whole is others' use too.
func (v view) cardOf(g api.FleetGPU) (api.FleetGPU, bool) {
	if v.own(g.Tenant) {
		return g, true
	}
	g.MIG = slices.DeleteFunc(slices.Clone(g.MIG), func(m api.FleetMIG) bool { return !v.own(m.Tenant) })
	g.Utilisation, g.MemoryUsedBytes, g.TemperatureCelsius, g.PowerWatts = nil, nil, nil, nil
	g.Lease, g.Tenant = "", ""
	return g, len(g.MIG) > 0
}

func (v view) incidents(ctx context.Context, q api.IncidentQuery) (api.IncidentList, error) {
	limit := q.Limit
	q.Limit++ // one more tells whether there are more
	q.Tenant = v.tenantOnly()
	found, err := v.deps.Incidents.Incidents(ctx, q)
	if err != nil {
		return api.IncidentList{}, err
	}
	list := api.IncidentList{Incidents: []rental.Incident{}}
	for _, in := range found {
		shown, ok := v.incidentOf(in)
		if !ok {
			continue
		}
		if len(list.Incidents) == limit {
			list.More = true
			break
		}
		list.Incidents = append(list.Incidents, shown)
	}
	return list, nil
}

func (v view) incident(ctx context.Context, id string) (api.IncidentDetail, error) {
	d, err := v.deps.Incidents.Incident(ctx, id)
	if rental.CodeOf(err) == rental.CodeNotFound {
		return api.IncidentDetail{}, api.NotFound("incident", id)
	}
	if err != nil {
		return api.IncidentDetail{}, err
	}
	shown, ok := v.incidentOf(d.Incident)
	if !ok {
		return api.IncidentDetail{}, api.NotFound("incident", id)
	}
	d.Incident = shown
	if v.tenantOnly() != "" {
		d.Deliveries = nil
	}
	return d, nil
}

// incidentOf returns what the principal sees of an incident. One incident may touch several
// tenants: each sees its own leases and the alerts about them, the times and the kinds of
// events, and neither who was told nor what was noted, for notes may name others. Where
// others are touched too, the title is that of the tenant's own first alert.
func (v view) incidentOf(in rental.Incident) (rental.Incident, bool) {
	only := v.tenantOnly()
	if only == "" {
		return in, true
	}
	if !slices.Contains(in.Tenants, only) {
		return rental.Incident{}, false
	}
	own := in
	own.Key, own.Messages, own.AckedBy, own.Climbed, own.Called, own.Links = "", nil, "", nil, nil, nil
	if in.Silence != nil {
		own.Silence = &rental.IncidentSilence{Until: in.Silence.Until, UntilFixed: in.Silence.UntilFixed}
	}
	own.ReportedBy, own.VerifiedBy, own.Answers = "", "", nil
	own.Tenants, own.Leases, own.Alerts, own.Events = []string{only}, nil, nil, nil
	for _, a := range in.Alerts {
		a, ok := ownAlert(a, only, len(in.Tenants) == 1)
		if !ok {
			continue
		}
		own.Alerts = append(own.Alerts, a)
		for _, lease := range leasesOf(a) {
			if !slices.Contains(own.Leases, lease) {
				own.Leases = append(own.Leases, lease)
			}
		}
	}
	if len(in.Tenants) > 1 || len(own.Alerts) < len(in.Alerts) {
		own.Title = titleOf(own)
	} else {
		own.Leases = in.Leases
	}
	for _, e := range in.Events {
		switch e.Kind {
		case "opened", "worsened", "changed", "acked", "resolved", "reopened", "unknown", rental.EventReported, rental.EventVerified, rental.EventAnswerApproved:
			own.Events = append(own.Events, rental.IncidentEvent{At: e.At, Kind: e.Kind})
		}
	}
	return own, true
}

// ownAlert is what a tenant sees of an alert. One that touches several leases shows the
// tenant's own among them; one that names no tenant is about a host, and is shown to a tenant
// that is alone there.
func ownAlert(a rental.Alert, only string, alone bool) (rental.Alert, bool) {
	if tenant := a.Labels["tenant"]; tenant == only || tenant == "" && alone {
		return a, true
	}
	a.Holders = slices.DeleteFunc(slices.Clone(a.Holders), func(h rental.Holder) bool { return h.Tenant != only })
	return a, len(a.Holders) > 0
}

// leasesOf names the leases that an alert touches.
func leasesOf(a rental.Alert) []string {
	var leases []string
	if lease := a.Labels["lease"]; lease != "" && lease != rental.Several {
		leases = append(leases, lease)
	}
	for _, held := range a.Holders {
		leases = append(leases, held.Lease)
	}
	return leases
}

// titleOf names an incident by its first alert, or by its subject where it has none.
func titleOf(in rental.Incident) string {
	for _, a := range in.Alerts {
		if summary := a.Annotations["summary"]; summary != "" {
			return summary
		}
	}
	return in.Subject
}
