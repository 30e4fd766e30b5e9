package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// useQuery is what the reports of use read.
type useQuery struct {
	connection
	from, to, format string
	energyPrice      string
}

// registerUse adds the reports on what is paid for and not used, and used and not paid for.
func registerUse(app *kingpin.Application, actions map[string]action) {
	use := app.Command("use", "What is paid for and not used, and what is used and not paid for.")
	var idle, unleased useQuery
	cmd := use.Command("idle", "What leases cost while they were not used, by day and by night, with energy.")
	idle.register(cmd, "the present month in UTC so far")
	cmd.Flag("energy-price", "Price of a kWh in each lease's currency, such as 0.12; by the tariff of the contract or the site where it is not given.").StringVar(&idle.energyPrice)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		span, err := idle.span()
		if err != nil {
			return err
		}
		var price rental.Decimal
		if idle.energyPrice != "" {
			if price, err = rental.ParseDecimal(idle.energyPrice); err != nil {
				return usageError{fmt.Errorf("--energy-price: %w", err)}
			}
		}
		return idle.do(ctx, func(ctx context.Context, c *api.Client) error {
			report, err := c.IdleUse(ctx, span, price)
			if err != nil {
				return err
			}
			if idle.format == "json" {
				return printJSON(io.out, report)
			}
			return printIdle(io.out, report)
		})
	}
	cmd = use.Command("unleased", "GPUs that were used while nobody leased them, from samples.")
	unleased.register(cmd, "the last 24 hours")
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		span, err := unleased.span()
		if err != nil {
			return err
		}
		return unleased.do(ctx, func(ctx context.Context, c *api.Client) error {
			report, err := c.UnleasedUse(ctx, span)
			if err != nil {
				return err
			}
			if unleased.format == "json" {
				return printJSON(io.out, report)
			}
			return printUnleased(io.out, report)
		})
	}
}

func (q *useQuery) register(cmd *kingpin.CmdClause, otherwise string) {
	cmd.Flag("from", "Start, in RFC 3339; "+otherwise+" where it is not given.").StringVar(&q.from)
	cmd.Flag("to", "End, in RFC 3339; now where it is not given.").StringVar(&q.to)
	cmd.Flag("format", "table or json.").Default("table").EnumVar(&q.format, "table", "json")
	q.flags(cmd)
}

// span reads from and to; the zero span is the server's own choice.
func (q *useQuery) span() (span rental.Span, err error) {
	if q.from == "" && q.to == "" {
		return span, nil
	}
	if q.from == "" {
		return span, usageError{fmt.Errorf("--to without --from: expected both, or --from alone")}
	}
	if err := span.Start.UnmarshalText([]byte(q.from)); err != nil {
		return span, usageError{fmt.Errorf("--from: %w", err)}
	}
	span.End = rental.Forever
	if q.to != "" {
		if err := span.End.UnmarshalText([]byte(q.to)); err != nil {
			return span, usageError{fmt.Errorf("--to: %w", err)}
		}
	}
	return span, nil
}

func printIdle(w io.Writer, report api.IdleReport) error {
	fmt.Fprintf(w, "from %s to %s\n", report.Span.Start, report.Span.End)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "LEASE\tTENANT\tCOST\tIDLE COST\tIDLE GPU-HOURS\tPER USEFUL GPU-HOUR\tUSE\tSEEN\tDAY USE\tDAY SEEN\tNIGHT USE\tNIGHT SEEN\tENERGY\tENERGY COST")
	for _, r := range report.Rows {
		idle, useful, energy := "not measured", "not measured", "-"
		if r.IdleCost != nil {
			idle = r.IdleCost.Decimal
		}
		if r.UsefulHourCost != nil {
			useful = *r.UsefulHourCost
		}
		if r.EnergyCost != nil {
			energy = r.EnergyCost.Decimal
		}
		if len(r.EnergyCosts) > 0 {
			sums := make([]string, len(r.EnergyCosts))
			for i, c := range r.EnergyCosts {
				sums[i] = c.Amount.String()
			}
			energy = strings.Join(sums, ", ")
		}
		fmt.Fprintf(tab, "%s\t%s\t%s %s\t%s\t%.1f\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.1f kWh\t%s\n",
			r.Lease, r.Tenant, r.Currency, r.Cost.Decimal, idle, float64(r.IdleMS)/3_600_000, useful, percent(r.Usage.Utilisation), percent(r.Usage.Coverage),
			percent(r.DayUtilisation), percent(r.DayCoverage), percent(r.NightUtilisation), percent(r.NightCoverage), r.EnergyJoules/3_600_000, energy)
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	for _, note := range report.Notes {
		fmt.Fprintln(w, "note: "+strings.ReplaceAll(note, "\n", "; "))
	}
	return nil
}

func printUnleased(w io.Writer, report api.UnleasedReport) error {
	fmt.Fprintf(w, "from %s to %s\n", report.Span.Start, report.Span.End)
	if len(report.Rows) == 0 {
		_, err := fmt.Fprintln(w, "no GPU was seen in use while nobody leased it")
		return err
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "HOST\tGPU\tBUSY GPU-HOURS\tFREE GPU-HOURS\tUSE\tSEEN\tENERGY")
	for _, r := range report.Rows {
		fmt.Fprintf(tab, "%s\t%s\t%.1f\t%.1f\t%s\t%s\t%.1f kWh\n", r.Host, r.UUID, float64(r.Use.BusyMS)/3_600_000,
			float64(r.Use.AllocatedMS)/3_600_000, percent(r.Utilisation), percent(r.Coverage), float64(r.EnergyMilliJoules)/3_600_000_000)
	}
	return tab.Flush()
}
