package main

import (
	"context"
	"fmt"
	stdio "io"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func registerOnCall(app *kingpin.Application, actions map[string]action) {
	oncall := app.Command("oncall", "Who is on call, and whom a page calls.")
	for _, one := range []struct {
		name, help string
		turns      string
		print      func(stdio.Writer, api.OnCall) error
	}{
		{"who", "Say who is on call, and the ladder that a page climbs.", "", printWho},
		{"next", "List the turns to come.", "6", printTurns},
	} {
		in := &struct {
			connection
			at, format string
			turns      int
		}{turns: 1}
		cmd := oncall.Command(one.name, one.help)
		cmd.Flag("at", "The moment, such as 2026-12-24T18:00:00+01:00; now where it is not given.").StringVar(&in.at)
		cmd.Flag("format", "table or json.").Default("table").EnumVar(&in.format, "table", "json")
		if one.turns != "" {
			cmd.Flag("turns", "How many of each rotation, at most 100.").Default(one.turns).IntVar(&in.turns)
		}
		in.flags(cmd)
		actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
			q := api.OnCallQuery{Turns: in.turns}
			if in.at != "" {
				if err := q.At.UnmarshalText([]byte(in.at)); err != nil {
					return usageError{fmt.Errorf("--at: %w", err)}
				}
			}
			return in.do(ctx, func(ctx context.Context, c *api.Client) error {
				found, err := c.OnCall(ctx, q)
				if err != nil {
					return err
				}
				if in.format == "json" {
					return printJSON(io.out, found)
				}
				return one.print(io.out, found)
			})
		}
	}
}

func printWho(w stdio.Writer, found api.OnCall) error {
	if err := printTurns(w, found); err != nil {
		return err
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "\nPAGE OPEN FOR\tCALLS\tBY")
	for _, s := range found.Ladder {
		fmt.Fprintf(tab, "%s\t%s\t%s\n", time.Duration(s.AfterSeconds)*time.Second, oneLine(s.Shown), s.Way)
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "then again every %s until somebody acknowledges\n", time.Duration(found.RepeatSeconds)*time.Second)
	return err
}

func printTurns(w stdio.Writer, found api.OnCall) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "ROTATION\tON CALL\tFROM\tTO\t")
	for _, r := range found.Rotations {
		zone, err := rental.LoadZone(r.Zone)
		if err != nil {
			zone = time.UTC
		}
		at := func(m rental.Millis) string { return m.Time().In(zone).Format("2006-01-02 15:04 MST") }
		for _, t := range r.Turns {
			note := ""
			if t.Override {
				note = "override"
			}
			fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\n", r.Name, oneLine(t.Shown), at(t.Start), at(t.End), note)
		}
	}
	return tab.Flush()
}
