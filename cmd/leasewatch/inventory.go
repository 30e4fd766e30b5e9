package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
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
	_, err := fmt.Fprintln(w, "nothing was recorded; accept with: leasewatch inventory adopt --accept --site SITE")
	return err
}
