package slack

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// message is what one call shows: blocks, and the text for notifications and old clients.
type message struct {
	blocks   []slackgo.Block
	fallback string
}

// writer builds one message in one language.
type writer struct {
	s       *Slack
	p       phrase.Printer
	inc     rental.Incident
	d       rental.Delivery
	now     rental.Millis
	channel string
}

// render lays an incident out as a person at night reads it: what, who suffers, what to do
// first, then the rest.
func (s *Slack) render(ctx context.Context, channel string, d rental.Delivery, inc rental.Incident) message {
	w := writer{s: s, p: s.printer(channel), inc: inc, d: d, now: rental.At(s.o.Now()), channel: channel}
	switch {
	case d.Kind == kindPost || d.Kind == kindUpdate:
		return w.incident(ctx)
	case d.Text == "":
		return w.details()
	default:
		return w.reply()
	}
}

// incident is the message itself.
func (w writer) incident(ctx context.Context) message {
	line1, who := w.line1(), w.who(ctx)
	sections := []slackgo.RichTextElement{
		section(bold(line1)),
		section(plain(who)),
	}
	fallback := []string{line1, who}
	if outcome := w.outcome(ctx); outcome != "" {
		sections = append(sections, section(bold(outcome)))
		fallback = append(fallback, outcome)
	} else {
		lead := phrase.Lead(w.inc.Alerts, w.now)
		if len(lead) > 0 {
			sections, fallback = w.guidance(lead[0], sections, fallback)
		}
		if len(lead) > 1 {
			sections = append(sections, w.list(lead))
		}
	}
	blocks := []slackgo.Block{slackgo.NewRichTextBlock(w.blockID("main"), sections...)}
	if calls := w.mentions(); len(calls) > 0 && w.open() {
		blocks = append(blocks, slackgo.NewRichTextBlock(w.blockID("call"), section(calls...)))
	}
	blocks = append(blocks, w.context())
	if buttons := w.buttons(); len(buttons) > 0 {
		blocks = append(blocks, slackgo.NewActionBlock(w.blockID("actions"), buttons...))
	}
	return message{blocks: blocks, fallback: w.fallback(fallback)}
}

// guidance adds what to do first and the value against its threshold.
func (w writer) guidance(lead rental.Alert, sections []slackgo.RichTextElement, fallback []string) ([]slackgo.RichTextElement, []string) {
	if action := clean(w.p.Text(lead, "action")); action != "" {
		first := w.p.Say(phrase.SlackDoFirst, cut(action, maxAction))
		sections = append(sections, section(bold(first)))
		fallback = append(fallback, first)
	}
	if description := clean(w.p.Text(lead, "description")); description != "" {
		sections = append(sections, section(plain(cut(description, maxDescription))))
	}
	return sections, fallback
}

// open tells whether anybody still has to act.
func (w writer) open() bool {
	return w.inc.Status == rental.IncidentOpen || w.inc.Status == rental.IncidentAcked
}

// line1 is glyph, severity, what and where.
func (w writer) line1() string {
	look := w.p.Incident(w.inc.Status, w.inc.Severity)
	headline := cut(clean(w.p.Headline(w.inc.Alerts, w.now)), maxHeadline)
	severity := w.p.Severity(w.inc.Severity)
	switch w.inc.Status {
	case rental.IncidentResolved:
		return w.p.Say(phrase.SlackLineResolved, look.Glyph, severity, headline)
	case rental.IncidentUnknown:
		return w.p.Say(phrase.SlackLineUnknown, look.Glyph, severity, headline)
	}
	if w.inc.Drill {
		return w.p.Say(phrase.SlackLineDrill, look.Glyph, severity, headline)
	}
	return w.p.Say(phrase.SlackLine, look.Glyph, severity, headline)
}

// who is line 2: whose lease, since when, the budget left and the money at stake.
func (w writer) who(ctx context.Context) string {
	since := w.p.Say(phrase.SlackSince, w.p.Time(cmp.Or(w.inc.EvidenceAt, w.inc.DetectedAt, w.inc.OpenedAt), w.s.o.Zone))
	if len(w.inc.Leases) == 0 {
		return w.p.Say(phrase.SlackNoLease) + " · " + since
	}
	const most = 3
	var parts []string
	for _, lease := range w.inc.Leases[:min(most, len(w.inc.Leases))] {
		parts = append(parts, w.lease(ctx, lease))
	}
	if more := len(w.inc.Leases) - most; more > 0 {
		parts = append(parts, w.p.Say(phrase.AndMore, more))
	}
	return cut(strings.Join(append(parts, since), " · "), maxWho)
}

