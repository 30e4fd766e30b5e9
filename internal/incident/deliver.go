package incident

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// result is how one call ended.
type result struct {
	delivery   rental.Delivery
	revision   int // of the incident that the message shows
	retryAfter time.Duration
	err        error
}

// send makes one delivery and hands the result to Run.
func (o *Outbox) send(ctx context.Context, d rental.Delivery) {
	r := o.deliver(ctx, d)
	if r.err != nil {
		r = o.failed(ctx, r)
	}
	o.done <- r
}

// deliver tells one delivery's incident as it is now. An earlier try of unknown end is looked
// up first; where it cannot be found, the new message is marked as a possible repeat.
func (o *Outbox) deliver(ctx context.Context, d rental.Delivery) result {
	r := result{delivery: d}
	inc, err := o.o.Store.Incident(ctx, d.Incident)
	if err != nil {
		r.err = fmt.Errorf("read incident %s: %w", d.Incident, err)
		return r
	}
	r.revision = inc.Revision
	if d.Kind != kindPost && inc.Messages[d.Route].ID == "" {
		// A route that was added later has no message to edit or to answer.
		return o.finish(ctx, r, rental.DeliverySuperseded)
	}
	if d.Started != 0 && d.Kind != kindUpdate {
		ref, found, err := o.find(ctx, d, *inc)
		if err != nil && !terminal(err) {
			r.err = fmt.Errorf("look for an earlier message of %s: %w", d.Incident, err)
			return r
		}
		if found {
			r.revision = d.Revision
			return o.record(ctx, r, ref)
		}
		r.delivery.Repeat = true
	}
	r.delivery.Started = rental.At(o.o.Now())
	r.delivery.Attempts++
	o.o.CrashPoint("delivery-start-before")
	if err := o.o.Store.SaveDelivery(ctx, r.delivery); err != nil {
		r.err = fmt.Errorf("record the start of delivery %d: %w", d.ID, err)
		r.delivery = d
		return r
	}
	o.o.CrashPoint("delivery-start-after")
	o.o.CrashPoint("delivery-send-before")
	call, cancel := context.WithTimeout(ctx, o.o.SendTimeout)
	defer cancel()
	ref, err := o.o.Sender.Send(call, r.delivery, *inc)
	switch {
	case err == nil:
	case gone(err) && d.Kind != kindPost:
		return o.replace(ctx, r, inc.Messages[d.Route])
	default:
		r.err = err
		if refused(err) {
			r.delivery.Started = d.Started // this try is settled; an earlier one may still be in doubt
		}
		return r
	}
	o.o.CrashPoint("delivery-send-after")
	return o.record(ctx, r, ref)
}

func (o *Outbox) find(ctx context.Context, d rental.Delivery, inc rental.Incident) (rental.MessageRef, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, o.o.SendTimeout)
	defer cancel()
	return o.o.Sender.Find(ctx, d, inc)
}

// record keeps where the message stands, first on the incident, then on the delivery: a crash
// in between makes the next try find the message.
func (o *Outbox) record(ctx context.Context, r result, ref rental.MessageRef) result {
	d := r.delivery
	if d.Kind != kindUpdate && !isDetails(d) {
		_, err := o.o.Store.ChangeByID(ctx, d.Incident, func(inc *rental.Incident) (*rental.Incident, []rental.Delivery, error) {
			if inc == nil {
				return nil, nil, ErrNotFound
			}
			if d.Kind == kindPost {
				if inc.Messages == nil {
					inc.Messages = map[string]rental.MessageRef{}
				}
				inc.Messages[d.Route] = ref
			}
			addEvent(inc, rental.At(o.o.Now()), eventNotified, "", d.Route)
			return inc, nil, nil
		})
		if err != nil {
			r.err = fmt.Errorf("record message of incident %s: %w", d.Incident, err)
			return r
		}
		o.o.CrashPoint("delivery-ref-after")
	}
	return o.finish(ctx, r, rental.DeliverySent)
}

