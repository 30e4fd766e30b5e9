package gpu

// Process is one process that holds a card. It lives only between the driver's reader and
// those who tell whose it is: no snapshot has one, so that no page, push or recording can
// show one.
type Process struct {
	PID         uint32
	MemoryBytes Maybe[float64] // of the card's memory
	// GPUInstance and ComputeInstance are set where the process runs on a MIG instance.
	GPUInstance, ComputeInstance Maybe[uint32]
}
