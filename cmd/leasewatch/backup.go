package main

import (
	"context"
	"fmt"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/server"
)

func registerBackup(app *kingpin.Application, actions map[string]action) {
	var f struct{ target, storage, dsn string }
	cmd := app.Command("backup", "Copy the ledger to a file while it is whole (SQLite; for PostgreSQL use pg_dump).")
	cmd.Arg("file", "File to write; it must not exist.").Required().StringVar(&f.target)
	cmd.Flag("storage.path", "Directory of samples and ledger.").Default("data").StringVar(&f.storage)
	cmd.Flag("ledger.dsn", "The ledger's DSN where it is not the directory's own SQLite file.").Envar("LEASEWATCH_LEDGER_DSN").StringVar(&f.dsn)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		if err := server.BackupLedger(ctx, server.OfflineOptions{StoragePath: f.storage, DSN: f.dsn}, f.target); err != nil {
			return err
		}
		_, err := fmt.Fprintf(io.out, "the ledger is copied to %s\n", f.target)
		return err
	}
}

func registerRestore(app *kingpin.Application, actions map[string]action) {
	var f struct{ source, storage string }
	cmd := app.Command("restore", "Put a copy of the ledger made by backup into a data directory that has none.")
	cmd.Arg("file", "File that backup wrote; it is checked first.").Required().StringVar(&f.source)
	cmd.Flag("storage.path", "Directory of samples and ledger.").Default("data").StringVar(&f.storage)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		if err := server.RestoreLedger(ctx, f.source, f.storage); err != nil {
			return err
		}
		_, err := fmt.Fprintf(io.out, "the ledger of %s is that of %s\n", f.storage, f.source)
		return err
	}
}
