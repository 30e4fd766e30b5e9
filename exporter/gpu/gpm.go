package gpu

// GPM is what the card's own performance counters tell of the time between two samples, one
// interval of the fast tier apart: means over that time, not momentary values. Ratios run from
// 0 to 1. Cards before Hopper have none of it, and the first interval has no values yet.
type GPM struct {
	GraphicsActive Maybe[float64] // share of time that anything ran, compute or graphics
	SMActive       Maybe[float64] // share of the SMs that had work, over time
	SMOccupancy    Maybe[float64] // warps that were resident, of the most there can be
	DRAMActive     Maybe[float64] // memory bandwidth in use, of the theoretical maximum

	// Pipes of the SMs: the share of time that each was busy.
	TensorActive Maybe[float64] // all kinds together
	TensorHMMA   Maybe[float64] // half precision
	TensorIMMA   Maybe[float64] // integers
	TensorDMMA   Maybe[float64] // double precision, matrix
	TensorDFMA   Maybe[float64] // double precision, fused multiply-add
	Integer      Maybe[float64]
	FP64         Maybe[float64] // the floating-point pipes, without the tensor cores
	FP32         Maybe[float64]
	FP16         Maybe[float64]

	// Traffic in bytes per second, seen from the GPU.
	PCIeSent, PCIeReceived     Maybe[float64]
	NVLinkSent, NVLinkReceived Maybe[float64]
	C2CSent, C2CReceived       Maybe[float64]

	Engines map[Engine]float64 // share of time that each fixed-function engine was busy
}

// Engine is one fixed-function engine of a card.
type Engine struct {
	Kind string // decoder, encoder, jpeg, ofa
	Unit int    // from 0
}
