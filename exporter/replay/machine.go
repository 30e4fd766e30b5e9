package replay

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// card is one simulated GPU.
type card struct {
	identity gpu.Identity
	model    Model
	profile  Profile
	seed     uint64 // of the host
	start    time.Time
	spans    []span
	// energy and capped hold, per block since the start, the joules drawn and the seconds
	// under the power cap up to the block's end. They only save time: each entry follows
	// from the configuration alone.
	energy, capped []float64
	// split is set where the card is cut into MIG devices; shown where its containers are told.
	split, shown bool
}

func newCard(c Config, index int) *card {
	seed := hostSeed(c.Seed, c.Host)
	profile := Training
	if len(c.Profiles) > 0 {
		profile = c.Profiles[index%len(c.Profiles)]
	}
	a, b := mix(seed, uint64(index), 10), mix(seed, uint64(index), 11)
	split, mode := slices.Contains(c.MIG, index), "disabled"
	if split {
		profile, mode = Unused, "enabled" // the work is that of its parts
	}
	return &card{
		split: split, shown: c.Machine,
		model: c.Model, profile: profile, seed: seed, start: c.Start,
		spans: spansOf(c.Script, c.Host, index, c.Zero),
		identity: gpu.Identity{
			Index:  index,
			UUID:   fmt.Sprintf("GPU-%08x-%04x-4%03x-8%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>48&0xfff, b&0xffffffffffff),
			Serial: fmt.Sprintf("165%010d", mix(seed, uint64(index), 12)%10_000_000_000),
			Name:   c.Model.Name, Brand: c.Model.Brand, Architecture: c.Model.Architecture, BoardPart: c.Model.BoardPart, VBIOS: c.Model.VBIOS,
			PCIAddress: fmt.Sprintf("0000:%02x:00.0", 0x1b+index*0x10%0xe0), Cores: gpu.Some(c.Model.Cores), MIGMode: mode, ECCMode: "enabled",
		},
	}
}

// loadAt is the share of the card in use, without noise: constant between two edges.
func (c *card) loadAt(t time.Time) float64 {
	for i := len(c.spans) - 1; i >= 0; i-- {
		if s := c.spans[i]; s.covers(t) {
			switch s.Kind {
			case Idle:
				return 0
			case Busy, ThermalThrottle: // a card without work does not overheat
				return 0.98
			}
		}
	}
	return level(c.profile, c.seed, uint64(c.identity.Index), blockOf(t))
}

// edges gives the moments in the block after which the load may differ, its beginning first.
func (c *card) edges(k int64) []time.Time {
	from, to := blockStart(k), blockStart(k+1)
	edges := []time.Time{from}
	for at := from; ; {
		next := to
		for _, s := range c.spans {
			for _, moment := range []time.Time{s.from, s.to} {
				if moment.After(at) && moment.Before(next) {
					next = moment
				}
			}
		}
		if !next.Before(to) {
			return edges
		}
		edges = append(edges, next)
		at = next
	}
}

// watts is the power at a load, without noise: near the limit a card runs at its cap.
func (c *card) watts(load float64) float64 {
	m := c.model
	return min(m.IdleWatts+(m.LimitWatts*1.01-m.IdleWatts)*math.Pow(load, 0.85), m.LimitWatts)
}

// capLoad is the load from which the power cap holds the clocks back.
const capLoad = 0.96

// heat is the temperature the card tends to at a power.
func (c *card) heat(watts float64) float64 {
	return inletCelsius + 3*dice(c.seed, uint64(c.identity.Index), 20) + c.model.DegreesPerWatt*watts
}

// heldAbove is how far over its slowdown threshold a card stays that holds itself back.
const heldAbove = 0.9

// temperature follows the power with the lag of the heat sink, from the last edge on.
func (c *card) temperature(t time.Time) float64 {
	edges := c.edges(blockOf(t))
	edge := edges[0]
	for _, e := range edges {
		if !e.After(t) {
			edge = e
		}
	}
	to, from := c.heat(c.watts(c.loadAt(t))), c.heat(c.watts(c.loadAt(edge.Add(-time.Millisecond))))
	celsius := to + (from-to)*math.Exp(-float64(t.Sub(edge))/float64(lag))
	for _, s := range c.spans {
		if s.Kind == ThermalThrottle && s.covers(t) {
			hot := c.model.SlowdownCelsius + 4
			celsius += (hot - celsius) * (1 - math.Exp(-float64(t.Sub(s.from))/float64(lag)))
			celsius = min(celsius, c.model.SlowdownCelsius+heldAbove)
		} else if s.Kind == ThermalThrottle && !t.Before(s.to) {
			celsius += max(c.model.SlowdownCelsius+heldAbove-celsius, 0) * math.Exp(-float64(t.Sub(s.to))/float64(lag))
		}
	}
	return celsius
}

// throttleAfter is how long after the cooling fails a card at full load begins to hold back.
const throttleAfter = 40 * time.Second

func (c *card) throttled(t time.Time) (bool, float64) {
	active, seconds := false, 0.0
	for _, s := range c.spans {
		if s.Kind == ThermalThrottle {
			active = active || s.covers(t) && t.Sub(s.from) >= throttleAfter
			seconds += s.overlap(t, throttleAfter).Seconds()
		}
	}
	return active, seconds
}

// counted gives the joules drawn and the seconds under the power cap since the start.
func (c *card) counted(t time.Time) (joules, capped float64) {
	first, k := blockOf(c.start), blockOf(t)
	for n := int64(len(c.energy)); first+n < k; n++ {
		j, s := c.countBlock(first+n, blockStart(first+n+1))
		if n > 0 {
			j, s = j+c.energy[n-1], s+c.capped[n-1]
		}
		c.energy, c.capped = append(c.energy, j), append(c.capped, s)
	}
	joules, capped = c.countBlock(k, t)
	if n := k - first; n > 0 {
		joules, capped = joules+c.energy[n-1], capped+c.capped[n-1]
	}
	return joules, capped
}

// countBlock counts the part of a block that lies after the start and before until.
func (c *card) countBlock(k int64, until time.Time) (joules, capped float64) {
	edges := append(c.edges(k), blockStart(k+1))
	for i := range len(edges) - 1 {
		from, to := edges[i], edges[i+1]
		if from.Before(c.start) {
			from = c.start
		}
		if to.After(until) {
			to = until
		}
		if !to.After(from) {
			continue
		}
		load, seconds := c.loadAt(from), to.Sub(from).Seconds()
		joules += c.watts(load) * seconds
		if load >= capLoad {
			capped += seconds
		}
	}
	return joules, capped
}
