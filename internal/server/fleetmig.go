package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// reportedPart is a MIG instance of a card; there tells whether the card reports it now.
type reportedPart struct {
	api.FleetMIG
	there bool
}

// instances puts the MIG instances that are reported or recorded to their cards.
func (f *fleet) instances(ctx context.Context, now time.Time, book *book, cards map[string]*reportedGPU) error {
	parts := map[string]*reportedPart{}
	place := func(card, uuid string) *reportedPart {
		on := cards[card]
		if on == nil {
			return nil
		}
		if on.parts == nil {
			on.parts = map[string]*reportedPart{}
		}
		p := &reportedPart{FleetMIG: api.FleetMIG{UUID: uuid}}
		on.parts[uuid], parts[uuid] = p, p
		return p
	}
	infos, err := f.samples.Query(ctx, fmt.Sprintf(deduplicated, "gpu_mig_info"), now)
	if err != nil {
		return err
	}
	for _, info := range infos {
		l := info.Labels
		if p := place(l["gpu_uuid"], l["uuid"]); p != nil {
			p.Profile, p.Placement, p.there = l["profile"], l["placement"], true
		}
	}
	for _, m := range book.instances {
		p := parts[m.UUID]
		if _, held := book.assignments[m.UUID]; p == nil && (!m.Removed || held) {
			p = place(m.GPU, m.UUID)
		}
		if p != nil {
			p.Profile, p.Placement = cmp.Or(p.Profile, m.Profile), cmp.Or(p.Placement, m.Placement)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	for metric, set := range map[string]func(*reportedPart, *float64){
		"gpu_utilization_ratio":  func(p *reportedPart, v *float64) { p.Utilisation = v },
		"gpu_memory_used_bytes":  func(p *reportedPart, v *float64) { p.MemoryUsedBytes = v },
		"gpu_memory_total_bytes": func(p *reportedPart, v *float64) { p.MemoryTotalBytes = v },
	} {
		values, err := f.samples.Query(ctx, fmt.Sprintf(deduplicated, metric+`{gpu_uuid!=""}`), now)
		if err != nil {
			return err
		}
		for _, s := range values {
			if p := parts[s.Labels["uuid"]]; p != nil && len(s.Samples) > 0 {
				value := s.Samples[len(s.Samples)-1].Value
				set(p, &value)
			}
		}
	}
	return nil
}

// parts returns a card's MIG instances as they are shown, by placement: each as its card is by
// what exporters told, and unknown where a card that is up does not have it.
func (b *book) parts(card *reportedGPU, told string) []api.FleetMIG {
	var out []api.FleetMIG
	for _, p := range card.parts {
		held := b.holder(p.UUID)
		p.Lease, p.Tenant = held.lease, held.tenant
		if !p.there && rental.ClassOfState(told) == rental.Up {
			p.State = "unknown"
		} else {
			p.State, _ = b.derive(card.host, held, told)
		}
		out = append(out, p.FleetMIG)
	}
	slices.SortFunc(out, func(a, b api.FleetMIG) int {
		return cmp.Or(cmp.Compare(a.Placement, b.Placement), cmp.Compare(a.UUID, b.UUID))
	})
	return out
}
