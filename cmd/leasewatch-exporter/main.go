// Command leasewatch-exporter serves everything that the GPUs of a host say to Prometheus,
// and pushes what must not wait.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/leasewatch/leasewatch/exporter"
)

// version is set by the Makefile; without it the build's own record counts.
var version string

func main() { os.Exit(run()) }

func run() int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(30) // a guest on other people's machines keeps its memory small
	}
	if os.Getenv("GOMAXPROCS") == "" {
		// A guest takes one core at most; a driver call that hangs does not hold it. It is
		// also three times cheaper: idle threads that wake up to look for work cost more
		// than the work.
		runtime.GOMAXPROCS(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return exporter.Run(ctx, os.Args[1:], os.Stdout, os.Stderr, exporter.Options{
		Version: version,
		Sources: map[string]exporter.NewSource{"nvml": driver, "replay": simulation},
	})
}
