package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	stdio "io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func registerDowntime(app *kingpin.Application, actions map[string]action) {
	downtime := app.Command("downtime", "Downtimes: what was down, what proves it, who approved or disputes it.")
	registerDowntimeReads(downtime, actions)
	registerDowntimeRecord(downtime, actions)

	var approve struct {
		connection
		id string
		in api.SettleDowntime
	}
	cmd := downtime.Command("approve", "Approve a downtime that another entered or samples told: it may change money.")
	cmd.Arg("downtime", "Downtime, such as DT-000042.").Required().StringVar(&approve.id)
	causeFlag(cmd, &approve.in.Cause)
	cmd.Flag("reason", "Why, for both sides to read.").Required().StringVar(&approve.in.Reason)
	approve.flags(cmd)
	actions[cmd.FullCommand()] = actOn(&approve.connection, func(ctx context.Context, c *api.Client) (api.DowntimeFact, error) {
		return c.ApproveDowntime(ctx, approve.id, approve.in)
	})

	var reject struct {
		connection
		id string
		in api.SettleDowntime
	}
	cmd = downtime.Command("reject", "Reject a downtime: it changes no money.")
	cmd.Arg("downtime", "Downtime, such as DT-000042.").Required().StringVar(&reject.id)
	cmd.Flag("reason", "Why, for both sides to read.").Required().StringVar(&reject.in.Reason)
	reject.flags(cmd)
	actions[cmd.FullCommand()] = actOn(&reject.connection, func(ctx context.Context, c *api.Client) (api.DowntimeFact, error) {
		return c.RejectDowntime(ctx, reject.id, reject.in)
	})

	var dispute struct {
		connection
		id string
		in api.DisputeDowntime
	}
	cmd = downtime.Command("dispute", "Dispute a downtime, or answer a dispute: it and its credit are held until a person decides.")
	cmd.Arg("downtime", "Downtime, such as DT-000042.").Required().StringVar(&dispute.id)
	cmd.Flag("note", "What your side says, for both sides to read.").Required().StringVar(&dispute.in.Note)
	cmd.Flag("side", "For whom the note speaks: tenant, to write down what the tenant said; a tenant speaks for itself.").EnumVar(&dispute.in.Side, "provider", "tenant")
	dispute.flags(cmd)
	actions[cmd.FullCommand()] = actOn(&dispute.connection, func(ctx context.Context, c *api.Client) (api.DowntimeFact, error) {
		return c.DisputeDowntime(ctx, dispute.id, dispute.in)
	})

	var decide struct {
		connection
		id string
		in api.DecideDowntime
	}
	cmd = downtime.Command("decide", "End a dispute, once both sides have said theirs.")
	cmd.Arg("downtime", "Downtime, such as DT-000042.").Required().StringVar(&decide.id)
	cmd.Flag("outcome", "approved or rejected.").Required().EnumVar(&decide.in.Outcome, rental.ActApproved, rental.ActRejected)
	causeFlag(cmd, &decide.in.Cause)
	cmd.Flag("reason", "Why, for both sides to read.").Required().StringVar(&decide.in.Reason)
	decide.flags(cmd)
	actions[cmd.FullCommand()] = actOn(&decide.connection, func(ctx context.Context, c *api.Client) (api.DowntimeFact, error) {
		return c.DecideDowntime(ctx, decide.id, decide.in)
	})
}

func causeFlag(cmd *kingpin.CmdClause, to *string) {
	cmd.Flag("cause", "What the cause is found to be: provider, tenant or undetermined; as it is where it is not given.").
		EnumVar(to, rental.CauseProvider, rental.CauseTenant, rental.CauseUndetermined)
}

// actOn runs one act upon a downtime and says where it stands then.
func actOn(conn *connection, act func(context.Context, *api.Client) (api.DowntimeFact, error)) action {
	return func(ctx context.Context, io streams) error {
		return conn.do(ctx, func(ctx context.Context, c *api.Client) error {
			d, err := act(ctx, c)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(io.out, "%s is %s (lease %s, %s to %s, cause %s)\n", d.ID, d.State, d.Lease, d.Span.Start, d.Span.End, d.Cause)
			return err
		})
	}
}

