package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/monitor"
	"github.com/leasewatch/leasewatch/internal/server"
)

func registerBackfill(app *kingpin.Application, actions map[string]action) {
	backfill := app.Command("backfill", "Write history into the store, where no server runs on it.")
	var f struct {
		file, storage, dsn, retention string
		dryRun                        bool
	}
	cmd := backfill.Command("openmetrics", "Read OpenMetrics text with timestamps, evaluate the recording rules over it, derive downtime and meter.")
	cmd.Arg("file", "File, or - for standard input.").Required().StringVar(&f.file)
	cmd.Flag("storage.path", "Directory of samples and ledger.").Default("data").StringVar(&f.storage)
	cmd.Flag("storage.retention", "How long the server keeps samples; older ones are refused.").Default("90d").StringVar(&f.retention)
	cmd.Flag("ledger.dsn", "The ledger's DSN where it is not the directory's own SQLite file.").Envar("LEASEWATCH_LEDGER_DSN").StringVar(&f.dsn)
	cmd.Flag("dry-run", "Check the file and write nothing.").BoolVar(&f.dryRun)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) (err error) {
		retention, err := parseRetention(f.retention)
		if err != nil {
			return usageError{err}
		}
		f.file = named(f.file)
		input, closeInput, err := openInput(f.file, io)
		if err != nil {
			return inputError{err}
		}
		defer closeInput()
		offline, err := server.OpenOffline(ctx, server.OfflineOptions{StoragePath: f.storage, DSN: f.dsn, Retention: retention})
		if err != nil {
			return startError(err)
		}
		defer func() { err = errors.Join(err, offline.Close()) }()
		result, err := offline.BackfillOpenMetrics(ctx, input, f.dryRun)
		if errors.Is(err, monitor.ErrBadHistory) || errors.Is(err, monitor.ErrBeyondRetention) {
			return inputError{fmt.Errorf("%s: %w", f.file, err)}
		}
		if err != nil {
			return err
		}
		done := "wrote"
		if f.dryRun {
			done = "would write"
		}
		_, err = fmt.Fprintf(io.out, "%s %d samples of %d series from %s to %s, and %d of recording rules\n",
			done, result.Samples, result.Series, result.Span.Start, result.Span.End, result.Recorded)
		return err
	}
}

func openInput(name string, s streams) (io.Reader, func(), error) {
	if name == "-" {
		return s.in, func() {}, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	return bufio.NewReaderSize(file, 1<<20), func() { _ = file.Close() }, nil
}
