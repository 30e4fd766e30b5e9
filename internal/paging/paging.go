// Package paging turns alerts into groups: it routes, groups, inhibits and silences them on
// Alertmanager's own packages, and hands each change of a group to the notifier. It is the only
// package that imports Alertmanager. Whether a person is paged is not decided here: the ledger does.
package paging

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/prometheus/alertmanager/alert"
	"github.com/prometheus/alertmanager/dispatch"
	"github.com/prometheus/alertmanager/eventrecorder"
	"github.com/prometheus/alertmanager/featurecontrol"
	"github.com/prometheus/alertmanager/inhibit"
	"github.com/prometheus/alertmanager/nflog"
	"github.com/prometheus/alertmanager/notify"
	"github.com/prometheus/alertmanager/provider/mem"
	"github.com/prometheus/alertmanager/silence"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
)

const (
	// silenceRetention is how long an expired silence can still be looked at.
	silenceRetention = 120 * time.Hour
	// alertGC is how often ended alerts are dropped from memory.
	alertGC = 30 * time.Minute
	// groupMaintenance is how often empty groups are dropped.
	groupMaintenance = 30 * time.Second
	// stateMaintenance is how often expired silences and notifications are dropped.
	stateMaintenance = 15 * time.Minute
)

// Options says how alerts are routed and who gets the groups.
type Options struct {
	// Config is a routing file in Alertmanager's syntax; empty takes DefaultConfig. A webhook whose
	// path is WebhookPath is Deliver; every other configuration of a receiver is told as
	// Alertmanager tells it; receivers without any drop what they get.
	Config []byte
	// ConfigFile names the file of Config in errors.
	ConfigFile string
	// Store keeps silences and the notification state over a crash; nil keeps them in memory only.
	Store Store
	// Deliver takes a group each time something about it changed. An error is retried, for as long as
	// the group exists. After an unclean stop it may be given the same state again.
	Deliver func(ctx context.Context, group rental.AlertGroup) error
	// AckLink returns an address at which an incident can be acknowledged once, for whoever is reached
	// by a receiver of the routing file; empty where there is none. It is a secret: a way out is told
	// it, and no log. May be nil.
	AckLink func(inc rental.Incident, receiver string) string
	// ExternalURL is where people reach the server.
	ExternalURL string
	// Language is en or zh: that of the notices on the ways of the routing file's receivers.
	Language string
	// Registerer takes the metrics (alertmanager_*, leasewatch_paging_*); nil registers none.
	Registerer prometheus.Registerer
	Logger     *slog.Logger
	// Now stamps what is handed over. The pipeline's timers run on the machine's own clock.
	Now func() time.Time
}

// Alert is one alert as the rules see it. monitor.Alert has the same fields, so that the two convert.
type Alert struct {
	Labels      map[string]string
	Annotations map[string]string
	StartsAt    time.Time
	// EndsAt is when the alert ended; zero while it fires.
	EndsAt time.Time
	// ValidUntil is when a firing alert is taken as ended if nobody has repeated it.
	ValidUntil   time.Time
	GeneratorURL string
}

// Pager groups alerts and hands the groups on. Make one with New, then Start and Stop it once.
type Pager struct {
	opts        Options
	logger      *slog.Logger
	externalURL *url.URL

	alerts   *mem.Alerts
	silences *silence.Silences
	silencer *silence.Silencer
	log      *nflog.Log
	kept     *keeper
	metrics  *notify.Metrics
	grouping *dispatch.DispatcherMetrics
	recorder eventrecorder.Recorder
	api      *api

	// mu guards what Reload replaces.
	mu         sync.RWMutex
	routing    *routing
	dispatcher *dispatch.Dispatcher
	inhibitor  *inhibit.Inhibitor
	started    bool
	stopped    bool

	end  context.CancelFunc
	done sync.WaitGroup
}