func registerDowntimeReads(downtime *kingpin.CmdClause, actions map[string]action) {
	var list struct {
		connection
		query            api.DowntimeQuery
		from, to, format string
	}
	cmd := downtime.Command("list", "List downtimes with where each stands.")
	cmd.Flag("lease", "Only of this lease.").StringVar(&list.query.Lease)
	cmd.Flag("tenant", "Only of this tenant's leases.").StringVar(&list.query.Tenant)
	cmd.Flag("state", "Only waiting, approved, rejected, disputed or withdrawn ones; all but withdrawn ones where it is not given.").
		EnumVar(&list.query.State, rental.DowntimeStatuses...)
	cmd.Flag("from", "Only those that touch the time from here on, in RFC 3339.").StringVar(&list.from)
	cmd.Flag("to", "With --from: up to here; now where it is not given.").StringVar(&list.to)
	cmd.Flag("format", "table or json.").Default("table").EnumVar(&list.format, "table", "json")
	list.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		var err error
		if list.query.Span, err = spanFlags(list.from, list.to); err != nil {
			return err
		}
		return list.do(ctx, func(ctx context.Context, c *api.Client) error {
			found, err := c.Downtimes(ctx, list.query)
			if err != nil {
				return err
			}
			if list.format == "json" {
				return printJSON(io.out, found)
			}
			return printDowntimes(io.out, found)
		})
	}

	var show struct {
		connection
		id, format string
	}
	cmd = downtime.Command("show", "Show one downtime with its evidence and what people did with it.")
	cmd.Arg("downtime", "Downtime, such as DT-000042.").Required().StringVar(&show.id)
	cmd.Flag("format", "table or json.").Default("table").EnumVar(&show.format, "table", "json")
	show.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return show.do(ctx, func(ctx context.Context, c *api.Client) error {
			d, err := c.DowntimeFact(ctx, show.id)
			if err != nil {
				return err
			}
			if show.format == "json" {
				return printJSON(io.out, d)
			}
			return printDowntime(io.out, d)
		})
	}
}

// spanFlags reads --from and --to; both empty is all of time.
func spanFlags(from, to string) (rental.Span, error) {
	if from == "" {
		if to != "" {
			return rental.Span{}, usageError{fmt.Errorf("--to without --from: expected both, or --from alone")}
		}
		return rental.Span{}, nil
	}
	span := rental.Span{End: rental.Forever}
	for flag, at := range map[string]*rental.Millis{"from": &span.Start, "to": &span.End} {
		text := map[string]string{"from": from, "to": to}[flag]
		if text == "" {
			continue
		}
		if err := at.UnmarshalText([]byte(text)); err != nil {
			return span, usageError{fmt.Errorf("--%s: %w", flag, err)}
		}
	}
	return span, nil
}

func registerDowntimeRecord(downtime *kingpin.CmdClause, actions map[string]action) {
	var record struct {
		connection
		in           api.RecordDowntime
		from, to     string
		texts, files []string
		incident     string
	}
	cmd := downtime.Command("record", "Enter a downtime that no sample told of; it waits for somebody else's approval.")
	cmd.Flag("lease", "Lease.").Required().StringVar(&record.in.Lease)
	cmd.Flag("gpu", "UUID of a card that was down; may be given again. All that served the lease then where none is given.").StringsVar(&record.in.UUIDs)
	cmd.Flag("from", "When it began, in RFC 3339.").Required().StringVar(&record.from)
	cmd.Flag("to", "When it ended, in RFC 3339.").Required().StringVar(&record.to)
	cmd.Flag("cause", "provider, tenant or undetermined.").Default(rental.CauseUndetermined).
		EnumVar(&record.in.Cause, rental.CauseProvider, rental.CauseTenant, rental.CauseUndetermined)
	cmd.Flag("reason", "What was seen, such as host_down.").Required().StringVar(&record.in.Reason)
	cmd.Flag("evidence", "What proves it, in words; may be given again.").StringsVar(&record.texts)
	cmd.Flag("evidence-file", "File that proves it; may be given again. Its name and SHA-256 are recorded, keep the file itself.").StringsVar(&record.files)
	cmd.Flag("incident", "Incident that was about it, such as INC-42.").StringVar(&record.incident)
	cmd.Flag("note", "More, for both sides to read.").StringVar(&record.in.Note)
	record.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		span, err := spanFlags(record.from, record.to)
		if err != nil {
			return err
		}
		in := record.in
		in.Start, in.End = span.Start, span.End
		if in.Evidence, err = gatherEvidence(record.texts, record.files, record.incident); err != nil {
			return err
		}
		return record.do(ctx, func(ctx context.Context, c *api.Client) error {
			d, err := c.RecordDowntime(ctx, in)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(io.out, "%s is %s for approval by somebody else than %s\n", d.ID, d.State, d.EnteredBy)
			return err
		})
	}
}

