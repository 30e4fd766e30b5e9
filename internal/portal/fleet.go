package portal

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// fleetRefresh is how often, in seconds, a page of what is now loads again: the scrape
// interval, for nothing changes sooner.
const fleetRefresh = 15

// fleetBody is what the page of the fleet shows.
type fleetBody struct {
	Filter filter
	// Conflicts are where records and reports contradict each other, for those who may put it right.
	Conflicts []conflictRow
	Trouble   []gpuRow
	Hosts     []hostRow
	// Empty says why there is nothing, EmptyWhy what would fill it.
	Empty, EmptyWhy string
}

// filter is a form whose values are in the URL.
type filter struct {
	Action string
	Fields []filterField
	// Set tells whether anything is chosen.
	Set bool
}

type filterField struct {
	Name, Label string
	Options     []option
}

type option struct {
	Value, Text string
	Chosen      bool
}

type conflictRow struct{ What, Host, UUID, Lease string }

type hostRow struct {
	Name, Provider, Site, Rack string
	Look                       phrase.Look
	Since                      moment
	Reason                     string
	Adopted                    bool
	GPUs                       []gpuRow
}

type gpuRow struct {
	Host                string
	Slot                int
	Model, Serial, UUID string
	// Vantage says that only the lease's guest tells of the card; "" where the host does.
	Vantage                      string
	Look                         phrase.Look
	Since                        moment
	Reason                       string
	Use, Memory, Temp, Power     string
	Lease, Tenant                string
	Age                          string
	Sampled                      moment
	since                        rental.Millis
	UseKnown, MemKnown, OthersOK bool
	// Part tells that the row is a MIG instance of the card above it.
	Part bool
	// InParts tells that not the card is leased but MIG instances of it.
	InParts bool
}

func (p *portal) fleet(r *http.Request, pg *page) error {
	f, err := p.opts.API.Fleet(r.Context())
	if err != nil {
		return err
	}
	say := pg.Say
	pg.Template, pg.Section, pg.Refresh = "fleet", "fleet", fleetRefresh
	pg.Title, pg.Heading = say.Say(phrase.PortalFleet), say.Say(phrase.PortalFleetHeading)
	pg.Now = at(say, f.At, nil)

	count := map[string]int{}
	held, all := 0, 0
	for _, h := range f.Hosts {
		for _, g := range h.GPUs {
			count[say.State(g.State).Kind]++
			all++
			if leased(g) {
				held++
			}
		}
	}
	switch {
	case len(f.Hosts) == 0:
		pg.Answer = say.Say(phrase.PortalFleetEmpty)
	default:
		down, degraded, unknown := count[phrase.KindDown], count[phrase.KindDegraded], count[phrase.KindUnknown]
		pg.Answer = say.Say(phrase.PortalFleetWell, all, len(f.Hosts), held)
		if wrong := down + degraded + unknown; wrong > 0 {
			pg.Answer = say.Say(phrase.PortalFleetTrouble, wrong, all, down, degraded, unknown)
		}
		if rest := all - count[phrase.KindUp] - down - degraded - unknown; rest > 0 {
			pg.Lead = say.Say(phrase.PortalFleetRest, rest)
		}
	}
	body := fleetView(say, f, r.URL.Query().Get("provider"), r.URL.Query().Get("state"), pg.Who)
	if pg.Who.Role != rental.RoleTenant {
		conflicts, err := p.opts.API.InventoryConflicts(r.Context())
		if err != nil {
			return err
		}
		for _, c := range conflicts {
			body.Conflicts = append(body.Conflicts, conflictRow{What: say.Conflict(c.Kind), Host: c.Host, UUID: c.UUID, Lease: c.Lease})
		}
	}
	pg.Body = body
	return nil
}

func fleetView(say phrase.Printer, f api.Fleet, provider, state string, who rental.Principal) fleetBody {
	b := fleetBody{Filter: fleetFilter(say, f, provider, state)}
	for _, h := range f.Hosts {
		if provider != "" && h.Provider != provider {
			continue
		}
		row := hostRow{
			Name: h.Host, Provider: h.Provider, Site: h.Site, Rack: h.Rack, Adopted: h.Adopted,
			Look: say.State(h.State), Since: at(say, h.Since, nil), Reason: h.Reason,
		}
		for _, g := range h.GPUs {
			views := append([]gpuRow{gpuView(say, h.Host, g, f.At, nil)}, migViews(say, h.Host, g, f.At, nil)...)
			for _, gpu := range views {
				if state != "" && state != gpu.Look.Kind && (state != troubleFilter || !wrong(gpu.Look)) {
					continue
				}
				row.GPUs = append(row.GPUs, gpu)
				if wrong(gpu.Look) {
					b.Trouble = append(b.Trouble, gpu)
				}
			}
		}
		if len(row.GPUs) > 0 || state == "" {
			b.Hosts = append(b.Hosts, row)
		}
	}
	sortBySuffering(b.Trouble)
	switch {
	case len(f.Hosts) == 0 && who.Role == rental.RoleTenant:
		b.Empty = say.Say(phrase.PortalFleetTenantEmpty)
	case len(f.Hosts) == 0:
		b.Empty, b.EmptyWhy = say.Say(phrase.PortalFleetEmpty), say.Say(phrase.PortalFleetEmptyWhy)
	case len(b.Hosts) == 0:
		b.Empty = say.Say(phrase.PortalFleetFiltered)
	}
	return b
}

// wrong tells whether a state needs somebody: a card in maintenance, stopped by its tenant or
// out of our sight is as it was meant to be.
func wrong(look phrase.Look) bool {
	return look.Kind == phrase.KindDown || look.Kind == phrase.KindDegraded || look.Kind == phrase.KindUnknown
}

