package main

import (
	"context"
	"fmt"
	stdio "io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// registerBackups adds the copies of leases' work; `backup` is the server's own.
func registerBackups(app *kingpin.Application, actions map[string]action) {
	backups := app.Command("backups", "Backups of leases' work: what was copied, up to when, and whether it was verified.")

	var report struct {
		connection
		in                       api.ReportBackup
		data, finished, verified string
	}
	cmd := backups.Command("report", "Tell of a backup; told again it is the same one.")
	cmd.Flag("lease", "Whose work it holds.").Required().StringVar(&report.in.Lease)
	cmd.Flag("set", "What is copied, such as checkpoints.").Required().StringVar(&report.in.Set)
	cmd.Flag("data-at", "Up to when the work is in it, in RFC 3339.").Required().StringVar(&report.data)
	cmd.Flag("finished-at", "When the copy was whole.").Required().StringVar(&report.finished)
	cmd.Flag("verified-at", "When it was found to be whole, where it was.").StringVar(&report.verified)
	cmd.Flag("place", "Where it lies.").StringVar(&report.in.Place)
	cmd.Flag("note", "What to add.").StringVar(&report.in.Note)
	report.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		if err := readMoments(map[string]*rental.Millis{"--data-at=" + report.data: &report.in.DataAt,
			"--finished-at=" + report.finished: &report.in.FinishedAt, "--verified-at=" + report.verified: &report.in.VerifiedAt}); err != nil {
			return err
		}
		return report.do(ctx, func(ctx context.Context, c *api.Client) error {
			b, err := c.ReportBackup(ctx, report.in)
			if err != nil {
				return err
			}
			return printBackups(io.out, []rental.Backup{b})
		})
	}

	var list struct {
		connection
		query  api.BackupQuery
		format string
	}
	cmd = backups.Command("list", "List backups, the newest data first.")
	cmd.Flag("lease", "Of this lease.").StringVar(&list.query.Lease)
	cmd.Flag("verified", "Only those that are verified now.").BoolVar(&list.query.Verified)
	cmd.Flag("limit", "At most so many, up to 1000.").Default("100").IntVar(&list.query.Limit)
	cmd.Flag("format", "table or json.").Default("table").EnumVar(&list.format, "table", "json")
	list.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return list.do(ctx, func(ctx context.Context, c *api.Client) error {
			found, err := c.Backups(ctx, list.query)
			if err != nil {
				return err
			}
			if list.format == "json" {
				return printJSON(io.out, found)
			}
			return printBackups(io.out, found)
		})
	}

	var check struct {
		connection
		id     string
		in     api.CheckBackup
		failed bool
	}
	cmd = backups.Command("verify", "Say that a backup was checked and is whole, or with --failed that it is not.")
	cmd.Arg("backup", "The backup's id, as `backups list` shows it.").Required().StringVar(&check.id)
	cmd.Flag("note", "How it was checked.").Required().StringVar(&check.in.Note)
	cmd.Flag("failed", "It is not whole: it counts as verified no more.").BoolVar(&check.failed)
	check.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		check.in.Outcome = rental.ActVerified
		if check.failed {
			check.in.Outcome = rental.ActFailed
		}
		return check.do(ctx, func(ctx context.Context, c *api.Client) error {
			b, err := c.CheckBackup(ctx, check.id, check.in)
			if err != nil {
				return err
			}
			return printBackups(io.out, []rental.Backup{b})
		})
	}
}

// readMoments reads flags of the form --name=text; an empty text is left out.
func readMoments(flags map[string]*rental.Millis) error {
	for flag, to := range flags {
		name, text, _ := strings.Cut(flag, "=")
		if text == "" {
			continue
		}
		if err := to.UnmarshalText([]byte(text)); err != nil {
			return usageError{fmt.Errorf("%s: %w", name, err)}
		}
	}
	return nil
}

func printBackups(w stdio.Writer, found []rental.Backup) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "BACKUP\tLEASE\tDATA\tFINISHED\tVERIFIED\tPLACE")
	for _, b := range found {
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%s\n", b.ID, b.Lease, b.DataAt, b.FinishedAt, momentOrDash(b.VerifiedAt), orDash(oneLine(b.Place)))
	}
	return tab.Flush()
}

func momentOrDash(at rental.Millis) string {
	if at == 0 {
		return "-"
	}
	return at.String()
}

