package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func registerUsage(app *kingpin.Application, actions map[string]action) {
	var usage struct {
		connection
		lease, month, format, step string
	}
	cmd := app.Command("usage", "What a lease cost beside how it was used, for a month of its contract.")
	cmd.Flag("lease", "Lease.").Required().StringVar(&usage.lease)
	cmd.Flag("month", "Month, as YYYY-MM; the present one where it is not given.").StringVar(&usage.month)
	cmd.Flag("step", "With --format=json: hour or day.").Default("day").EnumVar(&usage.step, "hour", "day")
	cmd.Flag("format", "text or json.").Default("text").EnumVar(&usage.format, "text", "json")
	usage.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		if err := checkMonth(usage.month); err != nil {
			return err
		}
		return usage.do(ctx, func(ctx context.Context, c *api.Client) error {
			answer, err := c.Usage(ctx, usage.lease, api.Period{Month: usage.month}, usage.step)
			if err != nil {
				return err
			}
			if usage.format == "json" {
				return printJSON(io.out, answer)
			}
			return printUsage(io.out, answer)
		})
	}
}

// printUsage says the whole span, each figure with what it rests on.
func printUsage(w io.Writer, u api.Usage) error {
	t := u.Total
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(tab, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	row("lease", "%s", u.Lease)
	row("span", "%s to %s (%s)", u.Span.Start, u.Span.End, u.TimeZone)
	row("cost", "%s", amount(t.Cost, u))
	row("allocated", "%s GPU-hours", hours(t.AllocatedMS))
	row("utilisation", "%s", fine(t.Utilisation))
	row("working", "%s", fine(t.Working))
	if t.Working != nil {
		row("", "multiprocessors at work, seen for %s of the time", fine(t.WorkingCoverage))
	}
	row("held by a job", "%s", fine(t.Held))
	if t.HeldKnownMS > 0 {
		row("", "%s of %s GPU-minutes held, %s free", minutes(t.HeldMS), minutes(t.HeldKnownMS), minutes(t.HeldKnownMS-t.HeldMS))
	}
	row("coverage", "%s", fine(t.Coverage))
	if t.IdleCost != nil {
		row("idle cost", "%s, by %s", amount(t.IdleCost, u), t.IdleBasis)
	} else {
		row("idle cost", "not measured")
	}
	if t.EnergyJoules != nil {
		row("energy", "%s kWh, counted over %s of the time", rental.GroupDigits(rental.KilowattHours(int64(*t.EnergyJoules*1000))), fine(t.EnergyCoverage))
	}
	for _, note := range u.Notes {
		row("note", "%s", note)
	}
	return tab.Flush()
}

func amount(decimal *string, u api.Usage) string {
	if decimal == nil {
		return "not known"
	}
	return string(u.Currency) + " " + *decimal
}

// fine shows a share with two digits, as a month is settled by.
func fine(share *float64) string {
	if share == nil {
		return "not measured"
	}
	return fmt.Sprintf("%.2f %%", *share*100)
}

// minutes shows card-milliseconds as minutes, with two digits where they are not whole.
func minutes(ms int64) string {
	if ms%60_000 == 0 {
		return rental.GroupDigits(strconv.FormatInt(ms/60_000, 10))
	}
	return rental.GroupDigits(strconv.FormatFloat(float64(ms)/60_000, 'f', 2, 64))
}

// hours shows card-milliseconds as hours with two digits.
func hours(ms int64) string { return fmt.Sprintf("%.2f", float64(ms)/3_600_000) }