// gatherEvidence names what proves a downtime; files are read for their hashes.
func gatherEvidence(texts, files []string, incident string) ([]rental.Evidence, error) {
	var out []rental.Evidence
	for _, text := range texts {
		out = append(out, rental.Evidence{Kind: rental.EvidenceText, Text: text})
	}
	for _, name := range files {
		sum, err := hashFile(name)
		if err != nil {
			return nil, inputError{fmt.Errorf("--evidence-file: %w", err)}
		}
		out = append(out, rental.Evidence{Kind: rental.EvidenceFile, ID: filepath.Base(name), SHA256: sum})
	}
	if incident != "" {
		out = append(out, rental.Evidence{Kind: rental.EvidenceIncident, ID: incident})
	}
	if len(out) == 0 {
		return nil, usageError{fmt.Errorf("found no evidence, expected --evidence, --evidence-file or --incident")}
	}
	return out, nil
}

func hashFile(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := stdio.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func printDowntimes(w stdio.Writer, found []api.DowntimeFact) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "DOWNTIME\tLEASE\tFROM\tTO\tREASON\tCAUSE\tSTATE\tGPUS")
	for _, d := range found {
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", d.ID, d.Lease, d.Span.Start, d.Span.End, oneLine(d.Reason), d.Cause, d.State, strings.Join(d.UUIDs, " "))
	}
	return tab.Flush()
}

func printDowntime(w stdio.Writer, d api.DowntimeFact) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", d.ID, d.State)
	fmt.Fprintf(&b, "lease %s of %s, %s to %s, %s, cause %s\n", d.Lease, d.Tenant, d.Span.Start, d.Span.End, oneLine(d.Reason), d.Cause)
	fmt.Fprintf(&b, "GPUs: %s\n", strings.Join(d.UUIDs, " "))
	if d.Incident != "" {
		fmt.Fprintf(&b, "incident: %s\n", d.Incident)
	}
	for _, e := range d.Evidence {
		fmt.Fprintf(&b, "evidence: %s\n", oneLine(strings.Join(strings.Fields(e.Kind+" "+e.ID+" "+e.SHA256+" "+e.Text), " ")))
	}
	for _, a := range d.Acts {
		fmt.Fprintf(&b, "%s %s\n", a.At, oneLine(actLine(a)))
	}
	if d.ApprovedBy == rental.ApprovalAutomatic {
		fmt.Fprintln(&b, "approved by the contract's word")
	}
	_, err := stdio.WriteString(w, b.String())
	return err
}

// actLine says an act in one line: "disputed by ann (provider): the note".
func actLine(a rental.Act) string {
	line := a.Kind
	if a.Outcome != "" {
		line += " as " + a.Outcome
	}
	line += " by " + a.By
	if a.Side != "" {
		line += " (" + a.Side + ")"
	}
	if a.Cause != "" {
		line += ", cause " + a.Cause
	}
	if a.Amount != nil {
		line += ", " + a.Amount.String()
	}
	return line + ": " + a.Note
}

// oneLine keeps text that came from people and hosts on its line of a terminal.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return ' '
		}
		return r
	}, text)
}
