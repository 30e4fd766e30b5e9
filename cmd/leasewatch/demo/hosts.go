package demo

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/leasewatch/leasewatch/exporter"
	"github.com/leasewatch/leasewatch/exporter/gpu"
	"github.com/leasewatch/leasewatch/exporter/replay"
)

//go:embed script.yaml
var script []byte

// historyDays is how far the demo's past reaches.
const historyDays = 30

// gpusPerHost is the number of cards in each of the demo's hosts.
const gpusPerHost = 8

// host is one simulated machine with an exporter on it.
type host struct {
	name    string
	source  *replay.Source
	address string // HOST:PORT of its exporter
}

// hosts are the demo's machines.
type hosts struct {
	all  []*host
	dir  string // for the exporters' spools
	log  *slog.Logger
	end  context.CancelFunc
	done sync.WaitGroup
}

// newHosts makes the machines; their past begins a day before the history.
func newHosts(start time.Time, dir string, log *slog.Logger) (*hosts, error) {
	events, err := replay.ParseScript("script.yaml", script)
	if err != nil {
		return nil, err
	}
	h := &hosts{dir: dir, log: log, end: func() {}}
	for seed, machine := range []struct {
		name     string
		profiles []replay.Profile
		mig      []int
	}{
		{"gpu-a17", []replay.Profile{replay.Training, replay.Training, replay.Training, replay.Training, replay.Sparse, replay.Sparse, replay.Sparse, replay.Sparse}, nil},
		{"gpu-a18", []replay.Profile{replay.Unused, replay.Unused, replay.Unused, replay.Unused, replay.Training, replay.Unused, replay.Unused, replay.Unused}, nil},
		{"gpu-s03", []replay.Profile{replay.Inference}, []int{7}},
	} {
		source, err := replay.New(replay.Config{
			Host: machine.name, GPUs: gpusPerHost, Profiles: machine.profiles, MIG: machine.mig, Machine: true, Seed: uint64(seed) + 1,
			Start: start.AddDate(0, 0, -historyDays-1), Zero: start, Script: events,
		})
		if err != nil {
			return nil, fmt.Errorf("simulated host %s: %w", machine.name, err)
		}
		h.all = append(h.all, &host{name: machine.name, source: source})
	}
	return h, nil
}

// listen finds a free port for each exporter.
func (h *hosts) listen() error {
	for _, one := range h.all {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("port of %s: %w", one.name, err)
		}
		one.address = l.Addr().String()
		if err := l.Close(); err != nil {
			return err
		}
	}
	return nil
}

// start runs the exporters. A host that the script has silent ends its exporter for that time.
func (h *hosts) start(ctx context.Context, push string) {
	ctx, h.end = context.WithCancel(ctx)
	for _, one := range h.all {
		h.done.Go(func() { h.keep(ctx, one, push) })
	}
}

// stop ends the exporters and waits for them.
func (h *hosts) stop() {
	h.end()
	h.done.Wait()
}

// lookEvery is how often a host looks whether the script has it silent.
const lookEvery = 200 * time.Millisecond

func (h *hosts) keep(ctx context.Context, one *host, push string) {
	for ctx.Err() == nil {
		if one.source.Silent(time.Now()) {
			wait(ctx, lookEvery)
			continue
		}
		running, cancel := context.WithCancel(ctx)
		go func() {
			for running.Err() == nil && !one.source.Silent(time.Now()) {
				wait(running, lookEvery)
			}
			cancel()
		}()
		code := exporter.Run(running, []string{
			"--source=replay", "--host.name=" + one.name, "--web.listen-address=" + one.address,
			"--push.url=" + push, "--push.events-only", "--push.spool-dir=" + filepath.Join(h.dir, "spool-"+one.name), "--log.level=warn",
		}, io.Discard, logWriter{h.log}, exporter.Options{
			Sources: map[string]exporter.NewSource{
				"replay": func(exporter.SourceConfig) (gpu.Source, error) { return one.source, nil },
			},
		})
		cancel()
		if code != 0 && ctx.Err() == nil {
			h.log.Error("a simulated exporter ended; it is started again", "host", one.name, "code", code)
			wait(ctx, time.Second)
		}
	}
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// logWriter carries the exporters' own log lines into the demo's log.
type logWriter struct{ log *slog.Logger }

// Write logs one line.
func (w logWriter) Write(line []byte) (int, error) {
	w.log.Warn("exporter", "line", strings.TrimSpace(string(line)))
	return len(line), nil
}
