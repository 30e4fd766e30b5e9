package paging

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/prometheus/alertmanager/alert"
	"github.com/prometheus/alertmanager/config"
	"github.com/prometheus/alertmanager/config/receiver"
	"github.com/prometheus/alertmanager/notify"
	"github.com/prometheus/alertmanager/template"
	"github.com/prometheus/common/model"
)

// RoutePrefix begins the name of a way out that the routing file's receivers give:
// "receiver:phone/pagerduty/0".
const RoutePrefix = "receiver:"

// WebhookPath is where leasewatch takes the messages of a stock Alertmanager. A webhook of the
// routing file with this path is leasewatch itself.
const WebhookPath = "/api/v1/webhook/alertmanager"

// The annotations that an incident's notice carries beside those of its alerts.
const (
	annotationTitle    = "incident_title"
	annotationIncident = "incident"
	annotationLink     = "incident_url"
	annotationReason   = "incident_reason"
	annotationAck      = "incident_ack"     // the sentence with the address
	annotationAckURL   = "incident_ack_url" // the address alone
)

// texts are the words of a notice in place of Alertmanager's list of labels. A routing file's own
// templates may replace them: they are read later.
const texts = `
{{ define "__alertmanager" }}Leasewatch{{ end }}
{{ define "__alertmanagerURL" }}{{ with .CommonAnnotations.incident_url }}{{ . }}{{ else }}{{ .ExternalURL }}{{ end }}{{ end }}
{{ define "__subject" }}[{{ .Status | toUpper }}] {{ with .CommonAnnotations.incident_title }}{{ . }}{{ else }}{{ .GroupLabels.SortedPairs.Values | join " " }} {{ .CommonLabels.alertname }}{{ end }}{{ end }}
{{ define "__description" }}{{ .CommonAnnotations.incident_reason }}{{ end }}
{{ define "__text_alert_list" }}{{ range . }}{{ .Annotations.summary }}
{{ with .Annotations.description }}{{ . }}
{{ end }}{{ with .Annotations.action }}{{ . }}
{{ end }}{{ with .Annotations.runbook_url }}{{ . }}
{{ end }}{{ with .Annotations.incident_url }}{{ . }}
{{ end }}{{ with .Annotations.incident_ack }}{{ . }}
{{ end }}{{ end }}{{ end }}
`

// ourselves tells whether the webhook is leasewatch, which the embedded pipeline reaches without HTTP.
func ourselves(address string) bool {
	u, err := url.Parse(address)
	return err == nil && strings.TrimSuffix(u.Path, "/") == WebhookPath
}

// split parts a receiver in what leasewatch itself takes and the ways out to others.
func split(r config.Receiver) (own int, others config.Receiver) {
	others = r
	others.WebhookConfigs = nil
	for _, w := range r.WebhookConfigs {
		if ourselves(string(w.URL)) {
			own++
			continue
		}
		others.WebhookConfigs = append(others.WebhookConfigs, w)
	}
	return own, others
}

// ways makes the integrations of every receiver but those that are leasewatch itself.
func ways(cfg *config.Config, texts *template.Template, logger *slog.Logger) (map[string][]notify.Integration, error) {
	all := map[string][]notify.Integration{}
	var errs []error
	for _, r := range cfg.Receivers {
		own, others := split(r)
		if own > 1 {
			errs = append(errs, fmt.Errorf("receiver %q: more than one webhook is leasewatch itself (%s): expected one", r.Name, WebhookPath))
			continue
		}
		list, err := receiver.BuildReceiverIntegrations(others, texts, logger)
		if err != nil {
			errs = append(errs, fmt.Errorf("receiver %q: %w", r.Name, err))
			continue
		}
		if len(list) > 0 {
			all[r.Name] = list
		}
	}
	return all, errors.Join(errs...)
}

// wordings reads the texts of notices: Alertmanager's own, ours in their place, the file's last.
func wordings(cfg *config.Config, file string) (*template.Template, error) {
	t, err := template.FromGlobs(nil)
	if err != nil {
		return nil, fmt.Errorf("texts of notices: %w", err)
	}
	if err := t.Parse(strings.NewReader(texts)); err != nil {
		return nil, fmt.Errorf("texts of notices: %w", err)
	}
	for _, glob := range cfg.Templates {
		if !filepath.IsAbs(glob) {
			glob = filepath.Join(filepath.Dir(file), glob)
		}
		if err := t.FromGlob(glob); err != nil {
			return nil, fmt.Errorf("templates %s: %w", glob, err)
		}
	}
	return t, nil
}

func routeOf(i notify.Integration, name string) string {
	return RoutePrefix + name + "/" + i.Name() + "/" + strconv.Itoa(i.Index())
}

// Outside returns, for each receiver of a routing file, how many ways to others than leasewatch
// itself it has.
func Outside(text []byte, file string) (map[string]int, error) {
	r, err := parseRouting(text, file, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	all := map[string]int{}
	for _, receiver := range r.config.Receivers {
		all[receiver.Name] = len(r.ways[receiver.Name])
	}
	return all, nil
}

// Routes returns the names of the ways out of the routing file's receiver, one for each of its
// integrations; none where there is no such receiver or it is leasewatch alone.
func (p *Pager) Routes(name string) []string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	var all []string
	for _, i := range p.routing.ways[name] {
		all = append(all, routeOf(i, name))
	}
	return all
}

