// Package monitor is the engine room of samples: it scrapes, receives, stores and queries time
// series and evaluates the rules over them, on Prometheus's own packages. It is the only package
// of the server that imports prometheus/prometheus; others meet it through builtin types and rental.
package monitor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	commonconfig "github.com/prometheus/common/config"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/discovery"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/scrape"
	"github.com/prometheus/prometheus/tsdb"
)

// Limits of one query, as Prometheus's own defaults.
const (
	queryTimeout    = 2 * time.Minute
	queryMaxSamples = 50_000_000
)

// resendDelay is how often a firing alert is told again; its ValidUntil is four of these ahead.
const resendDelay = time.Minute

// Monitor scrapes, stores, queries and evaluates. Make one with New, then Start and Stop it once.
type Monitor struct {
	opts        Options
	logger      *slog.Logger
	externalURL *url.URL
	parser      parser.Parser

	db        *tsdb.DB
	health    *storeHealth
	intake    watched // what every sample is written through
	engine    *promql.Engine
	scraper   *scrape.Manager
	discovery *discovery.Manager
	rules     *rules.Manager
	files     *ruleFiles
	self      *selfTarget
	api       http.Handler
	write     http.Handler

	// before is when the previous run last stored anything; zero for a new store.
	before time.Time

	// lifetime ends everything that runs beside the managers; Stop cancels it last.
	lifetime context.Context
	end      context.CancelFunc
	// giveUp ends the way to the first evaluation.
	giveUp  context.CancelFunc
	running sync.WaitGroup
	ready   chan struct{}
	started bool
	stopped bool

	// backfilling lets one history be written at a time.
	backfilling sync.Mutex
	// mu guards config and lets one Start, Reload or Stop run at a time.
	mu     sync.Mutex
	config *config.Config
}

// New opens the data directory and checks the whole configuration; nothing runs before Start.
// Errors: ErrInUse, ErrNotWritable, or a configuration error with its file and line.
// After a successful New, Stop must be called even if Start never was.
func New(o Options) (*Monitor, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	external, err := url.Parse(o.ExternalURL)
	if err != nil {
		return nil, fmt.Errorf("external URL %q: %w", o.ExternalURL, err)
	}
	cfg, err := parseScrape(o)
	if err != nil {
		return nil, err
	}
	m := &Monitor{
		opts: o, logger: o.Logger, externalURL: external, parser: newParser(),
		config: cfg, ready: make(chan struct{}),
	}
	m.files = &ruleFiles{parser: m.parser, content: o.RuleFiles}
	if err := m.files.check(); err != nil {
		return nil, err
	}
	m.lifetime, m.end = context.WithCancel(context.Background())
	if err := m.assemble(); err != nil {
		m.end()
		if m.db != nil {
			err = errors.Join(err, closeStore(m.db))
		}
		return nil, err
	}
	return m, nil
}

// assemble opens the store and builds the managers around it.
func (m *Monitor) assemble() (err error) {
	quiet := slog.New(engineHandler{m.logger.Handler()})
	if m.db, err = openStore(m.opts, quiet.With("component", "tsdb")); err != nil {
		return err
	}
	if m.health, err = newStoreHealth(m.opts.Now, m.healsAfter(), m.opts.Registerer); err != nil {
		return fmt.Errorf("monitor: %w", err)
	}
	m.intake = watched{m.db, m.health}
	m.before = m.lastEvaluated()
	m.engine = promql.NewEngine(promql.EngineOpts{
		Logger: quiet, Reg: m.opts.Registerer, MaxSamples: queryMaxSamples, Timeout: queryTimeout,
		LookbackDelta: m.opts.Lookback, EnableAtModifier: true, EnableNegativeOffset: true, Parser: m.parser,
		NoStepSubqueryIntervalFn: func(int64) int64 { return m.opts.EvaluationInterval.Milliseconds() },
	})
	m.rules = rules.NewManager(&rules.ManagerOptions{
		ExternalURL: m.externalURL, QueryFunc: rules.EngineQueryFunc(m.engine, m.db), NotifyFunc: m.notify,
		Context: m.lifetime, AppendableV2: m.intake, Queryable: m.db, Logger: quiet.With("component", "rules"),
		Registerer: m.opts.Registerer, ResendDelay: resendDelay, GroupLoader: m.files, Parser: m.parser,
		DefaultRuleQueryOffset: func() time.Duration { return 0 },
		// Prometheus's own restore would guess; restoreRules knows. No hold is this long, so it leaves all alone.
		ForGracePeriod: 100 * 365 * 24 * time.Hour,
	})
	sdMetrics, err := discovery.CreateAndRegisterSDMetrics(m.opts.Registerer)
	if err != nil {
		return fmt.Errorf("monitor: metrics of service discovery: %w", err)
	}
	m.discovery = discovery.NewManager(m.lifetime, quiet.With("component", "discovery"), m.opts.Registerer, sdMetrics,
		discovery.Name("scrape"), discovery.Updatert(time.Second))
	if m.discovery == nil {
		return errors.New("monitor: service discovery could not be set up")
	}
	scrapeOptions := &scrape.Options{DiscoveryReloadInterval: model.Duration(time.Second), DiscoveryReloadOnStartup: true}
	if m.opts.Self != nil {
		m.self = newSelfTarget(m.opts.Self)
		scrapeOptions.HTTPClientOptions = []commonconfig.HTTPClientOption{m.self.clientOption()}
	}
	m.scraper, err = scrape.NewManager(scrapeOptions, quiet.With("component", "scrape"), nil, nil, m.intake, m.opts.Registerer)
	if err != nil {
		return fmt.Errorf("monitor: %w", err)
	}
	m.api, m.write = m.handlers(quiet)
	return nil
}

