package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/server"
)

// connection says which server a command speaks to: a running one by its address, or, with
// --storage.path, none: the command then opens the data directory itself.
type connection struct {
	url       string
	tokenFile string
	storage   string
	dsn       string
	asOf      string
}

func (c *connection) flags(cmd *kingpin.CmdClause) {
	cmd.Flag("server.url", "Address of the server.").Default("http://127.0.0.1:8080").Envar("LEASEWATCH_URL").StringVar(&c.url)
	cmd.Flag("server.token-file", "File that holds the token.").Envar("LEASEWATCH_TOKEN_FILE").StringVar(&c.tokenFile)
	cmd.Flag("storage.path", "Open this data directory instead of asking a server.").StringVar(&c.storage)
	cmd.Flag("ledger.dsn", "With --storage.path: the ledger's DSN where it is not the directory's own SQLite file.").Envar("LEASEWATCH_LEDGER_DSN").StringVar(&c.dsn)
}

// pastFlag adds the moment whose knowledge answers rest on.
func (c *connection) pastFlag(cmd *kingpin.CmdClause) {
	cmd.Flag("as-of", "Answer by what was recorded up to this moment, in RFC 3339, as it would have been answered then.").StringVar(&c.asOf)
}

// known returns the client that asks by what was known at --as-of.
func (c *connection) known(client *api.Client) (*api.Client, error) {
	if c.asOf == "" {
		return client, nil
	}
	var at rental.Millis
	if err := at.UnmarshalText([]byte(c.asOf)); err != nil {
		return nil, usageError{fmt.Errorf("--as-of: %w", err)}
	}
	return client.AsOf(at), nil
}

// checkMonth refuses what is no month; empty is the present one.
func checkMonth(month string) error {
	if _, err := time.Parse("2006-01", month); err != nil && month != "" {
		return usageError{fmt.Errorf("--month %q: expected YYYY-MM, such as 2026-05", month)}
	}
	return nil
}

// do hands a client to fn and closes what it opened.
func (c *connection) do(ctx context.Context, fn func(context.Context, *api.Client) error) error {
	if c.storage != "" {
		offline, err := server.OpenOffline(ctx, server.OfflineOptions{StoragePath: c.storage, DSN: c.dsn})
		if err != nil {
			return err
		}
		client, err := offline.Client()
		if err == nil {
			client, err = c.known(client)
		}
		if err == nil {
			err = fn(ctx, client)
		}
		return errors.Join(err, offline.Close())
	}
	secret := api.Secret{}
	if c.tokenFile != "" {
		body, err := os.ReadFile(c.tokenFile)
		if err != nil {
			return fmt.Errorf("token file: %w", err)
		}
		secret = api.NewSecret(strings.TrimSpace(string(body)))
	}
	client, err := api.New(c.url, secret, &http.Client{Timeout: time.Minute})
	if err != nil {
		return usageError{err}
	}
	if client, err = c.known(client); err != nil {
		return err
	}
	return fn(ctx, client)
}
