package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/server"
)

// registerProof adds what a tenant is given, checks and keeps.
func registerProof(app *kingpin.Application, actions map[string]action) {
	registerReport(app, actions)
	registerVerify(app, actions)
	proof := app.Command("proof", "What proves a lease's records: heads to keep, and the keys of signatures.")

	var heads struct {
		connection
		lease, format string
	}
	cmd := proof.Command("heads", "The heads that close each day of a lease's records. Keep them: verify-report takes the file.")
	cmd.Flag("lease", "Lease.").Required().StringVar(&heads.lease)
	cmd.Flag("format", "json or table.").Default("json").EnumVar(&heads.format, "json", "table")
	heads.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return heads.do(ctx, func(ctx context.Context, c *api.Client) error {
			answer, err := c.Heads(ctx, heads.lease)
			if err != nil {
				return err
			}
			if heads.format == "table" {
				return printHeads(io.out, answer.Heads)
			}
			return printJSON(io.out, answer)
		})
	}

	var keys struct {
		connection
		format string
	}
	cmd = proof.Command("keys", "The public keys that reports are signed with.")
	cmd.Flag("format", "table or json.").Default("table").EnumVar(&keys.format, "table", "json")
	keys.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return keys.do(ctx, func(ctx context.Context, c *api.Client) error {
			all, err := c.SigningKeys(ctx)
			if err != nil {
				return err
			}
			if keys.format == "json" {
				return printJSON(io.out, all)
			}
			return printKeys(io.out, all)
		})
	}

	var rotate struct{ storage, dsn string }
	cmd = proof.Command("rotate", "Make a new signing key, endorsed by the one before. No server may run on the directory.")
	cmd.Flag("storage.path", "The server's data directory.").Required().StringVar(&rotate.storage)
	cmd.Flag("ledger.dsn", "The ledger's DSN where it is not the directory's own SQLite file.").Envar("LEASEWATCH_LEDGER_DSN").StringVar(&rotate.dsn)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		offline, err := server.OpenOffline(ctx, server.OfflineOptions{StoragePath: rotate.storage, DSN: rotate.dsn})
		if err != nil {
			return err
		}
		all, err := offline.RotateSigningKey()
		if err == nil {
			err = printKeys(io.out, all)
		}
		return errors.Join(err, offline.Close())
	}
}

func printHeads(w io.Writer, heads []rental.Head) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "HEAD\tSEALED\tRECORDS\tSHA-256")
	for _, h := range heads {
		fmt.Fprintf(tab, "%d\t%s\t%d\t%s\n", h.Number, h.SealedAt, h.Records, h.Hash)
	}
	return tab.Flush()
}

func printKeys(w io.Writer, keys []rental.SigningKey) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "KEY\tMADE\tRETIRED\tENDORSED BY\tED25519 PUBLIC KEY")
	for _, k := range keys {
		retired := "-"
		if k.RetiredAt != 0 {
			retired = k.RetiredAt.String()
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\n", k.ID, k.MadeAt, retired, orDash(k.EndorsedBy), base64.StdEncoding.EncodeToString(k.Public))
	}
	return tab.Flush()
}
