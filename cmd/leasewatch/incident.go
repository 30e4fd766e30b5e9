package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func registerIncident(app *kingpin.Application, actions map[string]action) {
	incident := app.Command("incident", "Incidents.")
	registerIncidentActs(incident, actions)

	var list struct {
		connection
		status, format string
	}
	cmd := incident.Command("list", "List incidents, the newest first.")
	cmd.Flag("status", "Only open, acked, resolved or unknown ones.").EnumVar(&list.status, "open", "acked", "resolved", "unknown")
	cmd.Flag("format", "table or json.").Default("table").EnumVar(&list.format, "table", "json")
	list.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return list.do(ctx, func(ctx context.Context, c *api.Client) error {
			incidents, err := c.Incidents(ctx, api.IncidentQuery{Status: rental.IncidentStatus(list.status)})
			if err != nil {
				return err
			}
			if list.format == "json" {
				return printJSON(io.out, incidents)
			}
			tab := tabwriter.NewWriter(io.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(tab, "INCIDENT\tSTATUS\tSEVERITY\tOPENED\tTITLE")
			for _, i := range incidents.Incidents {
				fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\n", i.ID, i.Status, i.Severity, i.OpenedAt, i.Title)
			}
			return tab.Flush()
		})
	}

	registerIncidentClocks(incident, actions)

	var ack struct {
		connection
		id, note string
	}
	cmd = incident.Command("ack", "Acknowledge an incident.")
	cmd.Arg("incident", "Incident, such as INC-42.").Required().StringVar(&ack.id)
	cmd.Flag("note", "What to add to its timeline.").StringVar(&ack.note)
	ack.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return ack.do(ctx, func(ctx context.Context, c *api.Client) error {
			i, err := c.AckIncident(ctx, ack.id, api.AckIncident{Note: ack.note})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(io.out, "%s is acknowledged by %s since %s\n", i.ID, i.AckedBy, i.AckedAt)
			return err
		})
	}
}
