package gpu

// Instance is one MIG device of a card: a compute instance within a GPU instance. It has a
// uuid of its own, which can be leased as a card's can.
type Instance struct {
	UUID string
	// GPUInstance and ComputeInstance are the driver's ids; the first is unique on the card,
	// the second in the GPU instance.
	GPUInstance, ComputeInstance int
	// Profile is what was cut, as the driver spells it: "1g.10gb", "1c.3g.40gb", "1g.10gb+me".
	Profile string
	// Placement is where the GPU instance lies: its first memory slice and how many it has,
	// "4:4"; empty where the driver does not tell, for it may want privileges.
	Placement string

	Multiprocessors Maybe[float64]
	GPUSlices       Maybe[float64] // compute slices of the GPU instance
	ComputeSlices   Maybe[float64] // of the compute instance alone
	// Engines counts the fixed-function engines that the GPU instance has: copy, decoder,
	// encoder, jpeg, ofa.
	Engines map[string]float64

	Readings InstanceReadings
	// Allocation is what the scheduler said last.
	Allocation Allocation
}

// InstanceReadings are the numbers of one MIG device, empty whenever the card's are. What the
// driver counts for the whole card alone (temperature, power, errors) is not among them.
type InstanceReadings struct {
	// The memory is the GPU instance's: compute instances within share it.
	MemoryTotalBytes    Maybe[float64]
	MemoryUsedBytes     Maybe[float64]
	MemoryFreeBytes     Maybe[float64]
	MemoryReservedBytes Maybe[float64]

	Processes Maybe[float64]
	Occupancy Occupancy // whose they are
	// GPM is there where the compute instance is the whole of its GPU instance: the counters
	// know no smaller part than that.
	GPM GPM
}
