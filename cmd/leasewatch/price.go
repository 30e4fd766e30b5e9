package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/manifest"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// simulation is what price simulate was asked.
type simulation struct {
	connection
	lease, month    string
	files           []string
	gpus, days      int
	hours, from, tz string
	format          string
}

func registerPrice(app *kingpin.Application, actions map[string]action) {
	var s simulation
	cmd := app.Command("price", "Prices.").Command("simulate", "Price a lease, or a use that is no lease yet, under every contract.")
	cmd.Flag("lease", "This lease, under the contracts that are recorded.").StringVar(&s.lease)
	cmd.Flag("month", "With --lease: month, as YYYY-MM.").StringVar(&s.month)
	cmd.Flag("gpus", "Without --lease: how many GPUs.").IntVar(&s.gpus)
	cmd.Flag("hours-per-day", "How long they run each day; the rest of it they are stopped.").Default("24").StringVar(&s.hours)
	cmd.Flag("days", "For how many days.").IntVar(&s.days)
	cmd.Flag("from", "First day, as YYYY-MM-DD; prices are those of that time.").StringVar(&s.from)
	cmd.Flag("time-zone", "Zone of the days, as an IANA name.").Default("UTC").StringVar(&s.tz)
	cmd.Flag("file", "Contracts of this YAML file or folder instead of those that are recorded; may be given again.").Short('f').StringsVar(&s.files)
	cmd.Flag("format", "table or json.").Default("table").EnumVar(&s.format, "table", "json")
	s.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		quotes, err := s.quotes(ctx, io.in)
		if err != nil {
			return err
		}
		if s.format == "json" {
			return printJSON(io.out, quotes)
		}
		return printQuotes(io.out, quotes)
	}
}

func (s *simulation) quotes(ctx context.Context, in io.Reader) (quotes []rental.Quote, err error) {
	if s.lease != "" {
		if s.gpus != 0 || len(s.files) > 0 || s.month == "" {
			return nil, usageError{errors.New("expected --lease with --month, or --gpus with --days and --from")}
		}
		if err := checkMonth(s.month); err != nil {
			return nil, err
		}
		err = s.do(ctx, func(ctx context.Context, c *api.Client) error {
			quotes, err = c.Simulate(ctx, s.lease, api.Period{Month: s.month})
			return err
		})
		return quotes, err
	}
	facts, period, err := s.profile()
	if err != nil {
		return nil, usageError{err}
	}
	contracts, err := s.contracts(ctx, in)
	if err != nil {
		return nil, err
	}
	return rental.Simulate(facts, contracts, period), nil
}

// profile is the use that the flags describe.
func (s *simulation) profile() (rental.Facts, rental.Span, error) {
	zone, err := rental.LoadZone(s.tz)
	if err != nil {
		return rental.Facts{}, rental.Span{}, fmt.Errorf("--time-zone: %w", err)
	}
	first, err := time.ParseInLocation(time.DateOnly, s.from, zone)
	if err != nil {
		return rental.Facts{}, rental.Span{}, fmt.Errorf("--from %q: expected the first day as YYYY-MM-DD, or --lease", s.from)
	}
	hours, err := rental.ParseDecimal(s.hours)
	if err != nil {
		return rental.Facts{}, rental.Span{}, fmt.Errorf("--hours-per-day: %w", err)
	}
	start := rental.At(rental.Instant(zone, first.Year(), first.Month(), first.Day(), 0, 0, 0))
	return rental.Profile{Cards: s.gpus, Start: start, TimeZone: s.tz, Days: s.days, HoursPerDay: hours}.Facts()
}

func (s *simulation) contracts(ctx context.Context, in io.Reader) (contracts []rental.Contract, err error) {
	if len(s.files) == 0 {
		err = s.do(ctx, func(ctx context.Context, c *api.Client) error {
			contracts, err = c.Contracts(ctx)
			return err
		})
		return contracts, err
	}
	for i, name := range s.files {
		s.files[i] = named(name)
	}
	resources, err := manifest.ReadPaths(s.files, in)
	if err != nil {
		return nil, inputError{err}
	}
	return resources.Contracts, nil
}

func printQuotes(w io.Writer, quotes []rental.Quote) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "CONTRACT\tPROVIDER\tTOTAL\tPER GPU-HOUR\tNOTE")
	for _, q := range quotes {
		if q.Reason != "" {
			fmt.Fprintf(tab, "%s\t%s\t-\t-\t%s\n", q.Contract, q.Provider, q.Reason)
			continue
		}
		perHour := "-"
		if q.PerHour != nil {
			perHour = q.PerHour.String()
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t\n", q.Contract, q.Provider, q.Total, perHour)
	}
	return tab.Flush()
}