// replace posts an incident's message anew where somebody deleted it, unless the incident is over.
func (o *Outbox) replace(ctx context.Context, r result, deleted rental.MessageRef) result {
	d := r.delivery
	_, err := o.o.Store.ChangeByID(ctx, d.Incident, func(inc *rental.Incident) (*rental.Incident, []rental.Delivery, error) {
		if inc == nil {
			return nil, nil, ErrNotFound
		}
		if inc.Messages[d.Route] != deleted {
			return nil, nil, nil
		}
		now := rental.At(o.o.Now())
		delete(inc.Messages, d.Route)
		addEvent(inc, now, eventUndelivered, "", d.Route+": the message was deleted there")
		if inc.Status != rental.IncidentOpen && inc.Status != rental.IncidentAcked {
			return inc, nil, nil
		}
		return inc, []rental.Delivery{{
			Incident: inc.ID, Route: d.Route, Kind: kindPost, Severity: inc.Severity, Revision: inc.Revision,
			State: rental.DeliveryPending, NextAt: now, CreatedAt: now,
		}}, nil
	})
	if err != nil {
		r.err = fmt.Errorf("replace the deleted message of incident %s: %w", d.Incident, err)
		return r
	}
	return o.finish(ctx, r, rental.DeliverySuperseded)
}

func (o *Outbox) finish(ctx context.Context, r result, state rental.DeliveryState) result {
	r.delivery.State, r.delivery.Error = state, ""
	if state == rental.DeliverySent {
		r.delivery.SentAt = rental.At(o.o.Now())
	}
	o.o.CrashPoint("delivery-done-before")
	if err := o.o.Store.SaveDelivery(ctx, r.delivery); err != nil {
		r.err = fmt.Errorf("record the end of delivery %d: %w", r.delivery.ID, err)
		r.delivery.State = rental.DeliveryPending
		return r
	}
	o.o.CrashPoint("delivery-done-after")
	if state == rental.DeliverySent {
		o.meter.sent.WithLabelValues(r.delivery.Kind).Inc()
	}
	return r
}

// failed decides when a delivery is tried again and makes the failure visible.
func (o *Outbox) failed(ctx context.Context, r result) result {
	d, before := r.delivery, r.delivery.State
	now := rental.At(o.o.Now())
	d.Error = r.err.Error()
	wait := backoff(d.Attempts, o.o.MaxBackoff)
	d.State = rental.DeliveryPending
	if terminal(r.err) {
		d.State, wait = rental.DeliveryFailed, o.o.SlowRetry
	}
	var limited interface{ RetryAfter() time.Duration }
	if errors.As(r.err, &limited) && limited.RetryAfter() > 0 {
		r.retryAfter = limited.RetryAfter()
		wait = r.retryAfter
	}
	d.NextAt = now + millis(wait)
	o.meter.failures.WithLabelValues(d.Kind).Inc()
	o.o.Logger.Warn("a message was not delivered; it is tried again", "incident", d.Incident, "route", d.Route,
		"kind", d.Kind, "attempt", d.Attempts, "again_in", wait.String(), "terminal", terminal(r.err), "err", r.err)
	if err := o.o.Store.SaveDelivery(ctx, d); err != nil {
		o.o.Logger.Error("outbox cannot be written; trying again", "delivery", d.ID, "err", err)
	}
	const tell = 5
	if (d.State == rental.DeliveryFailed && before != rental.DeliveryFailed) || d.Attempts == tell {
		o.tellTimeline(ctx, d, now)
	}
	r.delivery = d
	return r
}

// tellTimeline says on the incident that somebody was not reached.
func (o *Outbox) tellTimeline(ctx context.Context, d rental.Delivery, now rental.Millis) {
	_, err := o.o.Store.ChangeByID(ctx, d.Incident, func(inc *rental.Incident) (*rental.Incident, []rental.Delivery, error) {
		if inc == nil {
			return nil, nil, ErrNotFound
		}
		addEvent(inc, now, eventUndelivered, "", d.Route+": "+d.Error)
		return inc, nil, nil
	})
	if err != nil {
		o.o.Logger.Error("timeline cannot be written", "incident", d.Incident, "err", err)
	}
}

// backoff doubles from 1 s with each attempt up to the bound.
func backoff(attempts int, bound time.Duration) time.Duration {
	return min(bound, time.Second<<min(max(attempts-1, 0), 10))
}

func terminal(err error) bool {
	var says interface{ Terminal() bool }
	return errors.As(err, &says) && says.Terminal()
}

func refused(err error) bool {
	var says interface{ Refused() bool }
	return errors.As(err, &says) && says.Refused()
}

func gone(err error) bool {
	var says interface{ Gone() bool }
	return errors.As(err, &says) && says.Gone()
}
