package main

import (
	"context"
	"fmt"
	stdio "io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func registerMaintenance(app *kingpin.Application, actions map[string]action) {
	maintenance := app.Command("maintenance", "Maintenance: windows that are announced, who was told, and which leases they excuse.")
	registerMaintenanceReads(maintenance, actions)

	var announce struct {
		connection
		in         api.AnnounceMaintenance
		start, end string
	}
	cmd := maintenance.Command("announce", "Announce a window on hosts or leases; it excuses nothing until its tenants are told.")
	maintenanceArg(cmd, &announce.in.ID)
	cmd.Flag("host", "A host that it touches; may be given several times.").StringsVar(&announce.in.Hosts)
	cmd.Flag("lease", "A lease that it touches; may be given several times.").StringsVar(&announce.in.Leases)
	cmd.Flag("start", "When it begins, in RFC 3339.").Required().StringVar(&announce.start)
	cmd.Flag("end", "When it ends, in RFC 3339.").Required().StringVar(&announce.end)
	cmd.Flag("reason", "What is done and why, for tenants to read.").Required().StringVar(&announce.in.Reason)
	announce.flags(cmd)
	actions[cmd.FullCommand()] = actOnWindow(&announce.connection, func(ctx context.Context, c *api.Client) (api.MaintenanceFact, error) {
		for flag, one := range map[string]struct {
			text string
			to   *rental.Millis
		}{"--start": {announce.start, &announce.in.Start}, "--end": {announce.end, &announce.in.End}} {
			if err := one.to.UnmarshalText([]byte(one.text)); err != nil {
				return api.MaintenanceFact{}, usageError{fmt.Errorf("%s: %w", flag, err)}
			}
		}
		return c.AnnounceMaintenance(ctx, announce.in)
	})

	var deliver struct {
		connection
		id string
		in api.DeliverMaintenance
	}
	cmd = maintenance.Command("deliver", "Say that a tenant was told of a window, now: the notice counts from here.")
	maintenanceArg(cmd, &deliver.id)
	cmd.Flag("tenant", "Who was told.").Required().StringVar(&deliver.in.Tenant)
	cmd.Flag("way", "How: mail, slack, phone...").Required().StringVar(&deliver.in.Way)
	cmd.Flag("note", "What proves it, such as the message's id, for both sides to read.").Required().StringVar(&deliver.in.Note)
	deliver.flags(cmd)
	actions[cmd.FullCommand()] = actOnWindow(&deliver.connection, func(ctx context.Context, c *api.Client) (api.MaintenanceFact, error) {
		return c.DeliverMaintenance(ctx, deliver.id, deliver.in)
	})

	var cancel struct {
		connection
		id string
		in api.CancelMaintenance
	}
	cmd = maintenance.Command("cancel", "Cancel a window: it ends now, or never begins.")
	maintenanceArg(cmd, &cancel.id)
	cmd.Flag("reason", "Why, for both sides to read.").Required().StringVar(&cancel.in.Reason)
	cancel.flags(cmd)
	actions[cmd.FullCommand()] = actOnWindow(&cancel.connection, func(ctx context.Context, c *api.Client) (api.MaintenanceFact, error) {
		return c.CancelMaintenance(ctx, cancel.id, cancel.in)
	})
}

func maintenanceArg(cmd *kingpin.CmdClause, to *string) {
	cmd.Arg("maintenance", "The window's name, such as M-31.").Required().StringVar(to)
}

// actOnWindow runs one act upon a window and shows it as it stands then.
func actOnWindow(conn *connection, act func(context.Context, *api.Client) (api.MaintenanceFact, error)) action {
	return func(ctx context.Context, io streams) error {
		return conn.do(ctx, func(ctx context.Context, c *api.Client) error {
			one, err := act(ctx, c)
			if err != nil {
				return err
			}
			return printMaintenance(io.out, one)
		})
	}
}

