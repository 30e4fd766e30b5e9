package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// Retention says how long each kind of data is kept; 0s is for ever. Samples have a flag of their own.
type Retention struct {
	IncidentTexts   Duration `yaml:"incident_texts"`
	Deliveries      Duration `yaml:"deliveries"`
	Tokens          Duration `yaml:"tokens"`
	SchedulerEvents Duration `yaml:"scheduler_events"`
	UsageHours      Duration `yaml:"usage_hours"`
}

func defaultRetention() Retention {
	policy := rental.DefaultRetention()
	keep := func(kind string) Duration { return Duration(time.Duration(policy[kind]) * time.Millisecond) }
	return Retention{
		IncidentTexts: keep(rental.RetainIncidentTexts), Deliveries: keep(rental.RetainDeliveries), Tokens: keep(rental.RetainTokens),
		SchedulerEvents: keep(rental.RetainSchedulerEvents), UsageHours: keep(rental.RetainUsageHours),
	}
}

func (r Retention) policy() rental.RetentionPolicy {
	ms := func(d Duration) int64 { return time.Duration(d).Milliseconds() }
	return rental.RetentionPolicy{
		rental.RetainIncidentTexts: ms(r.IncidentTexts), rental.RetainDeliveries: ms(r.Deliveries), rental.RetainTokens: ms(r.Tokens),
		rental.RetainSchedulerEvents: ms(r.SchedulerEvents), rental.RetainUsageHours: ms(r.UsageHours),
	}
}

// retention ends each day what has come of age.
type retention struct {
	ledger  *ledger.Ledger
	now     func() time.Time
	log     *slog.Logger
	deleted *prometheus.CounterVec
	last    prometheus.Gauge
}

const (
	// retentionMark is when retention was last done.
	retentionMark = "retention"
	// retainEvery is how often it is done, and retainLook how often it is looked whether it is due.
	retainEvery = 24 * time.Hour
	retainLook  = 10 * time.Minute
)

func newRetention(l *ledger.Ledger, now func() time.Time, log *slog.Logger, registry prometheus.Registerer) (*retention, error) {
	r := &retention{ledger: l, now: now, log: log,
		deleted: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "leasewatch_retention_deleted_total", Help: "Rows of the ledger that ended by retention, by kind of data."}, []string{"kind"}),
		last: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "leasewatch_retention_last_success_timestamp_seconds", Help: "When retention was last done by this server; 0 where it was not yet."}),
	}
	for _, kind := range rental.RetentionKinds {
		r.deleted.WithLabelValues(kind.Name)
	}
	if err := registry.Register(r.deleted); err != nil {
		return nil, err
	}
	return r, registry.Register(r.last)
}

// run does it daily until ctx ends.
func (r *retention) run(ctx context.Context) {
	ticker := time.NewTicker(retainLook)
	defer ticker.Stop()
	for {
		if err := r.daily(ctx); err != nil && ctx.Err() == nil {
			r.log.Error("what has come of age could not be ended; it is tried again", "in", retainLook, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// daily does it where a day has passed since the last time.
func (r *retention) daily(ctx context.Context) error {
	last, err := r.ledger.Mark(ctx, retentionMark)
	if err != nil {
		return err
	}
	now := rental.At(r.now())
	if last != 0 && now < last+rental.Millis(retainEvery.Milliseconds()) {
		return nil
	}
	done, err := r.ledger.Retain(ctx, false)
	for _, one := range done {
		r.deleted.WithLabelValues(one.Kind).Add(float64(one.Rows))
		if one.Rows+one.Held > 0 {
			r.log.Info("retention", "kind", one.Kind, "deleted", one.Rows, "held", one.Held, "before", one.Before)
		}
	}
	if err != nil {
		return err
	}
	r.last.Set(float64(now) / 1000)
	return r.ledger.SetMark(ctx, retentionMark, now)
}

// holds keeps legal holds, and tells what retention does.
type holds struct{ *ledger.Ledger }

// Retention tells how long each kind of data is kept; with count also what would end now.
func (h holds) Retention(ctx context.Context, count bool) ([]rental.Retained, error) {
	if count {
		return h.Retain(ctx, true)
	}
	policy, err := h.Ledger.Retention(ctx)
	out := make([]rental.Retained, 0, len(policy))
	for _, kind := range rental.RetentionKinds {
		out = append(out, rental.Retained{Kind: kind.Name, KeepMS: policy[kind.Name]})
	}
	return out, err
}

// PlaceHold places a hold in the name of who asks.
func (h holds) PlaceHold(ctx context.Context, by rental.Principal, in api.PlaceHold) (rental.Hold, error) {
	return h.Ledger.PlaceHold(ctx, by.Name, rental.Hold{Scope: in.Scope, Of: in.Of, Reason: in.Reason})
}
