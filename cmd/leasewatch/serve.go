package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	promslogflag "github.com/prometheus/common/promslog/flag"

	"github.com/leasewatch/leasewatch/internal/server"
)

// stopWithin is how long an orderly stop may take.
const stopWithin = 20 * time.Second

type serveFlags struct {
	config, storage, listen, webConfig, retention string
	log                                           promslog.Config
}

func registerServe(app *kingpin.Application, actions map[string]action) {
	var f serveFlags
	cmd := app.Command("serve", "The server: rules, paging, ledger, SLA, API and portal.")
	cmd.Flag("config.file", "Configuration file; docs/configuration.md lists its fields.").Default("leasewatch.yaml").StringVar(&f.config)
	cmd.Flag("storage.path", "Directory of samples and ledger.").Default("data").StringVar(&f.storage)
	cmd.Flag("storage.retention", "How long samples are kept.").Default("90d").StringVar(&f.retention)
	cmd.Flag("web.listen-address", "Address to serve HTTP at.").Default("127.0.0.1:8080").StringVar(&f.listen)
	cmd.Flag("web.config.file", "File with TLS settings, in the syntax of Prometheus's exporter-toolkit.").StringVar(&f.webConfig)
	f.log = promslog.Config{Level: promslog.NewLevel(), Format: promslog.NewFormat()}
	cmd.Flag(promslogflag.LevelFlagName, promslogflag.LevelFlagHelp).Default("info").SetValue(f.log.Level)
	cmd.Flag(promslogflag.FormatFlagName, promslogflag.FormatFlagHelp).Default("logfmt").SetValue(f.log.Format)
	actions[cmd.FullCommand()] = func(ctx context.Context, io streams) error {
		f.log.Writer = io.err
		return serve(ctx, io, f)
	}
}

func serve(ctx context.Context, io streams, f serveFlags) error {
	cfg, err := server.LoadConfig(f.config)
	if err != nil {
		return inputError{err}
	}
	retention, err := parseRetention(f.retention)
	if err != nil {
		return usageError{err}
	}
	log := promslog.New(&f.log)
	app, err := server.New(ctx, server.Options{
		Config: cfg, ConfigFile: f.config, StoragePath: f.storage, Retention: retention,
		ListenAddress: f.listen, WebConfigFile: f.webConfig, Version: version, Log: log, Now: time.Now,
		CrashPoint: crashPoint(os.Getenv(crashVariable)),
	})
	if err != nil {
		return startError(err)
	}
	if err := app.Start(ctx); err != nil {
		return errors.Join(err, stop(app))
	}
	fmt.Fprintf(io.out, "leasewatch listens on http://%s\n", app.Addr())
	return errors.Join(wait(ctx, app, log), stop(app))
}

// wait reloads on SIGHUP and returns when the server is told to stop, or cannot go on.
func wait(ctx context.Context, app *server.App, log *slog.Logger) error {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-app.Failed():
			return err
		case <-hangup:
			if err := app.Reload(ctx); err != nil {
				log.Error("the configuration is not reloaded; the old one stays", "error", err)
			}
		}
	}
}

func stop(app *server.App) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	return app.Stop(ctx)
}

func parseRetention(text string) (time.Duration, error) {
	d, err := model.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("--storage.retention %q: expected a length such as 90d", text)
	}
	return time.Duration(d), nil
}

// crashVariable names the point at which a test ends the process as a power cut would.
const crashVariable = "LEASEWATCH_TEST_CRASH_AT"

func crashPoint(at string) func(string) {
	if at == "" {
		return nil
	}
	return func(name string) {
		if name == at {
			_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
}
