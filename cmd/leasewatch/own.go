package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// ownership is what own-or-rent was asked: amounts as they were written.
type ownership struct {
	connection
	lease, month, format                       string
	price, power, operations, disposal, resale string
	lifeDays                                   int
}

func registerOwn(app *kingpin.Application, actions map[string]action) {
	var o ownership
	cmd := app.Command("own-or-rent", "Compare a lease's month with owning its GPUs: the bill and its measured use are the baseline.")
	cmd.Flag("lease", "Lease that is the baseline.").Required().StringVar(&o.lease)
	cmd.Flag("month", "Month of it that has ended, as YYYY-MM.").Required().StringVar(&o.month)
	cmd.Flag("price", "What all GPUs of the lease cost to buy, in the bill's currency.").Required().StringVar(&o.price)
	cmd.Flag("life-days", "Days over which the price is used up.").Required().IntVar(&o.lifeDays)
	cmd.Flag("power-per-day", "Power for all of them.").Default("0").StringVar(&o.power)
	cmd.Flag("operations-per-day", "Operations for all of them: space, people, network.").Default("0").StringVar(&o.operations)
	cmd.Flag("disposal", "Wiping and disposal at the end of life.").Default("0").StringVar(&o.disposal)
	cmd.Flag("resale", "What they bring at the end of life.").Default("0").StringVar(&o.resale)
	cmd.Flag("format", "text or json.").Default("text").EnumVar(&o.format, "text", "json")
	o.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		if err := checkMonth(o.month); err != nil {
			return err
		}
		return o.do(ctx, func(ctx context.Context, c *api.Client) error { return o.compare(ctx, c, io.out) })
	}
}

func (o *ownership) compare(ctx context.Context, c *api.Client, w io.Writer) error {
	period := api.Period{Month: o.month}
	bill, err := c.Bill(ctx, o.lease, period)
	if err != nil {
		return err
	}
	if bill.Period.End > rental.At(time.Now()) {
		return usageError{fmt.Errorf("--month %s has not ended in %s: expected one that has, its bill is the baseline", o.month, bill.TimeZone)}
	}
	detail, err := c.Lease(ctx, o.lease)
	if err != nil {
		return err
	}
	used, err := c.Usage(ctx, o.lease, period, api.StepDay)
	if err != nil {
		return err
	}
	own, err := o.owned(bill.Currency)
	if err != nil {
		return usageError{err}
	}
	base := rental.Baseline{Bill: bill, Cards: detail.Lease.Cards(), UsedMS: used.Total.UsedMicros / 1000, MeasuredMS: used.Total.MeasuredMS}
	result, err := own.Compare(base)
	if err != nil {
		return usageError{err}
	}
	if o.format == "json" {
		return printJSON(w, struct {
			Lease    string           `json:"lease"`
			Month    string           `json:"month"`
			GPUs     int              `json:"gpus"`
			Coverage *float64         `json:"coverage"`
			Own      rental.Ownership `json:"own"`
			rental.Comparison
		}{o.lease, o.month, base.Cards, used.Total.Coverage, own, result})
	}
	return o.print(w, base, used, own, result)
}

func (o *ownership) owned(currency rental.Currency) (rental.Ownership, error) {
	own := rental.Ownership{Currency: currency, LifeDays: o.lifeDays}
	for _, f := range []struct {
		flag, text string
		to         *rental.Decimal
	}{{"price", o.price, &own.Price}, {"power-per-day", o.power, &own.Power}, {"operations-per-day", o.operations, &own.Operations},
		{"disposal", o.disposal, &own.Disposal}, {"resale", o.resale, &own.Resale}} {
		d, err := rental.ParseDecimal(f.text)
		if err != nil {
			return own, fmt.Errorf("--%s: %w", f.flag, err)
		}
		*f.to = d
	}
	return own, nil
}

func (o *ownership) print(w io.Writer, base rental.Baseline, used api.Usage, own rental.Ownership, r rental.Comparison) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(tab, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	row("baseline", "lease %s, %s: GPUs %d, days %s", o.lease, o.month, base.Cards, r.Days)
	if used.Total.Utilisation == nil {
		row("utilisation", "not measured")
	} else {
		row("utilisation", "%s, seen %s of the time", percent(used.Total.Utilisation), percent(used.Total.Coverage))
	}
	row("own, a day", "%s: (%s + %s disposal - %s resale) / %d days + %s power + %s operations", r.OwnPerDay,
		rental.GroupDigits(own.Price.String()), rental.GroupDigits(own.Disposal.String()), rental.GroupDigits(own.Resale.String()), own.LifeDays, own.Power, own.Operations)
	row("own, a GPU and day", "%s, in use or not", r.OwnPerCardDay)
	row("rent, the month", "%s", r.Rent)
	row("own, the month", "%s", r.Own)
	switch {
	case r.BreakEvenHours == "":
		row("break-even", "none: nothing was rented")
	case r.NeverPays:
		row("break-even", "none: at %s h a day for every GPU, more than a day has, at the baseline's price", r.BreakEvenHours)
	default:
		row("break-even", "every GPU rented for %s h a day at the baseline's price", r.BreakEvenHours)
	}
	hour := func(a *rental.Amount) string {
		if a == nil {
			return "not measured"
		}
		return a.String()
	}
	row("a used GPU-hour", "rent %s, own %s", hour(r.UsedHourRent), hour(r.UsedHourOwn))
	return tab.Flush()
}
