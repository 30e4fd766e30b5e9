package main

import (
	"context"
	"errors"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func registerBill(app *kingpin.Application, actions map[string]action) {
	var bill struct {
		connection
		query                          api.BillQuery
		month, from, to, format, focus string
		lang                           string
	}
	cmd := app.Command("bill", "Bills for a month of their contracts, or for any span.")
	cmd.Flag("lease", "Of this lease.").StringVar(&bill.query.Lease)
	cmd.Flag("tenant", "Of this tenant's leases.").StringVar(&bill.query.Tenant)
	cmd.Flag("provider", "Of the leases of this provider.").StringVar(&bill.query.Provider)
	cmd.Flag("month", "Month, as YYYY-MM.").StringVar(&bill.month)
	cmd.Flag("from", "Start of a span, in RFC 3339, instead of a month.").StringVar(&bill.from)
	cmd.Flag("to", "End of the span, which does not hold it.").StringVar(&bill.to)
	cmd.Flag("format", "table, json, csv, html or focus.").Default("table").EnumVar(&bill.format, "table", "json", "csv", "html", "focus")
	cmd.Flag("lang", "Language of a table or a page: en or zh; that of the contract where it is not given.").EnumVar(&bill.lang, "en", "zh")
	cmd.Flag("focus-version", "Version of FOCUS: 1.0 or 1.2.").Default("1.2").EnumVar(&bill.focus, "1.0", "1.2")
	bill.flags(cmd)
	bill.pastFlag(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		period, err := billPeriod(bill.month, bill.from, bill.to)
		if err != nil {
			return err
		}
		bill.query.Period = period
		if bill.format == "focus" && bill.focus == "1.0" {
			bill.format = "focus-1.0"
		}
		return bill.do(ctx, func(ctx context.Context, c *api.Client) error {
			body, err := billBytes(ctx, c, bill.query, bill.format, bill.lang)
			if err != nil {
				return err
			}
			_, err = io.out.Write(body)
			return err
		})
	}
}

// billBytes asks for the one bill of a lease as itself, so that a closed one is its frozen bytes.
func billBytes(ctx context.Context, c *api.Client, q api.BillQuery, format, lang string) ([]byte, error) {
	if q.Lease != "" && q.Tenant == "" && q.Provider == "" {
		return c.BillAs(ctx, q.Lease, q.Period, format, lang)
	}
	return c.BillsAs(ctx, q, format, lang)
}

// billPeriod reads a month, or a span with both its ends.
func billPeriod(month, from, to string) (api.Period, error) {
	switch {
	case month != "" && from == "" && to == "":
		return api.Period{Month: month}, checkMonth(month)
	case month == "" && from != "" && to != "":
		var span rental.Span
		err := errors.Join(span.Start.UnmarshalText([]byte(from)), span.End.UnmarshalText([]byte(to)))
		if err != nil {
			return api.Period{}, usageError{err}
		}
		return api.Period{Span: span}, nil
	}
	return api.Period{}, usageError{errors.New("expected --month, or --from with --to")}
}
