// Package gpu is the vocabulary of the exporter: what a GPU host looked like at one
// moment, and the state of each GPU in it. It knows neither the driver nor Prometheus.
package gpu

import (
	"context"
	"time"
)

// Maybe is a reading that may be absent: unsupported, refused, out of range or not yet taken.
// The zero value is absent.
type Maybe[T any] struct {
	value T
	set   bool
}

// Some returns a reading that is present.
func Some[T any](v T) Maybe[T] { return Maybe[T]{value: v, set: true} }

// Get returns the reading and whether it is present.
func (m Maybe[T]) Get() (T, bool) { return m.value, m.set }

// Source yields what a host's GPUs look like.
type Source interface {
	// Run collects until ctx ends. emit receives each critical event and each change of
	// state as it happens; it must not block. Run returns nil when ctx ends: a missing
	// library or driver is a state of the snapshot, never a reason to return. The one error that
	// it returns before is ErrAnew.
	Run(ctx context.Context, emit func(Event)) error
	// Snapshot returns the newest snapshot. It never calls the driver, never blocks and
	// never returns nil. The caller must not change it.
	Snapshot() *Snapshot
}

// Snapshot is what a host looked like at one moment. It is immutable once published.
type Snapshot struct {
	// At is when the snapshot was put together.
	At time.Time
	// Driver tells how the driver answers.
	Driver Driver
	// GPUs holds every GPU that was ever seen since start (or known from the state file),
	// ordered by index; a lost one stays, with its state, until it is retired.
	GPUs []GPU
	// Host is what the operating system says of the machine; nil where nobody looked.
	Host *Host
	// Strangers are XIDs that the kernel log told of PCI addresses where the driver has listed no
	// GPU: one that failed before the exporter started, for one.
	Strangers map[StrangerXID]XID
}

// DriverState tells how far the way to the driver goes.
type DriverState string

// The states of the way to the driver, from the worst to the best.
const (
	DriverNoLibrary  DriverState = "no_library"  // libnvidia-ml.so.1 cannot be loaded
	DriverNotLoaded  DriverState = "not_loaded"  // the library answers, the kernel driver does not
	DriverMismatch   DriverState = "mismatch"    // library and kernel driver are of two versions
	DriverInitFailed DriverState = "init_failed" // any other refusal of Init
	DriverOK         DriverState = "ok"
)

// DriverStates lists every state, for the state set on the page.
var DriverStates = []DriverState{DriverNoLibrary, DriverNotLoaded, DriverMismatch, DriverInitFailed, DriverOK}

// Driver is the host's driver.
type Driver struct {
	State DriverState
	// Reason says what the library or the driver answered where State is not ok, and what to do.
	Reason string
	// Call is the call that concerns no one GPU and has been out for longer than it may; "" for none.
	Call string
	// Version, CUDAVersion and NVMLVersion are as the driver spells them ("550.54.15", "12.4", "12.550.54.15").
	Version, CUDAVersion, NVMLVersion string
	// Changes counts how often any of the three changed since start.
	Changes uint64
	// Listed is how many GPUs the driver listed when it was last asked. A GPU whose calls hang
	// from the start is among them and in no other place.
	Listed int
}

// State is one state of a GPU, as the exporter tells it.
type State string

// The states of a GPU. The server derives more (degraded, host down, opaque, maintenance, stopped).
const (
	OK               State = "ok"
	Lost             State = "lost"
	ResetRequired    State = "reset_required"
	Unresponsive     State = "unresponsive"
	DriverDown       State = "driver_down"
	FabricIncomplete State = "fabric_incomplete"
	Released         State = "released"
	Unknown          State = "unknown"
)

// States lists every state, in the order of the page.
var States = []State{OK, Lost, ResetRequired, Unresponsive, DriverDown, FabricIncomplete, Released, Unknown}

// GPU is one card: who it is, how it is, what it said.
type GPU struct {
	Identity Identity
	Status   Status
	// Readings are the last readings of a GPU whose state is ok or fabric_incomplete.
	// They are empty in any other state: nothing stale is served as live.
	Readings Readings
	// Instances are the card's MIG devices, ordered by their GPU and compute instances. They stay
	// as the card does, without readings, while the card gives none.
	Instances []Instance
	// Unsupported names the driver calls this GPU does not answer, sorted.
	Unsupported []string
	// Dropped counts readings that were thrown away, by call: sentinels, impossible values.
	Dropped map[string]uint64
	// Allocation is what the scheduler said last, whatever the state.
	Allocation Allocation
}

// Identity is what stays of a card while it stays in its slot.
type Identity struct {
	Index        int
	UUID         string
	Serial       string
	Name         string // as the driver spells it, "NVIDIA H100 80GB HBM3"
	Brand        string // lower case: tesla, quadro, geforce, nvidia, titan...
	Architecture string // lower case: volta, turing, ampere, ada, hopper, blackwell...
	BoardPart    string
	VBIOS        string
	PCIAddress   string // "0000:1b:00.0"
	Cores        Maybe[float64]
	MIGMode      string // "enabled", "disabled" or "" where the card has none
	ECCMode      string // likewise
	Board        Board
	Make         Make
}