// registerRecovery adds losses of work and what was restored.
func registerRecovery(app *kingpin.Application, actions map[string]action) {
	recovery := app.Command("recovery", "Work that was lost and came back: what RTO and RPO are measured on.")

	var open struct {
		connection
		in     api.OpenFailure
		failed string
	}
	cmd := recovery.Command("open", "Tell that a lease's work was lost, or announce a drill.")
	cmd.Flag("lease", "Whose work.").Required().StringVar(&open.in.Lease)
	cmd.Flag("incident", "The incident that took it: its first evidence is the failure.").StringVar(&open.in.Incident)
	cmd.Flag("failed-at", "When it failed, in RFC 3339; now where neither this nor an incident is given.").StringVar(&open.failed)
	cmd.Flag("drill", "An exercise that begins now: measured, and kept out of the objectives.").BoolVar(&open.in.Drill)
	cmd.Flag("note", "What happened.").Required().StringVar(&open.in.Note)
	open.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		if err := readMoments(map[string]*rental.Millis{"--failed-at=" + open.failed: &open.in.FailedAt}); err != nil {
			return err
		}
		return open.do(ctx, func(ctx context.Context, c *api.Client) error {
			f, err := c.OpenFailure(ctx, open.in)
			return showFailure(io.out, f, err)
		})
	}

	var restore struct {
		connection
		id, at string
		in     api.RestoreFailure
	}
	cmd = recovery.Command("restore", "Tell that the work is there again, from a backup.")
	recoveryArg(cmd, &restore.id)
	cmd.Flag("backup", "The backup's id.").Required().StringVar(&restore.in.Backup)
	cmd.Flag("restored-at", "When, in RFC 3339; now where it is not given. Told more than five minutes later, another person must verify it.").StringVar(&restore.at)
	cmd.Flag("note", "What was done.").Required().StringVar(&restore.in.Note)
	restore.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		if err := readMoments(map[string]*rental.Millis{"--restored-at=" + restore.at: &restore.in.RestoredAt}); err != nil {
			return err
		}
		return restore.do(ctx, func(ctx context.Context, c *api.Client) error {
			f, err := c.RestoreFailure(ctx, restore.id, restore.in)
			return showFailure(io.out, f, err)
		})
	}

	for _, of := range []struct{ name, outcome, help string }{
		{"verify", rental.ActVerified, "Say that the restored work runs: the clocks stop at the restore, and its backup is verified."},
		{"fail", rental.ActFailed, "Say that the restore does not work: the work is still lost."},
		{"give-up", rental.ActGivenUp, "Say that nothing can be restored."},
	} {
		registerSettle(recovery, actions, of.name, of.outcome, of.help)
	}

	var list struct {
		connection
		query  api.FailureQuery
		format string
	}
	cmd = recovery.Command("list", "List losses of work.")
	cmd.Flag("lease", "Of this lease.").StringVar(&list.query.Lease)
	cmd.Flag("state", "Only open, restored, verified or given_up ones.").EnumVar(&list.query.State, rental.FailureStates...)
	cmd.Flag("format", "table or json.").Default("table").EnumVar(&list.format, "table", "json")
	list.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return list.do(ctx, func(ctx context.Context, c *api.Client) error {
			found, err := c.Failures(ctx, list.query)
			if err != nil {
				return err
			}
			if list.format == "json" {
				return printJSON(io.out, found)
			}
			return printFailures(io.out, found)
		})
	}
}

func registerSettle(recovery *kingpin.CmdClause, actions map[string]action, name, outcome, help string) {
	settle := &struct {
		connection
		id string
		in api.SettleFailure
	}{}
	settle.in.Outcome = outcome
	cmd := recovery.Command(name, help)
	recoveryArg(cmd, &settle.id)
	cmd.Flag("note", "How it was found out.").Required().StringVar(&settle.in.Note)
	settle.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return settle.do(ctx, func(ctx context.Context, c *api.Client) error {
			f, err := c.SettleFailure(ctx, settle.id, settle.in)
			return showFailure(io.out, f, err)
		})
	}
}

func recoveryArg(cmd *kingpin.CmdClause, to *string) {
	cmd.Arg("failure", "The failure's id, such as REC-000001.").Required().StringVar(to)
}

func showFailure(w stdio.Writer, f rental.WorkLoss, err error) error {
	if err != nil {
		return err
	}
	return printFailures(w, []rental.WorkLoss{f})
}

func printFailures(w stdio.Writer, found []rental.WorkLoss) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "FAILURE\tLEASE\tSTATE\tFAILED\tRESTORED\tBACKUP\tDRILL")
	for _, f := range found {
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", f.ID, f.Lease, f.State, f.FailedAt, momentOrDash(f.RestoredAt), orDash(f.Backup), strconv.FormatBool(f.Drill))
	}
	return tab.Flush()
}