// lease names a lease with its tenant, budget and money.
func (w writer) lease(ctx context.Context, lease string) string {
	tenant := ""
	for _, alert := range w.inc.Alerts {
		if alert.Labels["lease"] == lease {
			tenant = alert.Labels["tenant"]
		}
		for _, held := range alert.Holders {
			if held.Lease == lease {
				tenant = held.Tenant
			}
		}
	}
	if tenant == "" && len(w.inc.Tenants) == 1 {
		tenant = w.inc.Tenants[0]
	}
	parts := []string{w.p.Say(phrase.SlackLease, clean(lease))}
	if tenant != "" {
		parts[0] = w.p.Say(phrase.SlackWho, clean(lease), clean(tenant))
	}
	if w.s.o.Facts == nil || !w.open() {
		return parts[0]
	}
	ctx, cancel := context.WithTimeout(ctx, factsTimeout)
	defer cancel()
	if left, known := w.s.o.Facts.BudgetLeft(ctx, lease); known {
		if left >= 0 {
			parts = append(parts, w.p.Say(phrase.SlackBudget, w.p.Duration(left)))
		} else {
			parts = append(parts, w.p.Say(phrase.SlackBudgetOver, w.p.Duration(-left)))
		}
	}
	if amount, known := w.s.o.Facts.AtStake(ctx, lease); known {
		parts = append(parts, w.p.Say(phrase.SlackStake, w.p.Money(amount)))
	}
	return strings.Join(parts, " · ")
}

// factsTimeout is how long money and budget may take before a page goes without them.
const factsTimeout = 300 * time.Millisecond

// outcome is what an incident that is over came to; "" while it is open.
func (w writer) outcome(ctx context.Context) string {
	switch w.inc.Status {
	case rental.IncidentUnknown:
		return w.p.Say(phrase.SlackUnknownAfter)
	case rental.IncidentOpen, rental.IncidentAcked:
		return ""
	case rental.IncidentResolved:
	}
	from := cmp.Or(w.inc.EvidenceAt, w.inc.DetectedAt, w.inc.OpenedAt)
	took := w.p.Duration(int64(w.inc.ResolvedAt - from))
	text := w.p.Say(phrase.SlackResolvedAfter, took)
	if w.inc.AckedBy != "" {
		text = w.p.Say(phrase.SlackResolvedBy, took, w.shown(w.inc.AckedBy))
	}
	if w.s.o.Facts != nil {
		ctx, cancel := context.WithTimeout(ctx, factsTimeout)
		defer cancel()
		if amount, known := w.s.o.Facts.Cost(ctx, w.inc); known {
			text += " · " + w.p.Say(phrase.SlackCost, w.p.Money(amount))
		}
	}
	return text
}

// list names each alert of several, and how many are left off.
func (w writer) list(alerts []rental.Alert) slackgo.RichTextElement {
	var lines []slackgo.RichTextElement
	for _, alert := range alerts[:min(maxLines, len(alerts))] {
		lines = append(lines, section(plain(cut(clean(w.p.Headline([]rental.Alert{alert}, w.now)), maxLine))))
	}
	if more := len(alerts) - maxLines; more > 0 {
		lines = append(lines, section(plain(w.p.Say(phrase.AndMore, more))))
	}
	return slackgo.NewRichTextList(slackgo.RTEListBullet, 0, lines...)
}

// context is the small print: the incident's id, who has it, the hardware, where from.
func (w writer) context() slackgo.Block {
	parts := []string{w.inc.ID}
	if w.inc.Status == rental.IncidentAcked {
		parts = append(parts, w.p.Say(phrase.SlackAckedBy, w.shown(w.inc.AckedBy), w.p.Duration(int64(w.inc.AckedAt-w.inc.OpenedAt))))
	}
	if silence := w.inc.Silence; silence != nil && w.open() {
		if silence.UntilFixed {
			parts = append(parts, w.p.Say(phrase.SlackSilencedFixed, w.shown(silence.By)))
		} else {
			parts = append(parts, w.p.Say(phrase.SlackSilenced, w.shown(silence.By), w.p.Time(silence.Until, w.s.o.Zone)))
		}
	}
	if lead := phrase.Lead(w.inc.Alerts, w.now); len(lead) > 0 {
		for _, label := range []struct {
			name string
			key  phrase.Key
		}{{"sku", phrase.SlackSKU}, {"serial", phrase.SlackSerial}, {"site", phrase.SlackSite}} {
			if value := clean(lead[0].Labels[label.name]); value != "" {
				parts = append(parts, w.p.Say(label.key, cut(value, 60)))
			}
		}
	}
	if w.inc.Provider != "" {
		parts = append(parts, w.p.Say(phrase.SlackProvider, cut(clean(w.inc.Provider), 60)))
	}
	elements := []slackgo.MixedElement{plainObject(cut(strings.Join(parts, " · "), maxContext))}
	if w.d.Repeat {
		elements = append(elements, plainObject(w.p.Say(phrase.SlackRepeat)))
	}
	return slackgo.NewContextBlock(w.blockID("context"), elements...)
}

