package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func registerToken(app *kingpin.Application, actions map[string]action) {
	token := app.Command("token", "Tokens of people, exporters and Grafana.")

	var create struct {
		connection
		in   api.NewToken
		role string
	}
	cmd := token.Command("create", "Make a token and print it, once.")
	cmd.Flag("name", "Who holds it.").Required().StringVar(&create.in.Name)
	cmd.Flag("role", "admin, operator, oncall, finance, tenant or push.").Required().
		EnumVar(&create.role, "admin", "operator", "oncall", "finance", "tenant", "push")
	cmd.Flag("tenant", "The tenant whose leases it shows; with --role=tenant.").StringVar(&create.in.Tenant)
	cmd.Flag("host", "The one host whose samples it may write; with --role=push. Recommended: it lies on that host.").StringVar(&create.in.Host)
	create.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		create.in.Role = rental.Role(create.role)
		if (create.in.Role == rental.RoleTenant) != (create.in.Tenant != "") {
			return usageError{fmt.Errorf("--tenant %q with --role %s: expected a tenant with --role=tenant, and none with any other", create.in.Tenant, create.role)}
		}
		if create.in.Host != "" && create.in.Role != rental.RolePush {
			return usageError{fmt.Errorf("--host %q with --role %s: expected a host with --role=push only", create.in.Host, create.role)}
		}
		return create.do(ctx, func(ctx context.Context, c *api.Client) error {
			created, err := c.CreateToken(ctx, create.in)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(io.out, created.Secret)
			return err
		})
	}

	var list connection
	cmd = token.Command("list", "List tokens, without their secrets.")
	list.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return list.do(ctx, func(ctx context.Context, c *api.Client) error {
			tokens, err := c.Tokens(ctx)
			if err != nil {
				return err
			}
			tab := tabwriter.NewWriter(io.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(tab, "NAME\tROLE\tTENANT\tHOST\tCREATED\tREVOKED")
			for _, t := range tokens {
				revoked := "no"
				if t.RevokedAt != 0 {
					revoked = t.RevokedAt.String()
				}
				fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%s\n", t.Name, t.Role, t.Tenant, t.Host, t.CreatedAt, revoked)
			}
			return tab.Flush()
		})
	}

	var revoke struct {
		connection
		id string
	}
	cmd = token.Command("revoke", "End a token at once.")
	cmd.Arg("name", "Name of the token.").Required().StringVar(&revoke.id)
	revoke.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return revoke.do(ctx, func(ctx context.Context, c *api.Client) error {
			if err := c.RevokeToken(ctx, revoke.id); err != nil {
				return err
			}
			_, err := fmt.Fprintf(io.out, "token %s is revoked\n", revoke.id)
			return err
		})
	}
}
