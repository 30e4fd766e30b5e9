package main

import (
	"context"
	"fmt"
	stdio "io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func registerCredit(app *kingpin.Application, actions map[string]action) {
	credit := app.Command("credit", "Credits: what missed objectives pay back, and who claimed, approved or refused it.")

	var list struct {
		connection
		query  api.CreditQuery
		format string
	}
	cmd := credit.Command("list", "List credits with where each stands.")
	cmd.Flag("lease", "Only of this lease.").StringVar(&list.query.Lease)
	cmd.Flag("tenant", "Only of this tenant's leases.").StringVar(&list.query.Tenant)
	cmd.Flag("month", "Only of this month, as YYYY-MM, of each contract's time zone.").StringVar(&list.query.Month)
	cmd.Flag("state", "Only computed, claimable, claimed, booked, refused or lapsed ones.").EnumVar(&list.query.State, rental.CreditStates...)
	cmd.Flag("format", "table or json.").Default("table").EnumVar(&list.format, "table", "json")
	list.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		if err := checkMonth(list.query.Month); err != nil {
			return err
		}
		return list.do(ctx, func(ctx context.Context, c *api.Client) error {
			found, err := c.Credits(ctx, list.query)
			if err != nil {
				return err
			}
			if list.format == "json" {
				return printJSON(io.out, found)
			}
			return printCredits(io.out, found)
		})
	}

	var show struct {
		connection
		id, format string
	}
	cmd = credit.Command("show", "Show one credit with its arithmetic and what people did with it.")
	creditArg(cmd, &show.id)
	cmd.Flag("format", "table or json.").Default("table").EnumVar(&show.format, "table", "json")
	show.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return show.do(ctx, func(ctx context.Context, c *api.Client) error {
			one, err := c.Credit(ctx, show.id)
			if err != nil {
				return err
			}
			if show.format == "json" {
				return printJSON(io.out, one)
			}
			return printCredit(io.out, one)
		})
	}
	registerCreditActs(credit, actions)
	registerCreditPack(credit, actions)
}

func creditArg(cmd *kingpin.CmdClause, to *string) {
	cmd.Arg("credit", "Credit: lease and month, such as L-1:2026-05.").Required().StringVar(to)
}

func registerCreditActs(credit *kingpin.CmdClause, actions map[string]action) {
	for _, act := range []struct {
		name, help string
		do         func(*api.Client, context.Context, string, api.ActOnCredit) (api.CreditFact, error)
	}{
		{"claim", "Claim a credit for the tenant.", (*api.Client).ClaimCredit},
		{"approve", "Approve a credit: it becomes a line of the bill.", (*api.Client).ApproveCredit},
		{"refuse", "Refuse a credit, with the reason.", (*api.Client).RefuseCredit},
	} {
		in := &struct {
			connection
			id string
			in api.ActOnCredit
		}{}
		cmd := credit.Command(act.name, act.help)
		creditArg(cmd, &in.id)
		cmd.Flag("reason", "Why, for both sides to read.").Required().StringVar(&in.in.Reason)
		in.flags(cmd)
		actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
			return in.do(ctx, func(ctx context.Context, c *api.Client) error {
				one, err := act.do(c, ctx, in.id, in.in)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(io.out, "%s is %s: %s\n", one.ID, one.State, one.Amount)
				return err
			})
		}
	}
}

func registerCreditPack(credit *kingpin.CmdClause, actions map[string]action) {
	var pack struct {
		connection
		id, out, format, lang string
	}
	cmd := credit.Command("pack", "Write all that a claim rests on: amount, arithmetic, the contract's words, downtime, evidence, deadline.")
	creditArg(cmd, &pack.id)
	cmd.Flag("out", "File to write; none may be there. Standard output where it is not given.").Short('o').StringVar(&pack.out)
	cmd.Flag("format", "json, html, or zip with both and their hashes.").Default("zip").EnumVar(&pack.format, "json", "html", "zip")
	cmd.Flag("lang", "Language of the page, en or zh; the contract's where it is not given.").EnumVar(&pack.lang, "en", "zh")
	pack.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return pack.do(ctx, func(ctx context.Context, c *api.Client) error {
			body, err := c.CreditPack(ctx, pack.id, pack.format, pack.lang)
			if err != nil {
				return err
			}
			if pack.out == "" {
				_, err = io.out.Write(body)
				return err
			}
			if err := writeNew(pack.out, body); err != nil {
				return err
			}
			_, err = fmt.Fprintf(io.out, "the claim for %s is in %s\n", pack.id, pack.out)
			return err
		})
	}
}

// writeNew writes a file where none is yet, for its owner alone.
func writeNew(path string, body []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if os.IsExist(err) {
		return &rental.Error{Code: rental.CodeRefused, Message: path + " exists: expected a path where no file is"}
	}
	if err != nil {
		return err
	}
	if _, err := file.Write(body); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

func printCredits(w stdio.Writer, found []api.CreditFact) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "CREDIT\tTENANT\tAMOUNT\tSTATE\tCLAIM UNTIL")
	for _, c := range found {
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\n", c.ID, c.Tenant, c.Amount, creditStands(c), creditUntil(c))
	}
	return tab.Flush()
}

func creditStands(c api.CreditFact) string {
	if c.Held {
		return c.State + ", held"
	}
	return c.State
}

func creditUntil(c api.CreditFact) string {
	if c.ClaimUntil == 0 {
		return "-"
	}
	return c.ClaimUntil.String()
}

func printCredit(w stdio.Writer, c api.CreditFact) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s\n", c.ID, c.Amount, creditStands(c))
	fmt.Fprintf(&b, "tenant %s, provider %s, %s to %s\n", c.Tenant, c.Provider, c.Period.Start, c.Period.End)
	fmt.Fprintf(&b, "%s\n", oneLine(c.Arithmetic))
	if c.ClaimUntil != 0 {
		fmt.Fprintf(&b, "to be claimed until %s\n", c.ClaimUntil)
	}
	if c.Held {
		fmt.Fprintf(&b, "held: downtime of the month is not decided\n")
	}
	if c.Unapproved > 0 {
		fmt.Fprintf(&b, "computed since the approval, and not approved: %s\n", rental.Amount{Currency: c.Amount.Currency, Minor: c.Unapproved})
	}
	for _, a := range c.Acts {
		fmt.Fprintf(&b, "%s %s\n", a.At, oneLine(actLine(a)))
	}
	_, err := stdio.WriteString(w, b.String())
	return err
}
