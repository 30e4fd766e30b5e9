package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/exporter-toolkit/web"

	"github.com/leasewatch/leasewatch/internal/billing"
	"github.com/leasewatch/leasewatch/internal/incident"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/metering"
	"github.com/leasewatch/leasewatch/internal/monitor"
	"github.com/leasewatch/leasewatch/internal/oncall"
	"github.com/leasewatch/leasewatch/internal/paging"
	"github.com/leasewatch/leasewatch/internal/proof"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/sla"
	"github.com/leasewatch/leasewatch/internal/slack"
	"github.com/leasewatch/leasewatch/internal/witness"
)

// Options is what a server is started with.
type Options struct {
	Config Config
	// ConfigFile is read again by Reload; empty keeps Config.
	ConfigFile string
	// StoragePath is the one directory that holds samples and, by default, the ledger.
	StoragePath string
	// Retention is how long samples are kept; 0 is the monitor's default of 90 days.
	Retention time.Duration
	// ListenAddress is where HTTP is served; port 0 takes a free one (see App.Addr).
	ListenAddress string
	// WebConfigFile is exporter-toolkit's file for TLS; empty serves plain HTTP.
	WebConfigFile string
	Version       string
	Log           *slog.Logger
	Now           func() time.Time
	// CrashPoint is called at named points of the outbox and of incidents; tests end the
	// process there.
	CrashPoint func(name string)
}

// App is the whole server. Make one with New, then Start and Stop it once.
type App struct {
	opts     Options
	log      *slog.Logger
	now      func() time.Time
	registry *prometheus.Registry

	config    atomic.Pointer[Config]
	roster    atomic.Pointer[oncall.Roster] // nil where no schedule is configured
	ledger    *ledger.Ledger
	monitor   *monitor.Monitor
	pager     *paging.Pager
	engine    *incident.Engine
	outbox    *incident.Outbox
	slack     *slack.Slack // likewise
	sla       *sla.Service
	metering  *metering.Service
	billing   *billing.Service
	signer    *proof.Ring
	links     *oncall.Links // to acknowledge
	series    *leaseSeries
	retention *retention
	store     *storeWatch
	witness   *witness.Service // nil where nobody looks at hosts from outside
	interval  time.Duration    // of the slowest job at the start: readings hold for two of these
	secrets   [3]string        // the bot's token, the app's token and the signing secret of Slack
	noPaging  string           // why nobody is paged; empty where somebody is

	listener net.Listener
	http     *http.Server
	handler  http.Handler
	ready    atomic.Bool
	failed   chan error

	lifetime context.Context
	end      context.CancelFunc
	running  sync.WaitGroup
	closers  []closer // run in reverse order
}

// closer is something that Stop must put away.
type closer struct {
	name  string
	close func(context.Context) error
}

