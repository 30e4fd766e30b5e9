package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/manifest"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// registerProfile adds the terms of published contracts, to be copied into one's own.
func registerProfile(app *kingpin.Application, actions map[string]action) {
	profile := app.Command("contract", "Terms for contracts.").Command("profile", "Availability and credits as published contracts have them, with source and date.")
	list := profile.Command("list", "The profiles that there are.")
	actions[list.FullCommand()] = func(_ context.Context, io streams) error {
		all, err := manifest.Profiles()
		if err != nil {
			return err
		}
		tab := tabwriter.NewWriter(io.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(tab, "PROFILE\tDATE\tSOURCE")
		for _, p := range all {
			fmt.Fprintf(tab, "%s\t%s\t%s\n", p.Name, p.Date, p.Source)
		}
		return tab.Flush()
	}
	var name string
	show := profile.Command("show", "Print a profile as YAML, indented for a contract's spec. Copy it: nothing changes in your contract when a profile does.")
	show.Arg("name", "A profile of the list.").Required().StringVar(&name)
	actions[show.FullCommand()] = func(_ context.Context, io streams) error {
		all, err := manifest.Profiles()
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(p manifest.Profile) bool { return p.Name == name })
		if i < 0 {
			return &rental.Error{Code: rental.CodeNotFound, Message: fmt.Sprintf("profile %q: expected one of leasewatch contract profile list", name)}
		}
		for line := range strings.Lines(all[i].Text) {
			fmt.Fprint(io.out, "  "+line)
		}
		return nil
	}
}
