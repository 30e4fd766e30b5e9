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

func registerPending(app *kingpin.Application, actions map[string]action) {
	pending := app.Command("pending", "Changes that wait for a second person.")

	var list struct {
		connection
		all    bool
		format string
	}
	cmd := pending.Command("list", "List the changes that wait.")
	cmd.Flag("all", "Those that were decided or have expired too.").BoolVar(&list.all)
	cmd.Flag("format", "table or json.").Default("table").EnumVar(&list.format, "table", "json")
	list.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return list.do(ctx, func(ctx context.Context, c *api.Client) error {
			changes, err := c.Pending(ctx, list.all)
			if err != nil {
				return err
			}
			if list.format == "json" {
				return printJSON(io.out, changes)
			}
			return printPendings(io.out, changes)
		})
	}

	var show struct {
		connection
		id, format string
	}
	cmd = pending.Command("show", "Show what a change would do, and why it waits.")
	cmd.Arg("change", "Change, such as P-3.").Required().StringVar(&show.id)
	cmd.Flag("format", "text or json.").Default("text").EnumVar(&show.format, "text", "json")
	show.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return show.do(ctx, func(ctx context.Context, c *api.Client) error {
			change, err := c.PendingChange(ctx, show.id)
			if err != nil {
				return err
			}
			if show.format == "json" {
				return printJSON(io.out, change)
			}
			return printPending(io.out, change)
		})
	}

	decide := func(name, help string, call func(*api.Client, context.Context, string, api.DecidePending) (rental.Pending, error)) {
		var f struct {
			connection
			id string
			in api.DecidePending
		}
		cmd := pending.Command(name, help)
		cmd.Arg("change", "Change, such as P-3.").Required().StringVar(&f.id)
		cmd.Flag("note", "Why.").StringVar(&f.in.Note)
		f.flags(cmd)
		actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
			return f.do(ctx, func(ctx context.Context, c *api.Client) error {
				decided, err := call(c, ctx, f.id, f.in)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(io.out, "change %s is %s by %s; %s entered it\n", decided.ID, decided.Decision, decided.DecidedBy, decided.EnteredBy)
				return err
			})
		}
	}
	decide("approve", "Approve a change that somebody else entered: it takes effect.", (*api.Client).ApprovePending)
	decide("reject", "Reject a change: nothing of it takes effect.", (*api.Client).RejectPending)
}

func printPendings(w io.Writer, changes []rental.Pending) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "CHANGE\tENTERED\tBY\tABOUT\tSTATE\tWHY IT WAITS")
	for _, p := range changes {
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%s\n", p.ID, p.EnteredAt, p.EnteredBy, strings.Join(p.Topics, ", "), stateOfPending(p), strings.Join(p.Reasons, "; "))
	}
	return tab.Flush()
}

func stateOfPending(p rental.Pending) string {
	switch p.Decision {
	case "":
		return "waits until " + p.ExpiresAt.String()
	case rental.DecisionExpired:
		return "expired at " + p.DecidedAt.String()
	}
	return p.Decision + " by " + p.DecidedBy
}

func printPending(w io.Writer, p rental.Pending) error {
	fmt.Fprintf(w, "change %s: %s\nentered by %s at %s (%s)\n", p.ID, stateOfPending(p), p.EnteredBy, p.EnteredAt, orDash(p.Why))
	for _, why := range p.Reasons {
		fmt.Fprintf(w, "waits because: %s\n", why)
	}
	if p.Note != "" {
		fmt.Fprintf(w, "note: %s\n", p.Note)
	}
	return printChanges(w, api.Changes{Changes: p.Changes})
}

// printHeld says how to go on with a change that waits; nothing where it does not.
func printHeld(w io.Writer, held *rental.Pending) error {
	if held == nil {
		return nil
	}
	for _, why := range held.Reasons {
		fmt.Fprintf(w, "a second person must approve: %s\n", why)
	}
	if held.ID == "" { // of a dry run
		return nil
	}
	_, err := fmt.Fprintf(w, "nothing was changed yet: it waits as %s until %s; somebody else approves it with: leasewatch pending approve %s\n", held.ID, held.ExpiresAt, held.ID)
	return err
}
