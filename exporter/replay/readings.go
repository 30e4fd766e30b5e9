package replay

import (
	"fmt"
	"math"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// at is the card at a time.
func (c *card) at(t time.Time) gpu.GPU {
	g := gpu.GPU{
		Identity: c.identity,
		Status:   statusAt(c.spans, c.start, t),
		// An H100 has no fans of its own.
		Unsupported: []string{"nvmlDeviceGetFanSpeed_v2", "nvmlDeviceGetRetiredPages"},
	}
	switch g.Status.State {
	case gpu.OK, gpu.FabricIncomplete, gpu.ResetRequired:
		g.Readings = c.readings(t)
	}
	_, read := g.Readings.TemperatureCelsius.Get()
	if c.split {
		g.Instances = c.instances(t, read)
	}
	if c.split && read { // the driver has no utilization for a card that is split
		g.Readings.UtilizationRatio, g.Readings.MemoryUtilizationRatio = gpu.Maybe[float64]{}, gpu.Maybe[float64]{}
		g.Readings.MIGInstances, g.Readings.Modes.MIG, g.Readings.Modes.MIGPending = gpu.Some(float64(len(cuts))), gpu.Some(true), gpu.Some(true)
	}
	g.Readings.XIDs = c.xids(t)
	return g
}

func (c *card) xids(t time.Time) map[uint64]gpu.XID {
	seen := map[uint64]gpu.XID{}
	for _, s := range sightings(c.spans) {
		if !s.at.After(t) && !s.at.Before(c.start) {
			seen[s.code] = gpu.XID{Count: seen[s.code].Count + 1, Last: s.at}
		}
	}
	return seen
}

func (c *card) readings(t time.Time) gpu.Readings {
	r := gpu.Readings{At: t}
	c.use(&r, t)
	c.heatAndClocks(&r, t)
	c.memoryHealth(&r, t)
	r.GPM = c.counters(t)
	m := c.model
	r.PCIeGeneration, r.PCIeGenerationMax = gpu.Some(m.PCIeGeneration), gpu.Some(m.PCIeGeneration)
	r.PCIeWidth, r.PCIeWidthMax = gpu.Some(16.0), gpu.Some(16.0)
	r.PCIeReplaysTotal = gpu.Some(0.0)
	if m.NVLinks > 0 {
		r.NVLinkActive, r.NVLinkExpected = gpu.Some(m.NVLinks), gpu.Some(m.NVLinks)
		r.NVLinkErrors = map[string]float64{"crc_flit": 0, "crc_data": 0, "replay": 0, "recovery": 0}
	}
	r.PerformanceState = gpu.Some(0.0)
	r.Persistence = gpu.Some(true)
	c.parts(&r, t)
	return r
}

// use is what the work makes of the card.
func (c *card) use(r *gpu.Readings, t time.Time) {
	load := c.loadAt(t)
	shown := 0.0
	if load > 0 {
		shown = min(max(load+0.05*(c.noise(t, 30)-0.5), 0.01), 1)
	}
	percent := math.Round(shown * 100) // the driver counts in whole percents
	r.UtilizationRatio = gpu.Some(percent / 100)
	r.MemoryUtilizationRatio = gpu.Some(math.Round(percent*0.55) / 100)
	r.EncoderRatio, r.DecoderRatio = gpu.Some(0.0), gpu.Some(0.0)
	m := c.model
	used := 4.0 * (1 << 20)
	if load > 0 {
		used = m.MemoryBytes * (0.35 + 0.55*dice(c.seed, uint64(c.identity.Index), uint64(math.Float64bits(load))))
	}
	r.MemoryTotalBytes, r.MemoryReservedBytes = gpu.Some(m.MemoryBytes), gpu.Some(m.ReservedBytes)
	r.MemoryUsedBytes, r.MemoryFreeBytes = gpu.Some(math.Floor(used)), gpu.Some(m.MemoryBytes-m.ReservedBytes-math.Floor(used))
	processes := 0.0
	if load > 0 {
		processes = 1
	}
	r.Processes = gpu.Some(processes)
	if c.shown {
		r.Occupancy = occupancy(string(c.profile), fmt.Sprintf("%s-%d", c.profile, c.identity.Index), processes, math.Floor(used))
	}
}

func (c *card) heatAndClocks(r *gpu.Readings, t time.Time) {
	m, load := c.model, c.loadAt(t)
	hot, hotSeconds := c.throttled(t)
	joules, cappedSeconds := c.counted(t)
	watts := c.watts(load) * (1 + 0.03*(c.noise(t, 31)-0.5))
	clock := m.SMHertz
	switch {
	case hot:
		watts, clock = watts*0.62, m.SMHertz*0.55
	case load >= capLoad:
		watts, clock = min(watts, m.LimitWatts), m.SMHertz*(0.88+0.04*c.noise(t, 32))
	case load == 0:
		clock = m.SMHertz * 0.174 // the idle clock, 345 MHz
	}
	celsius := math.Round(c.temperature(t))
	r.TemperatureCelsius = gpu.Some(celsius)
	r.MemoryTemperatureCelsius = gpu.Some(math.Round(celsius + 6 + 4*load))
	r.TemperatureMarginCelsius = gpu.Some(m.SlowdownCelsius - celsius)
	r.TemperatureThresholds = map[string]float64{"slowdown": m.SlowdownCelsius, "shutdown": m.ShutdownCelsius,
		"gpu_max": m.SlowdownCelsius - 2, "memory_max": m.MemoryMaxCelsius}
	r.PowerWatts = gpu.Some(math.Round(watts*1000) / 1000)
	r.PowerLimits = map[string]float64{"enforced": m.LimitWatts, "management": m.LimitWatts, "default": m.LimitWatts, "min": m.MinLimitWatts, "max": m.LimitWatts}
	r.EnergyJoulesTotal = gpu.Some(math.Round(joules*1000) / 1000)
	clock = math.Round(clock/15e6) * 15e6 // clocks move in steps of 15 MHz
	r.ClockHertz = map[string]float64{"graphics": clock, "sm": clock, "memory": m.MemoryHertz, "video": math.Round(clock*0.8/15e6) * 15e6}
	r.ClockMaxHertz = map[string]float64{"graphics": m.SMHertz, "sm": m.SMHertz, "memory": m.MemoryHertz, "video": 1545e6}
	r.ThrottleActive = map[string]bool{"gpu_idle": load == 0, "sw_power_cap": load >= capLoad && !hot, "sw_thermal": hot,
		"hw_slowdown": false, "applications_clocks": false, "display_clock": false,
		"hw_thermal": false, "hw_power_brake": false, "sync_boost": false}
	r.ThrottleSecondsTotal = map[string]float64{"sw_power_cap": cappedSeconds, "sw_thermal": hotSeconds,
		"hw_thermal": 0, "hw_power_brake": 0, "sync_boost": 0}
}

// memoryHealth counts the script's memory errors. A heal is a reset: what was pending is
// applied, and the volatile counters begin anew.
func (c *card) memoryHealth(r *gpu.Readings, t time.Time) {
	aggregate, volatile, pending, applied := 0.0, 0.0, 0.0, 0.0
	for _, s := range c.spans {
		switch {
		case s.Kind == ECCUncorrectable && !s.from.After(t):
			aggregate++
			if s.covers(t) {
				volatile, pending = volatile+1, pending+1
			} else {
				applied++
			}
		}
	}
	r.ECCErrors = map[gpu.ECCKey]float64{}
	for _, location := range []string{"total", "dram", "sram"} {
		for _, counter := range []string{"volatile", "aggregate"} {
			errors := 0.0
			if location != "sram" {
				errors = volatile
				if counter == "aggregate" {
					errors = aggregate
				}
			}
			r.ECCErrors[gpu.ECCKey{Type: "uncorrected", Counter: counter, Location: location}] = errors
			r.ECCErrors[gpu.ECCKey{Type: "corrected", Counter: counter, Location: location}] = 0
		}
	}
	r.RemappedRows = map[string]float64{"correctable": 0, "uncorrectable": applied}
	r.RemapPending, r.RemapFailure = gpu.Some(pending > 0), gpu.Some(false)
	r.RecoveryAction = gpu.Some(0.0)
	if statusAt(c.spans, c.start, t).State == gpu.ResetRequired {
		r.RecoveryAction = gpu.Some(1.0)
	}
}

// noise changes every five seconds.
func (c *card) noise(t time.Time, kind uint64) float64 {
	return dice(c.seed, uint64(c.identity.Index), kind, uint64(t.Unix()/5))
}
