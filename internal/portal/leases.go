package portal

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// leasesBody is what the page of leases shows.
type leasesBody struct {
	Filter          filter
	Rows            []leaseRow
	Empty, EmptyWhy string
}

type leaseRow struct {
	ID, Tenant, Provider, Hardware, State string
	Health                                phrase.Look
	Runs                                  bool
	Cost, Use, Availability, Target       string
	Outcome                               phrase.Look
	Judged                                bool
	rank                                  int
}

func (p *portal) leases(r *http.Request, pg *page) error {
	tenant, provider := r.URL.Query().Get("tenant"), r.URL.Query().Get("provider")
	all, err := p.opts.API.Leases(r.Context(), api.LeaseQuery{})
	if err != nil {
		return err
	}
	say := pg.Say
	pg.Template, pg.Section = "leases", "leases"
	pg.Title, pg.Heading = say.Say(phrase.PortalLeases), say.Say(phrase.PortalLeasesHeading)

	body := leasesBody{Filter: leasesFilter(say, all, tenant, provider)}
	running, gpus, breached, notProven, down := 0, 0, 0, 0, 0
	for _, l := range all {
		if tenant != "" && l.Tenant != tenant || provider != "" && l.Provider != provider {
			continue
		}
		if l.State == "running" || l.State == "stopped" {
			running++
			gpus += l.GPUs
		}
		switch l.Outcome {
		case rental.Breached:
			breached++
		case rental.NotProven:
			notProven++
		default:
		}
		if l.GPUsDown > 0 {
			down++
		}
		body.Rows = append(body.Rows, leaseView(say, l))
	}
	slices.SortStableFunc(body.Rows, func(a, b leaseRow) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.ID, b.ID))
	})
	pg.Answer = say.Say(phrase.PortalLeasesAnswer, running, gpus, breached, notProven, down)
	switch {
	case len(all) == 0 && pg.Who.Role == rental.RoleTenant:
		pg.Answer = say.Say(phrase.PortalLeasesTenantEmpty)
		body.Empty = pg.Answer
	case len(all) == 0:
		pg.Answer = say.Say(phrase.PortalLeasesEmpty)
		body.Empty, body.EmptyWhy = pg.Answer, say.Say(phrase.PortalLeasesEmptyWhy)
	case len(body.Rows) == 0:
		body.Empty = say.Say(phrase.PortalLeasesFiltered)
	}
	pg.Body = body
	return nil
}

func leaseView(say phrase.Printer, l api.LeaseSummary) leaseRow {
	row := leaseRow{
		ID: l.ID, Tenant: l.Tenant, Provider: l.Provider, State: leaseState(say, l.State), Runs: l.Health != "",
		Hardware: say.Say(phrase.PortalGPUsOfSKU, l.GPUs, cmp.Or(l.SKU, "GPU")),
		Health:   say.State(l.Health),
		Cost:     say.Money(l.Cost.Amount()), Use: use(say, l.Utilisation, l.Coverage),
		Outcome: say.Outcome(l.Outcome), Judged: l.Outcome != "", Target: l.Target.String(),
		Availability: say.Say(phrase.PortalNoObjective),
	}
	if row.Judged {
		row.Availability = bounds(say, l.AvailabilityLow, l.AvailabilityHigh)
	}
	row.rank = leaseRank(row, l)
	return row
}

// leaseRank puts first who suffers now, then whose promise is broken, and ended leases last.
func leaseRank(row leaseRow, l api.LeaseSummary) int {
	switch {
	case l.State == "ended":
		return 100
	case row.Runs && row.Health.Kind != phrase.KindUp:
		return kindRank(row.Health.Kind)
	case l.Outcome == rental.Breached:
		return 10
	case l.Outcome == rental.NotProven:
		return 11
	}
	return 50
}

func leaseState(say phrase.Printer, state string) string {
	switch state {
	case "running":
		return say.Say(phrase.PortalLeaseRunning)
	case "stopped":
		return say.Say(phrase.PortalLeaseStopped)
	case "ended":
		return say.Say(phrase.PortalLeaseEnded)
	case "planned":
		return say.Say(phrase.PortalLeasePlanned)
	}
	return state
}

func leasesFilter(say phrase.Printer, all []api.LeaseSummary, tenant, provider string) filter {
	tenants, providers := make([]string, 0, len(all)), make([]string, 0, len(all))
	for _, l := range all {
		tenants, providers = append(tenants, l.Tenant), append(providers, l.Provider)
	}
	return newFilter(say, "/leases",
		choice{"tenant", phrase.PortalTenant, plainOptions(tenants), tenant},
		choice{"provider", phrase.PortalProvider, plainOptions(providers), provider})
}
