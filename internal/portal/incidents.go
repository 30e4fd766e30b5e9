package portal

import (
	"bytes"
	"cmp"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// incidentsBody is what the page of incidents shows.
type incidentsBody struct {
	Filter          filter
	Rows            []incidentRow
	More            bool
	Empty, EmptyWhy string
}

type incidentRow struct {
	ID, Severity, Title, Subject, Suffers, AckedBy, Lasted string
	Look                                                   phrase.Look
	Opened                                                 moment
	Drill                                                  bool
	rank                                                   int
}

func (p *portal) incidents(r *http.Request, pg *page) error {
	status := r.URL.Query().Get("status")
	list, err := p.opts.API.Incidents(r.Context(), api.IncidentQuery{Status: rental.IncidentStatus(status)})
	if err != nil {
		return err
	}
	say, now := pg.Say, rental.At(p.opts.Now())
	pg.Template, pg.Section, pg.Refresh = "incidents", "incidents", fleetRefresh
	pg.Title, pg.Heading = say.Say(phrase.PortalIncidents), say.Say(phrase.PortalIncidentsHeading)

	body := incidentsBody{Filter: incidentsFilter(say, status), More: list.More}
	count := map[rental.IncidentStatus]int{}
	oldest := now
	for _, in := range list.Incidents {
		count[in.Status]++
		if in.Status == rental.IncidentOpen {
			oldest = min(oldest, in.EvidenceAt)
		}
		body.Rows = append(body.Rows, incidentView(say, in, now))
	}
	// What waits for somebody comes first, the worst of it on top; what is over keeps its order.
	slices.SortStableFunc(body.Rows, func(a, b incidentRow) int { return cmp.Compare(a.rank, b.rank) })
	open, acked, unknown := count[rental.IncidentOpen], count[rental.IncidentAcked], count[rental.IncidentUnknown]
	pg.Answer = say.Say(phrase.PortalIncidentsQuiet, acked, unknown)
	if open > 0 {
		pg.Answer = say.Say(phrase.PortalIncidentsAnswer, open, acked, unknown, say.Duration(int64(now-oldest)))
	}
	pg.Lead = p.whoIsOnCall(r.Context(), pg)
	switch {
	case len(list.Incidents) == 0 && status != "":
		body.Empty = say.Say(phrase.PortalIncidentsFiltered)
	case len(list.Incidents) == 0:
		body.Empty, body.EmptyWhy = say.Say(phrase.PortalIncidentsEmpty), say.Say(phrase.PortalIncidentsEmptyWhy)
	}
	pg.Body = body
	return nil
}

func incidentView(say phrase.Printer, in rental.Incident, now rental.Millis) incidentRow {
	row := incidentRow{
		ID: in.ID, Severity: say.Severity(in.Severity), Title: headline(say, in, now), Subject: in.Subject,
		Suffers: strings.Join(append(slices.Clone(in.Leases), in.Tenants...), ", "),
		Look:    say.Incident(in.Status, in.Severity), Opened: at(say, in.EvidenceAt, nil),
		AckedBy: in.AckedBy, Lasted: say.Duration(lasted(in, now)), Drill: in.Drill,
	}
	switch in.Status {
	case rental.IncidentOpen:
		row.rank = phrase.SeverityRank(in.Severity)
	case rental.IncidentAcked, rental.IncidentUnknown:
		row.rank = 10 + phrase.SeverityRank(in.Severity)
	default:
		row.rank = 20
	}
	return row
}

// headline says what broke and where, in the reader's language where an alert is there.
func headline(say phrase.Printer, in rental.Incident, now rental.Millis) string {
	if len(in.Alerts) == 0 {
		return in.Title
	}
	return say.Headline(in.Alerts, now)
}

// lasted returns how long the trouble lasts or lasted, in milliseconds, from its evidence.
func lasted(in rental.Incident, now rental.Millis) int64 {
	end := now
	if in.ResolvedAt != 0 {
		end = in.ResolvedAt
	}
	return max(int64(end-in.EvidenceAt), 0)
}

func incidentsFilter(say phrase.Printer, status string) filter {
	statuses := []rental.IncidentStatus{rental.IncidentOpen, rental.IncidentAcked, rental.IncidentUnknown, rental.IncidentResolved}
	options := make([]option, 0, len(statuses))
	for _, s := range statuses {
		options = append(options, option{Value: string(s), Text: say.Incident(s, rental.Notice).Word})
	}
	return newFilter(say, "/incidents", choice{"status", phrase.PortalState, options, status})
}

// incidentBody is what the page of one incident shows.
type incidentBody struct {
	incidentRow

	Leases, Tenants []string
	CanAck          bool
	CanAct          bool // silence, escalate, note
	CanSilence      bool
	CanEscalate     bool
	Runbook         string
	Action          string
	Alerts          []alertRow
	Events          []eventRow
	Deliveries      []deliveryRow
	ShowDeliveries  bool
}

type alertRow struct {
	Look              phrase.Look
	Summary, Detail   string
	Action, Life      string
	LifeISO, LifeHint string
}

type eventRow struct {
	At             moment
	What, By, Note string
	Look           phrase.Look
}

type deliveryRow struct {
	Route, Kind, State, Error string
	Look                      phrase.Look
	At                        moment
}

func (p *portal) incident(r *http.Request, pg *page) error {
	d, err := p.opts.API.Incident(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	say, now, in := pg.Say, rental.At(p.opts.Now()), d.Incident
	body := incidentBody{
		incidentRow: incidentView(say, in, now), Leases: in.Leases, Tenants: in.Tenants, Runbook: d.Runbook,
		CanAck:         in.Status == rental.IncidentOpen && mayAck(pg.Who.Role),
		CanAct:         mayAck(pg.Who.Role),
		CanSilence:     !in.Outside && in.Silence == nil && lasts(in),
		CanEscalate:    in.Severity == rental.Page && lasts(in),
		ShowDeliveries: pg.Who.Role != rental.RoleTenant,
	}
	for _, a := range phrase.Lead(in.Alerts, now) {
		if body.Action = say.Text(a, "action"); body.Action != "" {
			break
		}
	}
	for _, a := range in.Alerts {
		body.Alerts = append(body.Alerts, alertView(say, a, now))
	}
	for _, e := range in.Events {
		body.Events = append(body.Events, eventView(say, e))
	}
	for _, del := range d.Deliveries {
		body.Deliveries = append(body.Deliveries, deliveryView(say, del))
	}
	pg.Template, pg.Section, pg.Body = "incident", "incidents", body
	pg.Title, pg.Heading = in.ID, say.Say(phrase.PortalIncidentHeading, in.ID)
	pg.Answer = incidentAnswer(say, in, now)
	if in.Status != rental.IncidentResolved {
		pg.Refresh = fleetRefresh
	}
	return nil
}

// lasts tells whether the incident is open or acknowledged.
func lasts(in rental.Incident) bool {
	return in.Status == rental.IncidentOpen || in.Status == rental.IncidentAcked
}

func mayAck(role rental.Role) bool {
	return role == rental.RoleAdmin || role == rental.RoleOperator || role == rental.RoleOnCall
}

func incidentAnswer(say phrase.Printer, in rental.Incident, now rental.Millis) string {
	what := headline(say, in, now)
	switch in.Status {
	case rental.IncidentResolved:
		return say.Say(phrase.PortalIncidentResolvedAnswer, what, say.Duration(lasted(in, now)))
	case rental.IncidentUnknown:
		return say.Say(phrase.PortalIncidentUnknownAnswer, what)
	case rental.IncidentAcked:
		waited := say.Duration(int64(in.AckedAt - in.OpenedAt))
		if in.AckedBy == "" {
			return say.Say(phrase.PortalIncidentAckedBySomebody, what, waited)
		}
		return say.Say(phrase.PortalIncidentAckedAnswer, what, in.AckedBy, waited)
	default:
		return say.Say(phrase.PortalIncidentOpenAnswer, what, say.Duration(int64(now-in.OpenedAt)))
	}
}

func alertView(say phrase.Printer, a rental.Alert, now rental.Millis) alertRow {
	row := alertRow{
		Summary: say.Headline([]rental.Alert{a}, now), Detail: say.Text(a, "description"), Action: say.Text(a, "action"),
		Look: phrase.Look{Kind: phrase.KindUp, Glyph: phrase.Glyph(phrase.KindUp)}, Life: say.Say(phrase.PortalAlertEnded, say.Time(a.EndsAt, nil)),
	}
	if a.Firing(now) {
		row.Look = say.Incident(rental.IncidentOpen, rental.Severity(a.Labels["severity"]))
		row.Life = say.Say(phrase.PortalAlertFiring, say.Time(a.StartsAt, nil))
	}
	return row
}

func eventView(say phrase.Printer, e rental.IncidentEvent) eventRow {
	type known struct {
		key  phrase.Key
		kind string
	}
	kinds := map[string]known{
		"opened": {phrase.PortalEventOpened, phrase.KindDown}, "worsened": {phrase.PortalEventWorsened, phrase.KindDown},
		"changed": {phrase.PortalEventChanged, phrase.KindDegraded}, "acked": {phrase.PortalEventAcked, phrase.KindMaintenance},
		"resolved": {phrase.PortalEventResolved, phrase.KindUp}, "reopened": {phrase.PortalEventReopened, phrase.KindDown},
		"unknown": {phrase.PortalEventUnknown, phrase.KindUnknown}, "note": {phrase.PortalEventNote, phrase.KindStopped},
		"notified": {phrase.PortalEventNotified, phrase.KindStopped}, "undelivered": {phrase.PortalEventUndelivered, phrase.KindDown},
		"climbed": {phrase.PortalEventClimbed, phrase.KindDegraded}, "repeated": {phrase.PortalEventRepeated, phrase.KindDegraded}, "silenced": {phrase.PortalEventSilenced, phrase.KindMaintenance},
		"heard": {phrase.PortalEventHeard, phrase.KindDown},
	}
	row := eventRow{At: at(say, e.At, nil), What: e.Kind, By: e.By, Note: e.Note, Look: phrase.Look{Kind: phrase.KindUnknown, Glyph: phrase.Glyph(phrase.KindUnknown)}}
	if k, ok := kinds[e.Kind]; ok {
		row.What, row.Look = say.Say(k.key), phrase.Look{Kind: k.kind, Glyph: phrase.Glyph(k.kind)}
	}
	return row
}

func deliveryView(say phrase.Printer, d rental.Delivery) deliveryRow {
	row := deliveryRow{Route: d.Route, Kind: deliveryKind(say, d.Kind), At: at(say, d.CreatedAt, nil), Error: d.Error}
	kind := phrase.KindUnknown
	switch d.State {
	case rental.DeliverySent:
		kind, row.State, row.At = phrase.KindUp, say.Say(phrase.PortalDelivered), at(say, d.SentAt, nil)
	case rental.DeliveryFailed:
		kind, row.State = phrase.KindDown, say.Say(phrase.PortalUndelivered, d.Error)
	case rental.DeliverySuperseded:
		kind, row.State = phrase.KindStopped, "–"
	default:
		row.State = say.Say(phrase.PortalDeliveryWaits)
	}
	row.Look = phrase.Look{Kind: kind, Glyph: phrase.Glyph(kind)}
	return row
}

func deliveryKind(say phrase.Printer, kind string) string {
	switch kind {
	case "post":
		return say.Say(phrase.PortalDeliveryPost)
	case "update":
		return say.Say(phrase.PortalDeliveryUpdate)
	case "thread":
		return say.Say(phrase.PortalDeliveryThread)
	}
	return kind
}

// ack acknowledges an incident in the name of who is signed in.
func (p *portal) ack(r *http.Request, _ *page) error {
	id := r.PathValue("id")
	if _, err := p.opts.API.AckIncident(r.Context(), id, api.AckIncident{}); err != nil {
		return err
	}
	return redirect{to: "/incidents/" + template.URLQueryEscaper(id)}
}

// runbook shows a page that says what to do. Raw HTML in it stays text.
func (p *portal) runbook(r *http.Request, pg *page) error {
	name := r.PathValue("name")
	text, ok := p.opts.Runbooks.Runbook(name, pg.Say.Lang())
	if !ok {
		return api.ErrNotFound
	}
	var out bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.Table)).Convert(text, &out); err != nil {
		return err
	}
	pg.Template, pg.Section, pg.Title = "runbook", "incidents", name
	pg.Body = template.HTML(out.String()) //nolint:gosec // goldmark drops raw HTML and unsafe links
	return nil
}