// New reads the routing and takes up silences and notification state from the store. Alerts may be
// put from now on; they wait for Start.
func New(ctx context.Context, o Options) (*Pager, error) {
	if o.Deliver == nil {
		return nil, errors.New("paging: nobody to deliver to")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Registerer == nil {
		o.Registerer = prometheus.NewRegistry()
	}
	external, err := url.Parse(o.ExternalURL)
	if err != nil {
		return nil, fmt.Errorf("external URL %q: %w", o.ExternalURL, err)
	}
	routes, err := parseRouting(o.Config, o.ConfigFile, o.Logger)
	if err != nil {
		return nil, err
	}
	routes.texts.ExternalURL = external
	p := &Pager{opts: o, logger: o.Logger, externalURL: external, routing: routes}
	if err := p.assemble(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// assemble builds what lives as long as the pager.
func (p *Pager) assemble(ctx context.Context) (err error) {
	quiet, reg := slog.New(quietHandler{p.logger.Handler()}), p.opts.Registerer
	if p.silences, err = silence.New(silence.Options{Retention: silenceRetention, Logger: quiet, Metrics: reg}); err != nil {
		return fmt.Errorf("paging: silences: %w", err)
	}
	p.log, err = nflog.New(nflog.Options{Retention: p.routing.retention(), Logger: quiet, Metrics: reg})
	if err != nil {
		return fmt.Errorf("paging: notification log: %w", err)
	}
	p.kept = newKeeper(p.opts.Store, p.logger, reg)
	if err := p.takeUp(ctx); err != nil {
		return err
	}
	flags := featurecontrol.NoopFlags{}
	p.silencer = silence.NewSilencer(p.silences, quiet, p.recorder)
	p.alerts, err = mem.NewAlerts(context.Background(), alertGC, 0, p.silencer, quiet, p.recorder, reg, flags)
	if err != nil {
		return fmt.Errorf("paging: alerts: %w", err)
	}
	p.metrics = notify.NewMetrics(reg, flags)
	p.grouping = dispatch.NewDispatcherMetrics(false, reg, flags)
	p.api, err = p.newAPI(quiet)
	return err
}

// takeUp merges the stored state, and from then on stores each change before it is answered.
func (p *Pager) takeUp(ctx context.Context) error {
	for _, s := range []struct {
		kind  string
		state persistent
	}{{kindSilence, p.silences}, {kindNotification, p.log}} {
		if err := p.kept.load(ctx, s.kind, s.state.Merge); err != nil {
			return err
		}
		s.state.SetBroadcast(func(body []byte) { p.kept.save(s.kind, body) })
	}
	return nil
}

// Start begins to hand groups on. Call it when every alert that fires has been put once, else an
// absent one looks ended. The context's end does not stop the pager: Stop does.
func (p *Pager) Start(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.started || p.stopped {
		return errors.New("paging: started or stopped before: make a new one")
	}
	p.started = true
	ctx, cancel := context.WithCancel(context.Background())
	p.end = cancel
	p.done.Go(func() { p.maintain(ctx) })
	p.done.Go(func() { p.kept.retry(ctx) })
	p.swap(p.routing)
	return nil
}

// Reload checks the new routing and then swaps it in; on an error the old one stays.
// Groups are built anew from the alerts; their keys do not change with the routing.
func (p *Pager) Reload(config []byte, file string) error {
	routes, err := parseRouting(config, file, p.logger)
	if err != nil {
		return err
	}
	routes.texts.ExternalURL = p.externalURL
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return errors.New("paging: stopped")
	}
	p.routing = routes
	p.api.update(routes.config)
	if p.started {
		p.swap(routes)
	}
	return nil
}

// swap replaces inhibition and dispatch. The caller holds mu.
func (p *Pager) swap(r *routing) {
	p.inhibitor.Stop()
	p.dispatcher.Stop()
	engine := slog.New(quietHandler{p.logger.Handler()})
	inhibitor := inhibit.NewInhibitor(p.alerts, r.config.InhibitRules, engine, p.recorder)
	muter := r.timeMuter()
	dispatcher := dispatch.NewDispatcher(p.alerts, dispatch.NewRoute(r.config.Route, nil), p.pipeline(r, inhibitor, muter),
		muter, deliverTimeout, groupMaintenance, nil, engine, p.recorder, p.grouping, r.texts)
	// Inhibition must know its sources before the first group is flushed.
	p.done.Go(inhibitor.Run)
	inhibitor.WaitForLoading()
	p.done.Go(func() { dispatcher.Run(time.Time{}) }) // at once
	dispatcher.WaitForLoading()
	p.inhibitor, p.dispatcher = inhibitor, dispatcher
}

// deliverTimeout is how long one delivery may take, retries included, before the next flush tries again.
func deliverTimeout(groupInterval time.Duration) time.Duration {
	return max(groupInterval, notify.MinTimeout)
}

// Put takes alerts that fire, still fire, or have ended. Invalid ones are named in the error; the rest is taken.
func (p *Pager) Put(ctx context.Context, alerts []Alert) error {
	now := p.opts.Now()
	var valid []*alert.Alert
	var errs []error
	for _, a := range alerts {
		converted := toModel(a)
		if err := converted.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("alert %q: %w", a.Labels[model.AlertNameLabel], err))
			continue
		}
		valid = append(valid, alert.New(converted, now, false))
	}
	if err := p.alerts.Put(ctx, valid...); err != nil {
		errs = append(errs, fmt.Errorf("paging: taking alerts: %w", err))
	}
	return errors.Join(errs...)
}

func toModel(a Alert) model.Alert {
	ends := a.EndsAt
	if ends.IsZero() {
		ends = a.ValidUntil
	}
	return model.Alert{
		Labels: labelSet(a.Labels), Annotations: labelSet(a.Annotations),
		StartsAt: a.StartsAt, EndsAt: ends, GeneratorURL: a.GeneratorURL,
	}
}

func labelSet(m map[string]string) model.LabelSet {
	set := make(model.LabelSet, len(m))
	for name, value := range m {
		// Prometheus drops empty labels; Alertmanager would refuse nothing, but group them apart.
		if value != "" {
			set[model.LabelName(name)] = model.LabelValue(value)
		}
	}
	return set
}

// maintain drops expired state from memory.
func (p *Pager) maintain(ctx context.Context) {
	tick := time.NewTicker(stateMaintenance)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		_, silenceErr := p.silences.GC()
		_, logErr := p.log.GC()
		if err := errors.Join(silenceErr, logErr); err != nil {
			p.logger.Error("dropping expired silences and notifications", "err", err)
		}
	}
}

// Handler serves Alertmanager's API under /api/v2: status, receivers, alerts, groups and silences.
// amtool works on it.
func (p *Pager) Handler() http.Handler { return p.api }

// Stop ends deliveries and closes. Nothing is resolved by it. ctx bounds the wait for deliveries that run.
func (p *Pager) Stop(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return nil
	}
	p.stopped = true
	p.inhibitor.Stop()
	p.dispatcher.Stop()
	if p.end != nil {
		p.end()
	}
	p.alerts.Close()
	ended := make(chan struct{})
	go func() { p.done.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-ctx.Done():
		return fmt.Errorf("paging: some parts still run: %w", ctx.Err())
	}
	return p.kept.flush(ctx)
}
