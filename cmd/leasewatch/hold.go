package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func registerHold(app *kingpin.Application, actions map[string]action) {
	hold := app.Command("hold", "Legal holds: what they cover is not deleted.")

	var place struct {
		connection
		lease, tenant string
		all           bool
		in            api.PlaceHold
	}
	cmd := hold.Command("place", "Keep all of a lease, a tenant or everything from being deleted, and print the hold.")
	cmd.Flag("lease", "Lease.").StringVar(&place.lease)
	cmd.Flag("tenant", "Tenant.").StringVar(&place.tenant)
	cmd.Flag("all", "Everything.").BoolVar(&place.all)
	cmd.Flag("reason", "Why. It is kept for good: name nobody in it.").Required().StringVar(&place.in.Reason)
	place.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		switch {
		case place.lease != "" && place.tenant == "" && !place.all:
			place.in.Scope, place.in.Of = rental.HoldLease, place.lease
		case place.tenant != "" && place.lease == "" && !place.all:
			place.in.Scope, place.in.Of = rental.HoldTenant, place.tenant
		case place.all && place.lease == "" && place.tenant == "":
			place.in.Scope = rental.HoldAll
		default:
			return usageError{fmt.Errorf("--lease %q, --tenant %q, --all %t: expected one of the three", place.lease, place.tenant, place.all)}
		}
		return place.do(ctx, func(ctx context.Context, c *api.Client) error {
			placed, err := c.PlaceHold(ctx, place.in)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(io.out, placed.ID)
			return err
		})
	}

	var list struct {
		connection
		all    bool
		format string
	}
	cmd = hold.Command("list", "List the holds that stand.")
	cmd.Flag("all", "Those that were released too.").BoolVar(&list.all)
	cmd.Flag("format", "table or json.").Default("table").EnumVar(&list.format, "table", "json")
	list.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return list.do(ctx, func(ctx context.Context, c *api.Client) error {
			holds, err := c.Holds(ctx, list.all)
			if err != nil {
				return err
			}
			if list.format == "json" {
				return printJSON(io.out, holds)
			}
			return printHolds(io.out, holds)
		})
	}

	var release struct {
		connection
		id string
		in api.ReleaseHold
	}
	cmd = hold.Command("release", "End a hold that somebody else placed.")
	cmd.Arg("hold", "Hold, such as HOLD-1.").Required().StringVar(&release.id)
	cmd.Flag("why", "Why. It is kept for good: name nobody in it.").Required().StringVar(&release.in.Why)
	release.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return release.do(ctx, func(ctx context.Context, c *api.Client) error {
			released, err := c.ReleaseHold(ctx, release.id, release.in)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(io.out, "%s is released by %s; %s placed it\n", released.ID, released.ReleasedBy, released.PlacedBy)
			return err
		})
	}
}

func printHolds(w io.Writer, holds []rental.Hold) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "HOLD\tOF\tPLACED\tBY\tREASON\tRELEASED")
	for _, h := range holds {
		of, released := h.Scope, "no"
		if h.Of != "" {
			of += " " + h.Of
		}
		if h.ReleasedAt != 0 {
			released = fmt.Sprintf("%s by %s: %s", h.ReleasedAt, h.ReleasedBy, h.ReleasedWhy)
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%s\n", h.ID, of, h.PlacedAt, h.PlacedBy, h.Reason, released)
	}
	return tab.Flush()
}

func registerRetention(app *kingpin.Application, actions map[string]action) {
	retention := app.Command("retention", "How long each kind of data is kept.")
	var show struct {
		connection
		dryRun bool
		format string
	}
	cmd := retention.Command("show", "Show how long each kind of data is kept.")
	cmd.Flag("dry-run", "Count too what would end now, and what only a hold keeps.").BoolVar(&show.dryRun)
	cmd.Flag("format", "table or json.").Default("table").EnumVar(&show.format, "table", "json")
	show.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return show.do(ctx, func(ctx context.Context, c *api.Client) error {
			kinds, err := c.Retention(ctx, show.dryRun)
			if err != nil {
				return err
			}
			if show.format == "json" {
				return printJSON(io.out, kinds)
			}
			return printRetention(io.out, kinds, show.dryRun)
		})
	}
}

func printRetention(w io.Writer, kinds []rental.Retained, counted bool) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if counted {
		fmt.Fprintln(tab, "KIND\tKEPT FOR\tWOULD END\tHELD\tOLDER THAN")
	} else {
		fmt.Fprintln(tab, "KIND\tKEPT FOR")
	}
	const day = 24 * 3_600_000
	for _, k := range kinds {
		kept, before := "ever", "-"
		if k.KeepMS > 0 {
			kept = fmt.Sprintf("%d days", k.KeepMS/day)
		}
		if k.Before != 0 {
			before = k.Before.String()
		}
		if counted {
			fmt.Fprintf(tab, "%s\t%s\t%d\t%d\t%s\n", k.Kind, kept, k.Rows, k.Held, before)
		} else {
			fmt.Fprintf(tab, "%s\t%s\n", k.Kind, kept)
		}
	}
	return tab.Flush()
}
