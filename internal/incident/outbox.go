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

// Sender tells people of incidents on one or more routes. An error may say more about itself:
//
//	RetryAfter() time.Duration // the channel's own wish for how long to wait
//	Terminal() bool            // trying again changes nothing until a person repairs something
//	Refused() bool             // the channel certainly did not take the message
//	Gone() bool                // the message to edit or to answer was deleted
//
// An error that does not say Refused is in doubt: the message may have been delivered.
type Sender interface {
	// Send delivers a post, an update or a thread reply that shows the incident as it is
	// given, and returns where the message stands.
	Send(ctx context.Context, d rental.Delivery, inc rental.Incident) (rental.MessageRef, error)
	// Find looks whether an earlier try of the delivery did arrive.
	Find(ctx context.Context, d rental.Delivery, inc rental.Incident) (ref rental.MessageRef, found bool, err error)
}

// OutboxOptions joins an Outbox to the rest. Durations and counts that are 0 take their defaults.
type OutboxOptions struct {
	Store      Store  // required
	Sender     Sender // required
	Now        func() time.Time
	Logger     *slog.Logger
	Registerer prometheus.Registerer // none where nil
	CrashPoint func(name string)     // see Options.CrashPoint

	// Quiet returns until when new messages of a severity wait at the moment, 0 where they do not; it is
	// never asked for pages. Nil: never.
	Quiet func(severity rental.Severity, at rental.Millis) rental.Millis

	// MessageEvery is the least time between two new messages of a route; 1 s, as Slack
	// documents for a channel.
	MessageEvery time.Duration
	// UpdatesPerMinute bounds edits over all routes in any minute; 50, Slack's tier 3.
	UpdatesPerMinute int
	// ThreadEvery is the least time between two replies that mention people in one
	// incident's thread; 1 min.
	ThreadEvery time.Duration
	// SendTimeout bounds one call; 10 s.
	SendTimeout time.Duration
	// MaxBackoff bounds the wait after failures that pass; 1 min.
	MaxBackoff time.Duration
	// SlowRetry is the wait after a terminal error, so that a repaired token delivers; 5 min.
	SlowRetry time.Duration
}

// Outbox sends what incidents left to be told: pages before notices, the newest update only,
// within the limits of the routes, and again until it is delivered.
type Outbox struct {
	o      OutboxOptions
	wake   chan struct{}
	done   chan result
	meter  outboxMeter
	limits *limits
	// told and posted hold, by route and incident, the newest revision that a message
	// shows and that its first post showed.
	told, posted map[lane]int
	busy         map[string]bool // routes with a call under way
}

// lane is one incident on one route: the line in which order is kept.
type lane struct{ route, incident string }

// NewOutbox returns an Outbox; Run starts it.
func NewOutbox(o OutboxOptions) (*Outbox, error) {
	if o.Store == nil || o.Sender == nil || o.Now == nil || o.Logger == nil {
		return nil, errors.New("outbox: a store, a sender, a clock and a logger are required")
	}
	setDefault(&o.MessageEvery, time.Second)
	setDefault(&o.ThreadEvery, time.Minute)
	setDefault(&o.SendTimeout, 10*time.Second)
	setDefault(&o.MaxBackoff, time.Minute)
	setDefault(&o.SlowRetry, 5*time.Minute)
	if o.UpdatesPerMinute <= 0 {
		o.UpdatesPerMinute = 50
	}
	if o.CrashPoint == nil {
		o.CrashPoint = func(string) {}
	}
	if o.Quiet == nil {
		o.Quiet = func(rental.Severity, rental.Millis) rental.Millis { return 0 }
	}
	out := &Outbox{
		o: o, wake: make(chan struct{}, 1), done: make(chan result, 64),
		limits: newLimits(o), told: map[lane]int{}, posted: map[lane]int{}, busy: map[string]bool{},
	}
	var err error
	if out.meter, err = newOutboxMeter(o.Registerer, o.Now); err != nil {
		return nil, err
	}
	return out, nil
}

func setDefault(d *time.Duration, value time.Duration) {
	if *d <= 0 {
		*d = value
	}
}

// Wake makes Run look at once for new work. It never blocks.
func (o *Outbox) Wake() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// idleEvery is when the store is read even if nobody woke the outbox.
const idleEvery = 15 * time.Second

// readEvery is the pace at which the store is read: at once after quiet, at most twice in
// this time in a storm, which is ten times as often as a route takes a message.
func (o *Outbox) readEvery() time.Duration { return o.o.MessageEvery / 5 }

// Run sends until the context ends, then waits for the calls under way. Only one Run may be
// active on a store.
func (o *Outbox) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var read, readBefore time.Time
	for {
		select {
		case <-ctx.Done():
			for len(o.busy) > 0 {
				o.settle(<-o.done)
			}
			return ctx.Err()
		case finished := <-o.done:
			o.settle(finished)
		case <-o.wake:
		case <-timer.C:
		}
		now := o.o.Now()
		if wait := o.readEvery() - now.Sub(readBefore); wait > 0 && wait <= o.readEvery() {
			timer.Reset(wait)
			continue
		}
		read, readBefore = now, read
		timer.Reset(o.round(ctx, rental.At(now)))
	}
}

// round reads the outbox, starts what may be sent now, and returns when to look again.
func (o *Outbox) round(ctx context.Context, now rental.Millis) time.Duration {
	pending, err := o.o.Store.PendingDeliveries(ctx)
	if err != nil {
		if ctx.Err() == nil {
			o.o.Logger.Error("outbox cannot be read; trying again", "err", err)
		}
		return time.Second
	}
	o.meter.show(pending)
	steps := o.plan(pending, now)
	if err := o.tidy(ctx, steps); err != nil {
		o.o.Logger.Error("outbox cannot be written; trying again", "err", err)
		return time.Second
	}
	for _, d := range steps.start {
		o.busy[d.Route] = true
		o.limits.started(d, now)
		go o.send(context.WithoutCancel(ctx), d)
	}
	if steps.next == 0 {
		return idleEvery
	}
	return min(idleEvery, max(time.Millisecond, time.Duration(steps.next-now)*time.Millisecond))
}

// tidy records what a plan joined: first the entry that says it all, then those it replaces.
func (o *Outbox) tidy(ctx context.Context, s steps) error {
	for _, d := range s.joined {
		if err := o.o.Store.SaveDelivery(ctx, d); err != nil {
			return fmt.Errorf("join delivery %d: %w", d.ID, err)
		}
	}
	for _, d := range s.superseded {
		d.State = rental.DeliverySuperseded
		if err := o.o.Store.SaveDelivery(ctx, d); err != nil {
			return fmt.Errorf("supersede delivery %d: %w", d.ID, err)
		}
	}
	return nil
}

// settle takes in how a call ended.
func (o *Outbox) settle(r result) {
	delete(o.busy, r.delivery.Route)
	now := rental.At(o.o.Now())
	o.limits.finished(r, now)
	if r.err == nil && r.delivery.State == rental.DeliverySent {
		key := lane{r.delivery.Route, r.delivery.Incident}
		if r.delivery.Kind != kindThread { // a reply leaves the message as it was
			o.told[key] = max(o.told[key], r.revision)
		}
		if r.delivery.Kind == kindPost {
			o.posted[key] = r.revision
		}
	}
}
