package phrase

import (
	"cmp"
	"slices"
	"strings"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Text returns an alert's annotation in the printer's language: "summary_zh" for "summary"
// where Chinese is spoken and there is one, else the English one. It may be empty.
func (p Printer) Text(alert rental.Alert, annotation string) string {
	if p.chinese {
		if text := strings.TrimSpace(alert.Annotations[annotation+"_zh"]); text != "" {
			return text
		}
	}
	return strings.TrimSpace(alert.Annotations[annotation])
}

// Headline says what broke and where, for line 1 of a message and an incident's title: the
// summary of the first alert, and how many more there are. Alerts that no longer fire at the
// moment now are left out while any still does.
func (p Printer) Headline(alerts []rental.Alert, now rental.Millis) string {
	shown := Lead(alerts, now)
	if len(shown) == 0 {
		return p.Say(SlackUnnamedSubject)
	}
	first := shown[0]
	text := p.Text(first, "summary")
	if text == "" {
		text = words(first.Labels["alertname"])
		if where := cmp.Or(first.Labels["host"], first.Labels["lease"], first.Labels["subject"]); where != "" {
			text = strings.TrimSpace(text + "  " + where)
		}
	}
	if text == "" {
		text = p.Say(SlackUnnamedSubject)
	}
	if more := len(shown) - 1; more > 0 {
		return p.Say(HeadlineMore, text, more)
	}
	return text
}

// Lead returns the alerts that a message leads with: those that fire at the moment now, or
// all where none does; the worst and then the oldest first, in an order that never varies.
func Lead(alerts []rental.Alert, now rental.Millis) []rental.Alert {
	firing := make([]rental.Alert, 0, len(alerts))
	for _, alert := range alerts {
		if alert.Firing(now) {
			firing = append(firing, alert)
		}
	}
	if len(firing) == 0 {
		firing = append(firing, alerts...)
	}
	slices.SortStableFunc(firing, func(a, b rental.Alert) int {
		return cmp.Or(
			cmp.Compare(SeverityRank(rental.Severity(a.Labels["severity"])), SeverityRank(rental.Severity(b.Labels["severity"]))),
			cmp.Compare(a.StartsAt, b.StartsAt),
			cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	return firing
}

// SeverityRank orders severities: 0 is a page, 1 a ticket, 2 a notice and all else.
func SeverityRank(s rental.Severity) int {
	switch s {
	case rental.Page:
		return 0
	case rental.Ticket:
		return 1
	default:
		return 2
	}
}

// words splits an alert's name at its capitals: "LeasewatchGPULost" is "GPU lost".
func words(name string) string {
	name = strings.TrimPrefix(name, "Leasewatch")
	runes := []rune(name)
	var b strings.Builder
	for i, r := range runes {
		upper := r >= 'A' && r <= 'Z'
		afterLower := i > 0 && (runes[i-1] < 'A' || runes[i-1] > 'Z')
		beforeLower := i+1 < len(runes) && runes[i+1] >= 'a' && runes[i+1] <= 'z'
		if upper && i > 0 && (afterLower || beforeLower) {
			b.WriteByte(' ')
		}
		if upper && i > 0 && beforeLower {
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
