package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/leasewatch/leasewatch/internal/incident"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/monitor"
	"github.com/leasewatch/leasewatch/internal/paging"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/slack"
)

var (
	_ incident.Store  = (*ledger.Ledger)(nil)
	_ incident.Sender = (*slack.Slack)(nil)
	_ incident.Sender = (*paging.Pager)(nil)
	_ slack.Actions   = (*incident.Engine)(nil)
)

// openPaging makes the way from an alert to a person: groups, incidents, outbox, Slack.
func (a *App) openPaging(ctx context.Context) error {
	cfg := a.config.Load()
	if err := errors.Join(a.openRoster(cfg), a.openLinks()); err != nil {
		return err
	}
	if err := a.openSlack(cfg); err != nil {
		return err
	}
	var err error
	a.engine, err = incident.New(incident.Options{
		Store: a.ledger, Routes: a.routes, Now: a.now, Logger: a.log.With("room", "incident"),
		Registerer: a.registry, Facts: holders{a.ledger}, Silencer: mute{a}, Ladder: a.ladder, Repeat: a.repeat,
		Wake: a.wake, CrashPoint: a.opts.CrashPoint,
	})
	if err != nil {
		return err
	}
	a.outbox, err = incident.NewOutbox(incident.OutboxOptions{
		Store: a.ledger, Sender: ways{a}, Now: a.now, Logger: a.log.With("room", "outbox"),
		Registerer: a.registry, CrashPoint: a.opts.CrashPoint, Quiet: a.quietUntil,
	})
	if err != nil {
		return err
	}
	routing, file, err := cfg.routing()
	if err != nil {
		return err
	}
	a.pager, err = paging.New(ctx, paging.Options{
		Config: routing, ConfigFile: file, Store: pagingStore{a.ledger, a.opts.CrashPoint}, Deliver: a.engine.Handle,
		ExternalURL: a.externalURL(), Language: cfg.Global.Language, AckLink: a.ackLink,
		Registerer: a.registry, Logger: a.log.With("room", "paging"), Now: a.now,
	})
	if err != nil {
		return err
	}
	a.onClose("pager", a.pager.Stop)
	a.store, err = a.newStoreWatch()
	return err
}

// noToken is why nobody is paged where no token is configured.
const noToken = "no Slack token is configured (slack.bot_token_file)"

// openSlack joins the channel where the configuration names one, and else says why nobody is paged.
func (a *App) openSlack(cfg *Config) error {
	var err error
	if a.secrets, err = cfg.slackSecrets(); err != nil {
		return err
	}
	bot, app, signing := a.secrets[0], a.secrets[1], a.secrets[2]
	if bot == "" {
		if len(cfg.Paging.Next) == 0 && a.roster.Load() == nil {
			a.noPaging = noToken
		}
		return nil
	}
	people := make(map[string]slack.Person, len(cfg.Slack.People))
	for id, person := range cfg.Slack.People {
		people[id] = slack.Person{Name: person.Name, Role: person.Role}
	}
	a.mayAct(people)
	zone, err := time.LoadLocation(cfg.Slack.TimeZone)
	if err != nil {
		return &ConfigError{Err: fmt.Errorf("slack.time_zone: found %q, expected an IANA zone such as Europe/Oslo", cfg.Slack.TimeZone)}
	}
	language := cfg.Slack.Language
	if language == "" {
		language = cfg.Global.Language
	}
	a.slack, err = slack.New(slack.Options{
		Token: slack.Secret(bot), AppToken: slack.Secret(app), SigningSecret: slack.Secret(signing), OnCall: a.mentioned, APIURL: cfg.Slack.APIURL, Channel: cfg.Slack.Channel,
		ExternalURL: a.externalURL(), Language: language, Mention: cfg.Slack.Mention, Zone: zone, People: people, Shown: a.shown, Facts: stakes{a}, Escalation: len(cfg.Paging.Next) > 0 || a.roster.Load() != nil,
		Now: a.now, Logger: a.log.With("room", "slack"), Registerer: a.registry,
	})
	return err
}

// shown is what an id of a person is read as now; the id itself where that cannot be told.
func (a *App) shown(by string) string {
	if !rental.IsPersonID(by) {
		return by
	}
	one, err := a.ledger.Person(a.lifetime, by)
	if err != nil {
		return by
	}
	return one.Shown()
}

func (a *App) wake() { a.outbox.Wake() }

// listenToSlack takes pressed buttons until the server stops.
func (a *App) listenToSlack(ctx context.Context) {
	if err := a.slack.Check(ctx); err != nil && ctx.Err() == nil {
		a.log.Error("Slack refuses the bot's token or the channel; pages wait in the outbox", "error", err)
	}
	if err := a.slack.Listen(ctx, a.engine); err != nil && ctx.Err() == nil {
		a.log.Error("Slack's buttons are not heard", "error", err)
	}
}

// notify hands the rules' alerts to the pager.
func (a *App) notify(ctx context.Context, alerts []monitor.Alert) {
	out := make([]paging.Alert, len(alerts))
	for i, alert := range alerts {
		out[i] = paging.Alert{
			Labels: alert.Labels, Annotations: alert.Annotations, StartsAt: alert.StartsAt, EndsAt: alert.EndsAt,
			ValidUntil: alert.ValidUntil, GeneratorURL: alert.GeneratorURL,
		}
	}
	if err := a.pager.Put(ctx, out); err != nil && ctx.Err() == nil {
		a.log.Error("alerts could not be handed to paging; they come again within a minute", "error", err)
	}
}

// labelKey is a label set as one comparable string.
func labelKey(labels map[string]string) string {
	pairs := make([]string, 0, len(labels))
	for name, value := range labels {
		pairs = append(pairs, name+"\x00"+value)
	}
	slices.Sort(pairs)
	return strings.Join(pairs, "\x01")
}

// slackSecrets reads the bot's and the app's token and the signing secret; empty where no file is named.
func (c *Config) slackSecrets() (secrets [3]string, err error) {
	for i, file := range [3][2]string{{"slack.bot_token_file", c.Slack.BotTokenFile}, {"slack.app_token_file", c.Slack.AppTokenFile}, {"slack.signing_secret_file", c.Slack.SigningSecretFile}} {
		if secrets[i], err = c.secret(file[0], file[1]); err != nil {
			return secrets, err
		}
	}
	return secrets, nil
}

// routing reads the routing file that the configuration names; nil is the built-in one.
func (c *Config) routing() (body []byte, file string, err error) {
	if c.Paging.ConfigFile == "" {
		return builtInRouting(), "the built-in routing", nil
	}
	file = c.path(c.Paging.ConfigFile)
	body, err = os.ReadFile(file)
	return body, file, err
}
