package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/leasewatch/leasewatch/internal/incident"
	"github.com/leasewatch/leasewatch/internal/paging"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/slack"
)

// climbEvery is how often open pages are looked at for their next step: what Slack refuses for
// good is on its next way within this time.
const climbEvery = 5 * time.Second

// NextStep is a way to people that a page takes when those before reached nobody.
type NextStep struct {
	// Receiver is one of the routing file (paging.config_file), with any of Alertmanager's ways.
	Receiver string `yaml:"receiver"`
	// UndeliveredAfter is how long a page waits for the ways before; 0s: it does not ask.
	UndeliveredAfter Duration `yaml:"undelivered_after"`
	// UnacknowledgedAfter is how long a page may be open with nobody having it; 0s: it does not ask.
	UnacknowledgedAfter Duration `yaml:"unacknowledged_after"`
}

// ways tells an incident on the way that a delivery names: Slack, or a receiver of the routing file.
type ways struct{ a *App }

var _ incident.Sender = ways{}

func (w ways) of(route string) (incident.Sender, error) {
	switch {
	case strings.HasPrefix(route, paging.RoutePrefix):
		return w.a.pager, nil
	case w.a.slack != nil:
		return w.a.slack, nil
	}
	return nil, noWay(route)
}

// Send hands the delivery to its way.
func (w ways) Send(ctx context.Context, d rental.Delivery, inc rental.Incident) (rental.MessageRef, error) {
	way, err := w.of(d.Route)
	if err != nil {
		return rental.MessageRef{}, err
	}
	return way.Send(ctx, d, inc)
}

// Find asks the delivery's way for the message of an earlier try.
func (w ways) Find(ctx context.Context, d rental.Delivery, inc rental.Incident) (rental.MessageRef, bool, error) {
	way, err := w.of(d.Route)
	if err != nil {
		return rental.MessageRef{}, false, err
	}
	return way.Find(ctx, d, inc)
}

// noWay is the error of a delivery whose way is no longer configured.
type noWay string

func (n noWay) Error() string {
	return string(n) + " is not configured any more: restore slack.bot_token_file, or resolve the incident by hand"
}

// Terminal tells that only a person can repair it.
func (noWay) Terminal() bool { return true }

// ladder is whoever is on call or, without a schedule, paging.next as the incident room climbs it.
func (a *App) ladder() []incident.Step {
	if r := a.roster.Load(); r != nil {
		return a.calls(r)
	}
	next := a.config.Load().Paging.Next
	steps := make([]incident.Step, len(next))
	for i, n := range next {
		steps[i] = incident.Step{
			Name: n.Receiver, Routes: a.pager.Routes(n.Receiver),
			Undelivered: time.Duration(n.UndeliveredAfter), Unacknowledged: time.Duration(n.UnacknowledgedAfter),
		}
	}
	return steps
}

// routes says who is told of an incident first: Slack, and where there is none the first step.
func (a *App) routes(inc rental.Incident) []string {
	cfg := a.config.Load()
	switch {
	case a.slack != nil:
		return []string{slack.Route(cfg.Slack.Channel)}
	case a.roster.Load() != nil && inc.Severity == rental.Page:
		return nil // the ladder tells it, at the next look
	case a.roster.Load() != nil:
		for _, step := range a.ladder() {
			if len(step.Routes) > 0 {
				return step.Routes
			}
		}
	case len(cfg.Paging.Next) > 0:
		return a.pager.Routes(cfg.Paging.Next[0].Receiver)
	}
	return nil
}

// mute is the pager, which opens after the engine.
type mute struct{ a *App }

var _ incident.Silencer = mute{}

func (m mute) Silence(ctx context.Context, matchers map[string]string, until time.Time, by, comment string) (string, error) {
	return m.a.pager.Silence(ctx, matchers, until, by, comment)
}

func (m mute) ProlongSilence(ctx context.Context, id string, until time.Time) error {
	return m.a.pager.ProlongSilence(ctx, id, until)
}

func (m mute) ExpireSilence(ctx context.Context, id string) error {
	return m.a.pager.ExpireSilence(ctx, id)
}

// climb looks after open incidents until the server stops: the ends of silences, and pages that
// reach nobody.
func (a *App) climb(ctx context.Context) {
	tick := time.NewTicker(climbEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := errors.Join(a.engine.Tend(ctx), a.engine.Climb(ctx)); err != nil && ctx.Err() == nil {
			a.log.Error("open incidents could not be looked at for the end of a silence or their next step; trying again", "error", err)
		}
	}
}

// checkNext checks paging.next against the receivers of the routing file.
func (c *Config) checkNext(file string, routing []byte, routingFile string) error {
	if len(c.Paging.Next) == 0 {
		return nil
	}
	outside, err := paging.Outside(routing, routingFile)
	if err != nil {
		return nil //nolint:nilerr // the routing file's own check tells it
	}
	k := &checker{config: c, file: file}
	seen := map[string]bool{}
	for i, n := range c.Paging.Next {
		field := fmt.Sprintf("paging.next[%d].receiver", i)
		switch count, known := outside[n.Receiver]; {
		case !known:
			k.bad(field, n.Receiver, "the name of a receiver in "+routingFile)
		case count == 0:
			k.bad(field, n.Receiver, "a receiver with a way to people in "+routingFile+", such as pagerduty_configs, email_configs or webhook_configs; this one is leasewatch itself or empty")
		case seen[n.Receiver]:
			k.bad(field, n.Receiver, "each receiver once")
		}
		seen[n.Receiver] = true
		if n.UndeliveredAfter <= 0 && n.UnacknowledgedAfter <= 0 {
			k.bad(fmt.Sprintf("paging.next[%d]", i), "neither undelivered_after nor unacknowledged_after", "one of them or both, such as undelivered_after: 2m")
		}
	}
	return errors.Join(k.errs...)
}
