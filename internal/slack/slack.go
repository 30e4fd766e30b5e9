// Package slack tells people of incidents in Slack: one message per incident, updated in
// place, details in its thread, an Ack button through Socket Mode. It is the only package
// that imports slack-go.
package slack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	slackgo "github.com/slack-go/slack"

	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// routePrefix begins the name of a route to a channel: "slack:C0123".
const routePrefix = "slack:"

// Route returns the name of the route to a channel.
func Route(channel string) string { return routePrefix + channel }

// Facts says what a message tells about money and budget. Each answer may be unknown; a slow
// one is left out, since it must not delay a page.
type Facts interface {
	// BudgetLeft returns how much more downtime the lease's availability objective bears in
	// this period, in milliseconds; less than 0 where it is overdrawn.
	BudgetLeft(ctx context.Context, lease string) (ms int64, known bool)
	// AtStake returns the credit that the lease would be owed if the incident went on.
	AtStake(ctx context.Context, lease string) (amount rental.Amount, known bool)
	// Cost returns what an incident that is over cost.
	Cost(ctx context.Context, inc rental.Incident) (amount rental.Amount, known bool)
}

// Person is someone in Slack who may act on incidents.
type Person struct {
	Name string `yaml:"name"`
	// Role is admin, operator or oncall; people with any other role may not act.
	Role string `yaml:"role"`
}

// Options joins the room to a workspace.
type Options struct {
	Token Secret // the bot's token (xoxb-...); required
	// AppToken is the app-level token (xapp-...) of Socket Mode; without it there is no Ack button.
	AppToken Secret
	// APIURL is the address of Slack's Web API, ending in "/"; Slack's own where empty.
	APIURL string
	// Channel is the id of the channel that people are paged in ("C0123ABCD"); New checks its form.
	Channel string
	// ExternalURL is the portal's address as people reach it; without it there is no button to it.
	ExternalURL string
	// Language is en or zh; Languages overrides it by channel.
	Language  string
	Languages map[string]string
	// Mention is whom a page and a worsening call: here, channel, a user (U...), a user group
	// (S...) or none; here where empty. Only severity page calls anybody.
	Mention string
	// OnCall returns the users (U...) whom a page calls first at the moment, in place of Mention; nil,
	// or none from it, where no schedule says.
	OnCall func() []string
	// SigningSecret is what Slack signs pressed buttons with where they come by HTTP (Interactions).
	SigningSecret Secret
	// Escalation tells that there are further ways to tell a page on: there is a button for it.
	Escalation bool
	// People maps Slack user ids to who may acknowledge; everybody in the channel may where empty.
	People map[string]Person
	// Shown is what an id of a person is read as; ids are shown as they are where it is nil.
	Shown      func(by string) string
	Zone       *time.Location // of times in messages; UTC where nil
	Facts      Facts          // may be nil
	Now        func() time.Time
	Logger     *slog.Logger
	Registerer prometheus.Registerer // none where nil
}

// Slack sends incidents to channels. It is safe for concurrent use.
type Slack struct {
	o         Options
	client    *slackgo.Client
	connected prometheus.Gauge
	errors    *prometheus.CounterVec
	seen      *replays
	acting    chan struct{} // one for each press by HTTP that is being carried out
}

var (
	mentionForm = regexp.MustCompile(`^(here|channel|none|[UWS][A-Z0-9]{2,})$`)
	channelForm = regexp.MustCompile(`^[CGD][A-Z0-9]{2,}$`)
)

// ChannelID tells whether the text has the form of a channel's id.
func ChannelID(text string) bool { return channelForm.MatchString(text) }

// Mention tells whether the text may be Options.Mention.
func Mention(text string) bool { return mentionForm.MatchString(text) }

// New returns a Slack, or an error that says which option is wrong and how to put it right.
// It does not call Slack.
func New(o Options) (*Slack, error) {
	if o.Now == nil || o.Logger == nil {
		return nil, errors.New("slack: a clock and a logger are required")
	}
	if o.Token == "" {
		return nil, errors.New("slack.bot_token_file: expected the bot's token (xoxb-...), found nothing")
	}
	if o.APIURL == "" {
		o.APIURL = slackgo.APIURL
	}
	if u, err := url.Parse(o.APIURL); err != nil || u.Host == "" || !strings.HasSuffix(o.APIURL, "/") {
		return nil, fmt.Errorf("slack.api_url %q: expected an http address that ends in /", o.APIURL)
	}
	if o.Channel != "" && !ChannelID(o.Channel) {
		return nil, fmt.Errorf("slack.channel %q: expected a channel's id such as C0123ABCD (in Slack: channel details, at the bottom), not its name", o.Channel)
	}
	if o.Mention == "" {
		o.Mention = "here"
	}
	if !Mention(o.Mention) {
		return nil, fmt.Errorf("slack.mention %q: expected here, channel, none, or the id of a user (U...) or user group (S...)", o.Mention)
	}
	if o.Shown == nil {
		o.Shown = func(by string) string { return by }
	}
	for id, person := range o.People {
		if !mayAct(person.Role) && person.Role != "finance" && person.Role != "tenant" {
			return nil, fmt.Errorf("slack.people.%s.role %q: expected admin, operator, oncall, finance or tenant", id, person.Role)
		}
	}
	s := &Slack{
		o: o, seen: &replays{until: map[string]time.Time{}}, acting: make(chan struct{}, mostActing),
		connected: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "leasewatch_slack_socket_connected", Help: "Whether Slack can hand over pressed buttons (Socket Mode).",
		}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "leasewatch_slack_errors_total", Help: "Calls to Slack that failed, by Slack's own word or the kind of failure.",
		}, []string{"error"}),
	}
	s.client = slackgo.New(string(o.Token), slackgo.OptionAPIURL(o.APIURL), slackgo.OptionAppLevelToken(string(o.AppToken)),
		slackgo.OptionHTTPClient(&http.Client{Timeout: 30 * time.Second}))
	if o.Registerer != nil {
		for _, c := range []prometheus.Collector{s.connected, s.errors} {
			if err := o.Registerer.Register(c); err != nil {
				return nil, fmt.Errorf("slack: register its metrics: %w", err)
			}
		}
	}
	return s, nil
}

// Check asks Slack whether the token works and whether the app can read the channel that is
// configured, and says what is wrong and what to do where not: better at start than at night.
// It posts nothing.
func (s *Slack) Check(ctx context.Context) error {
	if _, err := s.client.AuthTestContext(ctx); err != nil {
		return s.failure("auth.test", err)
	}
	if s.o.Channel == "" {
		return nil
	}
	_, err := s.client.GetConversationHistoryContext(ctx, &slackgo.GetConversationHistoryParameters{ChannelID: s.o.Channel, Limit: 1})
	if err != nil {
		return s.failure("conversations.history", err)
	}
	return nil
}

func (s *Slack) printer(channel string) phrase.Printer {
	if lang := s.o.Languages[channel]; lang != "" {
		return phrase.For(lang)
	}
	return phrase.For(s.o.Language)
}

func mayAct(role string) bool { return role == "admin" || role == "operator" || role == "oncall" }
