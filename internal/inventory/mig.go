package inventory

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// InstancePlan is one MIG instance that is reported, or that its card does not report any more.
type InstancePlan struct {
	Instance rental.MIGInstance
	// Action is create, update (it was removed, or is back) or unchanged.
	Action string
	// Conflict says why a person must look first; such an instance is left out of what is applied.
	Conflict string
}

// instances proposes the MIG instances of the cards that report, host by host. One whose card
// reports and does not have it any more is proposed as removed, unless a lease holds it: then the
// card was cut otherwise under the lease, which nothing but a person can put right.
func (b *builder) instances() {
	known := byName(b.view.MIGInstances, instanceName)
	cards := map[string]int{} // by the uuid of a reported card: its host's place in the plan
	for i, h := range b.plan.Hosts {
		for _, c := range h.Cards {
			cards[c.GPU.UUID] = i
		}
	}
	reported := map[string]bool{}
	for _, m := range instancesOf(b.view.ReportedMIG) {
		host, ok := cards[m.GPU]
		if !ok {
			continue
		}
		reported[m.UUID] = true
		plan := InstancePlan{Instance: m, Action: rental.ActionCreate}
		old, was := known[m.UUID]
		switch {
		case was && old.GPU != m.GPU:
			plan.Action = rental.ActionUpdate
			plan.Conflict = fmt.Sprintf("MIG instance %s is reported in GPU %s, the inventory has it in GPU %s: expected one; find which is wrong", m.UUID, m.GPU, old.GPU)
		case was && old.Profile != m.Profile:
			plan.Action = rental.ActionUpdate
			plan.Conflict = fmt.Sprintf("MIG instance %s is reported as %s, the inventory has %s: expected one; another cut has another uuid", m.UUID, m.Profile, old.Profile)
		case was:
			plan.Instance.Placement = cmp.Or(m.Placement, old.Placement)
			plan.Action = rental.ActionUpdate
			if plan.Instance == old {
				plan.Action = rental.ActionUnchanged
			}
		}
		b.plan.Hosts[host].Instances = append(b.plan.Hosts[host].Instances, plan)
	}
	for _, old := range b.view.MIGInstances {
		host, ok := cards[old.GPU]
		if !ok || old.Removed || reported[old.UUID] {
			continue
		}
		plan := InstancePlan{Instance: old, Action: rental.ActionUpdate}
		plan.Instance.Removed = true
		if i := slices.IndexFunc(b.view.Assignments, func(a rental.Assignment) bool { return a.UUID == old.UUID }); i >= 0 {
			plan.Conflict = fmt.Sprintf("GPU %s has no MIG instance %s (%s) any more and lease %q holds it: expected it to stay; cut it again or end the lease",
				old.GPU, old.UUID, old.Profile, b.view.Assignments[i].Lease)
		}
		b.plan.Hosts[host].Instances = append(b.plan.Hosts[host].Instances, plan)
	}
	for i := range b.plan.Hosts {
		slices.SortStableFunc(b.plan.Hosts[i].Instances, func(a, b InstancePlan) int {
			return cmp.Or(cmp.Compare(a.Instance.GPU, b.Instance.GPU), cmp.Compare(a.Instance.UUID, b.Instance.UUID))
		})
	}
}

// instancesOf reads gpu_mig_info: the newest word on each instance, by uuid.
func instancesOf(series []rental.Series) []rental.MIGInstance {
	type told struct {
		rental.MIGInstance
		at rental.Millis
	}
	newest := map[string]told{}
	for _, s := range series {
		m := told{MIGInstance: rental.MIGInstance{UUID: s.Labels["uuid"], GPU: s.Labels["gpu_uuid"], Profile: s.Labels["profile"], Placement: s.Labels["placement"]}}
		if n := len(s.Samples); n > 0 {
			m.at = s.Samples[n-1].At
		}
		if m.UUID == "" || m.GPU == "" || m.UUID == m.GPU {
			continue
		}
		if other, seen := newest[m.UUID]; !seen || m.at > other.at {
			newest[m.UUID] = m
		}
	}
	all := make([]rental.MIGInstance, 0, len(newest))
	for _, m := range newest {
		all = append(all, m.MIGInstance)
	}
	slices.SortFunc(all, func(a, b rental.MIGInstance) int { return cmp.Compare(a.UUID, b.UUID) })
	return all
}
