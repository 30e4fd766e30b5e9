package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func registerLease(app *kingpin.Application, actions map[string]action) {
	lease := app.Command("lease", "Contracts and leases.")

	var apply struct {
		connection
		files  []string
		dryRun bool
	}
	cmd := lease.Command("apply", "Record the resources of YAML files: providers, tenants, sites, hosts, SKUs, GPUs, contracts, leases, maintenance.")
	cmd.Flag("file", "File or folder of YAML, or - for standard input; may be given again.").Short('f').Required().StringsVar(&apply.files)
	cmd.Flag("dry-run", "Say what would change, and change nothing.").BoolVar(&apply.dryRun)
	apply.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return apply.do(ctx, func(ctx context.Context, c *api.Client) error {
			return applyFiles(ctx, c, io, apply.files, apply.dryRun)
		})
	}

	var list struct {
		connection
		query  api.LeaseQuery
		format string
	}
	cmd = lease.Command("list", "List leases with their month so far.")
	cmd.Flag("tenant", "Only this tenant's.").StringVar(&list.query.Tenant)
	cmd.Flag("provider", "Only this provider's.").StringVar(&list.query.Provider)
	cmd.Flag("format", "table or json.").Default("table").EnumVar(&list.format, "table", "json")
	list.flags(cmd)
	list.pastFlag(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return list.do(ctx, func(ctx context.Context, c *api.Client) error {
			leases, err := c.Leases(ctx, list.query)
			if err != nil {
				return err
			}
			if list.format == "json" {
				return printJSON(io.out, leases)
			}
			return printLeases(io.out, leases)
		})
	}

	var show struct {
		connection
		id string
	}
	cmd = lease.Command("show", "Show one lease with its contract and GPUs, as JSON.")
	cmd.Arg("lease", "Lease.").Required().StringVar(&show.id)
	show.flags(cmd)
	show.pastFlag(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return show.do(ctx, func(ctx context.Context, c *api.Client) error {
			detail, err := c.Lease(ctx, show.id)
			if err != nil {
				return err
			}
			return printJSON(io.out, detail)
		})
	}

	registerHistory(lease, actions)
	registerDiff(lease, actions)
	registerLeaseAdopt(lease, actions)

	var end struct {
		connection
		id, at string
	}
	cmd = lease.Command("end", "End a lease.")
	cmd.Arg("lease", "Lease.").Required().StringVar(&end.id)
	cmd.Flag("at", "When, in RFC 3339; now where it is not given.").StringVar(&end.at)
	end.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		at := rental.At(time.Now())
		if end.at != "" {
			if err := at.UnmarshalText([]byte(end.at)); err != nil {
				return usageError{fmt.Errorf("--at: %w", err)}
			}
		}
		return end.do(ctx, func(ctx context.Context, c *api.Client) error {
			ended, err := c.EndLease(ctx, end.id, api.EndLease{At: at})
			if err != nil {
				return err
			}
			if ended.Pending != nil {
				return printHeld(io.out, ended.Pending)
			}
			_, err = fmt.Fprintf(io.out, "lease %s ends at %s\n", ended.ID, ended.End)
			return err
		})
	}
}

// applyFiles checks every file here, so that errors name the file and the line, and sends
// them as one: all of it is recorded or nothing.
func applyFiles(ctx context.Context, c *api.Client, io streams, names []string, dryRun bool) error {
	resources, places, err := readFiles(io, names)
	if err != nil {
		return err
	}
	changes, err := submit(ctx, c, resources, places, dryRun)
	if err != nil {
		return err
	}
	return printChanges(io.out, changes)
}

func printChanges(w io.Writer, changes api.Changes) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, change := range changes.Changes {
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\n", change.Action, change.Kind, change.Name, strings.ReplaceAll(change.Diff, "\n", "; "))
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	if err := printHeld(w, changes.Pending); err != nil {
		return err
	}
	if changes.DryRun {
		_, err := fmt.Fprintln(w, "dry run: nothing was changed")
		return err
	}
	return nil
}

func printLeases(w io.Writer, leases []api.LeaseSummary) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "LEASE\tTENANT\tPROVIDER\tSKU\tGPUS\tSTATE\tHEALTH\tMONTH\tCOST\tUSE\tSEEN\tAVAILABLE")
	for _, l := range leases {
		available := "no objective"
		if l.AvailabilityLow != nil && l.AvailabilityHigh != nil {
			available = strings.ReplaceAll(string(l.Outcome), "_", " ") // of a lease that has not begun there is no share to tell
		}
		if l.AvailabilityLow != nil && l.AvailabilityHigh != nil && l.AvailabilityLow.Percent != "" {
			available = l.AvailabilityLow.Percent + " to " + l.AvailabilityHigh.Percent + " % (" + string(l.Outcome) + ")"
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s %s\t%s\t%s\t%s\n",
			l.ID, l.Tenant, l.Provider, l.SKU, l.GPUs, l.State, l.Health, l.Month,
			l.Cost.Currency, l.Cost.Decimal, percent(l.Utilisation), percent(l.Coverage), available)
	}
	return tab.Flush()
}

// percent shows a share, or that it was never measured.
func percent(share *float64) string {
	if share == nil {
		return "not measured"
	}
	return fmt.Sprintf("%.1f %%", *share*100)
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
