package monitor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Defaults of Options.
const (
	DefaultRetention          = 90 * 24 * time.Hour
	DefaultScrapeInterval     = 15 * time.Second
	DefaultEvaluationInterval = 15 * time.Second
	DefaultOutOfOrderWindow   = 26 * time.Hour
	DefaultLookback           = time.Minute
	DefaultSelfInterval       = 5 * time.Second
	DefaultStartupWait        = 30 * time.Second
)

// MaxScrapeInterval is the longest interval a target may be scraped at. The lookback is one
// minute, so that a pushed series that died does not look alive for long; two samples and
// the jitter between them must fit into it, else series would blink.
const MaxScrapeInterval = 25 * time.Second

// Config is the part of the options that Reload replaces while the monitor runs.
type Config struct {
	// ScrapeConfigs is a YAML list in Prometheus's own scrape_configs syntax; empty scrapes nothing.
	// Blank lines ahead of the list keep the line numbers of the file it was cut from.
	ScrapeConfigs []byte
	// ScrapeConfigsFile names the file of ScrapeConfigs in errors; relative paths in the
	// configuration (credentials, file discovery) are resolved from its folder.
	ScrapeConfigsFile string
	// RuleFiles are rule files in Prometheus's syntax: name -> content. Files are loaded in
	// order of their names; the name appears in errors and in the rules API.
	RuleFiles map[string][]byte
}

// Options says what a Monitor stores, scrapes and evaluates.
type Options struct {
	Config

	// DataDir is the folder of the time series database; only one process may hold it.
	DataDir string
	// Retention is how long samples are kept.
	Retention time.Duration
	// ScrapeInterval is used by jobs that set none.
	ScrapeInterval time.Duration
	// EvaluationInterval is used by rule groups that set none.
	EvaluationInterval time.Duration
	// OutOfOrderWindow is how late a pushed sample may come.
	OutOfOrderWindow time.Duration
	// Lookback is how long an instant query looks back for a series' last sample.
	Lookback time.Duration
	// StartupWait bounds the wait for every target's first scrape before the first evaluation.
	StartupWait time.Duration

	// Self holds the server's own series; nil scrapes none. They are scraped in this process
	// as job="leasewatch", instance="self".
	Self prometheus.Gatherer
	// SelfInterval is the interval of Self.
	SelfInterval time.Duration

	// Notify is given each alert that fires, again each minute while it does, and once more
	// when it ended (and then for 15 minutes each minute). It must not block; nil drops alerts.
	Notify func(ctx context.Context, alerts []Alert)
	// ExternalURL is where people reach the server; templates and generator links use it.
	ExternalURL string

	// Registerer takes the metrics of the engine (prometheus_*); nil registers none.
	Registerer prometheus.Registerer
	Logger     *slog.Logger
	// Now is the clock of start-up, of the retention check of Backfill and of Stop. The engine's
	// schedulers (scrape, rule groups, compaction) run on the machine's own clock.
	Now func() time.Time
}

// Alert is one alert as the rules see it. paging.Alert has the same fields, so that the two convert.
type Alert struct {
	Labels      map[string]string
	Annotations map[string]string
	// StartsAt is when the alert fired: its condition became true a hold time earlier.
	StartsAt time.Time
	// EndsAt is when the alert ended; zero while it fires.
	EndsAt time.Time
	// ValidUntil is when a firing alert may be taken as ended if nobody has repeated it.
	ValidUntil time.Time
	// GeneratorURL shows the alert's expression.
	GeneratorURL string
}

func (o Options) withDefaults() Options {
	setDuration(&o.Retention, DefaultRetention)
	setDuration(&o.ScrapeInterval, DefaultScrapeInterval)
	setDuration(&o.EvaluationInterval, DefaultEvaluationInterval)
	setDuration(&o.OutOfOrderWindow, DefaultOutOfOrderWindow)
	setDuration(&o.Lookback, DefaultLookback)
	setDuration(&o.SelfInterval, DefaultSelfInterval)
	setDuration(&o.StartupWait, DefaultStartupWait)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Registerer == nil {
		o.Registerer = prometheus.NewRegistry()
	}
	return o
}

func setDuration(d *time.Duration, otherwise time.Duration) {
	if *d == 0 {
		*d = otherwise
	}
}

func (o Options) validate() error {
	if o.DataDir == "" {
		return errors.New("monitor: no data directory given")
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"retention", o.Retention}, {"scrape interval", o.ScrapeInterval},
		{"evaluation interval", o.EvaluationInterval}, {"out-of-order window", o.OutOfOrderWindow},
		{"lookback", o.Lookback}, {"self interval", o.SelfInterval},
	} {
		if d.value < 0 {
			return fmt.Errorf("monitor: %s is %s: expected a positive duration", d.name, d.value)
		}
	}
	return nil
}
