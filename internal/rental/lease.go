package rental

import "cmp"

// Lease is a tenant, a contract and a span, over fixed GPUs or a floating number of a SKU.
type Lease struct {
	ID       string `json:"id" yaml:"-"`
	Tenant   string `json:"tenant" yaml:"tenant"`
	Contract string `json:"contract" yaml:"contract"`
	Start    Millis `json:"start" yaml:"start"`
	End      Millis `json:"end" yaml:"end"` // Forever while open
	// GPUs are the cards that the lease began with; swaps are Assignments.
	GPUs []GPURef `json:"gpus" yaml:"gpus"`
	// Floating says how many GPUs of which class a scheduler may give it; a lease has it or GPUs.
	Floating *Floating `json:"floating,omitempty" yaml:"floating"`
	// Stops are spans in which the tenant had stopped the lease.
	Stops []Span `json:"stops,omitempty" yaml:"stops"`
}

// Floating is a number of GPUs of a class. Which ones serve, and when, is what the scheduler says:
// facts, never a guess from samples.
type Floating struct {
	SKU    string `json:"sku" yaml:"sku"`
	Number int    `json:"number" yaml:"number"`
}

// Cards is how many GPUs were sold: those that the lease names, or its floating number.
func (l Lease) Cards() int {
	if l.Floating != nil {
		return l.Floating.Number
	}
	return len(l.GPUs)
}

// Span returns the lease's time.
func (l Lease) Span() Span { return Span{Start: l.Start, End: l.End} }

// GPURef names a card by uuid, or by host and slot.
type GPURef struct {
	UUID string `json:"uuid,omitempty" yaml:"uuid"`
	Host string `json:"host,omitempty" yaml:"host"`
	Slot *int   `json:"slot,omitempty" yaml:"slot"`
	// Profile is a MIG instance's, such as 3g.40gb; a plan by the slice needs it.
	Profile string `json:"profile,omitempty" yaml:"profile"`
}

// Assignment says that a card served a lease for a span; a swap is two assignments.
type Assignment struct {
	Lease  string `json:"lease"`
	UUID   string `json:"uuid"`
	Span   Span   `json:"span"`
	Reason string `json:"reason"` // start, rma, import...
	// Host is where the card sat then; a plan per instance and maintenance of a host need it.
	Host string `json:"host,omitempty"`
	// Card is the card that UUID is a MIG instance of; empty where UUID is a card's own.
	Card string `json:"card,omitempty"`
}

// CardUUID returns the card that serves, as a whole or by a part of it.
func (a Assignment) CardUUID() string { return cmp.Or(a.Card, a.UUID) }

// Collides tells whether two assignments claim the same hardware at the same time: one GPU, one
// MIG instance, or a card and a part of it. Two parts of one card do not.
func (a Assignment) Collides(o Assignment) bool {
	return (a.UUID == o.UUID || a.Card == o.UUID || a.UUID == o.Card) && a.Span.Overlaps(o.Span)
}
