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

func registerInvoice(app *kingpin.Application, actions map[string]action) {
	invoice := app.Command("invoice", "Closed bills.")

	var closing struct {
		connection
		in     api.CloseMonth
		format string
	}
	cmd := invoice.Command("close", "Close the bills of a month: they are frozen and numbered in your name.")
	cmd.Arg("month", "Month, as YYYY-MM, of each contract's time zone.").Required().StringVar(&closing.in.Month)
	cmd.Flag("lease", "Only of this lease.").StringVar(&closing.in.Lease)
	cmd.Flag("tenant", "Only of this tenant's leases.").StringVar(&closing.in.Tenant)
	cmd.Flag("provider", "Only of the leases of this provider.").StringVar(&closing.in.Provider)
	cmd.Flag("dry-run", "Say what would be closed, and close nothing.").BoolVar(&closing.in.DryRun)
	cmd.Flag("format", "table or json.").Default("table").EnumVar(&closing.format, "table", "json")
	closing.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		if err := checkMonthArgument(closing.in.Month); err != nil {
			return err
		}
		return closing.do(ctx, func(ctx context.Context, c *api.Client) error {
			done, err := c.CloseMonth(ctx, closing.in)
			if err != nil {
				return err
			}
			if closing.format == "json" {
				err = printJSON(io.out, done)
			} else {
				err = printClosing(io.out, done)
			}
			if err != nil {
				return err
			}
			return stayOpen(io.err, done.Failures)
		})
	}

	var list struct {
		connection
		month, format string
	}
	cmd = invoice.Command("list", "List closed bills with the hashes of their bytes.")
	cmd.Flag("month", "Only of this month, as YYYY-MM.").StringVar(&list.month)
	cmd.Flag("format", "table or json.").Default("table").EnumVar(&list.format, "table", "json")
	list.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		if err := checkMonth(list.month); err != nil {
			return err
		}
		return list.do(ctx, func(ctx context.Context, c *api.Client) error {
			invoices, err := c.Invoices(ctx, list.month)
			if err != nil {
				return err
			}
			if list.format == "json" {
				return printJSON(io.out, invoices)
			}
			return printInvoices(io.out, invoices)
		})
	}

	var show struct {
		connection
		number string
	}
	cmd = invoice.Command("show", "Write a closed bill as the bytes that were frozen.")
	cmd.Arg("number", "Number, such as INV-000042.").Required().StringVar(&show.number)
	show.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return show.do(ctx, func(ctx context.Context, c *api.Client) error {
			body, err := c.InvoiceBytes(ctx, show.number)
			if err != nil {
				return err
			}
			_, err = io.out.Write(body)
			return err
		})
	}
}

func checkMonthArgument(month string) error {
	if _, err := rental.ParseMonth(month); err != nil {
		return usageError{err}
	}
	return nil
}

// stayOpen tells which leases were not closed; with any, closing was refused in part.
func stayOpen(w io.Writer, failures []api.Failure) error {
	if len(failures) == 0 {
		return nil
	}
	for _, f := range failures[1:] {
		fmt.Fprintf(w, "leasewatch: lease %s stays open: %s\n", f.Name, f.Reason)
	}
	return &rental.Error{Code: rental.CodeRefused, Message: fmt.Sprintf("lease %s stays open: %s", failures[0].Name, failures[0].Reason)}
}

func printClosing(w io.Writer, done api.Closing) error {
	if err := printInvoices(w, done.Invoices); err != nil {
		return err
	}
	for _, i := range done.Invoices {
		for _, why := range i.Waiting {
			fmt.Fprintf(w, "lease %s: not decided yet, a correction later: %s\n", i.Lease, why)
		}
	}
	for _, sum := range done.Subtotals {
		fmt.Fprintf(w, "%s in all: %s %s\n", done.Month, rental.GroupDigits(sum.Decimal), sum.Currency)
	}
	if err := printHeld(w, done.Pending); err != nil {
		return err
	}
	if done.DryRun {
		_, err := fmt.Fprintln(w, "dry run: nothing was closed")
		return err
	}
	return nil
}

func printInvoices(w io.Writer, invoices []api.InvoiceSummary) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "INVOICE\tLEASE\tTENANT\tTOTAL\tCLOSED BY\tSHA-256")
	for _, i := range invoices {
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s %s\t%s\t%s\n", orDash(i.Number), i.Lease, i.Tenant, rental.GroupDigits(i.Total.Decimal), i.Total.Currency, orDash(i.ClosedBy), orDash(i.Hash))
	}
	return tab.Flush()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
