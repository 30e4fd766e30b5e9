package exporter

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/leasewatch/leasewatch/exporter/catalog"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// place is one card with the values of the labels that its series begin with, and of those of
// its MIG devices.
type place struct {
	gpu       *gpu.GPU
	answers   bool // it is in a state to take readings in
	base      []string
	instances [][]string
}

// baseKey tells cards and MIG devices apart by all that their labels say of them.
type baseKey struct {
	uuid  string
	index int
	// Of a MIG device:
	mig             bool
	card            string // its uuid
	instance, slice int
	profile         string
}

// locate lists the cards of a snapshot in the order of the page.
func (b *builder) locate(s *gpu.Snapshot) {
	b.places = slices.Grow(b.places[:0], len(s.GPUs))[:len(s.GPUs)]
	for i := range s.GPUs {
		g, p := &s.GPUs[i], &b.places[i]
		p.gpu, p.answers, p.base, p.instances = g, catalog.Answers(g.Status.State), b.card(g), p.instances[:0]
		for j := range g.Instances {
			p.instances = append(p.instances, b.instance(g, &g.Instances[j]))
		}
	}
	slices.SortStableFunc(b.places, func(x, y place) int { return cmp.Compare(x.gpu.Identity.Index, y.gpu.Identity.Index) })
}

func (b *builder) card(g *gpu.GPU) []string {
	key := baseKey{uuid: g.Identity.UUID, index: g.Identity.Index}
	base, there := b.bases[key]
	if !there {
		base = []string{b.labels.Host, b.labels.Vantage, key.uuid, strconv.Itoa(key.index)}
		b.bases[key] = base
	}
	return base
}

func (b *builder) instance(g *gpu.GPU, i *gpu.Instance) []string {
	key := baseKey{i.UUID, g.Identity.Index, true, g.Identity.UUID, i.GPUInstance, i.ComputeInstance, i.Profile}
	base, there := b.bases[key]
	if !there {
		base = append([]string{b.labels.Host, b.labels.Vantage, key.uuid, strconv.Itoa(key.index)}, catalog.InstanceValues(g, i)...)
		b.bases[key] = base
	}
	return base
}
