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

func registerInventory(app *kingpin.Application, actions map[string]action) {
	inventory := app.Command("inventory", "Sites, hosts and GPUs.")

	var adopt struct {
		connection
		in     api.Adopt
		accept bool
	}
	cmd := inventory.Command("adopt", "Propose the hosts and GPUs that exporters report; with --accept, record them.")
	cmd.Flag("site", "Site of the hosts; mandatory with --accept.").StringVar(&adopt.in.Site)
	cmd.Flag("host", "Only this host; may be given again.").StringsVar(&adopt.in.Hosts)
	cmd.Flag("accept", "Record the proposal.").BoolVar(&adopt.accept)
	adopt.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		if adopt.accept && adopt.in.Site == "" {
			return usageError{fmt.Errorf("--accept needs --site, the site where the hosts stand")}
		}
		return adopt.do(ctx, func(ctx context.Context, c *api.Client) error {
			if !adopt.accept {
				proposals, err := c.Proposals(ctx)
				if err != nil {
					return err
				}
				return printProposals(io.out, proposals)
			}
			changes, err := c.Adopt(ctx, adopt.in)
			if err != nil {
				return err
			}
			return printChanges(io.out, changes)
		})
	}

	registerInventoryImport(inventory, actions)

	var diff connection
	cmd = inventory.Command("diff", "Show only where exporters report something else than is recorded.")
	diff.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return diff.do(ctx, func(ctx context.Context, c *api.Client) error {
			proposals, err := c.Proposals(ctx)
			if err != nil {
				return err
			}
			return printDifferences(io.out, proposals)
		})
	}

	var conflicts connection
	cmd = inventory.Command("conflicts", "List where records and reports contradict each other, with what to do.")
	conflicts.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return conflicts.do(ctx, func(ctx context.Context, c *api.Client) error {
			found, err := c.InventoryConflicts(ctx)
			if err != nil {
				return err
			}
			if len(found) == 0 {
				_, err := fmt.Fprintln(io.out, "no conflicts")
				return err
			}
			for _, one := range found {
				fmt.Fprintf(io.out, "%s: %s\n", one.Kind, one.Text)
			}
			return nil
		})
	}
}

func printProposals(w io.Writer, proposals api.Proposals) error {
	if len(proposals.Hosts) == 0 {
		_, err := fmt.Fprintln(w, "no exporter reports a host: check the targets (leasewatch_exporter_... on /metrics, /prometheus/api/v1/targets)")
		return err
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "HOST\tSLOT\tGPU\tSERIAL\tMODEL\tSKU\tACTION\tCONFLICT")
	for _, host := range proposals.Hosts {
		for _, gpu := range host.GPUs {
			fmt.Fprintf(tab, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n", host.Host.Name, gpu.GPU.Slot, gpu.GPU.UUID,
				gpu.GPU.Serial, gpu.Model, gpu.GPU.SKU, gpu.Action, gpu.Conflict)
		}
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	if err := printMIGProposals(w, proposals); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "nothing was recorded; accept with: leasewatch inventory adopt --accept --site SITE")
	return err
}

// printMIGProposals prints the MIG instances, where a card has any.
func printMIGProposals(w io.Writer, proposals api.Proposals) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	head := "\nHOST\tMIG INSTANCE\tGPU\tPROFILE\tPLACEMENT\tACTION\tCONFLICT\n"
	for _, host := range proposals.Hosts {
		for _, m := range host.MIGInstances {
			action := m.Action
			if m.Instance.Removed {
				action = "remove"
			}
			fmt.Fprintf(tab, "%s%s\t%s\t%s\t%s\t%s\t%s\t%s\n", head, host.Host.Name, m.Instance.UUID, m.Instance.GPU,
				m.Instance.Profile, m.Instance.Placement, action, m.Conflict)
			head = ""
		}
	}
	return tab.Flush()
}

// printDifferences prints a line for each thing that is not as it is recorded.
func printDifferences(w io.Writer, proposals api.Proposals) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	lines := 0
	line := func(action, kind, name, what string) {
		lines++
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\n", action, kind, name, what)
	}
	for _, h := range proposals.Hosts {
		if h.New {
			line(rental.ActionCreate, rental.KindHost, h.Host.Name, "")
		}
		for _, g := range h.GPUs {
			switch {
			case g.Conflict != "":
				line("conflict", rental.KindGPU, g.GPU.UUID, g.Conflict)
			case g.Action != rental.ActionUnchanged:
				line(g.Action, rental.KindGPU, g.GPU.UUID, g.Note)
			}
		}
		for _, m := range h.MIGInstances {
			switch {
			case m.Conflict != "":
				line("conflict", rental.KindMIG, m.Instance.UUID, m.Conflict)
			case m.Instance.Removed && m.Action != rental.ActionUnchanged:
				line("remove", rental.KindMIG, m.Instance.UUID, m.Instance.Profile+" of GPU "+m.Instance.GPU+" is not there any more")
			case m.Action != rental.ActionUnchanged:
				line(m.Action, rental.KindMIG, m.Instance.UUID, m.Instance.Profile+" of GPU "+m.Instance.GPU)
			}
		}
	}
	for _, g := range proposals.Leaving {
		line(rental.ActionUpdate, rental.KindGPU, g.UUID, fmt.Sprintf("leaves slot %d of host %s for rma: another GPU sits there", g.Slot, g.Host))
	}
	for _, g := range proposals.Vanished {
		line("vanished", rental.KindGPU, g.UUID, fmt.Sprintf("slot %d of host %s: the host reports and tells nothing of it", g.Slot, g.Host))
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	switch {
	case lines == 0:
		_, err := fmt.Fprintln(w, "no differences")
		return err
	case proposals.Held != "":
		_, err := fmt.Fprintln(w, "held: "+proposals.Held)
		return err
	}
	return nil
}
