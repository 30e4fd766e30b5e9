package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// samples answers PromQL at one moment.
type samples interface {
	Query(ctx context.Context, expr string, at time.Time) ([]rental.Series, error)
}

// inventoryReader is what the fleet reads of the ledger.
type inventoryReader interface {
	Sites(ctx context.Context) ([]rental.Site, error)
	Hosts(ctx context.Context) ([]rental.Host, error)
	GPUs(ctx context.Context) ([]rental.GPU, error)
	MIGInstances(ctx context.Context) ([]rental.MIGInstance, error)
	Leases(ctx context.Context) ([]rental.Lease, error)
	AssignmentsAt(ctx context.Context, span rental.Span) ([]rental.Assignment, error)
	Maintenances(ctx context.Context, span rental.Span) ([]rental.Maintenance, error)
}

// fleet tells how every host and GPU is now: the newest samples beside the inventory.
type fleet struct {
	samples samples
	ledger  inventoryReader
	now     func() time.Time
}

// deduplicated drops what tells a scraped copy of a series from a pushed one.
const deduplicated = "max without (job, instance) (%s)"

// The readings of a card's row; each is one instant query over the whole fleet.
var readings = map[string]func(*api.FleetGPU, *float64){
	"gpu_utilization_ratio":   func(g *api.FleetGPU, v *float64) { g.Utilisation = v },
	"gpu_memory_used_bytes":   func(g *api.FleetGPU, v *float64) { g.MemoryUsedBytes = v },
	"gpu_memory_total_bytes":  func(g *api.FleetGPU, v *float64) { g.MemoryTotalBytes = v },
	"gpu_temperature_celsius": func(g *api.FleetGPU, v *float64) { g.TemperatureCelsius = v },
	"gpu_power_watts":         func(g *api.FleetGPU, v *float64) { g.PowerWatts = v },
	"gpu_reading_timestamp_seconds": func(g *api.FleetGPU, v *float64) {
		g.SampledAt = rental.Millis(*v * 1000)
	},
	"gpu_state_since_timestamp_seconds": func(g *api.FleetGPU, v *float64) {
		g.Since = rental.Millis(*v * 1000)
	},
}

// Fleet reads the present moment.
func (f *fleet) Fleet(ctx context.Context) (api.Fleet, error) {
	now := f.now()
	book, err := readBook(ctx, f.ledger, rental.At(now))
	if err != nil {
		return api.Fleet{}, err
	}
	cards, err := f.reported(ctx, now)
	if err != nil {
		return api.Fleet{}, err
	}
	for _, gpu := range book.gpus {
		if gpu.Life == rental.GPUScrapped {
			continue
		}
		card := cards[gpu.UUID]
		if card == nil {
			card = &reportedGPU{host: gpu.Host}
			card.UUID, card.State, card.Slot = gpu.UUID, "unknown", gpu.Slot
			cards[gpu.UUID] = card
		}
		card.adopted, card.Slot, card.SKU, card.Life = true, gpu.Slot, gpu.SKU, gpu.Life
		card.Serial = cmp.Or(card.Serial, gpu.Serial)
		card.host = cmp.Or(gpu.Host, card.host)
	}
	if err := f.instances(ctx, now, book, cards); err != nil {
		return api.Fleet{}, err
	}
	hosts, err := f.hosts(ctx, now, book, cards)
	return api.Fleet{At: rental.At(now), Hosts: hosts}, err
}

// reportedGPU is a card with the host that it is on.
type reportedGPU struct {
	api.FleetGPU
	host    string
	adopted bool
	parts   map[string]*reportedPart // its MIG instances, by uuid
}

// reported returns the cards that exporters tell of now, by uuid.
func (f *fleet) reported(ctx context.Context, now time.Time) (map[string]*reportedGPU, error) {
	cards := map[string]*reportedGPU{}
	infos, err := f.samples.Query(ctx, fmt.Sprintf(deduplicated, "gpu_info"), now)
	if err != nil {
		return nil, err
	}
	for _, info := range guestsFirst(infos) {
		l := info.Labels
		card := &reportedGPU{host: l["host"]}
		card.UUID, card.Serial, card.Model, card.Index = l["uuid"], l["serial"], l["name"], l["gpu"]
		card.State, card.Vantage = "unknown", insideOnly(l)
		card.Slot, _ = strconv.Atoi(l["gpu"]) // until the inventory says where it sits
		cards[card.UUID] = card
	}
	states, err := f.samples.Query(ctx, fmt.Sprintf(deduplicated, "gpu_state")+" == 1", now)
	if err != nil {
		return nil, err
	}
	for _, s := range guestsFirst(states) {
		card := cards[s.Labels["uuid"]]
		if card == nil {
			continue
		}
		state, inside := s.Labels["state"], insideOnly(s.Labels)
		if inside == "" && card.State != "unknown" && rental.ClassOfState(state) == rental.NoData {
			continue // the host let go of the card, a guest has it
		}
		card.State, card.Vantage = state, inside
	}
	for metric, set := range readings {
		values, err := f.samples.Query(ctx, fmt.Sprintf(deduplicated, metric), now)
		if err != nil {
			return nil, err
		}
		for _, s := range guestsFirst(values) {
			card := cards[s.Labels["uuid"]]
			if card == nil || len(s.Samples) == 0 || card.Vantage != "" && insideOnly(s.Labels) == "" {
				continue
			}
			value := s.Samples[len(s.Samples)-1].Value
			set(&card.FleetGPU, &value)
		}
	}
	return cards, nil
}

