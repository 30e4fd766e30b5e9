package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/manifest"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// errDiffers ends lease diff where there is something to do; it says nothing by itself.
var errDiffers = errors.New("the files differ from what is recorded")

// registerApply adds apply, the directory as a whole, and import, a table.
func registerApply(app *kingpin.Application, actions map[string]action) {
	var apply struct {
		connection
		paths  []string
		dryRun bool
	}
	cmd := app.Command("apply", "Record the resources of YAML files and folders as a whole: all in one transaction, or nothing.")
	cmd.Arg("path", "File or folder of YAML, or - for standard input.").Required().StringsVar(&apply.paths)
	cmd.Flag("dry-run", "Say what would change, and change nothing.").BoolVar(&apply.dryRun)
	apply.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return apply.do(ctx, func(ctx context.Context, c *api.Client) error {
			return applyFiles(ctx, c, io, apply.paths, apply.dryRun)
		})
	}

	var table struct {
		connection
		kind, file string
		dryRun     bool
	}
	cmd = app.Command("import", "Record the resources of a CSV table as a whole: a column for each field, a row for each resource.")
	cmd.Flag("kind", "Kind of the resources: "+strings.ToLower(strings.Join(manifest.Kinds(), ", "))+".").Required().StringVar(&table.kind)
	cmd.Arg("file", "CSV file, or - for standard input.").Required().StringVar(&table.file)
	cmd.Flag("dry-run", "Say what would change, and change nothing.").BoolVar(&table.dryRun)
	table.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		kind, known := manifest.KindNamed(table.kind)
		if !known {
			return usageError{fmt.Errorf("--kind %q: expected %s", table.kind, strings.ToLower(strings.Join(manifest.Kinds(), ", ")))}
		}
		resources, places, err := readTable(io, named(table.file), kind)
		if err != nil {
			return inputError{err}
		}
		return table.do(ctx, func(ctx context.Context, c *api.Client) error {
			changes, err := submit(ctx, c, resources, places, table.dryRun)
			if err != nil {
				return err
			}
			return printChanges(io.out, changes)
		})
	}
}

// registerDiff adds lease diff.
func registerDiff(lease *kingpin.CmdClause, actions map[string]action) {
	var diff struct {
		connection
		files []string
	}
	cmd := lease.Command("diff", "Show what applying YAML files would add and change, old -> new, or why it would be refused; ends with 6 where there is something to do.")
	cmd.Flag("file", "File or folder of YAML, or - for standard input; may be given again.").Short('f').Required().StringsVar(&diff.files)
	diff.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return diff.do(ctx, func(ctx context.Context, c *api.Client) error {
			resources, places, err := readFiles(io, diff.files)
			if err != nil {
				return err
			}
			changes, err := submit(ctx, c, resources, places, true)
			if err != nil {
				return err
			}
			return printDiff(io.out, changes)
		})
	}
}

// readFiles reads the resources of files and folders, with where each was written.
func readFiles(io streams, names []string) (rental.Resources, manifest.Places, error) {
	for i, name := range names {
		names[i] = named(name)
	}
	resources, places, err := manifest.ReadPlaced(names, io.in)
	if err != nil {
		return resources, nil, inputError{err}
	}
	if resources.Len() == 0 {
		return resources, nil, inputError{fmt.Errorf("%s: found no resource, expected documents with apiVersion, kind, metadata and spec", strings.Join(names, ", "))}
	}
	return resources, places, nil
}

func readTable(io streams, file, kind string) (rental.Resources, manifest.Places, error) {
	if file == "-" {
		return manifest.ReadCSV("stdin", kind, io.in)
	}
	f, err := os.Open(file)
	if err != nil {
		return rental.Resources{}, nil, err
	}
	defer f.Close()
	return manifest.ReadCSV(file, kind, f)
}

// submit sends resources as one: all of them are recorded, or nothing. Errors name the place in the
// input that they are about.
func submit(ctx context.Context, c *api.Client, resources rental.Resources, places manifest.Places, dryRun bool) (api.Changes, error) {
	var whole bytes.Buffer
	if err := manifest.Write(&whole, resources); err != nil {
		return api.Changes{}, err
	}
	changes, err := c.Apply(ctx, whole.Bytes(), dryRun)
	if err != nil {
		return api.Changes{}, places.Error(err)
	}
	return changes, nil
}

// printDiff writes what would be added and changed, a line a field; errDiffers where anything would.
func printDiff(w io.Writer, changes api.Changes) error {
	var out strings.Builder
	same := 0
	for _, change := range changes.Changes {
		if change.Action == rental.ActionUnchanged {
			same++
			continue
		}
		fmt.Fprintf(&out, "%s %s %s\n", change.Action, change.Kind, change.Name)
		if change.Diff != "" {
			out.WriteString("    " + strings.ReplaceAll(change.Diff, "\n", "\n    ") + "\n")
		}
	}
	if same == len(changes.Changes) {
		_, err := fmt.Fprintf(w, "nothing to do: %d resources are recorded as they stand\n", same)
		return err
	}
	if _, err := io.WriteString(w, out.String()); err != nil {
		return err
	}
	return errors.Join(printHeld(w, changes.Pending), errDiffers)
}
