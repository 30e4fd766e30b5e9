//go:build !linux || !cgo

package nvml

import (
	"context"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// Reader says that there is no driver library: this program was built without cgo, or for
// a system other than Linux.
type Reader struct{ snapshot gpu.Snapshot }

var _ gpu.Source = (*Reader)(nil)

// New returns a Reader. It fails never.
func New(options Options) (*Reader, error) {
	options = options.withDefaults()
	return &Reader{gpu.Snapshot{
		At: options.Now(),
		Driver: gpu.Driver{
			State:  gpu.DriverNoLibrary,
			Reason: "this build cannot load the driver library: use a Linux build with cgo on GPU hosts",
		},
	}}, nil
}

// Run waits for ctx to end.
func (r *Reader) Run(ctx context.Context, _ func(gpu.Event)) error {
	<-ctx.Done()
	return nil
}

// Snapshot returns a snapshot without GPUs.
func (r *Reader) Snapshot() *gpu.Snapshot { return &r.snapshot }

// ReportXID does nothing: there is no card to count for.
func (r *Reader) ReportXID(gpu.XIDReport) {}
