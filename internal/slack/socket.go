package slack

import (
	"context"
	"errors"
	"time"

	slackgo "github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// The actions of the buttons; their value is the incident's id.
const (
	actionAck          = "leasewatch_ack"
	actionSilenceHour  = "leasewatch_silence_1h"
	actionSilenceFour  = "leasewatch_silence_4h"
	actionSilenceFixed = "leasewatch_silence_fixed"
	actionEscalate     = "leasewatch_escalate"
)

// Actions is what people may do to incidents from Slack. Each must bear being asked twice: Slack
// hands a press over again when it is in doubt.
type Actions interface {
	// Ack records that the person has the incident in hand.
	Ack(ctx context.Context, id, by string) (rental.Incident, error)
	// Silence mutes the incident for a time, or until it is fixed where the length is 0.
	Silence(ctx context.Context, id string, length time.Duration, by string) (rental.Incident, error)
	// Escalate tells the incident on the next way.
	Escalate(ctx context.Context, id, by string) (rental.Incident, error)
}

// Socket Mode's waits: after a refused connection, doubling from the first to the last, and
// for a database behind a button.
const (
	reconnectAfter = 5 * time.Second
	reconnectMost  = 5 * time.Minute
	actionTimeout  = 30 * time.Second
)

// Listen takes pressed buttons from Slack by Socket Mode until the context ends; no inbound
// port is needed. It answers Slack at once, whatever the database does, and connects again
// for ever: a token that does not work is logged and counted, and tried again, since people
// repair tokens. Without an app token it returns at once.
func (s *Slack) Listen(ctx context.Context, actions Actions) error {
	if s.o.AppToken == "" {
		return nil
	}
	for wait := reconnectAfter; ; wait = min(2*wait, reconnectMost) {
		began := s.o.Now()
		err := s.connect(ctx, actions)
		s.connected.Set(0)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if s.o.Now().Sub(began) > reconnectMost {
			wait = reconnectAfter // it had worked
		}
		f := s.failure("apps.connections.open", err)
		s.o.Logger.Error("slack socket mode stopped; the Ack button does not work until it is back",
			"again_in", wait.String(), "err", f)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// connect runs one client of Socket Mode, which itself renews connections that Slack closes.
func (s *Slack) connect(ctx context.Context, actions Actions) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	client := socketmode.New(s.client)
	ended := make(chan error, 1)
	go func() { ended <- client.RunContext(ctx) }()
	for {
		select {
		case err := <-ended:
			if err == nil {
				err = errors.New("the connection ended")
			}
			return err
		case event := <-client.Events:
			s.take(ctx, client, event, actions)
		}
	}
}

func (s *Slack) take(ctx context.Context, client *socketmode.Client, event socketmode.Event, actions Actions) {
	switch event.Type {
	case socketmode.EventTypeHello:
		s.connected.Set(1)
	case socketmode.EventTypeConnecting, socketmode.EventTypeDisconnect:
		s.connected.Set(0)
	case socketmode.EventTypeConnectionError:
		if cause, ok := event.Data.(*slackgo.ConnectionErrorEvent); ok {
			s.o.Logger.Warn("slack socket mode cannot connect; trying again", "again_in", cause.Backoff.String(), "err", s.failure("apps.connections.open", cause.ErrorObj))
		}
	case socketmode.EventTypeInteractive, socketmode.EventTypeSlashCommand, socketmode.EventTypeEventsAPI:
		if event.Request == nil {
			return
		}
		if err := client.AckCtx(ctx, event.Request.EnvelopeID, nil); err != nil {
			s.o.Logger.Warn("slack could not be answered; it will hand the press over again", "err", err)
		}
		if press, ok := event.Data.(slackgo.InteractionCallback); ok && press.Type == slackgo.InteractionTypeBlockActions {
			go s.act(context.WithoutCancel(ctx), press, actions)
		}
	}
}

// act does what a pressed button asks, if the person may.
func (s *Slack) act(ctx context.Context, press slackgo.InteractionCallback, actions Actions) {
	ctx, cancel := context.WithTimeout(ctx, actionTimeout)
	defer cancel()
	for _, action := range press.ActionCallback.BlockActions {
		do := asked(action.ActionID, actions)
		if do == nil {
			continue // link buttons open by themselves
		}
		p := s.printer(press.Channel.ID)
		by, ok := s.person(press.User)
		if !ok {
			s.whisper(ctx, press, p.Say(phrase.SlackNotAllowed))
			continue
		}
		if _, err := do(ctx, action.Value, by); err != nil {
			s.o.Logger.Error("what was asked for in slack failed", "incident", action.Value, "action", action.ActionID, "by", by, "err", err)
			s.whisper(ctx, press, s.sorry(p, action, err))
		}
	}
}

// asked returns what an action does; nil for one that is not ours.
func asked(action string, actions Actions) func(ctx context.Context, id, by string) (rental.Incident, error) {
	silence := func(length time.Duration) func(ctx context.Context, id, by string) (rental.Incident, error) {
		return func(ctx context.Context, id, by string) (rental.Incident, error) {
			return actions.Silence(ctx, id, length, by)
		}
	}
	switch action {
	case actionAck:
		return actions.Ack
	case actionSilenceHour:
		return silence(time.Hour)
	case actionSilenceFour:
		return silence(4 * time.Hour)
	case actionSilenceFixed:
		return silence(0)
	case actionEscalate:
		return actions.Escalate
	}
	return nil
}

// sorry says in private why a press did nothing.
func (s *Slack) sorry(p phrase.Printer, action *slackgo.BlockAction, err error) string {
	id := clean(action.Value)
	switch {
	case action.ActionID == actionAck:
		return p.Say(phrase.SlackAckFailed, id)
	case action.ActionID == actionEscalate && errors.Is(err, rental.ErrNoStep):
		return p.Say(phrase.SlackNoStep, id)
	case errors.Is(err, rental.ErrOutside):
		return p.Say(phrase.SlackSilenceOutside, id)
	}
	return p.Say(phrase.SlackActFailed, id)
}

// person returns the name of who pressed, and whether they may act.
func (s *Slack) person(user slackgo.User) (string, bool) {
	if len(s.o.People) == 0 {
		for _, name := range []string{user.Name, user.ID} {
			if name = clean(name); name != "" {
				return name, true
			}
		}
		return "", false
	}
	person, known := s.o.People[user.ID]
	return person.Name, known && mayAct(person.Role)
}

// whisper answers the one who pressed, where nobody else sees it.
func (s *Slack) whisper(ctx context.Context, press slackgo.InteractionCallback, text string) {
	_, err := s.client.PostEphemeralContext(ctx, press.Channel.ID, press.User.ID,
		slackgo.MsgOptionText(fallbackText(text), false), slackgo.MsgOptionParse(false), slackgo.MsgOptionDisableMarkdown())
	if err != nil {
		s.o.Logger.Warn("a private answer was not delivered", "user", press.User.ID, "err", s.failure("chat.postEphemeral", err))
	}
}
