package incident

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// Markdown writes an incident for a ticket or a review after it: what broke, who was hurt, the
// alerts, the timeline and what became of each message. lang is en or zh. Times are in UTC. Words
// that come from hosts, labels and people stay text: nothing in them becomes markup or a link.
func Markdown(inc rental.Incident, deliveries []rental.Delivery, lang string) []byte {
	p := phrase.For(lang)
	var b strings.Builder
	line := func(key phrase.Key, args ...any) { fmt.Fprintf(&b, "%s\n", p.Say(key, args...)) }
	line(phrase.ExportHeading, inc.ID, literal(p.Headline(inc.Alerts, inc.OpenedAt)))
	b.WriteString("\n")
	line(phrase.ExportState, p.Severity(inc.Severity), p.Incident(inc.Status, inc.Severity).Word)
	if inc.Drill {
		line(phrase.ExportDrill)
	}
	for _, at := range []struct {
		key phrase.Key
		at  rental.Millis
	}{
		{phrase.ExportEvidence, inc.EvidenceAt}, {phrase.ExportDetected, inc.DetectedAt}, {phrase.ExportOpened, inc.OpenedAt}, {phrase.ExportResolved, inc.ResolvedAt},
	} {
		if at.at != 0 {
			line(at.key, p.Time(at.at, nil))
		}
	}
	if inc.AckedAt != 0 {
		line(phrase.ExportAcked, p.Time(inc.AckedAt, nil), literal(inc.AckedBy), p.Duration(int64(inc.AckedAt-inc.OpenedAt)))
	}
	line(phrase.ExportSubject, literal(inc.Subject), literal(cmp.Or(inc.Provider, "–")))
	line(phrase.ExportLeases, listed(inc.Leases), listed(inc.Tenants))

	line(phrase.ExportAlerts)
	for _, a := range inc.Alerts {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", literal(p.Headline([]rental.Alert{a}, a.StartsAt)), literal(p.Text(a, "description")), p.Time(a.StartsAt, nil), ending(p, a.EndsAt))
	}
	line(phrase.ExportTimeline)
	for _, e := range inc.Events {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", p.Time(e.At, nil), p.Event(e.Kind), literal(e.By), literal(e.Note))
	}
	line(phrase.ExportDeliveries)
	for _, d := range deliveries {
		sent := "–"
		if d.SentAt != 0 {
			sent = p.Time(d.SentAt, nil)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %s |\n", p.Time(d.CreatedAt, nil), literal(d.Route), sent, d.Attempts, literal(d.Error))
	}
	return []byte(b.String())
}

func ending(p phrase.Printer, at rental.Millis) string {
	if at == rental.Forever {
		return "–"
	}
	return p.Time(at, nil)
}

func listed(names []string) string {
	if len(names) == 0 {
		return "–"
	}
	return literal(strings.Join(names, ", "))
}

// literal makes one line of a text in which nothing is markup.
func literal(text string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(text), " ") {
		switch {
		case strings.ContainsRune("\\`*_{}[]<>()#+!|~&:@", r):
			b.WriteRune('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