// Refusal is what a way out answered.
type Refusal struct {
	route string
	err   error
	retry bool
	after time.Duration
}

// Error names the way out and what it said.
func (r *Refusal) Error() string { return r.route + ": " + r.err.Error() }

// Unwrap returns what the way out said.
func (r *Refusal) Unwrap() error { return r.err }

// Terminal tells whether only a person can repair what is wrong: a key, an address, a permission.
func (r *Refusal) Terminal() bool { return !r.retry }

// RetryAfter is how long the way out asks to be left alone; 0 where it does not ask.
func (r *Refusal) RetryAfter() time.Duration { return r.after }

// Send tells one incident on one way out. A message that stands cannot be edited there, so that
// of the updates only the end is told, and the details are in the first message already. Its errors are *Refusal.
func (p *Pager) Send(ctx context.Context, d rental.Delivery, inc rental.Incident) (rental.MessageRef, error) {
	ref := rental.MessageRef{Channel: d.Route, ID: inc.ID}
	if details := d.Kind == "thread" && d.Text == ""; details || d.Kind == "update" && inc.Status != rental.IncidentResolved {
		return ref, nil
	}
	p.mu.RLock()
	found, name := p.way(d.Route)
	p.mu.RUnlock()
	if found == nil {
		return ref, &Refusal{route: d.Route, err: errors.New("no receiver of the routing file has it: restore it there, or resolve the incident by hand")}
	}
	labels := model.LabelSet{"provider": model.LabelValue(inc.Provider), "severity": model.LabelValue(inc.Severity), "subject": model.LabelValue(inc.Subject)}
	ctx = notify.WithGroupKey(ctx, inc.ID)
	ctx = notify.WithGroupLabels(ctx, labels)
	ctx = notify.WithReceiverName(ctx, name)
	ctx = notify.WithNow(ctx, p.opts.Now())
	link := ""
	if p.opts.AckLink != nil && inc.Status == rental.IncidentOpen {
		link = p.opts.AckLink(inc, name)
	}
	if verdict := found.Notify(ctx, p.notice(d, inc, link)...); verdict.Err() != nil {
		return ref, &Refusal{route: d.Route, err: without(verdict.Err(), link), retry: verdict.ShouldRetry(), after: verdict.Delay()}
	}
	return ref, nil
}

// without strikes a secret out of what a way out said, which may repeat what it was told.
func without(err error, secret string) error {
	if secret == "" || !strings.Contains(err.Error(), secret) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), secret, "<secret>"))
}

// Find knows of no message: a way out cannot be asked what it has. A doubtful try is made again,
// which those that keep one entry an incident (PagerDuty, Opsgenie) take as the same.
func (p *Pager) Find(context.Context, rental.Delivery, rental.Incident) (rental.MessageRef, bool, error) {
	return rental.MessageRef{}, false, nil
}

func (p *Pager) way(route string) (*notify.Integration, string) {
	for name, list := range p.routing.ways {
		for i := range list {
			if routeOf(list[i], name) == route {
				return &list[i], name
			}
		}
	}
	return nil, ""
}

// notice is the incident as alerts: each with the incident's title, place and why it came this way.
func (p *Pager) notice(d rental.Delivery, inc rental.Incident, link string) []*alert.Alert {
	now := p.opts.Now()
	say := phrase.For(p.opts.Language)
	about := map[string]string{annotationTitle: say.Headline(inc.Alerts, rental.At(now)), annotationIncident: inc.ID}
	if p.externalURL.Host != "" {
		about[annotationLink] = p.externalURL.JoinPath("incidents", inc.ID).String()
	}
	if link != "" {
		about[annotationAckURL], about[annotationAck] = link, say.Say(phrase.AckLink, link)
	}
	for _, e := range inc.Events {
		if e.Kind == "climbed" {
			about[annotationReason] = e.Note
		}
	}
	if strings.Contains(d.Text, rental.CallAgain) {
		about[annotationReason] = say.Say(phrase.SlackCallAgain, say.Duration(int64(rental.At(now)-inc.OpenedAt)))
	}
	if d.Repeat {
		about[annotationReason] = say.Say(phrase.SlackRepeat)
	}
	all := make([]*alert.Alert, 0, len(inc.Alerts))
	for _, a := range inc.Alerts {
		annotations := maps.Clone(about)
		for _, name := range []string{"summary", "description", "action"} {
			annotations[name] = say.Text(a, name)
		}
		annotations["runbook_url"] = a.Annotations["runbook_url"]
		m := model.Alert{Labels: labelSet(a.Labels), Annotations: labelSet(annotations), StartsAt: a.StartsAt.Time()}
		if over := inc.Status == rental.IncidentResolved || a.EndsAt != rental.Forever; over {
			m.EndsAt = min(a.EndsAt, rental.At(now)).Time()
		}
		all = append(all, alert.New(m, now, false))
	}
	return all
}
