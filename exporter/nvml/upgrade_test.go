//go:build linux && cgo

package nvml

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// lay puts the driver's library at a path in one step, as a package does: another file each time.
func lay(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(os.Getenv("LD_LIBRARY_PATH"), fakenvml.LibraryName))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".new", data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func TestAnUpgradedLibraryEndsTheReaderThatHasTheOldOneLoaded(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		file := filepath.Join(t.TempDir(), fakenvml.LibraryName)
		lay(t, file)
		options := quick()
		options.LibraryPath = file
		r, err := New(options)
		if err != nil {
			t.Fatal(err)
		}
		m.reader = r
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- r.Run(ctx, func(gpu.Event) {}) }()
		m.wait(t, all(8, gpu.OK))

		// The upgrade has begun: the new library is there, and the old driver still serves.
		lay(t, file)
		m.change(t, func(s *fakenvml.Scenario) { s.Set("driver.generation", 2) })
		m.wait(t, func(s *gpu.Snapshot) error {
			if s.GPUs[0].Status.Seconds[gpu.DriverDown] == 0 {
				return errors.New("the driver was not started again")
			}
			return all(8, gpu.OK)(s)
		})
		// It is finished: the kernel's half is new too.
		m.change(t, func(s *fakenvml.Scenario) { s.Return("driver", fakenvml.VersionMismatch) })
		select {
		case err = <-done:
		case <-time.After(time.Minute):
			t.Fatal("the reader goes on with a library that will never fit again")
		}
		if !errors.Is(err, gpu.ErrAnew) || !strings.Contains(err.Error(), file) {
			t.Errorf("Run returned %v", err)
		}
		if err := all(8, gpu.DriverDown)(r.Snapshot()); err != nil {
			t.Errorf("what is left for the next exporter: %v", err)
		}
	})
}

// A new process would load the same file: to end would be to begin anew without end.
func TestAMismatchWhoseLibraryIsTheSameFileIsWaitedFor(t *testing.T) {
	inChild(t, fakenvml.H100x8().Return("nvmlInit_v2", fakenvml.VersionMismatch), func(t *testing.T, m *machine) {
		options := quick()
		options.LibraryPath = filepath.Join(t.TempDir(), fakenvml.LibraryName)
		lay(t, options.LibraryPath)
		m.start(t, options) // its cleanup sees that Run has not ended by itself
		m.wait(t, func(s *gpu.Snapshot) error {
			if n := m.made(t, "nvmlInit_v2"); n < 10 {
				return fmt.Errorf("the driver was tried %d times", n)
			}
			return driver(gpu.DriverMismatch, "of two versions")(s)
		})
		if err := os.Remove(options.LibraryPath); err != nil { // half-way through an upgrade
			t.Fatal(err)
		}
		tried := m.made(t, "nvmlInit_v2")
		m.wait(t, func(*gpu.Snapshot) error {
			if n := m.made(t, "nvmlInit_v2"); n < tried+10 {
				return fmt.Errorf("the driver was tried %d times more", n-tried)
			}
			return nil
		})
		m.change(t, func(s *fakenvml.Scenario) { s.Unset("nvmlInit_v2.return") })
		m.wait(t, all(8, gpu.OK))
	})
}
