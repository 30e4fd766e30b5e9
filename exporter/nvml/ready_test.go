//go:build linux && cgo

package nvml

import (
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// Readiness goes by the time of the snapshot: none before the driver was tried, and one as
// soon as it was, whatever it said.
func TestASnapshotHasNoTimeUntilTheDriverWasTried(t *testing.T) {
	r, err := New(Options{LibraryPath: "/nowhere/libnvidia-ml.so.1"})
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Snapshot(); !s.At.IsZero() || s.Driver.Listed != 0 {
		t.Errorf("before Run: %+v, want no time", s)
	}
	go r.Run(t.Context(), func(gpu.Event) {})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		s := r.Snapshot()
		if !s.At.IsZero() && s.Driver.State == gpu.DriverNoLibrary {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the missing library is not told with a time: %+v", s)
		}
	}
}
