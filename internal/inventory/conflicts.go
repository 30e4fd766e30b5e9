package inventory

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Conflicts returns where records and reports contradict each other, by kind, host and uuid:
// what only a person can put right. Nothing is refused or changed by it.
func Conflicts(v View, at rental.Millis) []rental.InventoryConflict {
	c := conflicts{view: v, at: at, reported: map[string]report{}, parts: map[string]bool{},
		cards: byName(v.GPUs, cardName), held: map[string]string{}}
	for _, r := range reports(v.Reported) {
		c.reported[r.uuid] = r
	}
	for _, m := range instancesOf(v.ReportedMIG) {
		c.parts[m.UUID] = true
	}
	c.claims()
	c.places()
	c.leases()
	c.unleased()
	for _, s := range v.ClockOffsets {
		if n := len(s.Samples); n > 0 {
			c.add(rental.InventoryConflict{Kind: rental.ConflictClock, Host: s.Labels["host"],
				Text: fmt.Sprintf("the clock of host %q is %.0f s off ours: expected them alike; its evidence carries the wrong times, so set its clock", s.Labels["host"], s.Samples[n-1].Value)})
		}
	}
	slices.SortFunc(c.found, func(a, b rental.InventoryConflict) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Host, b.Host), cmp.Compare(a.UUID, b.UUID), cmp.Compare(a.Lease, b.Lease), cmp.Compare(a.Text, b.Text))
	})
	return slices.Compact(c.found)
}

type conflicts struct {
	view     View
	at       rental.Millis
	reported map[string]report     // cards, by uuid
	parts    map[string]bool       // MIG instances that are reported
	cards    map[string]rental.GPU // of the inventory
	held     map[string]string     // who has a card or an instance now: a lease
	found    []rental.InventoryConflict
}

func (c *conflicts) add(one rental.InventoryConflict) { c.found = append(c.found, one) }

// claims tells the time that two leases claim; it stays until a person ends or moves one of them.
func (c *conflicts) claims() {
	for _, k := range c.view.Claims {
		c.add(rental.InventoryConflict{Kind: rental.ConflictTwoLeases, Host: c.cards[k.UUID].Host, UUID: k.UUID, Lease: k.Loses,
			Text: fmt.Sprintf("leases %q and %q both claim GPU %s from %s to %s; the first holds it: expected one lease a GPU at a time; end or move one of them",
				k.Holds, k.Loses, k.UUID, k.Span.Start, k.Span.End)})
	}
}

// places tells cards that are reported where they cannot be, or elsewhere than is recorded.
func (c *conflicts) places() {
	for _, r := range c.reported {
		if r.conflict != "" {
			c.add(rental.InventoryConflict{Kind: rental.ConflictTwoPlaces, Host: r.host, UUID: r.uuid, Text: r.conflict})
			continue
		}
		if g, known := c.cards[r.uuid]; known && inSlot(g) && (g.Host != r.host || g.Slot != r.slot) {
			c.add(rental.InventoryConflict{Kind: rental.ConflictElsewhere, Host: r.host, UUID: r.uuid,
				Text: fmt.Sprintf("GPU %s reports from slot %d of host %q, the inventory has it in slot %d of host %q: expected the same; if it moved, record that (leasewatch inventory adopt)",
					r.uuid, r.slot, r.host, g.Slot, g.Host)})
		}
	}
}

// leases tells leases whose hardware is not there, and assignments that reach out of their leases.
func (c *conflicts) leases() {
	spans := map[string]rental.Span{}
	for _, l := range c.view.Leases {
		spans[l.ID] = l.Span()
	}
	for _, l := range c.view.Leases {
		over := slices.ContainsFunc(rental.OverNumber(l, c.view.Assignments), func(s rental.Span) bool { return s.Contains(c.at) })
		if over {
			c.add(rental.InventoryConflict{Kind: rental.ConflictOverNumber, Lease: l.ID,
				Text: fmt.Sprintf("lease %q holds more GPUs than the %d of %s that it was sold: expected no more; end one with its scheduler or sell more", l.ID, l.Floating.Number, l.Floating.SKU)})
		}
	}
	for _, a := range c.view.Assignments {
		if !a.Span.Contains(c.at) {
			continue
		}
		card := c.cards[a.CardUUID()]
		one := rental.InventoryConflict{Host: card.Host, UUID: a.UUID, Lease: a.Lease}
		c.held[a.UUID] = a.Lease
		if a.Card != "" {
			c.held[a.Card] = cmp.Or(c.held[a.Card], a.Lease) // it is in use by its parts
		}
		if span, known := spans[a.Lease]; known && !span.Contains(c.at) {
			one.Kind = rental.ConflictOutsideLease
			one.Text = fmt.Sprintf("GPU %s is assigned to lease %q until %s, the lease runs from %s to %s: expected an assignment within it; end the assignment or move the lease's end",
				a.UUID, a.Lease, a.Span.End, span.Start, span.End)
			c.add(one)
			continue
		}
		_, seen := c.reported[a.CardUUID()]
		switch {
		case !seen:
			one.Kind = rental.ConflictDark
			one.Text = fmt.Sprintf("GPU %s serves lease %q and no exporter reports it: expected readings; its time counts as unknown until host %q reports it", a.UUID, a.Lease, card.Host)
		case a.Card != "" && !c.parts[a.UUID]:
			one.Kind = rental.ConflictMIGMissing
			one.Text = fmt.Sprintf("GPU %s has no MIG instance %s any more and lease %q holds it: expected it to stay; cut it again or end the lease", a.Card, a.UUID, a.Lease)
		default:
			continue
		}
		c.add(one)
	}
}

// unleased tells cards and parts of them that work and that nobody leases.
func (c *conflicts) unleased() {
	for _, s := range c.view.Used {
		uuid, card := s.Labels["uuid"], cmp.Or(s.Labels["gpu_uuid"], s.Labels["uuid"])
		g, known := c.cards[card]
		whole := c.held[card] != "" && card != uuid && !c.partly(card)
		if !known || c.held[uuid] != "" || whole {
			continue
		}
		c.add(rental.InventoryConflict{Kind: rental.ConflictUnleased, Host: g.Host, UUID: uuid,
			Text: fmt.Sprintf("GPU %s on host %q is in use and no lease has it: expected a lease, or nobody's work on it; lease it or end the work", uuid, g.Host)})
	}
}

// partly tells whether a card is leased by a part of it and not as a whole.
func (c *conflicts) partly(card string) bool {
	return slices.ContainsFunc(c.view.Assignments, func(a rental.Assignment) bool { return a.Card == card && a.Span.Contains(c.at) })
}