// New opens everything and checks the whole configuration; nothing runs before Start. Where
// it fails, what was opened is closed again.
func New(ctx context.Context, opts Options) (_ *App, err error) {
	opts.Now, opts.Log = clock(opts.Now), discard(opts.Log)
	a := &App{opts: opts, log: opts.Log, now: opts.Now, registry: newRegistry(opts.Version), failed: make(chan error, 1)}
	a.lifetime, a.end = context.WithCancel(context.WithoutCancel(ctx))
	a.config.Store(&opts.Config)
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close(ctx))
		}
	}()
	if err := opts.Config.CheckListen(opts.ListenAddress); err != nil {
		return nil, &ConfigError{Err: err}
	}
	if err := opts.Config.checkFiles(opts.ConfigFile); err != nil {
		return nil, err
	}
	if err := web.Validate(opts.WebConfigFile); err != nil {
		return nil, &ConfigError{Err: fmt.Errorf("--web.config.file: %w", err)}
	}
	// The port is taken first: a second server with the same flags fails before it touches data.
	if a.listener, err = net.Listen("tcp", opts.ListenAddress); err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			err = fmt.Errorf("%w (another leasewatch on that port?)", err)
		}
		return nil, fmt.Errorf("--web.listen-address %s: %w", opts.ListenAddress, err)
	}
	a.onClose("listener", func(context.Context) error { return ignoreClosed(a.listener.Close()) })
	for _, open := range []func(context.Context) error{a.openStorage, a.openLedger, a.openPolicy, a.openSigner, a.openJudges, a.openWitnesses, a.openMonitor, a.openPaging, a.openWeb} {
		if err := open(ctx); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (a *App) onClose(name string, fn func(context.Context) error) {
	a.closers = append(a.closers, closer{name: name, close: fn})
}

// close puts away what is open, the newest first.
func (a *App) close(ctx context.Context) error {
	a.end()
	a.running.Wait()
	var errs []error
	for i := len(a.closers) - 1; i >= 0; i-- {
		if err := a.closers[i].close(ctx); err != nil {
			errs = append(errs, fmt.Errorf("closing the %s: %w", a.closers[i].name, err))
		}
	}
	a.closers = nil
	return errors.Join(errs...)
}

// ledgerDSN is where the ledger is: the configuration's word, else a file of the storage path.
func ledgerDSN(cfg *Config, storage string) string {
	if cfg.Ledger.DSN != "" {
		return string(cfg.Ledger.DSN)
	}
	return "sqlite:" + filepath.Join(storage, ledgerFile)
}

// ledgerFile is the SQLite file in the storage path.
const ledgerFile = "ledger.db"

// openStorage makes the data directory and takes up its reserve. A full disk is refused here,
// where there is nothing yet to be left behind; what else is wrong with a directory the ledger says.
func (a *App) openStorage(context.Context) error {
	dir := a.opts.StoragePath
	_, err := os.Stat(dir)
	made := errors.Is(err, os.ErrNotExist)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("--storage.path: %w: give the directory to this user, or choose another", err)
	}
	if err := reserveIn(dir).hold(); full(err) {
		if made {
			err = errors.Join(err, os.Remove(dir))
		}
		return fmt.Errorf("--storage.path: %w: free some space, or choose another directory; nothing was changed", err)
	}
	return nil
}

func (a *App) openLedger(ctx context.Context) error {
	var err error
	a.ledger, err = ledger.Open(ctx, ledgerDSN(a.config.Load(), a.opts.StoragePath), ledger.Options{
		Logger: a.log.With("room", "ledger"), Now: a.now, CrashPoint: a.opts.CrashPoint,
	})
	if err != nil {
		return err
	}
	a.onClose("ledger", func(context.Context) error { return a.ledger.Close() })
	return nil
}

// lateSamples is what the judges read samples through: the monitor is opened after them,
// because it gathers their series.
type lateSamples struct{ a *App }

func (s lateSamples) Select(ctx context.Context, metric string, matchers map[string]string, span rental.Span) ([]rental.Series, error) {
	return s.a.monitor.Select(ctx, metric, matchers, span)
}

func (s lateSamples) Query(ctx context.Context, expr string, at time.Time) ([]rental.Series, error) {
	return s.a.monitor.Query(ctx, expr, at)
}

// openJudges makes what derives downtime, use and money from samples and facts.
func (a *App) openJudges(context.Context) error {
	a.interval = a.config.Load().sampleInterval()
	a.sla, a.billing = a.judges(a.ledger, a.now)
	a.metering = metering.New(lateSamples{a}, a.ledger, metering.Options{
		Now: a.now, Logger: a.log.With("room", "metering"), Interval: a.interval,
		Running: time.Duration(a.config.Load().Metering.Running),
	})
	var err error
	if a.retention, err = newRetention(a.ledger, a.now, a.log.With("room", "retention"), a.registry); err != nil {
		return err
	}
	a.series = newLeaseSeries(a)
	return a.registry.Register(a.series)
}

func (a *App) openMonitor(context.Context) error {
	cfg := a.config.Load()
	rules, err := cfg.monitorConfig(a.opts.ConfigFile)
	if err != nil {
		return err
	}
	a.monitor, err = monitor.New(monitor.Options{
		Config: rules, DataDir: filepath.Join(a.opts.StoragePath, "samples"), Retention: a.opts.Retention,
		ScrapeInterval: time.Duration(cfg.Global.ScrapeInterval), EvaluationInterval: time.Duration(cfg.Global.EvaluationInterval),
		Self: a.registry, Notify: a.notify, ExternalURL: a.externalURL(), Registerer: a.registry,
		Logger: a.log.With("room", "monitor"), Now: a.now,
	})
	if err != nil {
		return err
	}
	a.onClose("store of samples", a.monitor.Stop)
	return nil
}

