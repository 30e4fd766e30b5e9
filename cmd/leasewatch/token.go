package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func registerToken(app *kingpin.Application, actions map[string]action) {
	token := app.Command("token", "Tokens of people, exporters and Grafana.")

	registerTokenCreate(token, actions)

	var list connection
	cmd := token.Command("list", "List tokens, without their secrets.")
	list.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		return list.do(ctx, func(ctx context.Context, c *api.Client) error {
			tokens, err := c.Tokens(ctx)
			if err != nil {
				return err
			}
			tab := tabwriter.NewWriter(io.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(tab, "NAME\tPERSON\tROLE\tTENANT\tHOST\tLEASE\tCREATED\tUSED\tREVOKED")
			for _, t := range tokens {
				revoked := "no"
				if t.RevokedAt != 0 {
					revoked = t.RevokedAt.String()
				}
				fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", t.Name, orDash(t.Person), t.Role, t.Tenant, t.Host, t.Lease, t.CreatedAt, used(t), revoked)
			}
			return tab.Flush()
		})
	}

	var revoke struct {
		connection
		id string
	}
	cmd = token.Command("revoke", "End a token at once, and what an enrolment of that name became.")
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

// used tells what became of an enrolment; "" for any other token.
func used(t rental.Token) string {
	switch {
	case t.Role != rental.RoleEnroll:
		return ""
	case t.UsedAt != 0:
		return t.UsedAt.String()
	default:
		return "until " + t.ExpiresAt.String()
	}
}

func registerTokenCreate(token *kingpin.CmdClause, actions map[string]action) {
	var create struct {
		connection
		in   api.NewToken
		role string
		ttl  time.Duration
	}
	cmd := token.Command("create", "Make a token and print it, once.")
	cmd.Flag("name", "The program that holds it. A name of a person would stay with all that is done with it: see --person.").StringVar(&create.in.Name)
	cmd.Flag("person", "The person who holds it, such as PER-1 (leasewatch person add).").StringVar(&create.in.Person)
	cmd.Flag("role", "admin, operator, oncall, finance, tenant, push, enroll or scheduler.").Required().
		EnumVar(&create.role, "admin", "operator", "oncall", "finance", "tenant", "push", "enroll", "scheduler")
	cmd.Flag("tenant", "The tenant whose leases it shows; with --role=tenant.").StringVar(&create.in.Tenant)
	cmd.Flag("host", "The one host whose samples it may write; with --role=push. Recommended: it lies on that host.").StringVar(&create.in.Host)
	cmd.Flag("lease", "The lease inside which leasewatch-exporter enroll uses it, once; with --role=enroll.").StringVar(&create.in.Lease)
	cmd.Flag("service", "A program holds it: what it enters may wait for a person, and it approves nothing.").BoolVar(&create.in.Service)
	cmd.Flag("ttl", "How long it can be used, 1m to 720h; with --role=enroll (24h where not given).").DurationVar(&create.ttl)
	create.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		create.in.Role = rental.Role(create.role)
		if (create.in.Name == "") == (create.in.Person == "") {
			return usageError{fmt.Errorf("--name %q with --person %q: expected one of the two", create.in.Name, create.in.Person)}
		}
		for _, bound := range []struct {
			flag, value string
			role        rental.Role
			must        bool
		}{
			{"tenant", create.in.Tenant, rental.RoleTenant, true},
			{"host", create.in.Host, rental.RolePush, false},
			{"lease", create.in.Lease, rental.RoleEnroll, true},
		} {
			switch its := create.in.Role == bound.role; {
			case bound.value != "" && !its:
				return usageError{fmt.Errorf("--%s %q with --role %s: expected a %s with --role=%s only", bound.flag, bound.value, create.role, bound.flag, bound.role)}
			case bound.value == "" && its && bound.must:
				return usageError{fmt.Errorf("--role %s without --%s: expected a %s with --role=%s", create.role, bound.flag, bound.flag, bound.role)}
			}
		}
		if create.ttl != 0 && (create.in.Role != rental.RoleEnroll || create.ttl < time.Minute || create.ttl > 720*time.Hour) {
			return usageError{fmt.Errorf("--ttl %s with --role %s: expected 1m to 720h, with --role=enroll only", create.ttl, create.role)}
		}
		create.in.ValidForSeconds = int64(create.ttl / time.Second)
		return create.do(ctx, func(ctx context.Context, c *api.Client) error {
			created, err := c.CreateToken(ctx, create.in)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(io.out, created.Secret)
			return err
		})
	}
}
