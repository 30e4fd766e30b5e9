package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	stdio "io"
	"os"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/proof"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/report"
)

func registerReport(app *kingpin.Application, actions map[string]action) {
	var made struct {
		connection
		query                     api.ReportQuery
		lease, month, from, to, o string
	}
	cmd := app.Command("report", "The report on a lease's month: verdict, downtime, credits, use, cost, hardware and proof.")
	cmd.Flag("lease", "Lease.").Required().StringVar(&made.lease)
	cmd.Flag("month", "Month of the contract's zone, as YYYY-MM; the present one where it is not given.").StringVar(&made.month)
	cmd.Flag("from", "Start of a span, in RFC 3339, instead of a month.").StringVar(&made.from)
	cmd.Flag("to", "End of the span, which does not hold it.").StringVar(&made.to)
	cmd.Flag("trial", "Report on the lease's first 168 hours instead.").BoolVar(&made.query.Trial)
	cmd.Flag("format", "html, json (signed) or csv.").Default("html").EnumVar(&made.query.Format, "html", "json", "csv")
	cmd.Flag("lang", "Language of html and csv: en or zh; the contract's where it is not given.").EnumVar(&made.query.Lang, "en", "zh")
	cmd.Flag("output", "File to write; standard output where it is not given.").Short('o').StringVar(&made.o)
	made.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		if made.month != "" || made.from != "" || made.to != "" {
			period, err := billPeriod(made.month, made.from, made.to)
			if err != nil {
				return err
			}
			if made.query.Trial {
				return usageError{errors.New("--trial has its own period: expected it without --month, --from and --to")}
			}
			made.query.Period = period
		}
		return made.do(ctx, func(ctx context.Context, c *api.Client) error {
			body, err := c.Report(ctx, made.lease, made.query)
			if err != nil {
				return err
			}
			if made.o != "" {
				return os.WriteFile(made.o, body, 0o600)
			}
			_, err = io.out.Write(body)
			return err
		})
	}
}

func registerVerify(app *kingpin.Application, actions map[string]action) {
	var check struct{ file, key, format string }
	var heads []string
	cmd := app.Command("verify-report", "Check a signed report offline: signature, chain of records and every figure. Exit code 0: all holds; 4: something does not; 3: no report.")
	cmd.Arg("file", "The report's JSON.").Required().StringVar(&check.file)
	cmd.Flag("head", "Heads that you kept (leasewatch proof heads), or an earlier report; may be given several times.").StringsVar(&heads)
	cmd.Flag("key", "Keys that you trust (leasewatch proof keys --format json).").StringVar(&check.key)
	cmd.Flag("format", "text or json.").Default("text").EnumVar(&check.format, "text", "json")
	actions[cmd.FullCommand()] = func(_ context.Context, io streams) error {
		file, err := readInput(io, check.file)
		if err != nil {
			return err
		}
		trusted, err := trustedKeys(check.key)
		if err != nil {
			return err
		}
		var own []proof.Sealed
		for _, name := range heads {
			text, err := os.ReadFile(name)
			if err != nil {
				return inputError{err}
			}
			kept, err := report.ReadHeads(text)
			if err != nil {
				return inputError{fmt.Errorf("%s: %w", name, err)}
			}
			own = append(own, kept...)
		}
		result, err := report.Verify(file, trusted, own)
		if err != nil {
			return inputError{fmt.Errorf("%s: %w", check.file, err)}
		}
		if check.format == "json" {
			err = printJSON(io.out, struct {
				Lease  string        `json:"lease"`
				Period rental.Span   `json:"period"`
				Holds  bool          `json:"holds"`
				Faults []proof.Fault `json:"faults"`
				Notes  []string      `json:"notes"`
			}{result.Document.Lease.ID, result.Document.Period, len(result.Faults) == 0, result.Faults, result.Notes})
		} else if len(result.Faults) == 0 {
			printVerified(io, result)
		}
		return errors.Join(err, notProven(io, result.Faults))
	}
}