// Start begins to scrape, and evaluates the rules once every target was scraped; Ready tells when.
// It returns at once. The context's end does not stop the monitor: Stop does.
func (m *Monitor) Start(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.started || m.stopped {
		return errors.New("monitor: started or stopped before: make a new one")
	}
	if err := m.applyScrape(m.config); err != nil {
		return err
	}
	if err := m.loadRules(); err != nil {
		return err
	}
	m.started = true
	if m.self != nil {
		m.run("scraping ourselves", m.self.serve)
	}
	m.run("service discovery", func() error {
		if err := m.discovery.Run(); !errors.Is(err, context.Canceled) {
			return err
		}
		return nil
	})
	m.run("scraping", func() error { return m.scraper.Run(m.discovery.SyncCh()) })
	starting, giveUp := context.WithCancel(m.lifetime)
	m.giveUp = giveUp
	m.running.Go(func() { m.bringUp(starting) })
	return nil
}

// run starts a part that works until Stop and logs what ended it early.
func (m *Monitor) run(what string, work func() error) {
	m.running.Go(func() {
		if err := work(); err != nil {
			m.logger.Error(what+" ended", "err", err)
		}
	})
}

// Ready is closed after the first scrape of the targets and the first full evaluation of the rules.
// Until then the absence of an alert says nothing.
func (m *Monitor) Ready() <-chan struct{} { return m.ready }

// Reload checks the whole new configuration and then applies it; on an error the old one stays.
// Alerts keep their state where name and labels of the rule stay the same.
func (m *Monitor) Reload(ctx context.Context, c Config) error {
	select {
	case <-m.ready:
	case <-m.lifetime.Done():
		return errors.New("monitor: stopped")
	case <-ctx.Done():
		return ctx.Err()
	}
	o := m.opts
	o.Config = c
	cfg, err := parseScrape(o)
	if err != nil {
		return err
	}
	next := &ruleFiles{parser: m.parser, content: c.RuleFiles}
	if err := next.check(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped {
		return errors.New("monitor: stopped")
	}
	if err := m.applyScrape(cfg); err != nil {
		return errors.Join(err, m.applyScrape(m.config))
	}
	m.files.content = next.content
	m.config = cfg
	return m.loadRules()
}

// applyScrape hands the jobs to the scraper and their discovery to the discovery manager.
func (m *Monitor) applyScrape(cfg *config.Config) error {
	if err := m.scraper.ApplyConfig(cfg); err != nil {
		return fmt.Errorf("applying the scrape configuration: %w", err)
	}
	jobs := make(map[string]discovery.Configs, len(cfg.ScrapeConfigs))
	for _, job := range cfg.ScrapeConfigs {
		jobs[job.JobName] = job.ServiceDiscoveryConfigs
	}
	if err := m.discovery.ApplyConfig(jobs); err != nil {
		return fmt.Errorf("applying service discovery: %w", err)
	}
	return nil
}

// loadRules hands the rule files to the rule manager.
func (m *Monitor) loadRules() error {
	err := m.rules.Update(m.opts.EvaluationInterval, m.files.names(), m.ruleLabels(), m.opts.ExternalURL, m.evaluateGroup)
	if err != nil {
		return fmt.Errorf("loading the rules: %w", err)
	}
	return nil
}

// ruleLabels are what templates of rules find in $externalLabels: where people reach the server,
// for the links to runbooks. A stock Prometheus gets the same from its configuration.
func (m *Monitor) ruleLabels() labels.Labels {
	return labels.FromStrings("leasewatch_url", m.opts.ExternalURL)
}

// Stop ends evaluation, then scraping, then closes the store. Alerts are neither resolved nor
// forgotten: the next start takes them up. ctx bounds the wait for running parts.
func (m *Monitor) Stop(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped {
		return nil
	}
	m.stopped = true
	if m.started {
		m.giveUp()
		<-m.ready
		m.rules.Stop()
		m.scraper.Stop()
		if m.self != nil {
			if err := m.self.close(); err != nil {
				m.logger.Warn("closing the own page", "err", err)
			}
		}
	}
	m.end()
	done := make(chan struct{})
	go func() { m.running.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("monitor: some parts still run: %w", ctx.Err()), closeStore(m.db))
	}
	return closeStore(m.db)
}