// buttons are only those that work now; an incident that is over has none.
func (w writer) buttons() []slackgo.BlockElement {
	if !w.open() {
		return nil
	}
	var buttons []slackgo.BlockElement
	if w.s.interactive() && w.inc.Status == rental.IncidentOpen {
		ack := slackgo.NewButtonBlockElement(actionAck, w.inc.ID, plainObject(w.p.Say(phrase.SlackAck)))
		buttons = append(buttons, ack.WithStyle(slackgo.StylePrimary))
	}
	if w.s.interactive() {
		buttons = append(buttons, w.quieter()...)
	}
	link := func(id, address string, key phrase.Key) {
		if address = safeURL(address); address != "" {
			buttons = append(buttons, slackgo.NewButtonBlockElement(id, w.inc.ID, plainObject(w.p.Say(key))).WithURL(address))
		}
	}
	if lead := phrase.Lead(w.inc.Alerts, w.now); len(lead) > 0 {
		link("leasewatch_runbook", lead[0].Annotations["runbook_url"], phrase.SlackRunbook)
	}
	if w.s.o.ExternalURL != "" {
		link("leasewatch_incident", strings.TrimRight(w.s.o.ExternalURL, "/")+"/incidents/"+w.inc.ID, phrase.SlackOpenIncident)
	}
	return buttons
}

// quieter are the buttons that mute an incident or take it on.
func (w writer) quieter() []slackgo.BlockElement {
	var buttons []slackgo.BlockElement
	add := func(id string, key phrase.Key) {
		buttons = append(buttons, slackgo.NewButtonBlockElement(id, w.inc.ID, plainObject(w.p.Say(key))))
	}
	if !w.inc.Outside && w.inc.Silence == nil {
		add(actionSilenceHour, phrase.SlackSilenceHour)
		add(actionSilenceFour, phrase.SlackSilenceFour)
		add(actionSilenceFixed, phrase.SlackSilenceFixed)
	}
	if w.s.o.Escalation {
		add(actionEscalate, phrase.SlackEscalate)
	}
	return buttons
}

// details lists below the message every alert in full, as far as there is room. It calls nobody.
func (w writer) details() message {
	alerts := phrase.Lead(w.inc.Alerts, w.now)
	sections := []slackgo.RichTextElement{section(bold(w.p.Say(phrase.SlackDetails, w.inc.ID)))}
	const most, room = 12, 9000
	used, shown := 0, 0
	for _, alert := range alerts {
		text := w.alertInFull(alert)
		if used += len([]rune(text)); shown == most || used > room {
			break
		}
		shown++
		sections = append(sections, section(plain(text)))
	}
	if more := len(alerts) - shown; more > 0 {
		sections = append(sections, section(plain(w.p.Say(phrase.AndMore, more))))
	}
	return message{
		blocks:   []slackgo.Block{slackgo.NewRichTextBlock(w.blockID("details"), sections...)},
		fallback: w.fallback([]string{w.p.Say(phrase.SlackDetails, w.inc.ID)}),
	}
}

// alertInFull is an alert's texts and the labels that identify the hardware, a line each.
func (w writer) alertInFull(alert rental.Alert) string {
	lines := []string{
		cut(clean(w.p.Headline([]rental.Alert{alert}, w.now)), maxLine),
		cut(clean(w.p.Text(alert, "description")), 700),
		w.p.Say(phrase.SlackSince, w.p.Time(alert.StartsAt, w.s.o.Zone)),
	}
	var labels []string
	for _, name := range []string{"host", "gpu", "slot", "uuid", "serial", "sku", "site", "lease", "tenant", "xid"} {
		if value := clean(alert.Labels[name]); value != "" {
			labels = append(labels, name+"="+cut(value, 80))
		}
	}
	lines = append(lines, strings.Join(labels, " "))
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return line == "" }), "\n")
}

// shown writes a person by name.
func (w writer) shown(by string) string { return clean(w.s.o.Shown(by)) }

func (w writer) fallback(lines []string) string {
	return cut(fallbackText(strings.Join(lines, "\n")), maxFallback)
}

// blockID is new with every revision and delivery, as Slack advises for edits.
func (w writer) blockID(part string) string {
	return fmt.Sprintf("%s-%d-%d-%s", w.inc.ID, w.inc.Revision, w.d.ID, part)
}

func section(elements ...slackgo.RichTextSectionElement) *slackgo.RichTextSection {
	return slackgo.NewRichTextSection(elements...)
}

func plain(text string) slackgo.RichTextSectionElement {
	return slackgo.NewRichTextSectionTextElement(cmp.Or(text, " "), nil)
}

func bold(text string) slackgo.RichTextSectionElement {
	return slackgo.NewRichTextSectionTextElement(cmp.Or(text, " "), &slackgo.RichTextSectionTextStyle{Bold: true})
}

func plainObject(text string) *slackgo.TextBlockObject {
	return slackgo.NewTextBlockObject(slackgo.PlainTextType, cmp.Or(text, " "), false, false)
}
