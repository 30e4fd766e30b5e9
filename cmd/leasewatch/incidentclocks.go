package main

import (
	"context"
	"fmt"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// registerIncidentClocks adds what people say of an incident that its clocks count.
func registerIncidentClocks(incident *kingpin.CmdClause, actions map[string]action) {
	for _, of := range []struct {
		name, help, done string
		say              func(context.Context, *api.Client, string, api.IncidentWord) (rental.Incident, error)
	}{
		{"report", "Tell the provider of an incident: by the contract's word, its clocks start here.", "reported",
			func(ctx context.Context, c *api.Client, id string, in api.IncidentWord) (rental.Incident, error) {
				return c.ReportIncident(ctx, id, in)
			}},
		{"verify", "Say that it works again, once the incident is resolved.", "verified",
			func(ctx context.Context, c *api.Client, id string, in api.IncidentWord) (rental.Incident, error) {
				return c.VerifyIncident(ctx, id, in)
			}},
	} {
		word := &struct {
			connection
			id string
			in api.IncidentWord
		}{}
		cmd := incident.Command(of.name, of.help)
		incidentArg(cmd, &word.id)
		cmd.Flag("note", "In your own words.").Required().StringVar(&word.in.Note)
		word.flags(cmd)
		actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
			return word.do(ctx, func(ctx context.Context, c *api.Client) error {
				i, err := of.say(ctx, c, word.id, word.in)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(io.out, "%s is %s\n", i.ID, of.done)
				return err
			})
		}
	}

	var answer struct {
		connection
		id, at string
		in     api.NoteAnswer
	}
	cmd := incident.Command("note-answer", "Note that a person answered earlier, by phone for one; it counts once another person approves it.")
	incidentArg(cmd, &answer.id)
	cmd.Flag("at", "When it was answered, in RFC 3339.").Required().StringVar(&answer.at)
	cmd.Flag("note", "How, and by whom.").Required().StringVar(&answer.in.Note)
	answer.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		if err := readMoments(map[string]*rental.Millis{"--at=" + answer.at: &answer.in.At}); err != nil {
			return err
		}
		return answer.do(ctx, func(ctx context.Context, c *api.Client) error {
			i, err := c.NoteAnswer(ctx, answer.id, answer.in)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(io.out, "an answer to %s at %s waits for another person (leasewatch incident approve-answer %s)\n", i.ID, answer.in.At, i.ID)
			return err
		})
	}

	var approve struct {
		connection
		id string
	}
	cmd = incident.Command("approve-answer", "Approve the answer that waits, as another person than who noted it.")
	incidentArg(cmd, &approve.id)
	approve.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return approve.do(ctx, func(ctx context.Context, c *api.Client) error {
			i, err := c.ApproveAnswer(ctx, approve.id)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(io.out, "%s was answered at %s\n", i.ID, i.Responded())
			return err
		})
	}
}
