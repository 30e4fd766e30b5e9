package main

import (
	"context"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
)

func registerBill(app *kingpin.Application, actions map[string]action) {
	var bill struct {
		connection
		lease, month, format string
	}
	cmd := app.Command("bill", "The bill of a lease for a month of its contract.")
	cmd.Flag("lease", "Lease.").Required().StringVar(&bill.lease)
	cmd.Flag("month", "Month, as YYYY-MM.").Required().StringVar(&bill.month)
	cmd.Flag("format", "table, json or csv.").Default("table").EnumVar(&bill.format, "table", "json", "csv")
	bill.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		if err := checkMonth(bill.month); err != nil {
			return err
		}
		return bill.do(ctx, func(ctx context.Context, c *api.Client) error {
			body, err := c.BillAs(ctx, bill.lease, api.Period{Month: bill.month}, bill.format)
			if err != nil {
				return err
			}
			_, err = io.out.Write(body)
			return err
		})
	}
}

func registerSLA(app *kingpin.Application, actions map[string]action) {
	var sla struct {
		connection
		lease, month, format string
	}
	cmd := app.Command("sla", "The availability verdict of a lease for a month of its contract.")
	cmd.Flag("lease", "Lease.").Required().StringVar(&sla.lease)
	cmd.Flag("month", "Month, as YYYY-MM; the present one where it is not given.").StringVar(&sla.month)
	cmd.Flag("format", "text or json.").Default("text").EnumVar(&sla.format, "text", "json")
	sla.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		if err := checkMonth(sla.month); err != nil {
			return err
		}
		return sla.do(ctx, func(ctx context.Context, c *api.Client) error {
			answer, err := c.SLA(ctx, sla.lease, sla.month)
			if err != nil {
				return err
			}
			if sla.format == "json" {
				return printJSON(io.out, answer)
			}
			return printSLA(io.out, sla.lease, answer)
		})
	}
}
