package ledger

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

//go:embed migrations
var migrations embed.FS

// migrate brings the tables up to date; it is a no-op where they are.
func (l *Ledger) migrate(ctx context.Context, name string) error {
	folder, kind := "migrations/sqlite", goose.DialectSQLite3
	if l.dialect == postgresDialect {
		folder, kind = "migrations/postgres", goose.DialectPostgres
	}
	files, err := fs.Sub(migrations, folder)
	if err != nil {
		return fmt.Errorf("ledger migrations: %w", err)
	}
	p, err := goose.NewProvider(kind, l.write, files, goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return fmt.Errorf("ledger %s: migrations: %w", name, err)
	}
	done, err := p.Up(ctx)
	if err != nil {
		return storeError("ledger "+name+": migration", err)
	}
	for _, d := range done {
		l.log.Info("ledger migrated", "ledger", name, "version", d.Source.Version)
	}
	return nil
}