// notProven makes the first fault the command's error, and says the others before.
func notProven(io streams, faults []proof.Fault) error {
	if len(faults) == 0 {
		return nil
	}
	for _, f := range faults[1:] {
		fmt.Fprintf(io.err, "leasewatch: %s\n", f)
	}
	return &rental.Error{Code: rental.CodeRefused, Message: "the report does not hold: " + faults[0].String()}
}

func printVerified(io streams, r report.Result) {
	d := r.Document
	records := 0
	for _, s := range d.Chain {
		records += len(s.Links)
	}
	fmt.Fprintf(io.out, "lease %s, %s to %s: signature, %d heads, %d records and every figure hold\n%s\n",
		d.Lease.ID, d.Period.Start, d.Period.End, len(d.Chain), records, d.Verdict.Arithmetic)
	for _, note := range r.Notes {
		fmt.Fprintf(io.out, "note: %s\n", note)
	}
}

// readInput reads a file, or standard input for "-".
func readInput(io streams, file string) ([]byte, error) {
	var text []byte
	var err error
	if file = named(file); file == "-" {
		text, err = stdio.ReadAll(io.in)
	} else {
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, inputError{err}
	}
	return text, nil
}

// trustedKeys reads keys from a file; none where there is no file.
func trustedKeys(file string) ([]proof.Key, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, inputError{err}
	}
	var keys []proof.Key
	if err := json.Unmarshal(text, &keys); err != nil || len(keys) == 0 {
		return nil, inputError{fmt.Errorf("%s: found no keys, expected what leasewatch proof keys --format json writes", file)}
	}
	return keys, nil
}

func registerCompare(sla *kingpin.CmdClause, actions map[string]action) {
	var sides struct{ a, b, format string }
	cmd := sla.Command("compare", "Line up two sides' reports on the same GPUs and list the spans of which they say something else.")
	cmd.Arg("a", "One side's report, as JSON.").Required().StringVar(&sides.a)
	cmd.Arg("b", "The other side's report.").Required().StringVar(&sides.b)
	cmd.Flag("format", "text or json.").Default("text").EnumVar(&sides.format, "text", "json")
	actions[cmd.FullCommand()] = func(_ context.Context, io streams) error {
		var documents [2]report.Document
		for i, name := range []string{sides.a, sides.b} {
			text, err := os.ReadFile(name)
			if err != nil {
				return inputError{err}
			}
			if _, documents[i], err = report.Read(text); err != nil {
				return inputError{fmt.Errorf("%s: %w", name, err)}
			}
		}
		c := report.Compare(documents[0], documents[1])
		if sides.format == "json" {
			return printJSON(io.out, c)
		}
		printComparison(io, c, sides.a, sides.b)
		return nil
	}
}

func printComparison(io streams, c report.Comparison, a, b string) {
	fmt.Fprintf(io.out, "%s to %s, %d GPUs that both know; down %s in %s, %s in %s (card-seconds)\n",
		c.Span.Start, c.Span.End, len(c.Cards), secondsOf(c.DownA), a, secondsOf(c.DownB), b)
	for _, d := range c.Differences {
		fmt.Fprintf(io.out, "%s to %s (%s s), %s: %s (%s) in %s, %s (%s) in %s\n",
			d.Span.Start, d.Span.End, secondsOf(d.Span.Duration()), d.UUID, d.A.Class, orDash(d.A.Reason), a, d.B.Class, orDash(d.B.Reason), b)
	}
	if len(c.Differences) == 0 {
		fmt.Fprintln(io.out, "both say the same of every GPU that both know")
	}
	for _, uuid := range c.OnlyA {
		fmt.Fprintf(io.out, "%s is in %s only\n", uuid, a)
	}
	for _, uuid := range c.OnlyB {
		fmt.Fprintf(io.out, "%s is in %s only\n", uuid, b)
	}
}

// secondsOf writes milliseconds as seconds, with three digits where they are not whole.
func secondsOf(ms int64) string {
	if ms%1000 == 0 {
		return rental.GroupDigits(fmt.Sprint(ms / 1000))
	}
	return rental.GroupDigits(fmt.Sprintf("%d.%03d", ms/1000, ms%1000))
}
