// Package demo shows the main job on simulated hosts: two providers, three hosts of eight
// GPUs, five leases of two tenants, thirty days of history, then live with faults on a script.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/server"
)

// Options says how the demo runs.
type Options struct {
	Out io.Writer
	Log *slog.Logger
	// For is how long it runs; 0 runs until ctx ends.
	For time.Duration
	// DataDir keeps what it writes; empty takes a folder that is removed at the end.
	DataDir       string
	ListenAddress string
	Version       string
	// Slack is a real workspace; without a token a recording one on loopback takes the
	// messages, and they are printed.
	Slack server.Slack
}

// stopWithin is how long the end may take.
const stopWithin = 20 * time.Second

// Run shows the demo until its time is over or ctx ends.
func Run(ctx context.Context, o Options) (err error) {
	start := time.Now()
	if o.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.For)
		defer cancel()
	}
	if o.DataDir == "" {
		dir, err := os.MkdirTemp("", "leasewatch-demo-")
		if err != nil {
			return fmt.Errorf("folder of the demo: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		o.DataDir = dir
	}
	slack, err := openSlack(&o)
	if err != nil {
		return err
	}
	defer slack.Close()

	hosts, err := newHosts(start, o.DataDir, o.Log)
	if err != nil {
		return err
	}
	defer hosts.stop()
	if err := hosts.listen(); err != nil {
		return err
	}
	app, err := startServer(ctx, o, slack, hosts)
	if err != nil {
		return err
	}
	defer func() {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
		defer cancel()
		err = errors.Join(err, app.Stop(stopping))
	}()
	fmt.Fprintf(o.Out, "Portal: http://%s  (runs %s; Ctrl-C ends it)\n", app.Addr(), lasting(o.For))
	hosts.start(ctx, "http://"+app.Addr()+"/prometheus/api/v1/write")

	client, err := api.New("http://"+app.Addr(), api.Secret{}, nil)
	if err != nil {
		return err
	}
	if err := rent(ctx, client, start); err != nil {
		return ended(ctx, fmt.Errorf("renting out the demo's fleet: %w", err))
	}
	fmt.Fprintln(o.Out, "Five leases run; thirty days of history are loading. Faults begin 35 seconds after the start.")
	loaded := make(chan error, 1)
	go func() { loaded <- loadHistory(ctx, app, hosts, start) }()
	for {
		select {
		case err := <-loaded:
			if err != nil {
				return ended(ctx, fmt.Errorf("loading the history: %w", err))
			}
			fmt.Fprintf(o.Out, "History is loaded: http://%s/leases/acme-train\n", app.Addr())
			loaded = nil
		case err := <-app.Failed():
			return err
		case <-ctx.Done():
			if loaded != nil {
				<-loaded // it writes into the store that is about to close
			}
			return nil
		}
	}
}

// ended tells whether an error is only the end of the demo's time.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func lasting(d time.Duration) string {
	if d == 0 {
		return "until you end it"
	}
	return "for " + d.String()
}

// startServer starts the whole server on the demo's hosts.
func startServer(ctx context.Context, o Options, slack *slackSide, hosts *hosts) (*server.App, error) {
	cfg, err := writeConfig(o.DataDir, slack, hosts)
	if err != nil {
		return nil, err
	}
	loaded, err := server.LoadConfig(cfg)
	if err != nil {
		return nil, err
	}
	app, err := server.New(ctx, server.Options{
		Config: loaded, ConfigFile: cfg, StoragePath: o.DataDir, ListenAddress: o.ListenAddress,
		Version: o.Version, Log: o.Log, Now: time.Now,
	})
	if err != nil {
		return nil, err
	}
	if err := app.Start(ctx); err != nil {
		return nil, errors.Join(err, app.Stop(context.WithoutCancel(ctx)))
	}
	return app, nil
}
