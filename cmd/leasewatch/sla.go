package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func registerSLA(app *kingpin.Application, actions map[string]action) {
	var sla struct {
		connection
		query                         api.SLAQuery
		month, from, to, format, lang string
		scorecard                     bool
	}
	parent := app.Command("sla", "Verdicts on availability, and two sides' records lined up.")
	registerCompare(parent, actions)
	cmd := parent.Command("show", "Verdicts on availability: kept, breached or not proven, with both bounds and the arithmetic.").Default()
	cmd.Flag("lease", "Of this lease.").StringVar(&sla.query.Lease)
	cmd.Flag("tenant", "Of this tenant's leases.").StringVar(&sla.query.Tenant)
	cmd.Flag("provider", "Of the leases of this provider.").StringVar(&sla.query.Provider)
	cmd.Flag("scorecard", "How the provider did: availability, repair, credits, response, hardware, prices, each figure with source, date and coverage, or as not measured.").BoolVar(&sla.scorecard)
	cmd.Flag("month", "Month of each contract's zone, as YYYY-MM; the present one where neither month nor span is given.").StringVar(&sla.month)
	cmd.Flag("from", "Start of a span, in RFC 3339, instead of a month.").StringVar(&sla.from)
	cmd.Flag("to", "End of the span, which does not hold it.").StringVar(&sla.to)
	cmd.Flag("format", "text, table, json or csv.").Default("text").EnumVar(&sla.format, "text", "table", "json", "csv")
	cmd.Flag("lang", "Language of text, table and the arithmetic: en or zh.").Default("en").EnumVar(&sla.lang, "en", "zh")
	sla.flags(cmd)
	sla.pastFlag(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		if sla.month != "" || sla.from != "" || sla.to != "" {
			period, err := billPeriod(sla.month, sla.from, sla.to)
			if err != nil {
				return err
			}
			sla.query.Period = period
		}
		if sla.scorecard && (sla.query.Provider == "" || sla.query.Lease != "") {
			return usageError{errors.New("--scorecard is of one provider: expected --provider, and no --lease")}
		}
		return sla.do(ctx, func(ctx context.Context, c *api.Client) error {
			if sla.scorecard {
				card, err := c.Scorecard(ctx, sla.query)
				if err != nil {
					return err
				}
				return printScorecard(io.out, sla.format, phrase.For(sla.lang), card)
			}
			answer, err := c.SLATable(ctx, sla.query)
			if err != nil {
				return err
			}
			if sla.format == "json" {
				return errors.Join(printJSON(io.out, answer), notJudged(io.err, answer.Failures))
			}
			write := slaWriters[sla.format]
			return errors.Join(write(io.out, phrase.For(sla.lang), answer.Rows), notJudged(io.err, answer.Failures))
		})
	}
}

// slaWriters write the answer for people and spreadsheets, by format.
var slaWriters = map[string]func(w io.Writer, p phrase.Printer, rows []api.LeaseSLA) error{
	"text": printSLA, "table": printSLATable, "csv": printSLACSV,
}

// notJudged tells which leases have no verdict; with any, the answer is not whole.
func notJudged(w io.Writer, failures []api.Failure) error {
	if len(failures) == 0 {
		return nil
	}
	for _, f := range failures[1:] {
		fmt.Fprintf(w, "leasewatch: lease %s was not judged: %s\n", f.Name, f.Reason)
	}
	return fmt.Errorf("lease %s was not judged: %s", failures[0].Name, failures[0].Reason)
}

// printSLA says each verdict first, then what it rests on.
func printSLA(w io.Writer, p phrase.Printer, rows []api.LeaseSLA) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, p.Say(phrase.SLANone))
		return err
	}
	blocks := make([]string, len(rows))
	for i, row := range rows {
		blocks[i] = slaBlock(p, row)
	}
	_, err := io.WriteString(w, strings.Join(blocks, "\n"))
	return err
}

func slaBlock(p phrase.Printer, row api.LeaseSLA) string {
	zone := zoneNamed(row.TimeZone)
	var b strings.Builder
	say := func(key phrase.Key, args ...any) { fmt.Fprintln(&b, p.Say(key, args...)) }
	verdict := p.Say(phrase.SLANoObjective)
	if row.Verdict != nil {
		verdict = p.Outcome(row.Verdict.Outcome).Word
	}
	say(phrase.SLALease, row.Lease, row.Tenant, p.Time(row.Period.Start, zone), p.Time(row.Period.End, zone), verdict)
	if v := row.Verdict; v != nil {
		if v.Open {
			say(phrase.SLAOpen)
		}
		fmt.Fprintln(&b, v.Explain(p.Lang()))
		if row.AvailabilityLow != nil && row.AvailabilityHigh != nil && row.AvailabilityLow.Percent != "" {
			say(phrase.SLABounds, row.AvailabilityLow.Percent, row.AvailabilityHigh.Percent, v.Target)
		}
		if row.BudgetMS != nil && row.BudgetLeftMS != nil {
			if left := *row.BudgetLeftMS; left < 0 {
				say(phrase.SLABudgetOver, p.Duration(*row.BudgetMS), p.Duration(-left))
			} else {
				say(phrase.SLABudget, p.Duration(*row.BudgetMS), p.Duration(left))
			}
		}
	}
	if row.Forecast != nil {
		say(phrase.SLAForecast, row.Forecast.Explain(p.Lang()))
	}
	for _, o := range row.Objectives {
		say(phrase.ObjectiveLine, p.Objective(o.Objective), p.Outcome(o.Outcome).Word, o.Arithmetic)
		for _, r := range o.Runs {
			fmt.Fprintf(&b, "  %s\n", p.Say(phrase.ObjectiveRun, p.ClockCase(r), p.ClockElapsed(r), p.ClockLimit(r), p.ClockOutcome(r).Word))
		}
	}
	for _, d := range row.Downtimes {
		key, cards := phrase.SLADown, strings.Join(d.UUIDs, " ")
		if d.Span.End == rental.Forever {
			key = phrase.SLADownOpen
		}
		if d.ApprovedBy == "" {
			cards = p.Say(phrase.SLAWaits, cards)
		}
		say(key, p.Time(d.Span.Start, zone), p.Time(d.Span.End, zone), p.State(d.Reason).Word, p.Cause(d.Cause), cards)
	}
	for _, c := range row.Credits {
		key := phrase.SLACredit
		if c.Provisional {
			key = phrase.SLACreditMaybe
		}
		say(key, c.Arithmetic)
	}
	return b.String()
}

