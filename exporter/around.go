package exporter

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
	"github.com/leasewatch/leasewatch/exporter/host"
)

// around is a source of GPUs together with the machine around them: its snapshots have both.
type around struct {
	gpu.Source
	machine *host.Reader // nil where the machine is not read

	mu     sync.Mutex
	gpus   *gpu.Snapshot // what joined was made from
	host   *gpu.Host
	joined *gpu.Snapshot
}

var _ gpu.Source = (*around)(nil)

// surround puts the machine around a source of GPUs, as far as the flags want it read.
func surround(gpus gpu.Source, f *flags, log *slog.Logger, now func() time.Time) (*around, error) {
	a := &around{Source: gpus}
	options := f.host.options(f.workloads.config.ProcFS)
	if options == nil {
		return a, nil
	}
	options.Log, options.Now = log, now
	machine, err := host.New(*options)
	if err != nil {
		return nil, fmt.Errorf("preparing to read the machine: %w", err)
	}
	a.machine = machine
	return a, nil
}

// Run collects until ctx ends.
func (a *around) Run(ctx context.Context, emit func(gpu.Event)) error {
	var others sync.WaitGroup
	if a.machine != nil {
		others.Go(func() { a.machine.Run(ctx) })
	}
	defer others.Wait()
	return a.Source.Run(ctx, emit)
}

// Snapshot returns the newest snapshot of both, the same one until either changes.
func (a *around) Snapshot() *gpu.Snapshot {
	gpus := a.Source.Snapshot()
	if a.machine == nil {
		return gpus
	}
	host := a.machine.Snapshot()
	a.mu.Lock()
	defer a.mu.Unlock()
	if gpus != a.gpus || host != a.host {
		joined := *gpus
		joined.Host = host
		a.gpus, a.host, a.joined = gpus, host, &joined
	}
	return a.joined
}