// externalURL is the portal's address as people reach it: the configuration's word, else
// where it listens.
func (a *App) externalURL() string {
	if external := a.config.Load().Global.ExternalURL; external != "" {
		return external
	}
	return "http://" + a.Addr()
}

// Addr is the address that HTTP is served at; where nothing is served, the one that would be.
func (a *App) Addr() string {
	if a.listener == nil {
		return a.opts.ListenAddress
	}
	return a.listener.Addr().String()
}

// Failed tells of an error that ended a part of the server that it cannot do without.
func (a *App) Failed() <-chan error { return a.failed }

// Ready tells whether the first evaluation of all rules has passed and alerts are handed on.
func (a *App) Ready() bool { return a.ready.Load() }

// Start runs everything. It returns once HTTP is served; rules and paging follow as soon as
// the first samples are in.
func (a *App) Start(ctx context.Context) error {
	a.serve()
	if err := a.monitor.Start(ctx); err != nil {
		return err
	}
	a.goes(a.store.run)
	a.goes(func(ctx context.Context) { a.sla.Run(ctx) })
	if a.witness != nil {
		a.goes(a.witness.Run)
	}
	a.goes((&sealer{ledger: a.ledger, now: a.now, log: a.log.With("room", "proof"), done: map[string]rental.Millis{}}).run)
	a.goes(func(ctx context.Context) {
		if err := a.metering.Run(ctx); err != nil && ctx.Err() == nil {
			a.fail(fmt.Errorf("metering: %w", err))
		}
	})
	a.goes(func(ctx context.Context) {
		if err := a.outbox.Run(ctx); err != nil && ctx.Err() == nil {
			a.fail(fmt.Errorf("outbox: %w", err))
		}
	})
	a.goes(backupIntake{dir: a.config.Load().path(a.config.Load().Backups.DropDir), samples: a.monitor, ledger: a.ledger,
		log: a.log.With("room", "backups"), now: a.now, changed: a.series.Forget}.run)
	a.goes(a.climb)
	a.goes(a.retention.run)
	if a.slack != nil {
		a.goes(a.listenToSlack)
	}
	a.goes(a.openTheGates)
	if a.noPaging != "" {
		a.log.Warn("nobody is paged: " + a.noPaging)
	}
	return nil
}

// openTheGates waits for the first full evaluation, settles what healed while nobody watched
// and only then lets alerts through to people.
func (a *App) openTheGates(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-a.monitor.Ready():
	}
	if err := a.pager.Start(ctx); err != nil {
		a.fail(fmt.Errorf("paging: %w", err))
		return
	}
	live := map[string]bool{}
	for _, alert := range a.monitor.ActiveAlerts() {
		live[labelKey(alert.Labels)] = true
	}
	closed, err := a.engine.CloseHealed(ctx, func(alert rental.Alert) bool { return live[labelKey(alert.Labels)] },
		started{healing{samples: a.monitor, now: a.now}, a.now})
	if err != nil && ctx.Err() == nil {
		a.log.Error("some incidents could not be settled at start; they stay open", "error", err)
	}
	if closed.Resolved+closed.Unknown > 0 {
		a.log.Info("incidents settled at start", "resolved", closed.Resolved, "unknown", closed.Unknown)
	}
	a.ready.Store(true)
}

// goes runs a part of the server until Stop.
func (a *App) goes(part func(context.Context)) {
	a.running.Go(func() { part(a.lifetime) })
}

func (a *App) fail(err error) {
	select {
	case a.failed <- err:
	default: // one is enough: the program ends by it
	}
}

// Stop ends in order: no new requests, the parts that run, paging, samples, ledger.
func (a *App) Stop(ctx context.Context) error {
	a.ready.Store(false)
	err := a.http.Shutdown(ctx)
	return errors.Join(err, a.close(ctx))
}