// zoneNamed is a contract's zone; UTC for one that this machine does not know.
func zoneNamed(name string) *time.Location {
	zone, err := rental.LoadZone(name)
	if err != nil {
		return time.UTC
	}
	return zone
}

// printSLATable writes one row a lease.
func printSLATable(w io.Writer, p phrase.Printer, rows []api.LeaseSLA) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	heads := []phrase.Key{phrase.SLAHeadLease, phrase.SLAHeadTenant, phrase.SLAHeadProvider, phrase.SLAHeadVerdict, phrase.SLAHeadLow, phrase.SLAHeadHigh, phrase.SLAHeadTarget, phrase.SLAHeadHow}
	words := make([]string, len(heads))
	for i, key := range heads {
		words[i] = p.Say(key)
	}
	fmt.Fprintln(tab, strings.Join(words, "\t"))
	for _, row := range rows {
		verdict, low, high, target, how := p.Say(phrase.SLANoObjective), "", "", "", ""
		if v := row.Verdict; v != nil {
			verdict, target, how = p.Outcome(v.Outcome).Word, v.Target.String(), v.Explain(p.Lang())
			low, high = row.AvailabilityLow.Percent, row.AvailabilityHigh.Percent
		}
		fmt.Fprintln(tab, strings.Join([]string{row.Lease, row.Tenant, row.Provider, verdict, orDash(low), orDash(high), orDash(target), how}, "\t"))
	}
	return tab.Flush()
}

// slaColumns are the columns of the CSV file; times are UTC, lengths milliseconds.
var slaColumns = []string{
	"lease", "tenant", "provider", "contract", "period_start", "period_end", "outcome", "provisional", "target_percent",
	"low_percent", "high_percent", "period_ms", "up_ms", "down_ms", "excluded_ms", "unknown_ms", "measured_down_ms",
	"budget_ms", "budget_left_ms", "forecast_low_percent", "forecast_high_percent", "arithmetic",
}

// printSLACSV writes one row a lease by RFC 4180. Cells that a spreadsheet would run as a formula
// begin with an apostrophe.
func printSLACSV(w io.Writer, p phrase.Printer, rows []api.LeaseSLA) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	if err := out.Write(slaColumns); err != nil {
		return fmt.Errorf("csv: %w", err)
	}
	for _, row := range rows {
		cells := []string{row.Lease, row.Tenant, row.Provider, row.Contract, row.Period.Start.String(), row.Period.End.String()}
		if v := row.Verdict; v != nil {
			cells = append(cells, string(v.Outcome), strconv.FormatBool(v.Open), v.Target.String(), row.AvailabilityLow.Percent, row.AvailabilityHigh.Percent)
			for _, ms := range []int64{v.PeriodMS, v.UpMS, v.DownMS, v.ExcludedMS, v.UnknownMS, v.MeasuredDownMS} {
				cells = append(cells, strconv.FormatInt(ms, 10))
			}
			cells = append(cells, optional(row.BudgetMS), optional(row.BudgetLeftMS))
			low, high := "", ""
			if f := row.Forecast; f != nil {
				low, high = f.Low.Percent(f.Target), f.High.Percent(f.Target)
			}
			cells = append(cells, low, high, v.Explain(p.Lang()))
		} else {
			cells = append(cells, string(rental.NotMeasured))
			cells = append(cells, make([]string, len(slaColumns)-len(cells))...)
		}
		for i, cell := range cells {
			cells[i] = plainCell(cell)
		}
		if err := out.Write(cells); err != nil {
			return fmt.Errorf("csv: %w", err)
		}
	}
	out.Flush()
	return out.Error()
}

func optional(ms *int64) string {
	if ms == nil {
		return ""
	}
	return strconv.FormatInt(*ms, 10)
}

// plainCell keeps a spreadsheet from running a cell; a negative number is no formula.
func plainCell(text string) string {
	if text == "" || !strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		return text
	}
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		return text
	}
	return "'" + text
}
