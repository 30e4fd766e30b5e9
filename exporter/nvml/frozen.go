//go:build linux && cgo

package nvml

import (
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

const (
	// powerFlows is the power in watts from which the energy counter cannot stand still: the
	// least that cards draw when they do nothing is above it.
	powerFlows = 5
	// frozenRounds is how many rounds must show the same energy, however long they took.
	frozenRounds = 3
)

// The names under which readings of a frozen page are counted as dropped.
const (
	frozenPage   = "frozen page"
	frozenEnergy = "frozen energy counter"
)

// frozen looks for a driver that answers with what it knew before: the energy counter then
// stands still although power flows.
type frozen struct {
	since  time.Time // when the energy was first seen as it is
	rounds int       // that showed it since
	last   moving
	alike  bool // nothing else moved in these rounds either
}

// moving is what no living card shows unchanged for long, all at once.
type moving struct {
	energy, power, instant, temperature, use gpu.Maybe[float64]
}

func movingOf(r *gpu.Readings) moving {
	return moving{r.EnergyJoulesTotal, r.PowerWatts, r.PowerInstantWatts, r.TemperatureCelsius, r.UtilizationRatio}
}

// look judges a round's readings. Where the energy has stood still for the time given, the
// counter is dropped; it returns true where all else did too, so that the page is none.
func (f *frozen) look(c *caller, now time.Time, after time.Duration, r *gpu.Readings) bool {
	seen := movingOf(r)
	watts, told := seen.power.Get()
	_, counted := seen.energy.Get()
	if !told || !counted || watts < powerFlows || seen.energy != f.last.energy {
		*f = frozen{since: now, last: seen, alike: true}
		return false
	}
	f.rounds++
	f.alike = f.alike && seen == f.last
	f.last = seen
	if f.rounds < frozenRounds || now.Sub(f.since) < after {
		return false
	}
	if f.alike {
		c.drop(frozenPage)
		return true
	}
	c.drop(frozenEnergy)
	r.EnergyJoulesTotal = gpu.Maybe[float64]{}
	return false
}
