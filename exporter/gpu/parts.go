package gpu

import "time"

// Board tells where a card sits and what it is a part of. A field is empty where the card
// does not tell.
type Board struct {
	InfoROM string // version of the InfoROM's image, "G520.0200.00.05"
	Minor   string // minor number of the device file: "0" for /dev/nvidia0
	Module  string // number of the module on its baseboard
	ID      string // cards of one board have the same, in hexadecimal
	// Chassis, Slot, Tray and Node place the card in a rack-scale system: the chassis's serial
	// number, the slot in it, the compute tray and the node in the tray.
	Chassis, Slot, Tray, Node string
}

// BAR1 is the window of the card's memory that the host and its network cards map.
type BAR1 struct {
	TotalBytes, UsedBytes, FreeBytes Maybe[float64]
}

// Module is what a module of CPU and GPU draws together (Grace Hopper, Grace Blackwell).
type Module struct {
	PowerAverageWatts Maybe[float64] // over the last second
	PowerInstantWatts Maybe[float64]
	PowerLimits       map[string]float64 // enforced, requested, default, min, max
	EnergyJoulesTotal Maybe[float64]
}

// SRAM is what a card tells of uncorrected errors in its SRAM beyond their count.
type SRAM struct {
	// ErrorsTotal is by counter (volatile, aggregate), then cause (parity, secded).
	ErrorsTotal map[SRAMKey]float64
	// UnitErrorsTotal is the aggregate count by unit: l2, sm, pcie, microcontroller, other.
	UnitErrorsTotal map[string]float64
	// ThresholdExceeded says that there were more than the maker's field diagnosis accepts.
	ThresholdExceeded Maybe[bool]
}

// SRAMKey names one SRAM counter.
type SRAMKey struct {
	Counter string // volatile, aggregate
	Cause   string // parity, secded
}

// Repair is what is left to repair memory with, and what waits for it.
type Repair struct {
	// RowBanks is how many banks have how many spare rows: max, high, partial, low, none.
	RowBanks map[string]float64
	// InactiveRows are replacements that are not in use, by type: correctable, uncorrectable.
	InactiveRows map[string]float64
	// Banks are replaced banks: active, inactive. BankGroups is how many groups have spares: max, none.
	Banks, BankGroups  map[string]float64
	BankPending        Maybe[bool]
	ChannelPending     Maybe[bool] // a memory channel is repaired at the next reset
	TPCPending         Maybe[bool] // a cluster of SMs likewise
	UnrepairableMemory Maybe[bool]
}

// NVLinks are what the links of a card tell beyond the card's totals.
type NVLinks struct {
	Links            []NVLink           // in the order of their numbers
	SpeedBytesPerSec Maybe[float64]     // of a link that is up, each way
	BytesTotal       map[string]float64 // direction: tx, rx
}

// NVLink is one link.
type NVLink struct {
	Number int
	Up     bool
	// Errors are the counters that are not zero, by type.
	Errors map[string]float64
}

// The states of a card's registration with the NVSwitch fabric.
const (
	FabricNotSupported = "not_supported"
	FabricNotStarted   = "not_started"
	FabricInProgress   = "in_progress"
	FabricCompleted    = "completed"
)

// FabricStates lists every state, for the state set on the page.
var FabricStates = []string{FabricNotSupported, FabricNotStarted, FabricInProgress, FabricCompleted}

// The summaries of a fabric's health.
const (
	FabricHealthy         = "healthy"
	FabricUnhealthy       = "unhealthy"
	FabricLimitedCapacity = "limited_capacity"
)

// FabricHealths lists every summary, for the state set on the page.
var FabricHealths = []string{FabricHealthy, FabricUnhealthy, FabricLimitedCapacity}

// Fabric is what the NVSwitch fabric says of a card.
type Fabric struct {
	State string // one of FabricStates; "" where there is no fabric to tell of
	// Status is the driver's return code of the registration, once that is completed: 0 is good.
	Status  Maybe[float64]
	Cluster string // its UUID, where the card belongs to one
	Clique  string
	// Problems are the health bits that the driver supports, each on its own: degraded_bandwidth,
	// route_recovery, route_unhealthy, access_timeout_recovery, incorrect_configuration,
	// no_partition, manager_disconnected.
	Problems map[string]bool
	// Configuration is the driver's number of what is wrong with the configuration; 1 is nothing.
	Configuration Maybe[float64]
	Health        string // one of FabricHealths; "" where the driver does not sum up
}

// Modes are how a card was set up, beside what its identity and persistence mode say.
type Modes struct {
	ECC, ECCPending Maybe[bool]
	MIG, MIGPending Maybe[bool]
	Compute         string      // default, exclusive_thread, prohibited, exclusive_process
	Virtualization  string      // none, passthrough, vgpu, host_vgpu, host_vsga
	Confidential    Maybe[bool] // of the whole host
}

// VGPU is what a host tells of the virtual GPUs on a card, or a guest of its licence.
type VGPU struct {
	Instances Maybe[float64]
	Licenses  []License
}

// License is one licensable feature of a virtual GPU.
type License struct {
	Feature  string // vgpu, rtx, gaming, compute, vgamedev, or the driver's number
	Product  string // as the driver spells it
	Licensed bool
	Expires  time.Time // zero where it does not, or the driver does not tell
}