// sortBySuffering puts first what somebody leases, then what is worst, then what is oldest.
func sortBySuffering(rows []gpuRow) {
	slices.SortStableFunc(rows, func(a, b gpuRow) int {
		return cmp.Or(
			-cmp.Compare(min(len(a.Lease), 1), min(len(b.Lease), 1)),
			cmp.Compare(kindRank(a.Look.Kind), kindRank(b.Look.Kind)),
			cmp.Compare(a.since, b.since),
			cmp.Compare(a.Host, b.Host), cmp.Compare(a.Slot, b.Slot))
	})
}

func gpuView(say phrase.Printer, host string, g api.FleetGPU, now rental.Millis, zone *time.Location) gpuRow {
	row := gpuRow{
		Host: host, Slot: g.Slot, Model: cmp.Or(g.Model, g.SKU), Serial: g.Serial, UUID: g.UUID,
		Look: say.State(g.State), Since: at(say, g.Since, zone), since: g.Since, Reason: g.Reason,
		Lease: g.Lease, Tenant: g.Tenant, InParts: g.Lease == "" && leased(g),
		Temp: reading(say, g.TemperatureCelsius, 1, 0), Power: reading(say, g.PowerWatts, 1, 0),
		Memory: memory(say, g), Age: say.Say(phrase.PortalNever), Sampled: at(say, g.SampledAt, zone),
	}
	row.Use = say.Say(phrase.NoDataWord)
	if g.Utilisation != nil {
		percentage := *g.Utilisation * 100
		row.Use = reading(say, &percentage, 1, 1)
	} else if row.Look.Kind == phrase.KindUnmeasured {
		row.Use = say.Say(phrase.NotMeasuredWord)
	}
	row.UseKnown, row.MemKnown, row.OthersOK = g.Utilisation != nil, g.MemoryUsedBytes != nil, g.PowerWatts != nil
	if g.Vantage == rental.VantageGuest {
		row.Vantage = say.Say(phrase.PortalFromGuest)
	}
	if g.SampledAt != 0 {
		row.Age = say.Say(phrase.PortalAgo, say.Duration(max(int64(now-g.SampledAt), 0)))
	}
	return row
}

// memory returns used and total memory in GiB.
func memory(say phrase.Printer, g api.FleetGPU) string {
	const gib = 1 << 30
	if g.MemoryUsedBytes == nil {
		return say.Say(phrase.NoDataWord)
	}
	used := reading(say, g.MemoryUsedBytes, gib, 1)
	if g.MemoryTotalBytes == nil {
		return used
	}
	return used + noBreak + "/" + noBreak + reading(say, g.MemoryTotalBytes, gib, 0)
}

// troubleFilter chooses the states that need somebody.
const troubleFilter = "trouble"

func fleetFilter(say phrase.Printer, f api.Fleet, provider, state string) filter {
	providers := make([]string, 0, len(f.Hosts))
	for _, h := range f.Hosts {
		providers = append(providers, h.Provider)
	}
	states := []option{
		{Value: troubleFilter, Text: say.Say(phrase.PortalStateTrouble)},
		{Value: phrase.KindDown, Text: say.State("down").Word},
		{Value: phrase.KindDegraded, Text: say.State("degraded").Word},
		{Value: phrase.KindUnknown, Text: say.State("unknown").Word},
		{Value: phrase.KindUp, Text: say.State("up").Word},
	}
	return newFilter(say, "/fleet",
		choice{"provider", phrase.PortalProvider, plainOptions(providers), provider},
		choice{"state", phrase.PortalState, states, state})
}

// choice is one field of a filter before it is said in words.
type choice struct {
	name    string
	label   phrase.Key
	options []option
	chosen  string
}

func newFilter(say phrase.Printer, action string, choices ...choice) filter {
	f := filter{Action: action}
	for _, c := range choices {
		field := filterField{Name: c.name, Label: say.Say(c.label)}
		field.Options = append(field.Options, option{Text: say.Say(phrase.PortalFilterAny), Chosen: c.chosen == ""})
		for _, o := range c.options {
			o.Chosen = o.Value == c.chosen
			field.Options = append(field.Options, o)
		}
		f.Set = f.Set || c.chosen != ""
		f.Fields = append(f.Fields, field)
	}
	return f
}

// plainOptions makes options of names, each once and in order.
func plainOptions(names []string) []option {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "" })
	slices.Sort(names)
	names = slices.Compact(names)
	out := make([]option, 0, len(names))
	for _, name := range names {
		out = append(out, option{Value: name, Text: name})
	}
	return out
}

// leased tells whether somebody has the card or a part of it.
func leased(g api.FleetGPU) bool {
	return g.Lease != "" || slices.ContainsFunc(g.MIG, func(m api.FleetMIG) bool { return m.Lease != "" })
}

// migViews are the rows of a card's MIG instances. What the driver tells of the whole card alone
// is not theirs, and since when a state holds is the card's to say.
func migViews(say phrase.Printer, host string, g api.FleetGPU, now rental.Millis, zone *time.Location) []gpuRow {
	rows := make([]gpuRow, 0, len(g.MIG))
	for _, m := range g.MIG {
		row := gpuView(say, host, api.FleetGPU{
			UUID: m.UUID, Serial: g.Serial, Model: "MIG " + m.Profile, Slot: g.Slot, State: m.State,
			Utilisation: m.Utilisation, MemoryUsedBytes: m.MemoryUsedBytes, MemoryTotalBytes: m.MemoryTotalBytes,
			Lease: m.Lease, Tenant: m.Tenant, SampledAt: g.SampledAt,
		}, now, zone)
		row.Part = true
		row.Temp, row.Power = say.Say(phrase.NotMeasuredWord), say.Say(phrase.NotMeasuredWord)
		rows = append(rows, row)
	}
	return rows
}
