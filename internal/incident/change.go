package incident

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// The kinds of a timeline's entries.
const (
	eventOpened      = "opened"
	eventWorsened    = "worsened"
	eventChanged     = "changed"
	eventAcked       = "acked"
	eventResolved    = "resolved"
	eventReopened    = "reopened"
	eventUnknown     = "unknown"
	eventNote        = "note"
	eventNotified    = "notified"
	eventUndelivered = "undelivered"
	eventClimbed     = "climbed"
	eventRepeated    = "repeated" // told again, because nobody has it
	eventSilenced    = "silenced"
	eventHeard       = "heard" // the silence is over, and it still fires
)

// The kinds of a delivery. A thread delivery without a text is the reply that gives the
// details below a new message; it calls nobody.
const (
	kindPost   = "post"
	kindUpdate = "update"
	kindThread = "thread"
)

// outcome is what one step leaves: the incident to save (nil: nothing changed), what must be
// told, and the kind of the timeline's entry (empty: none was made).
type outcome struct {
	incident   *rental.Incident
	deliveries []rental.Delivery
	event      string
}

// apply is the whole decision of Handle: what one word on a group does to its newest incident.
func (e *Engine) apply(newest *rental.Incident, group rental.AlertGroup, now rental.Millis) outcome {
	if newest == nil {
		return e.open(group, now)
	}
	merged := merge(newest, group)
	over := newest.Status == rental.IncidentResolved || newest.Status == rental.IncidentUnknown
	switch {
	case over && len(merged.fired) > 0:
		if now-lastChange(newest) <= rental.Millis(e.o.ReopenWindow.Milliseconds()) {
			return e.again(newest, merged, now)
		}
		group.Alerts = merged.fired
		return e.open(group, now)
	case over:
		return outcome{}
	case news(newest.Alerts, merged.fired) || worse(merged.severity, newest.Severity):
		return e.worsen(newest, merged, now)
	case merged.ended && firing(merged.alerts) == 0:
		return e.resolve(newest, merged.alerts, now, "")
	case merged.changed:
		return e.change(newest, merged, now)
	default:
		return outcome{}
	}
}

// open begins an incident with the alerts of the group that fire; none where none does.
func (e *Engine) open(group rental.AlertGroup, now rental.Millis) outcome {
	fresh := merge(&rental.Incident{}, group)
	if len(fresh.fired) == 0 {
		return outcome{}
	}
	inc := &rental.Incident{
		Key: group.Key, Status: rental.IncidentOpen, Severity: fresh.severity,
		Alerts: fresh.fired, OpenedAt: now, Revision: 1, Messages: map[string]rental.MessageRef{},
	}
	inc.Provider = firstLabel("provider", group.Labels, fresh.fired)
	inc.Subject = firstLabel("subject", group.Labels, fresh.fired)
	if inc.Subject == "" {
		inc.Subject = "leasewatch"
	}
	inc.Outside = group.Outside
	inc.Drill = firstLabel("drill", group.Labels, fresh.fired) == "true"
	inc.DetectedAt = oldestStart(fresh.fired, now)
	inc.EvidenceAt = evidence(fresh.fired, inc.DetectedAt)
	describe(inc, now)
	e.callFirst(inc, now)
	addEvent(inc, now, eventOpened, "", inc.Title)
	return outcome{incident: inc, event: eventOpened,
		deliveries: append(e.deliveries(inc, kindPost, "", now), e.deliveries(inc, kindThread, "", now)...)}
}

// again opens an incident that was over.
func (e *Engine) again(inc *rental.Incident, merged merged, now rental.Millis) outcome {
	inc.Status, inc.ResolvedAt, inc.AckedAt, inc.AckedBy, inc.Silence, inc.Called = rental.IncidentOpen, 0, 0, "", nil, nil
	inc.Alerts, inc.Severity = merged.alerts, worst(inc.Severity, merged.severity)
	inc.Revision++
	describe(inc, now)
	e.callFirst(inc, now)
	shown := merged.fired
	addEvent(inc, now, eventReopened, "", phrase.For(phrase.English).Headline(shown, now))
	return outcome{incident: inc, event: eventReopened, deliveries: e.updateAndThread(inc, shown, now)}
}

// worsen adds new alerts or a higher severity: the message is updated, and one reply in its
// thread says so to whoever has the incident in hand.
func (e *Engine) worsen(inc *rental.Incident, merged merged, now rental.Millis) outcome {
	inc.Alerts, inc.Severity = merged.alerts, worst(inc.Severity, merged.severity)
	inc.Revision++
	describe(inc, now)
	e.callFirst(inc, now)
	shown := merged.fired
	if len(shown) == 0 {
		shown = inc.Alerts
	}
	addEvent(inc, now, eventWorsened, "", phrase.For(phrase.English).Headline(shown, now))
	return outcome{incident: inc, event: eventWorsened, deliveries: e.updateAndThread(inc, shown, now)}
}

