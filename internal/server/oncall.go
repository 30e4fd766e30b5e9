package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/incident"
	"github.com/leasewatch/leasewatch/internal/manifest"
	"github.com/leasewatch/leasewatch/internal/oncall"
	"github.com/leasewatch/leasewatch/internal/paging"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/slack"
)

// roster reads the file that says who is on call; nil where the configuration names none. Receivers
// are those of the routing file.
func (c *Config) roster(routing []byte, routingFile string) (*oncall.Roster, error) {
	if c.Paging.OnCallFile == "" {
		return nil, nil
	}
	path := c.path(c.Paging.OnCallFile)
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("paging.oncall_file: %w", err)
	}
	defer file.Close()
	r := oncall.New()
	places, err := manifest.ReadKinds(path, file, rosterKinds(r))
	if err != nil {
		return nil, err
	}
	outside, err := paging.Outside(routing, routingFile)
	if err != nil {
		return nil, err
	}
	if err := r.Check(func(receiver string) (int, bool) {
		count, known := outside[receiver]
		return count, known
	}); err != nil {
		return nil, placedIn(path, places.Error(err))
	}
	return r, nil
}

// placedIn names the file where no line of it is meant.
func placedIn(path string, err error) error {
	if strings.HasPrefix(err.Error(), path) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// rosterKinds are the documents of the file, each read into its place in the roster.
func rosterKinds(r *oncall.Roster) []manifest.Kind {
	return []manifest.Kind{
		{Name: oncall.KindPerson, New: func(name string) any {
			r.People[name] = &oncall.Person{Name: name}
			return r.People[name]
		}},
		{Name: oncall.KindRotation, New: func(name string) any {
			r.Rotations[name] = &oncall.Rotation{Name: name}
			return r.Rotations[name]
		}},
		{Name: oncall.KindEscalation, New: func(name string) any {
			r.Escalations[name] = &oncall.Escalation{Name: name}
			return r.Escalations[name]
		}},
		{Name: oncall.KindQuietHours, New: func(name string) any {
			r.Quiet[name] = &oncall.QuietHours{Name: name}
			return r.Quiet[name]
		}},
	}
}

// checkRoster checks the file that says who is on call.
func (c *Config) checkRoster(file string, routing []byte, routingFile string) error {
	if c.Paging.OnCallFile == "" {
		return nil
	}
	var errs []error
	if len(c.Paging.Next) > 0 {
		errs = append(errs, fmt.Errorf("%s: paging.oncall_file: found paging.next beside it, expected one of them: the escalation of %s says whom a page calls next",
			c.place(file, "paging.oncall_file"), c.Paging.OnCallFile))
	}
	_, err := c.roster(routing, routingFile)
	return errors.Join(append(errs, err)...)
}

// openRoster takes up who is on call, from a configuration that has passed its check.
func (a *App) openRoster(cfg *Config) error {
	routing, file, err := cfg.routing()
	if err != nil {
		return err
	}
	r, err := cfg.roster(routing, file)
	if err != nil {
		return &ConfigError{Err: err}
	}
	a.roster.Store(r)
	return nil
}

// calls is the ladder of whoever is on call, as the incident room climbs it.
func (a *App) calls(r *oncall.Roster) []incident.Step {
	list := r.Calls(rental.At(a.now()))
	steps := make([]incident.Step, 0, len(list))
	for _, c := range list {
		step := incident.Step{
			Name: cmp.Or(c.Person, c.Shown), Key: c.Key, Last: c.Last, Undelivered: r.Undelivered(),
			Unacknowledged: c.After - c.Own, Own: c.Own, Since: c.Since,
		}
		switch {
		case c.Receiver != "":
			step.Routes = a.pager.Routes(c.Receiver)
			if c.Person != "" {
				step.Name += " (" + c.Receiver + ")"
			}
		case a.slack == nil:
			continue // there is no channel to mention anybody in
		default:
			step.Mention = c.Slack
		}
		steps = append(steps, step)
	}
	return steps
}

// repeat is how long after the last call a page that nobody has is told again.
func (a *App) repeat() time.Duration {
	if r := a.roster.Load(); r != nil {
		return r.Repeat()
	}
	return 0
}

// quietUntil is until when new messages of a severity wait.
func (a *App) quietUntil(severity rental.Severity, at rental.Millis) rental.Millis {
	if r := a.roster.Load(); r != nil {
		return r.QuietUntil(severity, at)
	}
	return 0
}

// mentioned are the Slack users whom a page calls at once.
func (a *App) mentioned() []string {
	r := a.roster.Load()
	if r == nil {
		return nil
	}
	var users []string
	for _, c := range r.Calls(rental.At(a.now())) {
		if c.After == 0 && c.Slack != "" && !slices.Contains(users, c.Slack) {
			users = append(users, c.Slack)
		}
	}
	return users
}

// mayAct adds the people on call to those who may act on incidents in Slack.
func (a *App) mayAct(people map[string]slack.Person) {
	r := a.roster.Load()
	if r == nil || len(people) == 0 {
		return // with none everybody in the channel may
	}
	for _, p := range r.People {
		if _, named := people[p.Slack]; p.Slack != "" && !named {
			people[p.Slack] = slack.Person{Name: nameOf(r, p.Name), Role: string(rental.RoleOnCall)}
		}
	}
}

// onCall answers who is on call.
type onCall struct{ a *App }

// OnCall returns the turns of each rotation from the moment on, and the ladder as it stands then.
func (o onCall) OnCall(_ context.Context, q api.OnCallQuery) (api.OnCall, error) {
	r := o.a.roster.Load()
	if r == nil {
		return api.OnCall{}, &rental.Error{Code: rental.CodeNotFound, Message: "no schedule is configured: name a file in paging.oncall_file (docs/oncall.md)"}
	}
	out := api.OnCall{At: q.At, RepeatSeconds: int64(r.Repeat() / time.Second)}
	for _, name := range r.RotationNames() {
		rotation := r.Rotations[name]
		shown := api.OnCallRotation{Name: name, Zone: rotation.Zone}
		for _, t := range rotation.Turns(q.At, q.Turns) {
			shown.Turns = append(shown.Turns, api.OnCallTurn{Person: t.Person, Shown: r.ShownAs(t.Person), Start: t.Start, End: t.End, Override: t.Override})
		}
		out.Rotations = append(out.Rotations, shown)
	}
	for _, c := range r.Calls(q.At) {
		way := c.Receiver
		if way == "" {
			way = oncall.InSlack
		}
		out.Ladder = append(out.Ladder, api.OnCallStep{AfterSeconds: int64(c.After / time.Second), Person: c.Person, Shown: c.Shown, Way: way})
	}
	return out, nil
}
