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

func registerPerson(app *kingpin.Application, actions map[string]action) {
	person := app.Command("person", "The people behind the ids that facts hold.")

	var list struct {
		connection
		format string
	}
	cmd := person.Command("list", "List people, the erased too.")
	cmd.Flag("format", "table or json.").Default("table").EnumVar(&list.format, "table", "json")
	list.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return list.do(ctx, func(ctx context.Context, c *api.Client) error {
			people, err := c.People(ctx)
			if err != nil {
				return err
			}
			if list.format == "json" {
				return printJSON(io.out, people)
			}
			return printPeople(io.out, people)
		})
	}

	var show struct {
		connection
		id, format string
	}
	cmd = person.Command("show", "Show a person, and what was done with the entry.")
	cmd.Arg("person", "Person, such as PER-1.").Required().StringVar(&show.id)
	cmd.Flag("format", "text or json.").Default("text").EnumVar(&show.format, "text", "json")
	show.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return show.do(ctx, func(ctx context.Context, c *api.Client) error {
			found, err := c.Person(ctx, show.id)
			if err != nil {
				return err
			}
			if show.format == "json" {
				return printJSON(io.out, found)
			}
			return printPerson(io.out, found)
		})
	}
	registerPersonChanges(person, actions)
}

// registerPersonChanges adds the commands that enter, change and erase a person.
func registerPersonChanges(person *kingpin.CmdClause, actions map[string]action) {
	var add struct {
		connection
		in api.NewPerson
	}
	cmd := person.Command("add", "Add a person and print the id; then: leasewatch token create --person ID.")
	cmd.Flag("name", "Name, as others read it.").Required().StringVar(&add.in.Name)
	cmd.Flag("mail", "Address.").StringVar(&add.in.Mail)
	add.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return add.do(ctx, func(ctx context.Context, c *api.Client) error {
			added, err := c.AddPerson(ctx, add.in)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(io.out, added.ID)
			return err
		})
	}

	var rename struct {
		connection
		id string
		in api.NewPerson
	}
	cmd = person.Command("rename", "Give a person another name and address; what was there before is kept nowhere.")
	cmd.Arg("person", "Person, such as PER-1.").Required().StringVar(&rename.id)
	cmd.Flag("name", "Name, as others read it.").Required().StringVar(&rename.in.Name)
	cmd.Flag("mail", "Address; none where it is left out.").StringVar(&rename.in.Mail)
	rename.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return rename.do(ctx, func(ctx context.Context, c *api.Client) error {
			changed, err := c.ChangePerson(ctx, rename.id, rename.in)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(io.out, "%s is shown as %s\n", changed.ID, changed.Shown())
			return err
		})
	}

	var erase struct {
		connection
		id  string
		why string
	}
	cmd = person.Command("erase", "Erase all of a person but the id, for good, and end the person's tokens. No bill, head or report changes by it.")
	cmd.Arg("person", "Person, such as PER-1.").Required().StringVar(&erase.id)
	cmd.Flag("why", "The reason. It is kept for good: name nobody in it.").Required().StringVar(&erase.why)
	erase.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return erase.do(ctx, func(ctx context.Context, c *api.Client) error {
			erased, err := c.ErasePerson(ctx, erase.id, api.ErasePerson{Why: erase.why})
			if err != nil {
				return err
			}
			if erased.Pending != nil {
				return printHeld(io.out, erased.Pending)
			}
			_, err = fmt.Fprintf(io.out, "%s was erased at %s; copies of the ledger that are older still hold the name\n", erased.ID, erased.ErasedAt)
			return err
		})
	}
}

func printPeople(w io.Writer, people []rental.Person) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "PERSON\tNAME\tMAIL\tADDED\tERASED")
	for _, p := range people {
		erased := "no"
		if p.ErasedAt != 0 {
			erased = p.ErasedAt.String()
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\n", p.ID, orDash(p.Name), orDash(p.Mail), p.AddedAt, erased)
	}
	return tab.Flush()
}

func printPerson(w io.Writer, p api.PersonDetail) error {
	fmt.Fprintf(w, "%s\nmail: %s\ntokens: %s\n", p.Shown(), orDash(p.Mail), orDash(strings.Join(p.Tokens, ", ")))
	for _, e := range p.History {
		by := e.By
		if e.ApprovedBy != "" {
			by += ", approved by " + e.ApprovedBy
		}
		if _, err := fmt.Fprintf(w, "%s  %s by %s: %s\n", e.At, e.Did, by, orDash(e.Why)); err != nil {
			return err
		}
	}
	return nil
}
