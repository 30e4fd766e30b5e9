package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/manifest"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// registerLeaseAdopt adds lease adopt: a lease that runs already is proposed from what exporters
// report, and recorded once a person accepts it.
func registerLeaseAdopt(lease *kingpin.CmdClause, actions map[string]action) {
	var adopt struct {
		connection
		lease  rental.Lease
		hosts  []string
		start  string
		accept bool
	}
	cmd := lease.Command("adopt", "Propose a lease of the GPUs that exporters report on hosts and that nobody leases, as YAML; with --accept, record it.")
	cmd.Arg("lease", "Id of the lease to be.").Required().StringVar(&adopt.lease.ID)
	cmd.Flag("host", "Host whose GPUs it has; may be given again.").Required().StringsVar(&adopt.hosts)
	cmd.Flag("tenant", "Who leases.").Required().StringVar(&adopt.lease.Tenant)
	cmd.Flag("contract", "Under which contract.").Required().StringVar(&adopt.lease.Contract)
	cmd.Flag("start", "Since when, in RFC 3339; now where it is not given.").StringVar(&adopt.start)
	cmd.Flag("accept", "Record the proposal.").BoolVar(&adopt.accept)
	adopt.flags(cmd)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		adopt.lease.Start, adopt.lease.End = rental.At(time.Now()), rental.Forever
		if adopt.start != "" {
			if err := adopt.lease.Start.UnmarshalText([]byte(adopt.start)); err != nil {
				return usageError{fmt.Errorf("--start: %w", err)}
			}
		}
		return adopt.do(ctx, func(ctx context.Context, c *api.Client) error {
			return adoptLease(ctx, c, io, adopt.lease, adopt.hosts, adopt.accept)
		})
	}
}

func adoptLease(ctx context.Context, c *api.Client, io streams, lease rental.Lease, hosts []string, accept bool) error {
	known, err := c.Leases(ctx, api.LeaseQuery{})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(known, func(l api.LeaseSummary) bool { return l.ID == lease.ID }) {
		return &rental.Error{Code: rental.CodeRefused, Message: fmt.Sprintf("lease %q: it is recorded: expected a new id", lease.ID)}
	}
	fleet, err := c.Fleet(ctx)
	if err != nil {
		return err
	}
	var leftOut []string
	if lease.GPUs, leftOut, err = adoptable(fleet, hosts); err != nil {
		return err
	}
	for _, line := range leftOut {
		fmt.Fprintln(io.err, line)
	}
	if len(lease.GPUs) == 0 {
		return &rental.Error{Code: rental.CodeRefused, Message: fmt.Sprintf("lease %q: found no GPU for it on the hosts: expected one that reports, is in service, and that nobody leases", lease.ID)}
	}
	proposal := rental.Resources{Leases: []rental.Lease{lease}}
	if accept {
		changes, err := submit(ctx, c, proposal, nil, false)
		if err != nil {
			return err
		}
		return printChanges(io.out, changes)
	}
	// Checked as it would be recorded: a person accepts nothing that is refused later.
	if _, err := submit(ctx, c, proposal, nil, true); err != nil {
		return err
	}
	if err := manifest.Write(io.out, proposal); err != nil {
		return err
	}
	_, err = fmt.Fprintln(io.err, "nothing was recorded; accept with --accept, or keep the file and apply it")
	return err
}

// adoptable returns the cards of the hosts that a lease can have, by host and slot, and a line for
// each that it cannot have. A host that the fleet does not know is an error of CodeNotFound.
func adoptable(fleet api.Fleet, hosts []string) (cards []rental.GPURef, leftOut []string, err error) {
	for i, name := range hosts {
		if slices.Contains(hosts[:i], name) {
			continue
		}
		at := slices.IndexFunc(fleet.Hosts, func(h api.FleetHost) bool { return h.Host == name })
		if at < 0 {
			return nil, nil, &rental.Error{Code: rental.CodeNotFound, Message: fmt.Sprintf("host %q: no such host", name)}
		}
		for _, g := range fleet.Hosts[at].GPUs {
			if why := notAdoptable(g); why != "" {
				leftOut = append(leftOut, fmt.Sprintf("%s slot %d: GPU %s is left out: %s", name, g.Slot, g.UUID, why))
				continue
			}
			cards = append(cards, rental.GPURef{UUID: g.UUID})
		}
	}
	return cards, leftOut, nil
}

// notAdoptable says why a lease cannot have a card; empty where it can.
func notAdoptable(g api.FleetGPU) string {
	part := slices.IndexFunc(g.MIG, func(m api.FleetMIG) bool { return m.Lease != "" })
	switch {
	case g.Lease != "":
		return fmt.Sprintf("lease %q holds it", g.Lease)
	case part >= 0:
		return fmt.Sprintf("lease %q holds a part of it, %s", g.MIG[part].Lease, g.MIG[part].UUID)
	case g.Life == "":
		return "it is not in the inventory (leasewatch inventory adopt)"
	case g.Life != rental.GPUService:
		return fmt.Sprintf("its life is %s", g.Life)
	case g.SampledAt == 0:
		return "no exporter reports it"
	}
	return ""
}
