// Package nvml reads NVIDIA GPUs through the driver's own library. It is the only package of
// the exporter that links cgo; where there is none, its reader says that there is no library.
//
// The library is loaded at run time and may be older than the header this was compiled
// against: a function it lacks would end the process when called, so each is looked up first.
// Each GPU has one goroutine for its calls. A call that hangs costs that GPU alone; the
// goroutine waits for it, and no other one is started in its place.
package nvml

import (
	"log/slog"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// Options configure a Reader. The zero value of each field means its default.
type Options struct {
	// LibraryPath is the driver library's file, or a name for the loader to find
	// (default libnvidia-ml.so.1).
	LibraryPath string
	// Fast, Slow and Identity are the intervals of the three tiers: what moves (default 5 s),
	// errors and links (30 s), what stays (10 min, and after each new start of the driver).
	Fast, Slow, Identity time.Duration
	// Retry is the first pause before the driver is tried again (default 1 s); it doubles up
	// to RetryMax (default 30 s).
	Retry, RetryMax time.Duration
	// Workloads tells whose the processes of a card are (default: nobody; they are counted only).
	Workloads Workloads
	// NoGPM switches the performance counters of Hopper and later off: no call of theirs is made.
	NoGPM bool
	// Scheduler tells who the cards were given to (default: nobody does).
	Scheduler Scheduler
	// PassedThrough tells whether the PCI function at an address was given to a virtual machine
	// (default: none is). It must not block. A card of which that is true is released while the
	// driver does not list it.
	PassedThrough func(pciAddress string) bool
	// Frozen is how long the energy counter may stand still while power flows before the
	// readings are taken for frozen and left out (default 30 s).
	Frozen time.Duration
	// Known is what was known when the exporter last ran (default: nothing): a GPU of it that
	// the driver does not list is lost, one that was let go of stays released.
	Known *gpu.Snapshot
	// Logger is told what an operator should know, once per change (default: nobody).
	Logger *slog.Logger
	// Now is the clock (default time.Now).
	Now func() time.Time
	// Metrics receives how long driver calls take: leasewatch_exporter_driver_call_duration_seconds
	// over all, leasewatch_exporter_driver_calls_total and ..._driver_call_seconds_total by call
	// (default: a set of its own).
	Metrics *metrics.Set
}

// Workloads tells whose work processes are.
type Workloads interface {
	// Attribute is called after each round of a card, by that card's goroutine, with the
	// processes that the driver listed. It must not block.
	Attribute(uuid string, processes []gpu.Process) gpu.Occupancy
}

// Scheduler tells who a card was given to.
type Scheduler interface {
	// Card and Instance are called for each card, and each MIG device of it, whenever a
	// snapshot is put together. They must not block.
	Card(card *gpu.Identity) gpu.Allocation
	Instance(card *gpu.Identity, i *gpu.Instance) gpu.Allocation
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, value time.Duration) {
		if *d <= 0 {
			*d = value
		}
	}
	set(&o.Fast, 5*time.Second)
	set(&o.Slow, 30*time.Second)
	set(&o.Identity, 10*time.Minute)
	set(&o.Retry, time.Second)
	set(&o.RetryMax, 30*time.Second)
	set(&o.Frozen, 30*time.Second)
	if o.LibraryPath == "" {
		o.LibraryPath = "libnvidia-ml.so.1"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Known == nil {
		o.Known = &gpu.Snapshot{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.PassedThrough == nil {
		o.PassedThrough = func(string) bool { return false }
	}
	if o.Metrics == nil {
		o.Metrics = metrics.NewSet()
	}
	return o
}
