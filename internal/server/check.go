package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/monitor"
	"github.com/leasewatch/leasewatch/internal/paging"
)

// ConfigError is an error of what a person wrote: a configuration, a rule or a routing file.
type ConfigError struct{ Err error }

// Error says the place, what was found and what was expected.
func (e *ConfigError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the part that read the file.
func (e *ConfigError) Unwrap() error { return e.Err }

// CheckConfig reads a configuration file with all files that it names, and starts nothing.
func CheckConfig(file string) error {
	cfg, err := LoadConfig(file)
	if err != nil {
		return err
	}
	return cfg.checkFiles(file)
}

// checkFiles checks what the configuration names: scrape configurations, rules, routing, secrets.
func (c *Config) checkFiles(file string) error {
	var errs []error
	rules, err := c.monitorConfig(file)
	if err == nil {
		err = monitor.CheckConfig(rules)
	}
	errs = append(errs, err)
	routing, routingFile, err := c.routing()
	if err != nil {
		err = fmt.Errorf("%s: paging.config_file: %w", c.place(file, "paging.config_file"), err)
	} else {
		err = errors.Join(paging.CheckConfig(routing, routingFile), c.checkNext(file, routing, routingFile), c.checkRoster(file, routing, routingFile))
	}
	errs = append(errs, err)
	for _, secret := range [][2]string{{"slack.bot_token_file", c.Slack.BotTokenFile}, {"slack.app_token_file", c.Slack.AppTokenFile}, {"slack.signing_secret_file", c.Slack.SigningSecretFile}} {
		_, err := c.secret(c.place(file, secret[0])+": "+secret[0], secret[1])
		errs = append(errs, err)
	}
	_, err = c.bmcAccounts(file)
	errs = append(errs, err)
	if err := errors.Join(errs...); err != nil {
		return &ConfigError{Err: err}
	}
	return nil
}

// BackupLedger copies the ledger to a file. It may run beside a server.
func BackupLedger(ctx context.Context, o OfflineOptions, target string) (err error) {
	cfg := DefaultConfig()
	dsn := o.DSN
	if dsn == "" {
		dsn = ledgerDSN(&cfg, o.StoragePath)
	}
	book, err := ledger.Open(ctx, dsn, ledger.Options{Logger: discard(o.Log), Now: clock(o.Now), Shared: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, book.Close()) }()
	return book.Backup(ctx, target)
}

// RestoreLedger puts a copy that BackupLedger made into a data directory that has no ledger.
func RestoreLedger(ctx context.Context, source, storage string) error {
	if err := os.MkdirAll(storage, 0o750); err != nil {
		return fmt.Errorf("--storage.path: %w: give the directory to this user, or choose another", err)
	}
	return ledger.Restore(ctx, source, filepath.Join(storage, ledgerFile))
}
