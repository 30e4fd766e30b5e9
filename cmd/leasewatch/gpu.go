package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// registerGPU adds what becomes of GPUs: their lives, their slots, and others in their places.
func registerGPU(app *kingpin.Application, actions map[string]action) {
	var swap struct {
		connection
		lease, at string
		in        api.SwapGPU
	}
	cmd := app.GetCommand("lease").Command("swap", "Let another GPU serve in the place of one; the time between failure and swap stays the lease's.")
	cmd.Arg("lease", "Lease.").Required().StringVar(&swap.lease)
	cmd.Flag("gpu", "GPU or MIG instance that serves it, by uuid.").Required().StringVar(&swap.in.GPU)
	cmd.Flag("with", "GPU or MIG instance that takes its place, by uuid.").Required().StringVar(&swap.in.With)
	cmd.Flag("at", "When, in RFC 3339; now where it is not given.").StringVar(&swap.at)
	cmd.Flag("why", "Reason, for the record, such as the RMA's number.").StringVar(&swap.in.Why)
	swap.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		swap.in.At = rental.At(time.Now())
		if swap.at != "" {
			if err := swap.in.At.UnmarshalText([]byte(swap.at)); err != nil {
				return usageError{fmt.Errorf("--at: %w", err)}
			}
		}
		return swap.do(ctx, func(ctx context.Context, c *api.Client) error {
			all, err := c.SwapGPU(ctx, swap.lease, swap.in)
			if err != nil {
				return err
			}
			tab := tabwriter.NewWriter(io.out, 0, 0, 2, ' ', 0)
			for _, a := range all {
				fmt.Fprintf(tab, "%s\t%s\t%s\t%s\n", a.UUID, a.Span.Start, a.Span.End, a.Reason)
			}
			return tab.Flush()
		})
	}

	gpu := app.Command("gpu", "GPUs through their lives.")
	var life struct {
		connection
		uuid, stage string
		in          api.SetGPULife
	}
	cmd = gpu.Command("life", "Record another stage of a GPU's life.")
	cmd.Arg("gpu", "GPU by uuid.").Required().StringVar(&life.uuid)
	cmd.Arg("stage", "stock, service, suspect, drained, rma or scrapped.").Required().
		EnumVar(&life.stage, "stock", "service", "suspect", "drained", "rma", "scrapped")
	cmd.Flag("why", "Reason, for the record.").Required().StringVar(&life.in.Why)
	life.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		life.in.Life = rental.GPULife(life.stage)
		return life.do(ctx, func(ctx context.Context, c *api.Client) error {
			changes, err := c.SetGPULife(ctx, life.uuid, life.in)
			if err != nil {
				return err
			}
			return printChanges(io.out, changes)
		})
	}
	var history struct {
		connection
		uuid string
	}
	cmd = gpu.Command("history", "Show where a GPU sat and where it stood in its life: when, by whom and why.")
	cmd.Arg("gpu", "GPU by uuid.").Required().StringVar(&history.uuid)
	history.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return history.do(ctx, func(ctx context.Context, c *api.Client) error {
			stays, err := c.GPUHistory(ctx, history.uuid)
			if err != nil {
				return err
			}
			tab := tabwriter.NewWriter(io.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(tab, "AT\tHOST\tSLOT\tLIFE\tSERIAL\tBY\tWHY")
			for _, s := range stays {
				fmt.Fprintf(tab, "%s\t%s\t%d\t%s\t%s\t%s\t%s\n", s.At, s.Host, s.Slot, s.Life, s.Serial, s.By, s.Why)
			}
			return tab.Flush()
		})
	}
}
