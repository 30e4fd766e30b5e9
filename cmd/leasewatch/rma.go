package main

import (
	"context"
	"fmt"
	stdio "io"
	"strings"
	"text/tabwriter"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// registerRMA adds the cases of GPUs that go back to their maker.
func registerRMA(app *kingpin.Application, actions map[string]action) {
	rma := app.Command("rma", "GPUs that go back to their maker: the case, its evidence, and what came of it.")
	registerRMAReads(rma, actions)
	registerRMAActs(rma, actions)

	var bundle struct {
		connection
		id, out string
		query   api.RMABundleQuery
	}
	cmd := rma.Command("bundle", "Write the evidence for the maker: states, XIDs, ECC, remapped rows, retired pages, temperatures, the card's history, the incident.")
	rmaArg(cmd, &bundle.id)
	cmd.Flag("out", "Zip file to write; none may be there.").Short('o').Required().StringVar(&bundle.out)
	cmd.Flag("days", "How many days before the incident, or the opening of the case, the samples begin.").Default("7").IntVar(&bundle.query.Days)
	cmd.Flag("with-tenants", "Name leases and tenants, and hold the incident as it was told.").BoolVar(&bundle.query.Tenants)
	bundle.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		if bundle.query.Days < 1 || bundle.query.Days > 400 {
			return usageError{fmt.Errorf("--days: found %d, expected 1 to 400", bundle.query.Days)}
		}
		return bundle.do(ctx, func(ctx context.Context, c *api.Client) error {
			body, err := c.RMABundle(ctx, bundle.id, bundle.query)
			if err != nil {
				return err
			}
			if err := writeNew(bundle.out, body); err != nil {
				return err
			}
			_, err = fmt.Fprintf(io.out, "the evidence of %s is in %s\n", bundle.id, bundle.out)
			return err
		})
	}
}

func rmaArg(cmd *kingpin.CmdClause, to *string) {
	cmd.Arg("rma", "Case, such as RMA-000001.").Required().StringVar(to)
}

func registerRMAReads(rma *kingpin.CmdClause, actions map[string]action) {
	var list struct {
		connection
		query  api.RMAQuery
		format string
	}
	cmd := rma.Command("list", "List cases.")
	cmd.Flag("gpu", "Only those of this GPU, by uuid.").StringVar(&list.query.GPU)
	cmd.Flag("state", "Only open, replaced or closed ones.").EnumVar(&list.query.State, rental.RMAStates...)
	cmd.Flag("format", "table or json.").Default("table").EnumVar(&list.format, "table", "json")
	list.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return list.do(ctx, func(ctx context.Context, c *api.Client) error {
			found, err := c.RMAs(ctx, list.query)
			if err != nil {
				return err
			}
			if list.format == "json" {
				return printJSON(io.out, found)
			}
			tab := tabwriter.NewWriter(io.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(tab, "RMA\tGPU\tSERIAL\tSTATE\tOPENED\tREPLACED BY")
			for _, r := range found {
				fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, r.GPU, oneLine(r.Serial), r.State, r.Acts[0].At, cameFor(r))
			}
			return tab.Flush()
		})
	}

	var show struct {
		connection
		id, format string
	}
	cmd = rma.Command("show", "Show one case with what people did.")
	rmaArg(cmd, &show.id)
	cmd.Flag("format", "table or json.").Default("table").EnumVar(&show.format, "table", "json")
	show.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return show.do(ctx, func(ctx context.Context, c *api.Client) error {
			one, err := c.RMA(ctx, show.id)
			if err != nil {
				return err
			}
			if show.format == "json" {
				return printJSON(io.out, one)
			}
			return printRMA(io.out, one)
		})
	}
}

func registerRMAActs(rma *kingpin.CmdClause, actions map[string]action) {
	var open struct {
		connection
		in api.OpenRMA
	}
	cmd := rma.Command("open", "Open the case of a GPU that no lease holds: its life becomes rma.")
	cmd.Arg("gpu", "GPU by uuid.").Required().StringVar(&open.in.GPU)
	cmd.Flag("why", "What is wrong with it.").Required().StringVar(&open.in.Why)
	cmd.Flag("incident", "Incident that it began with, such as INC-42.").StringVar(&open.in.Incident)
	open.flags(cmd)
	act(actions, cmd, &open.connection, func(ctx context.Context, c *api.Client) (rental.RMA, error) { return c.OpenRMA(ctx, open.in) })

	var replace struct {
		connection
		id string
		in api.ReplaceRMA
	}
	cmd = rma.Command("replace", "Name the GPU that came for the one that went; it goes into stock where the inventory does not know it.")
	rmaArg(cmd, &replace.id)
	cmd.Flag("gpu", "The one that came, by uuid.").Required().StringVar(&replace.in.UUID)
	cmd.Flag("serial", "Its serial; not needed for one that the inventory knows.").StringVar(&replace.in.Serial)
	cmd.Flag("why", "Reason, for the record, such as the maker's number.").Required().StringVar(&replace.in.Why)
	replace.flags(cmd)
	act(actions, cmd, &replace.connection, func(ctx context.Context, c *api.Client) (rental.RMA, error) {
		return c.ReplaceRMA(ctx, replace.id, replace.in)
	})

	var closing struct {
		connection
		id string
		in api.CloseRMA
	}
	cmd = rma.Command("close", "Close a case: a replaced GPU is scrapped, one that came back repaired or without a fault goes into stock.")
	rmaArg(cmd, &closing.id)
	cmd.Flag("outcome", "replaced, repaired, no_fault or refused.").Required().EnumVar(&closing.in.Outcome, rental.RMAOutcomes...)
	cmd.Flag("why", "Reason, for the record.").Required().StringVar(&closing.in.Why)
	closing.flags(cmd)
	act(actions, cmd, &closing.connection, func(ctx context.Context, c *api.Client) (rental.RMA, error) {
		return c.CloseRMA(ctx, closing.id, closing.in)
	})
}

// act makes a command of what changes a case, and tells how it then stands.
func act(actions map[string]action, cmd *kingpin.CmdClause, to *connection, do func(context.Context, *api.Client) (rental.RMA, error)) {
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return to.do(ctx, func(ctx context.Context, c *api.Client) error {
			r, err := do(ctx, c)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(io.out, "%s of GPU %s is %s\n", r.ID, r.GPU, r.State)
			return err
		})
	}
}

// cameFor names the card that came, "-" where none did.
func cameFor(r rental.RMA) string {
	if r.Replacement == nil {
		return "-"
	}
	return oneLine(r.Replacement.UUID + " (serial " + r.Replacement.Serial + ")")
}

func printRMA(w stdio.Writer, r rental.RMA) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: GPU %s, serial %s, is %s\n", r.ID, r.GPU, oneLine(r.Serial), r.State)
	fmt.Fprintf(&b, "%s, slot %d of %s\n", r.SKU, r.Slot, r.Host)
	if r.Incident != "" {
		fmt.Fprintf(&b, "incident %s\n", r.Incident)
	}
	if r.Replacement != nil {
		fmt.Fprintf(&b, "replaced by %s\n", cameFor(r))
	}
	for _, a := range r.Acts {
		fmt.Fprintf(&b, "%s %s\n", a.At, oneLine(actLine(a)))
	}
	_, err := stdio.WriteString(w, b.String())
	return err
}
