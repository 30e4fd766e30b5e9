package incident

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// DefaultReopenWindow is how long after its end an incident is opened again, rather than a
// new one, when its alerts fire again.
const DefaultReopenWindow = 30 * time.Minute

// Facts knows what the ledger says of a card or a host, where an alert's labels do not.
type Facts interface {
	// Holders returns the leases that held the card at the moment or, where uuid is empty, any
	// card of the host: none where nobody did or nothing is known.
	Holders(ctx context.Context, host, uuid string, at rental.Millis) []rental.Holder
}

// Options joins an Engine to the rest.
type Options struct {
	Store Store // required
	// Routes says which routes get an incident ("slack:C0123"); none where it is nil.
	Routes func(rental.Incident) []string
	Now    func() time.Time // required
	// Logger gets what nobody else reports; required.
	Logger *slog.Logger
	// Registerer gets the engine's own metrics; none where it is nil.
	Registerer prometheus.Registerer
	// ReopenWindow is DefaultReopenWindow where 0.
	ReopenWindow time.Duration
	Facts        Facts // may be nil
	// Ladder gives the steps that a page climbs, the first first; none where it is nil.
	Ladder func() []Step
	// Repeat is how long after people were last called a page that nobody has acknowledged is told
	// again; never where it is nil or gives 0.
	Repeat func() time.Duration
	// Silencer mutes what people silence; without it they cannot.
	Silencer Silencer
	// Wake is called after a commit that left deliveries behind; may be nil.
	Wake func()
	// CrashPoint is called with a name of CrashPoints before and after each commit; nil in
	// production. Tests end the process there.
	CrashPoint func(name string)
}

// Engine turns what grouping and people say into the lives of incidents.
type Engine struct {
	o       Options
	metrics engineMetrics
}

type engineMetrics struct{ opened, worsened, reopened, resolved *prometheus.CounterVec }

// New returns an Engine. It fails where a required option is missing or a metric is taken.
func New(o Options) (*Engine, error) {
	switch {
	case o.Store == nil:
		return nil, errors.New("incident engine: a store is required")
	case o.Now == nil:
		return nil, errors.New("incident engine: a clock is required")
	case o.Logger == nil:
		return nil, errors.New("incident engine: a logger is required")
	}
	if o.ReopenWindow == 0 {
		o.ReopenWindow = DefaultReopenWindow
	}
	if o.Routes == nil {
		o.Routes = func(rental.Incident) []string { return nil }
	}
	if o.Ladder == nil {
		o.Ladder = func() []Step { return nil }
	}
	if o.Repeat == nil {
		o.Repeat = func() time.Duration { return 0 }
	}
	if o.Wake == nil {
		o.Wake = func() {}
	}
	if o.CrashPoint == nil {
		o.CrashPoint = func(string) {}
	}
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{"severity"})
	}
	e := &Engine{o: o, metrics: engineMetrics{
		opened:   counter("leasewatch_incidents_opened_total", "Incidents opened."),
		worsened: counter("leasewatch_incidents_worsened_total", "Times that an open incident got worse."),
		reopened: counter("leasewatch_incidents_reopened_total", "Incidents opened again because their alerts fired again."),
		resolved: counter("leasewatch_incidents_resolved_total", "Incidents resolved."),
	}}
	if o.Registerer != nil {
		for _, c := range []prometheus.Collector{e.metrics.opened, e.metrics.worsened, e.metrics.reopened, e.metrics.resolved} {
			if err := o.Registerer.Register(c); err != nil {
				return nil, fmt.Errorf("incident engine: register its metrics: %w", err)
			}
		}
	}
	return e, nil
}

// CrashPoints names every point at which Options.CrashPoint is called.
func CrashPoints() []string {
	return []string{
		"incident-commit-before", "incident-commit-after",
		"delivery-start-before", "delivery-start-after",
		"delivery-send-before", "delivery-send-after",
		"delivery-ref-after", "delivery-done-before", "delivery-done-after",
	}
}

// Handle takes the newest word on one alert group: it opens, worsens, changes, reopens or
// resolves the group's incident and leaves what must be told in the outbox, all in one
// transaction. The same word again changes nothing. It fails only where the store does; the
// caller then tries again.
func (e *Engine) Handle(ctx context.Context, group rental.AlertGroup) error {
	if group.Key == "" {
		return errors.New("alert group has no key: expected the receiver with its group labels")
	}
	if group.At <= 0 {
		group.At = rental.At(e.o.Now())
	}
	group = e.withFacts(ctx, group)
	var step outcome
	e.o.CrashPoint("incident-commit-before")
	saved, err := e.o.Store.ChangeByKey(ctx, group.Key, func(newest *rental.Incident) (*rental.Incident, []rental.Delivery, error) {
		step = e.apply(newest, group, rental.At(e.o.Now()))
		return step.incident, step.deliveries, nil
	})
	if err != nil {
		return fmt.Errorf("incident of group %s: %w", group.Key, err)
	}
	e.o.CrashPoint("incident-commit-after")
	if saved == nil || step.incident == nil {
		return nil
	}
	e.committed(ctx, saved, step)
	return nil
}

// committed counts and logs what a commit did, wakes the outbox and ends a silence until fixed.
func (e *Engine) committed(ctx context.Context, saved *rental.Incident, step outcome) {
	severity := string(saved.Severity)
	switch step.event {
	case eventOpened:
		e.metrics.opened.WithLabelValues(severity).Inc()
	case eventWorsened:
		e.metrics.worsened.WithLabelValues(severity).Inc()
	case eventReopened:
		e.metrics.reopened.WithLabelValues(severity).Inc()
	case eventResolved:
		e.metrics.resolved.WithLabelValues(severity).Inc()
	}
	if step.event != "" {
		e.o.Logger.Info("incident "+step.event, "incident", saved.ID, "severity", severity,
			"subject", saved.Subject, "title", saved.Title)
	}
	if len(step.deliveries) > 0 {
		e.o.Wake()
	}
	if step.event == eventResolved && saved.Silence != nil && saved.Silence.UntilFixed && e.o.Silencer != nil {
		e.unmute(ctx, saved.Silence.ID)
	}
}
