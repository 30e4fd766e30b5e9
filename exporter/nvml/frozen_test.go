//go:build linux && cgo

package nvml

import (
	"fmt"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

func TestAnEnergyCounterThatStandsStillWhilePowerFlowsIsFrozen(t *testing.T) {
	live := func(second int) gpu.Readings {
		return gpu.Readings{EnergyJoulesTotal: some(1000 + 300*float64(second)), PowerWatts: some(300), TemperatureCelsius: some(60), UtilizationRatio: some(1)}
	}
	with := func(change func(r *gpu.Readings, second int)) func(int) gpu.Readings {
		return func(second int) gpu.Readings {
			r := live(second)
			change(&r, second)
			return r
		}
	}
	for _, test := range []struct {
		name           string
		readings       func(second int) gpu.Readings
		energy, page   uint64 // readings dropped in a minute of rounds of 5 s
		energyAtTheEnd bool
	}{
		{"a living card", live, 0, 0, true},
		{"all stands still", with(func(r *gpu.Readings, _ int) { r.EnergyJoulesTotal = some(1000) }), 0, 7, true},
		{"the energy alone stands still", with(func(r *gpu.Readings, s int) {
			r.EnergyJoulesTotal, r.PowerWatts = some(1000), some(300+float64(s)/1000)
		}), 7, 0, false},
		{"it stands still for less than the time", with(func(r *gpu.Readings, s int) {
			if s >= 20 && s < 45 {
				r.EnergyJoulesTotal = some(7000)
			}
		}), 0, 0, true},
		{"it goes on after it stood still", with(func(r *gpu.Readings, s int) {
			if s < 40 {
				r.EnergyJoulesTotal = some(1000)
			}
		}), 0, 2, true},
		{"no power flows", with(func(r *gpu.Readings, _ int) { r.EnergyJoulesTotal, r.PowerWatts = some(1000), some(0.5) }), 0, 0, true},
		{"the power is not told", with(func(r *gpu.Readings, _ int) { r.EnergyJoulesTotal, r.PowerWatts = some(1000), gpu.Maybe[float64]{} }), 0, 0, true},
		{"the energy is not told", with(func(r *gpu.Readings, _ int) { r.EnergyJoulesTotal = gpu.Maybe[float64]{} }), 0, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, f, start := testCaller(time.Now), frozen{}, time.Unix(1_700_000_000, 0)
			var r gpu.Readings
			for second := 0; second <= 60; second += 5 {
				r = test.readings(second)
				f.look(c, start.Add(time.Duration(second)*time.Second), 30*time.Second, &r)
			}
			if c.dropped[frozenEnergy] != test.energy || c.dropped[frozenPage] != test.page {
				t.Errorf("dropped %v, want %d energies and %d pages", c.dropped, test.energy, test.page)
			}
			if absent(r.EnergyJoulesTotal) == test.energyAtTheEnd {
				t.Errorf("the energy at the end is %v", r.EnergyJoulesTotal)
			}
		})
	}
}

func TestAFewRoundsAreNotEnoughHoweverSlowTheyAre(t *testing.T) {
	c, f, start := testCaller(time.Now), frozen{}, time.Unix(1_700_000_000, 0)
	for round := range frozenRounds {
		r := gpu.Readings{EnergyJoulesTotal: some(1), PowerWatts: some(300)}
		if f.look(c, start.Add(time.Duration(round)*time.Hour), time.Second, &r) {
			t.Errorf("frozen after %d rounds", round)
		}
	}
}

func TestAFrozenPageIsNotServedAsLive(t *testing.T) {
	s := fakenvml.H100x8().DeviceCount(2)
	s.GPU(1).Unset("energy_flows")
	inChild(t, s, func(t *testing.T, m *machine) {
		options := quick()
		options.Frozen = 100 * time.Millisecond
		m.start(t, options)
		got := m.wait(t, func(s *gpu.Snapshot) error {
			if err := all(2, gpu.OK)(s); err != nil {
				return err
			}
			if s.GPUs[1].Dropped[frozenPage] == 0 {
				return fmt.Errorf("GPU 1 has dropped %v", s.GPUs[1].Dropped)
			}
			return nil
		}).GPUs
		r := got[1].Readings
		for name, there := range map[string]bool{
			"utilisation": !absent(r.UtilizationRatio), "power": !absent(r.PowerWatts), "temperature": !absent(r.TemperatureCelsius),
			"energy": !absent(r.EnergyJoulesTotal), "clocks": len(r.ClockHertz) > 0,
		} {
			if there {
				t.Errorf("%s of a frozen page is served as live", name)
			}
		}
		if len(r.ECCErrors) == 0 || absent(r.RecoveryAction) || got[0].Dropped[frozenPage] > 0 || absent(got[0].Readings.PowerWatts) {
			t.Errorf("the rest is gone too: %+v, GPU 0 dropped %v", r, got[0].Dropped)
		}
		m.change(t, func(s *fakenvml.Scenario) { s.GPU(1).Set("energy_mj", 5_100_000_000).Set("energy_flows", 1) })
		m.wait(t, func(s *gpu.Snapshot) error {
			if v, _ := s.GPUs[1].Readings.EnergyJoulesTotal.Get(); v < 5_100_000 || absent(s.GPUs[1].Readings.UtilizationRatio) {
				return fmt.Errorf("the card does not come back: energy %v", v)
			}
			return nil
		})
	})
}
