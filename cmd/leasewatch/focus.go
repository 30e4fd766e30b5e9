package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/billing/focus"
)

func registerFocus(app *kingpin.Application, actions map[string]action) {
	var check struct {
		file, version string
		limit         int
	}
	cmd := app.Command("focus", "Cost data in the FinOps Open Cost and Usage Specification.").
		Command("validate", "Check a CSV file, which may be gzipped, against the specification, row by row.")
	cmd.Arg("file", "File, or - for standard input.").Required().StringVar(&check.file)
	cmd.Flag("focus-version", "1.0 or 1.2.").Default("1.2").EnumVar(&check.version, focus.Version10, focus.Version12)
	cmd.Flag("limit", "Faults to tell at most; 0 for all. All are counted.").Default("100").IntVar(&check.limit)
	actions[cmd.FullCommand()] = func(_ context.Context, io streams) error {
		return validateFocus(io, named(check.file), check.version, check.limit)
	}
}

func validateFocus(io streams, name, version string, limit int) error {
	in := io.in
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return inputError{fmt.Errorf("focus: expected a file, or - for standard input: %w", err)}
		}
		defer file.Close()
		in = file
	}
	in, err := unpacked(in)
	if err != nil {
		return inputError{fmt.Errorf("%s: %w", name, err)}
	}
	faults, lines := 0, map[int]bool{}
	rows, err := focus.Validate(in, version, func(f focus.Fault) {
		faults++
		lines[f.Line] = true
		if limit == 0 || faults <= limit {
			fmt.Fprintf(io.out, "%s: %v\n", name, f)
		}
	})
	if err != nil {
		return inputError{fmt.Errorf("%s: %w", name, err)}
	}
	if faults == 0 {
		_, err := fmt.Fprintf(io.out, "%s: %d rows are valid FOCUS %s\n", name, rows, version)
		return err
	}
	if limit > 0 && faults > limit {
		fmt.Fprintf(io.out, "%s: and %d more faults (--limit=0 tells all)\n", name, faults-limit)
	}
	return inputError{fmt.Errorf("%s: %d faults on %d lines of %d rows and the header: expected FOCUS %s", name, faults, len(lines), rows, version)}
}

// unpacked reads what is gzipped as what is in it.
func unpacked(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(r)
	if magic, err := buffered.Peek(2); err == nil && bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return gzip.NewReader(buffered)
	}
	return buffered, nil
}
