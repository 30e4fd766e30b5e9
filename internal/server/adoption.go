package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/inventory"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// adoption compares the inventory with what exporters report, and records what a person accepts.
type adoption struct {
	samples samples
	keeping keeping
	now     func() time.Time
}

// view is the inventory as the ledger has it at a moment.
func view(ctx context.Context, l *ledger.Ledger, now time.Time) (inventory.View, error) {
	var v inventory.View
	var errs [9]error
	at := rental.At(now)
	v.Sites, errs[0] = l.Sites(ctx)
	v.Hosts, errs[1] = l.Hosts(ctx)
	v.SKUs, errs[2] = l.SKUs(ctx)
	v.GPUs, errs[3] = l.GPUs(ctx)
	v.Contracts, errs[4] = l.Contracts(ctx)
	v.Leases, errs[5] = l.Leases(ctx)
	v.Assignments, errs[6] = l.AssignmentsAt(ctx, rental.Span{Start: at, End: at + 1})
	v.MIGInstances, errs[7] = l.MIGInstances(ctx)
	v.Policy, errs[8] = l.Approvals(ctx)
	return v, errors.Join(errs[:]...)
}

// inventoryView is the inventory with what exporters report; where samples cannot be read the
// inventory alone stands.
func (s *leaseSeries) inventoryView(ctx context.Context, now time.Time) (inventory.View, error) {
	v, err := view(ctx, s.ledger, now)
	if err != nil {
		return v, err
	}
	if err = readReported(ctx, &v, lateSamples{s.app}, now); err != nil {
		s.log.Error("cards that report and were not adopted are not told", "error", err)
	}
	return v, nil
}

// readReported completes the view by what exporters report of cards and MIG instances now.
func readReported(ctx context.Context, v *inventory.View, s samples, now time.Time) (err error) {
	if v.Reported, err = s.Query(ctx, fmt.Sprintf(deduplicated, "gpu_info"), now); err != nil {
		return err
	}
	if v.ReportedMIG, err = s.Query(ctx, fmt.Sprintf(deduplicated, "gpu_mig_info"), now); err != nil {
		return err
	}
	places := map[string]string{}
	for _, gpu := range v.GPUs {
		places[gpu.UUID] = gpu.Host
	}
	for _, one := range v.Reported {
		if insideOnly(one.Labels) == "" {
			places[one.Labels["uuid"]] = one.Labels["host"]
		}
	}
	v.Reported, v.ReportedMIG = unmoved(v.Reported, places), unmoved(v.ReportedMIG, places)
	return nil
}

// unmoved leaves out what guests tell of cards that have a place: a guest knows a card by the
// machine that it is in itself, and where a host tells of the card, or the inventory has it in
// another one, its word is no move.
func unmoved(told []rental.Series, places map[string]string) []rental.Series {
	return slices.DeleteFunc(told, func(one rental.Series) bool {
		card := cmp.Or(one.Labels["gpu_uuid"], one.Labels["uuid"])
		return insideOnly(one.Labels) != "" && elsewhere(places, card, one.Labels["host"])
	})
}

// plan is what the inventory would become with new hosts at a site.
func (a adoption) plan(ctx context.Context, site string) (inventory.Plan, error) {
	v, err := view(ctx, a.keeping.ledger, a.now())
	if err != nil {
		return inventory.Plan{}, err
	}
	if err := readReported(ctx, &v, a.samples, a.now()); err != nil {
		return inventory.Plan{}, err
	}
	return inventory.Propose(v, site), nil
}

// Proposals returns what exporters report beside what the inventory knows.
func (a adoption) Proposals(ctx context.Context) (api.Proposals, error) {
	plan, err := a.plan(ctx, "")
	if err != nil {
		return api.Proposals{}, err
	}
	out := api.Proposals{Hosts: []api.HostProposal{}, Leaving: plan.Leaving, Vanished: plan.Vanished, Held: plan.Held}
	for _, host := range plan.Hosts {
		proposal := api.HostProposal{Host: host.Host, New: host.Action == rental.ActionCreate, GPUs: []api.GPUProposal{}}
		for _, card := range host.Cards {
			proposal.GPUs = append(proposal.GPUs, api.GPUProposal{GPU: card.GPU, Model: card.Model, Action: card.Action, Note: card.Note, Conflict: card.Conflict})
		}
		for _, m := range host.Instances {
			proposal.MIGInstances = append(proposal.MIGInstances, api.MIGProposal{Instance: m.Instance, Action: m.Action, Conflict: m.Conflict})
		}
		out.Hosts = append(out.Hosts, proposal)
	}
	return out, nil
}

// Adopt records the plan. One that is held for its size is refused: it is recorded host by host.
func (a adoption) Adopt(ctx context.Context, by rental.Principal, in api.Adopt) (api.Changes, error) {
	plan, err := a.plan(ctx, in.Site)
	if err != nil {
		return api.Changes{}, err
	}
	resources, err := plan.Resources(len(in.Hosts) > 0, in.Hosts...)
	if err != nil {
		return api.Changes{}, err
	}
	return a.keeping.apply(ctx, by, "inventory adopt", resources, ledger.Submission{DryRun: in.DryRun, Looked: len(in.Hosts) > 0})
}
