package gpu

import "time"

// Host is what the operating system says of the machine around the GPUs. It is immutable
// once published. What a collector did not read is absent; units are the base units of the
// metric names.
type Host struct {
	// Collectors tells for each collector whether its last reading came. One that is turned
	// off, or that has nothing to read on this machine, is not in it.
	Collectors map[string]bool

	Kernel   Kernel
	Hardware Hardware
	Clock    Clock
	BootedAt Maybe[time.Time]

	CPU       CPU
	Load      map[string]float64      // window: 1m, 5m, 15m
	Pressure  map[PressureKey]float64 // seconds since boot
	Memory    Memory
	Files     Maybe[float64] // open files of the whole machine
	FileLimit Maybe[float64]

	Disks       []Disk
	Filesystems []Filesystem
	Networks    []Network
	Links       []Link
	InfiniBand  []InfiniBand
	PCIGPUs     []PCIGPU
	// SXIDs are the NVSwitches' errors that the kernel log told, since it goes back.
	SXIDs map[SXID]XID
}

// Kernel is the system software. The zero value is "not read".
type Kernel struct {
	Release      string // "6.8.0-48-generic"
	Version      string // "#48-Ubuntu SMP ..."
	Architecture string // "x86_64", "aarch64"
	OS           string // as os-release tells it to people: "Ubuntu 24.04.1 LTS"
}

// Hardware is what the firmware says of the machine. Serial is readable for root alone.
type Hardware struct {
	Vendor, Product, Serial, Board, BIOS string
}

// Clock is how the kernel judges its own wall clock.
type Clock struct {
	Synchronized    Maybe[bool]
	OffsetSeconds   Maybe[float64] // what is still to be corrected, as the time service told the kernel
	MaxErrorSeconds Maybe[float64]
}

// CPU is the sum over all processors.
type CPU struct {
	Logical         Maybe[float64] // processors that are online
	Cores           Maybe[float64]
	Sockets         Maybe[float64]
	Model           string
	SecondsByMode   map[string]float64 // user, nice, system, idle, iowait, irq, softirq, steal
	ContextSwitches Maybe[float64]
	Forks           Maybe[float64]
	Running         Maybe[float64] // tasks that run or could
	Blocked         Maybe[float64] // tasks that wait for disk or network storage
}

// PressureKey names one stall counter: resource is cpu, memory, io or irq; share is some or full.
type PressureKey struct{ Resource, Share string }

// Memory is the machine's memory.
type Memory struct {
	Bytes       map[string]float64 // total, available, free, cached, ...: the middle of the metric name
	HugePages   map[string]float64 // kind: total, free, reserved, surplus
	HugePage    Maybe[float64]     // bytes of one
	SwapIn      Maybe[float64]     // bytes since boot
	SwapOut     Maybe[float64]
	MajorFaults Maybe[float64]
	OOMKills    Maybe[float64]
}

// Disk is one physical device, with its counters since boot.
type Disk struct {
	Device                    string
	SizeBytes                 Maybe[float64]
	ReadBytes, WrittenBytes   float64
	Reads, Writes             float64
	ReadSeconds, WriteSeconds float64 // summed over requests
	IOSeconds                 float64 // time with at least one request under way
	WeightedIOSeconds         float64 // the same times the requests under way
	InFlight                  float64
}

// Filesystem is one local mount.
type Filesystem struct {
	MountPoint, Device, Type string
	// Hangs is set where the filesystem did not answer in time; then the numbers are absent.
	Hangs                 bool
	ReadOnly              bool
	Size, Free, Available float64 // bytes; available is what users without root can have
	Inodes, InodesFree    float64
}

// Network is the traffic of one interface since boot.
type Network struct {
	Device   string
	Counters map[NetworkCounter]float64
}

// Link is what one interface is, and how its link does.
type Link struct {
	Device      string
	Address     string // MAC
	Driver      string
	PCIAddress  string
	NUMANode    string
	BytesPerSec Maybe[float64] // rate that the link negotiated
	MTU         Maybe[float64]
	Carrier     Maybe[bool]
	Changes     Maybe[float64] // of the carrier
}

// NetworkCounter names one counter: way is receive or transmit; what is bytes, packets,
// errors or drops.
type NetworkCounter struct{ Way, What string }

// InfiniBand is one RDMA device, of InfiniBand or of RoCE.
type InfiniBand struct {
	Device, Board, Firmware, HCAType, NodeGUID string
	PCIAddress, NUMANode                       string
	Ports                                      []InfiniBandPort
}

// InfiniBandPort is one port of an RDMA device.
type InfiniBandPort struct {
	Port          string
	LinkLayer     string // InfiniBand, Ethernet
	State         string // one of InfiniBandStates, or the kernel's own word
	PhysicalState string // one of InfiniBandPhysicalStates, or the kernel's own word
	BytesPerSec   float64
	Traffic       map[NetworkCounter]float64 // bytes and packets
	Errors        map[string]float64         // by type
	Congestion    map[string]float64         // by type
	TransmitWait  Maybe[float64]
}

// The states of a port that the page tells, in the kernel's order, and those of its link.
var (
	InfiniBandStates         = []string{"nop", "down", "init", "armed", "active", "active_defer"}
	InfiniBandPhysicalStates = []string{"nop", "sleep", "polling", "disabled", "training", "link_up", "link_error_recovery", "phy_test"}
)

// PCIGPU is a GPU as the PCI bus lists it, whether or not the driver does.
type PCIGPU struct {
	PCIAddress string // "0000:1b:00.0"
	DeviceID   string // "10de:2330"
	Driver     string // the kernel driver that holds it: nvidia, vfio-pci, "" for none
	NUMANode   string // "" where the machine does not tell
}

// SXID is one kind of error of one NVSwitch.
type SXID struct {
	Switch   string // PCI address
	Code     uint64
	Severity string // SXIDFatal, SXIDNonFatal or SXIDUnknown
}

// What the driver says of an SXid: a fatal one ends the work on the whole host's fabric.
const (
	SXIDFatal    = "fatal"
	SXIDNonFatal = "non_fatal"
	SXIDUnknown  = "unknown" // the driver used a word that is not known
)
