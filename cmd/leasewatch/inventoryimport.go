package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/manifest"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// inventoryKinds are the resources that say what there is, and nothing of who rents it.
var inventoryKinds = []string{rental.KindProvider, rental.KindSite, rental.KindHost, rental.KindSKU, rental.KindGPU, rental.KindMIG}

// registerInventoryImport adds inventory import: what apply and import do, for what there is alone,
// so that a list from somewhere else cannot bring a contract or a lease along.
func registerInventoryImport(inventory *kingpin.CmdClause, actions map[string]action) {
	var in struct {
		connection
		kind   string
		paths  []string
		dryRun bool
	}
	kinds := strings.ToLower(strings.Join(inventoryKinds, ", "))
	cmd := inventory.Command("import", "Record providers, sites, hosts, SKUs, GPUs and MIG instances of YAML files and folders, or with --kind of CSV tables, as a whole.")
	cmd.Arg("path", "File or folder of YAML, or with --kind a CSV table; - for standard input.").Required().StringsVar(&in.paths)
	cmd.Flag("kind", "The paths are CSV tables of this kind: "+kinds+".").StringVar(&in.kind)
	cmd.Flag("dry-run", "Say what would change, and change nothing.").BoolVar(&in.dryRun)
	in.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		resources, places, err := readInventory(io, in.kind, in.paths)
		if err != nil {
			return err
		}
		return in.do(ctx, func(ctx context.Context, c *api.Client) error {
			changes, err := submit(ctx, c, resources, places, in.dryRun)
			if err != nil {
				return err
			}
			return printChanges(io.out, changes)
		})
	}
}

// readInventory reads YAML, or tables where a kind is named, and refuses what is no inventory.
func readInventory(io streams, kindName string, paths []string) (rental.Resources, manifest.Places, error) {
	kinds := strings.ToLower(strings.Join(inventoryKinds, ", "))
	if kindName == "" {
		resources, places, err := readFiles(io, paths)
		if err != nil {
			return resources, nil, err
		}
		if others := notInventory(resources, kinds); len(others) > 0 {
			return resources, nil, inputError{places.Error(errors.New(strings.Join(others, "\n")))}
		}
		return resources, places, nil
	}
	kind, known := manifest.KindNamed(kindName)
	if !known || !slices.Contains(inventoryKinds, kind) {
		return rental.Resources{}, nil, usageError{fmt.Errorf("--kind %q: expected %s", kindName, kinds)}
	}
	if len(paths) != 1 {
		return rental.Resources{}, nil, usageError{fmt.Errorf("found %d tables, expected one: each import of a table is recorded as a whole", len(paths))}
	}
	resources, places, err := readTable(io, named(paths[0]), kind)
	if err != nil {
		return resources, nil, inputError{err}
	}
	return resources, places, nil
}

// notInventory returns a line for each resource that is none of the inventory.
func notInventory(r rental.Resources, kinds string) []string {
	var out []string
	add := func(kind, name string) {
		out = append(out, fmt.Sprintf("%s %q: expected %s only; leasewatch apply takes the others", kind, name, kinds))
	}
	for _, t := range r.Tenants {
		add(rental.KindTenant, t.Name)
	}
	for _, c := range r.Calendars {
		add(rental.KindCalendar, c.Name)
	}
	for _, c := range r.Contracts {
		add(rental.KindContract, c.Name)
	}
	for _, l := range r.Leases {
		add(rental.KindLease, l.ID)
	}
	for _, m := range r.Maintenances {
		add(rental.KindMaintenance, m.ID)
	}
	for _, c := range r.Consumptions {
		add(rental.KindConsumption, c.ID)
	}
	for _, a := range r.Adjustments {
		add(rental.KindAdjustment, a.ID)
	}
	return out
}