func registerMaintenanceReads(maintenance *kingpin.CmdClause, actions map[string]action) {
	var list struct {
		connection
		query  api.MaintenanceQuery
		format string
	}
	cmd := maintenance.Command("list", "List windows with where each stands and who waits to be told.")
	cmd.Flag("lease", "Only those that touch this lease.").StringVar(&list.query.Lease)
	cmd.Flag("tenant", "Only those that touch this tenant's leases.").StringVar(&list.query.Tenant)
	cmd.Flag("host", "Only those of this host.").StringVar(&list.query.Host)
	cmd.Flag("state", "Only announced, running, over or cancelled ones.").EnumVar(&list.query.State, rental.MaintenanceStates...)
	cmd.Flag("format", "table or json.").Default("table").EnumVar(&list.format, "table", "json")
	list.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return list.do(ctx, func(ctx context.Context, c *api.Client) error {
			found, err := c.Maintenances(ctx, list.query)
			if err != nil {
				return err
			}
			if list.format == "json" {
				return printJSON(io.out, found)
			}
			return printMaintenances(io.out, found)
		})
	}

	var show struct {
		connection
		id, format string
	}
	cmd = maintenance.Command("show", "Show one window: the leases that it touches, who was told and when, whether it excuses them.")
	maintenanceArg(cmd, &show.id)
	cmd.Flag("format", "table or json.").Default("table").EnumVar(&show.format, "table", "json")
	show.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return show.do(ctx, func(ctx context.Context, c *api.Client) error {
			one, err := c.Maintenance(ctx, show.id)
			if err != nil {
				return err
			}
			if show.format == "json" {
				return printJSON(io.out, one)
			}
			return printMaintenance(io.out, one)
		})
	}
}

func printMaintenances(w stdio.Writer, found []api.MaintenanceFact) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "MAINTENANCE\tSTART\tEND\tSTATE\tHOSTS\tLEASES\tNOT TOLD")
	for _, m := range found {
		var leases, waiting []string
		for _, t := range m.Touches {
			leases = append(leases, t.Lease)
			if t.Delivered == 0 {
				waiting = append(waiting, t.Lease)
			}
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", m.ID, m.Start, m.End, m.State, namesOrDash(m.Hosts), namesOrDash(leases), namesOrDash(waiting))
	}
	return tab.Flush()
}

func namesOrDash(names []string) string {
	if len(names) == 0 {
		return "-"
	}
	return oneLine(strings.Join(names, ","))
}

func printMaintenance(w stdio.Writer, m api.MaintenanceFact) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s to %s\n", m.ID, m.State, m.Start, m.End)
	if len(m.Hosts) > 0 {
		fmt.Fprintf(&b, "hosts %s\n", namesOrDash(m.Hosts))
	}
	for _, t := range m.Touches {
		fmt.Fprintf(&b, "lease %s of %s: %s\n", t.Lease, t.Tenant, oneLine(standsBefore(t)))
	}
	for _, a := range m.Acts {
		fmt.Fprintf(&b, "%s %s\n", a.At, oneLine(deliveryLine(a)))
	}
	_, err := stdio.WriteString(w, b.String())
	return err
}

// standsBefore says whether a window excuses a lease, and why not.
func standsBefore(t api.MaintenanceLease) string {
	notice := time.Duration(t.NoticeMS) * time.Millisecond
	switch t.Standing {
	case rental.MaintenanceCounts:
		return fmt.Sprintf("told at %s, it counts", t.Delivered)
	case rental.MaintenanceLate:
		return fmt.Sprintf("told at %s, too late to count: the contract asks for %s", t.Delivered, notice)
	}
	return fmt.Sprintf("not told, it does not count: the contract asks for %s of notice", notice)
}

// deliveryLine is an act with to whom and how a notice went.
func deliveryLine(a rental.Act) string {
	if a.Kind != rental.ActDelivered {
		return actLine(a)
	}
	a.Kind = fmt.Sprintf("%s to %s (%s)", a.Kind, a.Tenant, a.Way)
	return actLine(a)
}