// insideOnly is the vantage of a series as people are shown it: guest, or empty for the host.
func insideOnly(labels map[string]string) string {
	if labels["vantage"] == rental.VantageGuest {
		return rental.VantageGuest
	}
	return ""
}

// guestsFirst orders series so that what the host tells of a card overrules what its guest told.
func guestsFirst(series []rental.Series) []rental.Series {
	slices.SortStableFunc(series, func(a, b rental.Series) int {
		return -cmp.Compare(insideOnly(a.Labels), insideOnly(b.Labels))
	})
	return series
}

// hosts puts the cards into their hosts and says how each host is.
func (f *fleet) hosts(ctx context.Context, now time.Time, book *book, cards map[string]*reportedGPU) ([]api.FleetHost, error) {
	byName := map[string]*api.FleetHost{}
	for _, host := range book.hosts {
		site := book.sites[host.Site]
		byName[host.Name] = &api.FleetHost{
			Host: host.Name, Provider: site.Provider, Site: host.Site, Rack: host.Rack,
			State: "unknown", Adopted: true, GPUs: []api.FleetGPU{},
		}
	}
	heard := map[string]bool{}
	for _, card := range cards {
		host := byName[card.host]
		if host == nil {
			host = &api.FleetHost{Host: card.host, Provider: "unknown", State: "unknown", GPUs: []api.FleetGPU{}}
			byName[card.host] = host
		}
		// A guest is no evidence of how the machine around it is.
		heard[card.host] = heard[card.host] || card.Index != "" && (card.Vantage == "" || !card.adopted)
		held := book.holder(card.UUID)
		card.Lease, card.Tenant = held.lease, held.tenant
		told := card.State
		card.State, card.Reason = book.derive(card.host, held, told)
		card.MIG = book.parts(card, told)
		host.GPUs = append(host.GPUs, card.FleetGPU)
	}
	silent, err := f.lastHeard(ctx, now, byName, heard)
	if err != nil {
		return nil, err
	}
	hosts := make([]api.FleetHost, 0, len(byName))
	for name, host := range byName {
		if heard[name] {
			host.State = "ok"
		} else {
			host.Since, host.Reason = silent[name], "no samples"
			for i := range host.GPUs {
				if host.GPUs[i].Vantage == "" {
					host.GPUs[i].Since, host.GPUs[i].SampledAt = host.Since, host.Since
				}
			}
		}
		slices.SortFunc(host.GPUs, func(a, b api.FleetGPU) int {
			return cmp.Or(cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.UUID, b.UUID))
		})
		hosts = append(hosts, *host)
	}
	slices.SortFunc(hosts, func(a, b api.FleetHost) int { return cmp.Compare(a.Host, b.Host) })
	return hosts, nil
}

// heardWithin is how far back a silent host's last sample is looked for.
const heardWithin = "6h"

// lastHeard returns since when the silent hosts are silent; one that was silent for longer
// than heardWithin is not in the answer.
func (f *fleet) lastHeard(ctx context.Context, now time.Time, hosts map[string]*api.FleetHost, heard map[string]bool) (map[string]rental.Millis, error) {
	last := map[string]rental.Millis{}
	for name := range hosts {
		if !heard[name] {
			last[name] = 0
		}
	}
	if len(last) == 0 {
		return last, nil
	}
	found, err := f.samples.Query(ctx, "max by (host) (max_over_time(gpu_snapshot_timestamp_seconds["+heardWithin+"]))", now)
	if err != nil {
		return nil, err
	}
	for _, s := range found {
		if _, silent := last[s.Labels["host"]]; silent && len(s.Samples) > 0 {
			last[s.Labels["host"]] = rental.Millis(s.Samples[len(s.Samples)-1].Value * 1000)
		}
	}
	return last, nil
}
