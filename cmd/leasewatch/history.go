package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// registerHistory adds lease history.
func registerHistory(lease *kingpin.CmdClause, actions map[string]action) {
	var f struct {
		connection
		id, format string
	}
	cmd := lease.Command("history", "Show all that was recorded of a lease: when, by whom, why, and what it changed.")
	cmd.Arg("lease", "Lease.").Required().StringVar(&f.id)
	cmd.Flag("format", "table or json.").Default("table").EnumVar(&f.format, "table", "json")
	f.flags(cmd)
	f.pastFlag(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return f.do(ctx, func(ctx context.Context, c *api.Client) error {
			entries, err := c.LeaseHistory(ctx, f.id)
			if err != nil {
				return err
			}
			if f.format == "json" {
				return printJSON(io.out, entries)
			}
			return printHistory(io.out, entries)
		})
	}
}

// printHistory writes one line a revision, with what it changed.
func printHistory(w io.Writer, entries []rental.HistoryEntry) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "RECORDED\tBY\tWHY\tWHAT\tREVISION\tCHANGE")
	for _, e := range entries {
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s %s\t%d\t%s: %s\n", e.At, orDash(e.By), orDash(e.Why), e.Kind, e.Name, e.Revision,
			e.Action, strings.ReplaceAll(e.Diff, "\n", "; "))
	}
	return tab.Flush()
}
