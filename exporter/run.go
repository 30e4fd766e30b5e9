// Package exporter is the program that runs on a GPU host: it takes snapshots from a source,
// serves them to Prometheus and pushes them where nobody can scrape.
package exporter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/exporter-toolkit/web"

	"github.com/leasewatch/leasewatch/exporter/gpu"
	"github.com/leasewatch/leasewatch/exporter/workload"
)

// SlowEvery and IdentityEvery are how many intervals of what moves lie between two readings of
// errors and links, and of what stays.
const (
	SlowEvery     = 6
	IdentityEvery = 120
)

// SourceConfig is what a source is made from.
type SourceConfig struct {
	Host    string
	Library string // path of libnvidia-ml.so.1, "" for the system's own
	Script  string // path of the replay's script, "" for none
	// Recording is the path of a recording to play in the simulation's place, "" for none.
	Recording string
	GPUs      int // simulated GPUs
	Seed      uint64
	// PassedThrough tells whether the card at a PCI address was given to a virtual machine; nil
	// where that makes no difference.
	PassedThrough func(pciAddress string) bool
	NoGPM         bool // leave the performance counters of Hopper and later alone
	// Interval is how often what moves is read.
	Interval time.Duration
	Log      *slog.Logger
	Metrics  *metrics.Set // for the source's own instruments
	// Known is what was known of the GPUs when the exporter last ran; nil for nothing.
	Known *gpu.Snapshot
	// Workloads tells whose the processes on a GPU are; nil where that is switched off.
	Workloads *workload.Tracker
	// Kubelet tells who the GPUs were given to; nil where that is switched off.
	Kubelet *workload.Kubelet
	Now     func() time.Time
}

// NewSource makes a source. An error is a wrong configuration; a missing driver is not one.
type NewSource func(SourceConfig) (gpu.Source, error)

// Options are what the program is built with, and what tests put in its place.
type Options struct {
	// Version is what the program calls itself; "" means the version that the build recorded.
	Version string
	// Sources are the sources that --source may name. At least one is needed.
	Sources map[string]NewSource
	// Now is the clock of the source and of pushed samples; nil means time.Now.
	Now func() time.Time
	// Listening, if set, is told the addresses once the page is served.
	Listening func(addrs []net.Addr)
}

// How long the end may take, in this order; the port is free from its first moment on. What hangs
// in the driver or on a disk is not waited for: its thread ends with the process, or later where
// the kernel holds it.
const (
	drainFor      = 700 * time.Millisecond
	sourceEndsFor = 300 * time.Millisecond
	spoolEndsFor  = 500 * time.Millisecond
)

// Run is the program: it parses args, serves until ctx ends, and returns the exit code.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer, opts Options) int {
	if opts.Version == "" {
		opts.Version = moduleVersion()
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	f, err := parse(args, stdout, stderr, opts)
	if err != nil {
		fmt.Fprintf(stderr, "leasewatch-exporter: %v, try --help\n", err)
		return exitUsage
	}
	if f.done {
		return exitOK
	}
	if f.command == "version" {
		fmt.Fprintln(stdout, "leasewatch-exporter", opts.Version)
		return exitOK
	}
	switch f.command {
	case "check":
		return check(ctx, f, stdout, stderr, opts)
	case "record":
		return recordTo(ctx, f, stdout, stderr, opts)
	case "enroll":
		return enroll(ctx, f, stdout, stderr)
	}
	if f.operator.asksAnExporter {
		return operate(ctx, f.operator, f.command, stdout, stderr)
	}
	log := promslog.New(&f.log)
	if err := serve(ctx, f, log, opts); err != nil {
		log.Error("leasewatch-exporter ends", "err", err)
		var bad *configError
		if errors.As(err, &bad) {
			return exitConfig
		}
		return exitFailure
	}
	return exitOK
}

// configError is an error in a file that the user gave.
type configError struct{ err error }

func (e *configError) Error() string { return e.err.Error() }
func (e *configError) Unwrap() error { return e.err }

