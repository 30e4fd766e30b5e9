//go:build linux && cgo

package nvml

import (
	"cmp"
	"slices"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// card is a GPU that was seen: it stays when the GPU is lost. The Reader's lock guards it.
// Maps inside are replaced, never changed: snapshots share them.
type card struct {
	identity    gpu.Identity
	machine     *gpu.Machine
	readings    gpu.Readings
	instances   []gpu.Instance
	unsupported []string
	dropped     map[string]uint64
	xids        *gpu.XIDLog
	heard       time.Time // when the last round of calls for it ended
	released    bool      // by an operator: nothing is asked of it, and what is seen of it does not count
}

// describe copies the card for a snapshot. Readings older than fresh are left out, as are
// those of a card whose state is none to read in: nothing stale is shown as live. What the
// driver reported (XIDs) stays, and so does the recovery that it asks for.
func (c *card) describe(now time.Time, fresh time.Duration) gpu.GPU {
	g := gpu.GPU{
		Identity: c.identity, Status: c.machine.Status(), Readings: c.readings,
		Unsupported: c.unsupported, Dropped: c.dropped,
	}
	g.Instances = c.instances
	switch {
	case now.Sub(c.readings.At) > fresh:
		g.Readings = gpu.Readings{At: c.readings.At}
	case g.Status.State == gpu.ResetRequired:
		g.Readings = gpu.Readings{At: c.readings.At, RecoveryAction: c.readings.RecoveryAction}
	case g.Status.State != gpu.OK && g.Status.State != gpu.FabricIncomplete:
		g.Readings = gpu.Readings{At: c.readings.At}
	}
	g.Readings.XIDs = c.xids.Seen()
	switch live := now.Sub(c.readings.At) <= fresh && (g.Status.State == gpu.OK || g.Status.State == gpu.FabricIncomplete); {
	case g.Status.State == gpu.Released:
		g.Instances = nil // released to be cut anew, perhaps
	case !live:
		g.Instances = withoutReadings(c.instances)
	}
	return g
}

// withoutReadings keeps who the MIG devices of a card are that gives no readings.
func withoutReadings(instances []gpu.Instance) []gpu.Instance {
	bare := slices.Clone(instances)
	for i := range bare {
		bare[i].Readings = gpu.InstanceReadings{}
	}
	return bare
}

// find returns the card of a UUID. A card that was seen at this index before anything could
// be asked of it takes the UUID on. Without a UUID it is the one that was last known there, if
// the driver still lists as many as then. Else it is a new card. The Reader's lock must be held.
func (r *Reader) find(uuid string, index int) *card {
	for _, c := range r.cards {
		if c.identity.UUID == uuid {
			if uuid != "" || c.identity.Index == index {
				return c
			}
		}
	}
	for _, c := range r.cards {
		if c.identity.UUID == "" && c.identity.Index == index {
			c.identity.UUID = uuid
			return c
		}
	}
	if c := r.remembered(index); c != nil && uuid == "" {
		return c
	}
	c := &card{
		identity: gpu.Identity{Index: index, UUID: uuid},
		machine:  gpu.NewMachine(r.options.Now()),
		xids:     gpu.NewXIDLog(r.start, nil),
	}
	r.cards = append(r.cards, c)
	return c
}

// byIndex orders cards as a snapshot has them.
func byIndex(cards []*card) []*card {
	return slices.SortedFunc(slices.Values(cards), func(a, b *card) int {
		return cmp.Or(cmp.Compare(a.identity.Index, b.identity.Index), cmp.Compare(a.identity.UUID, b.identity.UUID))
	})
}
