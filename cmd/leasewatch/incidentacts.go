package main

import (
	"context"
	"fmt"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
)

// maxSilence is the longest silence of an incident.
const maxSilence = 7 * 24 * time.Hour

func incidentArg(cmd *kingpin.CmdClause, to *string) {
	cmd.Arg("incident", "Incident, such as INC-42.").Required().StringVar(to)
}

func registerIncidentActs(incident *kingpin.CmdClause, actions map[string]action) {
	var silence struct {
		connection
		id    string
		long  time.Duration
		fixed bool
	}
	cmd := incident.Command("silence", "Silence an incident: whoever does has it in hand.")
	incidentArg(cmd, &silence.id)
	cmd.Flag("for", "For how long, such as 1h or 4h; at most 168h.").DurationVar(&silence.long)
	cmd.Flag("until-fixed", "Until its alerts end.").BoolVar(&silence.fixed)
	silence.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		switch {
		case silence.fixed == (silence.long != 0):
			return usageError{fmt.Errorf("expected either --for or --until-fixed")}
		case !silence.fixed && (silence.long < time.Minute || silence.long > maxSilence):
			return usageError{fmt.Errorf("--for %s: expected between 1m and 168h", silence.long)}
		}
		return silence.do(ctx, func(ctx context.Context, c *api.Client) error {
			i, err := c.SilenceIncident(ctx, silence.id, api.SilenceIncident{Minutes: int(silence.long / time.Minute), UntilFixed: silence.fixed})
			if err != nil {
				return err
			}
			until := "until fixed"
			if !silence.fixed && i.Silence != nil {
				until = "until " + i.Silence.Until.String()
			}
			_, err = fmt.Fprintf(io.out, "%s is silent %s\n", i.ID, until)
			return err
		})
	}

	var escalate struct {
		connection
		id string
	}
	cmd = incident.Command("escalate", "Call the next step of the ladder at once.")
	incidentArg(cmd, &escalate.id)
	escalate.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return escalate.do(ctx, func(ctx context.Context, c *api.Client) error {
			i, err := c.EscalateIncident(ctx, escalate.id)
			if err != nil {
				return err
			}
			called := ""
			for _, e := range i.Events {
				if e.Kind == "climbed" {
					called = e.Note
				}
			}
			_, err = fmt.Fprintf(io.out, "%s calls %s\n", i.ID, oneLine(called))
			return err
		})
	}

	var note struct {
		connection
		id, text string
	}
	cmd = incident.Command("note", "Add to the timeline of an incident; it tells nobody.")
	incidentArg(cmd, &note.id)
	cmd.Arg("text", "What to add.").Required().StringVar(&note.text)
	note.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return note.do(ctx, func(ctx context.Context, c *api.Client) error {
			i, err := c.NoteIncident(ctx, note.id, api.NoteIncident{Note: note.text})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(io.out, "noted on %s\n", i.ID)
			return err
		})
	}

	var export struct {
		connection
		id, out, lang string
	}
	cmd = incident.Command("export", "Write an incident as Markdown: alerts, timeline, messages.")
	incidentArg(cmd, &export.id)
	cmd.Flag("out", "File to write; none may be there. Standard output where it is not given.").Short('o').StringVar(&export.out)
	cmd.Flag("lang", "en or zh.").Default("en").EnumVar(&export.lang, "en", "zh")
	export.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return export.do(ctx, func(ctx context.Context, c *api.Client) error {
			text, err := c.ExportIncident(ctx, export.id, export.lang)
			if err != nil {
				return err
			}
			if export.out == "" {
				_, err = io.out.Write(text)
				return err
			}
			if err := writeNew(export.out, text); err != nil {
				return err
			}
			_, err = fmt.Fprintf(io.out, "%s is in %s\n", export.id, export.out)
			return err
		})
	}
}