// change takes in what pings nobody: an alert less, a new value in a text.
func (e *Engine) change(inc *rental.Incident, merged merged, now rental.Millis) outcome {
	before := firing(inc.Alerts)
	inc.Alerts = merged.alerts
	inc.Title = phrase.For(phrase.English).Headline(inc.Alerts, now)
	inc.Revision++
	out := outcome{incident: inc, deliveries: e.deliveries(inc, kindUpdate, "", now)}
	if after := firing(inc.Alerts); after != before {
		addEvent(inc, now, eventChanged, "", inc.Title)
		out.event = eventChanged
	}
	return out
}

// resolve ends an incident at the moment its last alert ended.
func (e *Engine) resolve(inc *rental.Incident, alerts []rental.Alert, now rental.Millis, by string) outcome {
	inc.Alerts = alerts
	inc.Status = rental.IncidentResolved
	inc.ResolvedAt = max(inc.OpenedAt, min(now, latestEnd(alerts)))
	inc.Revision++
	addEvent(inc, now, eventResolved, by, "")
	return outcome{incident: inc, event: eventResolved, deliveries: e.deliveries(inc, kindUpdate, "", now)}
}

// updateAndThread asks for the message in place and for one reply below it. The reply's text
// is the fingerprints of the alerts that made it worse, separated by spaces: each route says
// them in its own language.
func (e *Engine) updateAndThread(inc *rental.Incident, about []rental.Alert, now rental.Millis) []rental.Delivery {
	names := make([]string, len(about))
	for i, alert := range about {
		names[i] = alert.Fingerprint
	}
	return append(e.deliveries(inc, kindUpdate, "", now), e.deliveries(inc, kindThread, strings.Join(names, " "), now)...)
}

// deliveries asks every route of the incident to tell its present revision.
func (e *Engine) deliveries(inc *rental.Incident, kind, text string, now rental.Millis) []rental.Delivery {
	routes := append(slices.Clone(e.o.Routes(*inc)), inc.Climbed...)
	for route := range inc.Messages {
		routes = append(routes, route)
	}
	slices.Sort(routes)
	routes = slices.Compact(routes)
	list := make([]rental.Delivery, 0, len(routes))
	for _, route := range routes {
		list = append(list, rental.Delivery{
			Incident: inc.ID, Route: route, Kind: kind, Severity: inc.Severity, Revision: inc.Revision,
			Text: text, State: rental.DeliveryPending, NextAt: now, CreatedAt: now,
		})
	}
	return list
}

// describe computes the title, the leases and the tenants from what the alerts say. A lease
// that was ever affected stays named.
func describe(inc *rental.Incident, now rental.Millis) {
	inc.Title = phrase.For(phrase.English).Headline(inc.Alerts, now)
	leases, tenants := map[string]bool{}, map[string]bool{}
	for _, name := range inc.Leases {
		leases[name] = true
	}
	for _, name := range inc.Tenants {
		tenants[name] = true
	}
	for _, alert := range inc.Alerts {
		if lease := alert.Labels["lease"]; lease != "" && lease != rental.Several {
			leases[lease] = true
		}
		if tenant := alert.Labels["tenant"]; tenant != "" && tenant != rental.Several {
			tenants[tenant] = true
		}
		for _, held := range alert.Holders {
			leases[held.Lease], tenants[held.Tenant] = true, true
		}
	}
	inc.Leases, inc.Tenants = sorted(leases), sorted(tenants)
}

// withFacts names the lease and the tenant of each alert about a card or a host that has none,
// or several. It runs before the transaction, since the facts come from the same store.
func (e *Engine) withFacts(ctx context.Context, group rental.AlertGroup) rental.AlertGroup {
	if e.o.Facts == nil {
		return group
	}
	group.Alerts = slices.Clone(group.Alerts)
	for i, alert := range group.Alerts {
		uuid, host, lease := alert.Labels["uuid"], alert.Labels["host"], alert.Labels["lease"]
		if lease != "" && lease != rental.Several || uuid == "" && host == "" {
			continue
		}
		switch held := e.o.Facts.Holders(ctx, host, uuid, alert.StartsAt); {
		case len(held) == 1:
			group.Alerts[i].Labels = maps.Clone(alert.Labels)
			group.Alerts[i].Labels["lease"], group.Alerts[i].Labels["tenant"] = held[0].Lease, held[0].Tenant
		case len(held) > 1:
			group.Alerts[i].Holders = held
		}
	}
	return group
}

func addEvent(inc *rental.Incident, at rental.Millis, kind, by, note string) {
	inc.Events = append(inc.Events, rental.IncidentEvent{At: at, Kind: kind, By: by, Note: note})
}
