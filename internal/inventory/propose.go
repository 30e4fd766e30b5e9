package inventory

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Plan is what the inventory would become by what exporters report.
type Plan struct {
	Hosts []HostPlan
	// SKUs are the new classes that the cards need.
	SKUs []rental.SKU
	// Leaving are cards whose slots others have taken: they are proposed as rma.
	Leaving []rental.GPU
	// Vanished are cards that their hosts, which do report, tell nothing of. They stay as they
	// are until a person retires them.
	Vanished []rental.GPU
	// Held says why the plan needs a person's word for its size; empty where it does not.
	Held string
}

// HostPlan is one host with the cards that it reports.
type HostPlan struct {
	Host rental.Host
	// Action is create, update or unchanged.
	Action string
	Cards  []CardPlan
	// Instances are the MIG instances of those cards, by card and uuid.
	Instances []InstancePlan
}

// CardPlan is one reported card.
type CardPlan struct {
	GPU   rental.GPU
	Model string
	// Action is create, update (another slot, host or serial than the inventory says) or unchanged.
	Action string
	// Note says what is different, in a sentence; empty for a new or unchanged card.
	Note string
	// Conflict says why a person must look first; such a card is left out of what is applied.
	Conflict string
}

// Propose compares reports of gpu_info and gpu_mig_info with what the ledger knows. New hosts are put into the
// site. Nothing is changed; Resources of the plan are what a person may accept.
func Propose(v View, site string) Plan {
	b := builder{view: v, site: site, known: byName(v.GPUs, cardName), hosts: byName(v.Hosts, hostName), skus: slices.Clone(v.SKUs)}
	reported := reports(v.Reported)
	seen := map[string]bool{}
	for _, r := range reported {
		seen[r.uuid] = true
	}
	for start := 0; start < len(reported); {
		end := start
		for end < len(reported) && reported[end].host == reported[start].host {
			end++
		}
		b.host(reported[start:end], seen)
		start = end
	}
	b.instances()
	b.missing(seen)
	b.hold()
	return b.plan
}

// builder makes one plan.
type builder struct {
	view    View
	site    string
	known   map[string]rental.GPU
	hosts   map[string]rental.Host
	skus    []rental.SKU
	plan    Plan
	changed int // known cards that move, or leave their slots to others
}

func (b *builder) host(cards []report, seen map[string]bool) {
	name, slots := cards[0].host, 0
	for _, c := range cards {
		slots = max(slots, c.slot+1)
	}
	h := HostPlan{Action: rental.ActionUnchanged}
	known, ok := b.hosts[name]
	switch {
	case !ok:
		h.Host, h.Action = rental.Host{Name: name, Site: b.site, Slots: slots}, rental.ActionCreate
	case known.Slots < slots:
		h.Host, h.Action = known, rental.ActionUpdate
		h.Host.Slots = slots
	default:
		h.Host = known
	}
	for _, c := range cards {
		h.Cards = append(h.Cards, b.card(c, seen))
	}
	b.plan.Hosts = append(b.plan.Hosts, h)
}

func (b *builder) card(r report, seen map[string]bool) CardPlan {
	sku, isNew, conflict := skuOf(r.model, r.brand, b.skus)
	c := CardPlan{Model: r.model, Action: rental.ActionCreate, Conflict: cmp.Or(r.conflict, conflict)}
	c.GPU = rental.GPU{UUID: r.uuid, Serial: r.serial, SKU: sku.Name, Host: r.host, Slot: r.slot, Life: rental.GPUService}
	if old, ok := b.known[r.uuid]; ok {
		b.again(&c, old, r)
	} else if isNew && c.Conflict == "" {
		b.skus = append(b.skus, sku)
		b.plan.SKUs = append(b.plan.SKUs, sku)
	}
	if c.Conflict == "" && c.Action != rental.ActionUnchanged {
		b.vacate(&c, seen)
	}
	return c
}

// again compares a card that the inventory has with the report. Its class stays: what was sold
// is the contract's matter, and another product name under one uuid is for a person to judge.
func (b *builder) again(c *CardPlan, old rental.GPU, r report) {
	c.GPU.SKU, c.GPU.Life = old.SKU, old.Life
	c.GPU.Serial = cmp.Or(r.serial, old.Serial)
	c.Action = rental.ActionUpdate
	switch {
	case old.Serial != "" && r.serial != "" && old.Serial != r.serial:
		c.Conflict = cmp.Or(c.Conflict, fmt.Sprintf("GPU %s reports serial %s, the inventory has %s: expected one card to keep its serial; look at the card", r.uuid, r.serial, old.Serial))
	case old.Life == rental.GPUScrapped:
		c.Conflict = cmp.Or(c.Conflict, fmt.Sprintf("GPU %s was scrapped and reports again from host %q: set its life to service if it is back", r.uuid, r.host))
	case old.Life == rental.GPURMA || old.Life == rental.GPUStock:
		c.GPU.Life = rental.GPUService
		c.Note = fmt.Sprintf("came from %s into slot %d of host %q", old.Life, r.slot, r.host)
	case old.Host != r.host || old.Slot != r.slot:
		c.Note = fmt.Sprintf("moved from slot %d of host %q to slot %d of host %q", old.Slot, old.Host, r.slot, r.host)
		b.changed++
	case old != c.GPU:
		c.Note = fmt.Sprintf("serial %s is known now", r.serial)
	default:
		c.Action = rental.ActionUnchanged
	}
}

// vacate finds the card that the inventory still has in the slot. Where that one reports from
// elsewhere it moves by itself; else it is proposed as rma.
func (b *builder) vacate(c *CardPlan, seen map[string]bool) {
	for _, old := range b.view.GPUs {
		if old.UUID == c.GPU.UUID || old.Host != c.GPU.Host || old.Slot != c.GPU.Slot || !inSlot(old) || seen[old.UUID] {
			continue
		}
		c.Note = fmt.Sprintf("in slot %d of host %q in place of GPU %s (serial %s)", old.Slot, old.Host, old.UUID, cmp.Or(old.Serial, "not known"))
		old.Life = rental.GPURMA
		b.plan.Leaving = append(b.plan.Leaving, old)
		b.changed++
	}
}

// missing lists the cards of reporting hosts that nobody reports and whose slots are free.
func (b *builder) missing(seen map[string]bool) {
	reporting := map[string]bool{}
	for _, h := range b.plan.Hosts {
		reporting[h.Host.Name] = true
	}
	leaving := byName(b.plan.Leaving, cardName)
	for _, g := range b.view.GPUs {
		if _, left := leaving[g.UUID]; inSlot(g) && reporting[g.Host] && !seen[g.UUID] && !left {
			b.plan.Vanished = append(b.plan.Vanished, g)
		}
	}
	slices.SortFunc(b.plan.Vanished, func(a, b rental.GPU) int { return cmp.Compare(a.UUID, b.UUID) })
}

// hold holds a plan that moves more of the known cards than the policy lets go at once: a feed
// that is wrong looks just like that.
func (b *builder) hold() {
	total := 0
	for _, g := range b.view.GPUs {
		if inSlot(g) {
			total++
		}
	}
	if policy := b.view.Policy; policy.Mass(b.changed, total) {
		b.plan.Held = fmt.Sprintf("%d of %d known GPUs would move or leave their slots, more than %d %%: expected a person to look first; accept it explicitly if it is true", b.changed, total, policy.MassPercent)
	}
}
