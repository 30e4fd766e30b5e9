package server

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/incident"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// incidents reads incidents and takes acknowledgements.
type incidents struct {
	ledger *ledger.Ledger
	engine *incident.Engine
}

// allOfTime is where a query names no span.
var allOfTime = rental.Span{Start: 0, End: rental.Forever}

// Incidents returns the newest first.
func (i incidents) Incidents(ctx context.Context, q api.IncidentQuery) ([]rental.Incident, error) {
	span := q.Span
	if span == (rental.Span{}) {
		span = allOfTime
	}
	return i.ledger.FindIncidents(ctx, ledger.IncidentFilter{Span: span, Status: q.Status, Tenant: q.Tenant, Limit: q.Limit})
}

// Incident returns one incident with the deliveries that told, or did not tell, people of it.
func (i incidents) Incident(ctx context.Context, id string) (api.IncidentDetail, error) {
	inc, err := i.ledger.Incident(ctx, id)
	if err != nil {
		if errors.Is(err, incident.ErrNotFound) {
			err = api.NotFound("incident", id)
		}
		return api.IncidentDetail{}, err
	}
	detail := api.IncidentDetail{Incident: *inc, Runbook: runbookOf(*inc)}
	detail.Deliveries, err = i.ledger.Deliveries(ctx, id)
	return detail, err
}

// runbookOf returns the runbook of the incident's worst alert: its address ends in the name.
func runbookOf(inc rental.Incident) string {
	for _, alert := range inc.Alerts {
		if url := alert.Annotations["runbook_url"]; url != "" {
			return path.Base(url)
		}
	}
	return ""
}

// AckIncident acknowledges in the name of who asks, with a note where there is one.
func (i incidents) AckIncident(ctx context.Context, by rental.Principal, id, note string) (rental.Incident, error) {
	ack := i.engine.Ack
	if by.Service { // it quiets the incident, and is no person's answer
		ack = i.engine.AckByProgram
	}
	inc, err := ack(ctx, id, by.Name)
	if errors.Is(err, incident.ErrNotFound) {
		return inc, api.NotFound("incident", id)
	}
	if err != nil || note == "" {
		return inc, err
	}
	return i.engine.Note(ctx, id, by.Name, note)
}

// holders tells the incident engine who held a card, or the cards of a host.
type holders struct{ ledger *ledger.Ledger }

// Holders returns the leases of the card at the moment or, where uuid is empty, of the host.
func (h holders) Holders(ctx context.Context, host, uuid string, at rental.Millis) []rental.Holder {
	assignments, err := h.ledger.AssignmentsAt(ctx, rental.Span{Start: at, End: at + 1})
	if err != nil {
		return nil
	}
	cards := map[string]bool{uuid: true}
	if uuid == "" {
		if cards, err = h.cardsOf(ctx, host); err != nil {
			return nil
		}
	}
	var held []rental.Holder
	for _, a := range assignments {
		if !cards[a.UUID] && !cards[a.CardUUID()] || slices.ContainsFunc(held, func(known rental.Holder) bool { return known.Lease == a.Lease }) {
			continue
		}
		lease, err := h.ledger.Lease(ctx, a.Lease)
		if err != nil {
			continue
		}
		held = append(held, rental.Holder{Lease: a.Lease, Tenant: lease.Tenant})
	}
	slices.SortFunc(held, func(a, b rental.Holder) int { return cmp.Compare(a.Lease, b.Lease) })
	return held
}

func (h holders) cardsOf(ctx context.Context, host string) (map[string]bool, error) {
	gpus, err := h.ledger.GPUs(ctx)
	if err != nil {
		return nil, err
	}
	cards := map[string]bool{}
	for _, g := range gpus {
		if g.Host == host {
			cards[g.UUID] = true
		}
	}
	return cards, nil
}

// healing tells from samples whether what an incident is about has healed while nobody watched.
type healing struct {
	samples sampleRanges
	now     func() time.Time
}

// sampleRanges answers PromQL over a span.
type sampleRanges interface {
	Select(ctx context.Context, metric string, matchers map[string]string, span rental.Span) ([]rental.Series, error)
}

// healedWithin is how far back the evidence of healing is looked for.
const healedWithin = 24 * time.Hour

// Healed looks at the state of every card that the incident names: it is healed where all
// are ok now, since the first ok sample after the last bad one. An incident that names no
// card is not told by samples.
func (h healing) Healed(ctx context.Context, inc rental.Incident) (rental.Millis, bool, error) {
	now := rental.At(h.now())
	span := rental.Span{Start: max(inc.EvidenceAt, now-rental.Millis(healedWithin.Milliseconds())), End: now + 1}
	var healedAt rental.Millis
	cards := 0
	for _, alert := range inc.Alerts {
		uuid := alert.Labels["uuid"]
		if uuid == "" {
			return 0, false, nil
		}
		states, err := h.samples.Select(ctx, "gpu_state", map[string]string{"uuid": uuid}, span)
		if err != nil {
			return 0, false, err
		}
		at, ok := healedSince(states, span)
		if !ok {
			return 0, false, nil
		}
		cards++
		healedAt = max(healedAt, at)
	}
	return healedAt, cards > 0, nil
}

// healedInterval is how long a state holds in the evidence: generous, because the question is
// whether a card came back, not to the second how long it was away.
const healedInterval = 30 * time.Second

// healedSince returns since when a card is up without a break up to the span's end.
func healedSince(states []rental.Series, span rental.Span) (rental.Millis, bool) {
	timeline := rental.StateTimeline(span, states, healedInterval.Milliseconds())
	if len(timeline) == 0 || timeline[len(timeline)-1].Class != rental.Up {
		return 0, false
	}
	since := timeline[len(timeline)-1].Span.Start
	for i := len(timeline) - 2; i >= 0 && timeline[i].Class == rental.Up; i-- {
		since = timeline[i].Span.Start
	}
	return since, true
}
