// Package replay simulates GPU machines: a gpu.Source whose load, power and temperature
// follow each other and whose faults follow a script. What a machine looked like is a pure
// function of its configuration and the time, so that a demo can show a past, and two runs
// of one seed are the same.
package replay

import (
	"time"
)

// Profile is how the work on a GPU goes.
type Profile string

// The profiles of work.
const (
	Training  Profile = "training"  // jobs of hours over the whole host, near full load, short gaps
	Inference Profile = "inference" // follows the day, each GPU by itself
	Sparse    Profile = "sparse"    // a job now and then
	Unused    Profile = "unused"    // nothing
)

// Model is a kind of card.
type Model struct {
	Name, Brand, Architecture, BoardPart, VBIOS string
	Cores                                       float64
	MemoryBytes, ReservedBytes                  float64
	IdleWatts, LimitWatts, MinLimitWatts        float64
	SMHertz, MemoryHertz                        float64
	// SlowdownCelsius is where the card begins to hold itself back, as the driver says.
	SlowdownCelsius, ShutdownCelsius, MemoryMaxCelsius float64
	// DegreesPerWatt is the cooling of the machine: chip over inlet.
	DegreesPerWatt float64
	NVLinks        float64
	PCIeGeneration float64
}

// H100 is the card that most rented machines hold: SXM5, 80 GB of HBM3, 700 W. The limits and
// clocks are those that its driver gives out; the cooling is that of an air-cooled machine.
func H100() Model {
	return Model{
		Name: "NVIDIA H100 80GB HBM3", Brand: "nvidia", Architecture: "hopper", BoardPart: "692-2G520-0200-000", VBIOS: "96.00.89.00.01",
		Cores: 16896, MemoryBytes: 81559 << 20, ReservedBytes: 551 << 20,
		IdleWatts: 69, LimitWatts: 700, MinLimitWatts: 200,
		SMHertz: 1980e6, MemoryHertz: 2619e6,
		SlowdownCelsius: 89, ShutdownCelsius: 92, MemoryMaxCelsius: 95,
		DegreesPerWatt: 0.056, NVLinks: 18, PCIeGeneration: 5,
	}
}

// Config is one simulated machine.
type Config struct {
	Host string
	// GPUs is the number of cards, from 1 to 64.
	GPUs int
	// Model is the card; the zero value means H100.
	Model Model
	// Profiles are given to the cards in turn; none means Training for all.
	Profiles []Profile
	// Start is when the machine was switched on: counters begin there.
	Start time.Time
	// Zero is what the script's offsets count from; the zero value means Start.
	Zero time.Time
	// Seed makes the figures, uuids and serials, together with Host.
	Seed   uint64
	Script Script
	// Now is the clock of Run and Snapshot; nil means time.Now.
	Now func() time.Time
	// Interval is how often Run takes a snapshot; 0 means 1 s.
	Interval time.Duration
	// Machine simulates the machine around the cards, too, and whose containers use them.
	Machine bool
	// MIG are the indexes of the cards that are split into MIG devices.
	MIG []int
	// DriverVersion as the driver spells it; "" means 570.158.01.
	DriverVersion string
}

// inletCelsius is the air before the cards.
const inletCelsius = 24.0

// lag is the time constant of a card under its heat sink.
const lag = 25 * time.Second