// Status is the state of a GPU and since when.
type Status struct {
	State State
	Since time.Time
	// Reason says in a few words what was seen: "nvmlDeviceGetPowerUsage: GPU is lost".
	Reason string
	// Call is the driver call that hangs, where the state comes from that; else "".
	Call string
	// Seconds counts the time spent in each state since the exporter began to count, up to Until:
	// the last round, or the beginning of an answer of which it is not known yet what it means.
	Seconds map[State]float64
	Until   time.Time
}

// Readings are the numbers of one GPU. Units are the base units of the metric names.
// Maps have only the keys that this card answers.
type Readings struct {
	// At is when the fast tier was read.
	At time.Time

	UtilizationRatio       Maybe[float64] // 0 to 1
	MemoryUtilizationRatio Maybe[float64] // 0 to 1, share of time the memory was read or written
	EncoderRatio           Maybe[float64]
	DecoderRatio           Maybe[float64]
	JPEGRatio              Maybe[float64]
	OFARatio               Maybe[float64]

	MemoryTotalBytes    Maybe[float64]
	MemoryUsedBytes     Maybe[float64] // without reserved, where the driver tells it apart
	MemoryFreeBytes     Maybe[float64]
	MemoryReservedBytes Maybe[float64]
	BAR1                BAR1

	TemperatureCelsius       Maybe[float64]
	MemoryTemperatureCelsius Maybe[float64]
	TemperatureMarginCelsius Maybe[float64]     // to the first slowdown; Ada and later
	TemperatureThresholds    map[string]float64 // shutdown, slowdown, memory_max, gpu_max
	TemperatureOffsets       map[string]float64 // the same as margins that are left when each begins; Ada and later

	PowerWatts        Maybe[float64] // what the card's generation gives: a mean or the moment
	PowerAverageWatts Maybe[float64] // over the last second
	PowerInstantWatts Maybe[float64]
	PowerLimits       map[string]float64 // enforced, management, default, min, max
	EnergyJoulesTotal Maybe[float64]
	Module            Module

	ClockHertz            map[string]float64 // graphics, sm, memory, video
	ClockMaxHertz         map[string]float64
	ClockCustomerMaxHertz map[string]float64 // what the maker of the system allows at most
	ClockApplicationHertz map[string]float64 // what an operator set for applications

	// The reasons are gpu_idle, applications_clocks, sw_power_cap, hw_slowdown, sync_boost,
	// sw_thermal, hw_thermal, hw_power_brake and display_clock; an old driver that does not
	// tell software from hardware counts its seconds under "thermal".
	ThrottleActive       map[string]bool    // reason -> active now
	ThrottleSecondsTotal map[string]float64 // reason -> seconds

	ECCErrors map[ECCKey]float64
	SRAM      SRAM

	RetiredPages        map[string]float64 // cause: single_bit, double_bit
	RetiredPagesPending Maybe[bool]
	RemappedRows        map[string]float64 // type: correctable, uncorrectable
	RemapPending        Maybe[bool]
	RemapFailure        Maybe[bool]
	Repair              Repair
	RecoveryAction      Maybe[float64] // field 230: 0 none, 1 reset, 2 reboot, 3 drain p2p, 4 drain and reset, 5 IMEX domain, 6 bus reset, 7 reboot the system

	PCIeGeneration    Maybe[float64]
	PCIeGenerationMax Maybe[float64]
	PCIeWidth         Maybe[float64]
	PCIeWidthMax      Maybe[float64]
	PCIeReplaysTotal  Maybe[float64]
	PCIeErrors        map[string]float64 // type: correctable, fatal, non_fatal, bad_tlp...
	PCIeBytesTotal    map[string]float64 // direction: tx, rx, as the card sees it

	NVLinkActive   Maybe[float64]
	NVLinkExpected Maybe[float64]
	NVLinkErrors   map[string]float64 // type: crc_flit, crc_data, replay, recovery...
	NVLink         NVLinks
	Fabric         Fabric

	MIGInstances Maybe[float64] // MIG devices, while MIG is on
	GPM          GPM            // none before Hopper, or where it is switched off

	Processes        Maybe[float64]
	Occupancy        Occupancy // whose the processes are
	FanRatio         []float64
	PerformanceState Maybe[float64]
	Persistence      Maybe[bool]
	Modes            Modes
	InfoROMValid     Maybe[bool]
	VGPU             VGPU
	Setup            Setup
	Video            Video

	XIDs map[uint64]XID
}

// ECCKey names one ECC counter.
type ECCKey struct {
	Type     string // corrected, uncorrected
	Counter  string // volatile, aggregate
	Location string // total, dram, sram, l1, l2, register_file, texture...
}

// XID is what was seen of one XID code on one GPU since the exporter began to count.
type XID struct {
	Count uint64
	Last  time.Time
}

// Event is something that must not wait for the next scrape.
type Event struct {
	At  time.Time
	GPU Identity
	// XID is set where the driver told one.
	XID Maybe[uint64]
	// SXID is set where an NVSwitch told an error; then there is no GPU.
	SXID *SXID
	// Unlisted is set where the XID is one of Snapshot.Strangers: of GPU only the PCI address is
	// known, and Since is when the XID was seen last.
	Unlisted bool
	// From and To are set where the GPU changed its state.
	From, To State
	// Since is when the new state began; zero means At.
	Since time.Time
	// XIDCount is how often the XID or SXID was seen in its place, this time included; 0 means not told.
	XIDCount uint64
	Reason   string
}