func serve(ctx context.Context, f *flags, log *slog.Logger, opts Options) error {
	if *f.web.WebConfigFile != "" {
		if err := web.Validate(*f.web.WebConfigFile); err != nil {
			return &configError{fmt.Errorf("--web.config.file %s: %w", *f.web.WebConfigFile, err)}
		}
	}
	set := metrics.NewSet()
	f.config.Known = recall(f.operator.stateFile, log)
	source, err := f.open(set, log, opts)
	if err != nil {
		return err
	}
	set.NewGauge(fmt.Sprintf("leasewatch_exporter_build_info{version=%q,revision=%q,goversion=%q,source=%q}",
		opts.Version, revision(), runtime.Version(), f.source), func() float64 { return 1 })
	aliases, err := f.aliases()
	if err != nil {
		return err
	}
	page := NewPage(source, f.labels, set, aliases...)
	out, err := newOutbox(f, page, source, set, log, opts.Now)
	if err != nil {
		return err
	}
	handler, err := newHandler(page, source, opts.Version, log)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, WriteTimeout: time.Minute,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}

	serving, err := listen(server, f.web, log, opts.Listening)
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	runWorkloads(working, &f.config)
	kept := newMemory(f.operator.stateFile, source, set, log)
	sourceEnded := kept.runSource(working, out.emit)
	defer serveOperators(f.operator.socket, source, kept, log)()
	outEnded := make(chan struct{})
	go func() { defer close(outEnded); out.run(working) }()

	var failed error
	select {
	case <-ctx.Done():
	case failed = <-serving:
	case err := <-sourceEnded:
		failed = endedBy(err)
		sourceEnded = nil
	}
	stop()
	shutdown(server, log)
	if sourceEnded != nil {
		select {
		case <-sourceEnded:
		case <-time.After(sourceEndsFor):
			log.Warn("a driver call still hangs and is left behind")
		}
	}
	kept.saveLast()
	select {
	case <-outEnded:
	case <-time.After(spoolEndsFor):
		log.Warn("the disk of the spool hangs: what was not written to it yet is lost")
	}
	return failed
}

// endedBy says why a source ended before it was asked to.
func endedBy(err error) error {
	if errors.Is(err, gpu.ErrAnew) {
		return fmt.Errorf("the exporter is to be started anew, by its unit or its container's restart policy: %w", err)
	}
	return fmt.Errorf("the source of the figures ended by itself: %w", err)
}

// open makes the source that the flags name, with all that they want read around it.
func (f *flags) open(set *metrics.Set, log *slog.Logger, opts Options) (*around, error) {
	f.config.Log, f.config.Metrics, f.config.Now = log, set, opts.Now
	f.config.Workloads, f.config.Kubelet = f.workloads.tracker(log, opts.Now), f.workloads.kubelet(log, opts.Now, set)
	gpus, err := opts.Sources[f.source](f.config)
	if err != nil {
		return nil, &configError{err}
	}
	return surround(gpus, f, set, log, opts.Now)
}

// listen opens the addresses and serves on them in the background. The channel gets the
// error that ends the serving, if one does before the shutdown.
func listen(server *http.Server, config *web.FlagConfig, log *slog.Logger, told func([]net.Addr)) (<-chan error, error) {
	ended := make(chan error, 1)
	report := func(err error) {
		if err != nil && !errors.Is(err, http.ErrServerClosed) {
			ended <- fmt.Errorf("serving the page: %w", err)
		}
	}
	special := config.WebSystemdSocket != nil && *config.WebSystemdSocket
	for _, address := range *config.WebListenAddresses {
		special = special || strings.HasPrefix(address, "vsock://")
	}
	if special { // the toolkit opens sockets of systemd and vsock itself
		go func() { report(web.ListenAndServe(server, config, log)) }()
		return ended, nil
	}
	var listeners []net.Listener
	var addrs []net.Addr
	for _, address := range *config.WebListenAddresses {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			for _, open := range listeners {
				open.Close()
			}
			return nil, fmt.Errorf("opening --web.listen-address %s (another exporter on that port?): %w", address, err)
		}
		listeners = append(listeners, listener)
		addrs = append(addrs, listener.Addr())
	}
	go func() { report(web.ServeMultiple(listeners, server, config, log)) }()
	if told != nil {
		told(addrs)
	}
	return ended, nil
}

// shutdown frees the port at once and gives scrapes under way a moment to end.
func shutdown(server *http.Server, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), drainFor)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		log.Warn("a scrape was cut off at the end", "err", err)
		server.Close()
	}
}

// moduleVersion is the version that the build recorded.
func moduleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// revision is the commit of the build, "" where it is not known.
func revision() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				return setting.Value
			}
		}
	}
	return ""
}
