package exporter

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/leasewatch/leasewatch/exporter/gpu"
	"github.com/leasewatch/leasewatch/exporter/host"
	"github.com/leasewatch/leasewatch/exporter/kmsg"
)

// around is a source of GPUs together with the machine around them: its snapshots have both.
type around struct {
	gpu.Source
	machine *host.Reader // nil where the machine is not read
	log     *kmsg.Reader // nil where the kernel log is not

	mu     sync.Mutex
	made   parts // what joined was made from
	joined *gpu.Snapshot
}

var _ gpu.Source = (*around)(nil)

// parts are what a snapshot of both is made from.
type parts struct {
	gpus  *gpu.Snapshot
	host  *gpu.Host
	sxids uint64 // number of the kernel log's state
}

// xidTaker is a source that takes what another witness saw of its GPUs.
type xidTaker interface {
	ReportXID(gpu.XIDReport)
}

// surround puts the machine around a source of GPUs, as far as the flags want it read.
func surround(gpus gpu.Source, f *flags, set *metrics.Set, log *slog.Logger, now func() time.Time) (*around, error) {
	a := &around{Source: gpus}
	if options := f.host.options(f.workloads.config.ProcFS, f.config.Interval); options != nil {
		options.Log, options.Now = log, now
		machine, err := host.New(*options)
		if err != nil {
			return nil, fmt.Errorf("preparing to read the machine: %w", err)
		}
		a.machine = machine
	}
	if f.host.kmsg {
		options := kmsg.Options{Path: f.host.kmsgPath, FromNow: f.host.kmsgSince == "start", Known: f.knownSXIDs(), Now: now, Log: log, Metrics: set}
		if taker, ok := gpus.(xidTaker); ok {
			options.XID = taker.ReportXID
		}
		a.log = kmsg.New(options)
	}
	return a, nil
}

// Run collects until ctx ends.
func (a *around) Run(ctx context.Context, emit func(gpu.Event)) error {
	ctx, end := context.WithCancel(ctx)
	var others sync.WaitGroup
	if a.machine != nil {
		others.Go(func() { a.machine.Run(ctx) })
	}
	if a.log != nil {
		others.Go(func() { a.log.Run(ctx, emit) })
	}
	defer others.Wait()
	defer end() // the GPUs' source may end by itself
	return a.Source.Run(ctx, emit)
}

// Snapshot returns the newest snapshot of all, the same one until any of them changes.
func (a *around) Snapshot() *gpu.Snapshot {
	from := parts{gpus: a.Source.Snapshot()}
	if a.machine == nil && a.log == nil {
		return from.gpus
	}
	if a.machine != nil {
		from.host = a.machine.Snapshot()
	}
	var log kmsg.State
	if a.log != nil {
		log = a.log.State()
		from.sxids = log.Number
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if from != a.made {
		joined := *from.gpus
		joined.Host = join(from.host, log)
		a.made, a.joined = from, &joined
	}
	return a.joined
}

// join adds what the kernel log told to the machine.
func join(machine *gpu.Host, log kmsg.State) *gpu.Host {
	if !log.Tried {
		return machine
	}
	h := gpu.Host{}
	if machine != nil {
		h = *machine
	}
	h.Collectors = maps.Clone(h.Collectors)
	if h.Collectors == nil {
		h.Collectors = map[string]bool{}
	}
	h.Collectors["kmsg"] = log.Up
	h.SXIDs = log.SXIDs
	return &h
}

// knownSXIDs are those that were counted when the exporter last ran.
func (f *flags) knownSXIDs() map[gpu.SXID]gpu.XID {
	if f.config.Known == nil || f.config.Known.Host == nil {
		return nil
	}
	return f.config.Known.Host.SXIDs
}
