package incident

import (
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// limits knows when a delivery may go out. It is used by the goroutine of Run only.
type limits struct {
	o OutboxOptions
	// nextMessage is, by route, when the next new message may start.
	nextMessage map[string]rental.Millis
	// paused is, by route and class, until when the route itself asked to be left alone.
	paused map[pauseKey]rental.Millis
	// lastThread is when a lane last got a reply.
	lastThread map[lane]rental.Millis
	// updates holds the starts of the last edits, oldest first.
	updates []rental.Millis
	// failedAt and lastSuccess make a repaired route deliver soon what had failed on it.
	failedAt    map[int64]rental.Millis
	lastSuccess map[string]rental.Millis
}

type pauseKey struct {
	route string
	edit  bool
}

func newLimits(o OutboxOptions) *limits {
	return &limits{
		o: o, nextMessage: map[string]rental.Millis{}, paused: map[pauseKey]rental.Millis{},
		lastThread: map[lane]rental.Millis{}, failedAt: map[int64]rental.Millis{}, lastSuccess: map[string]rental.Millis{},
	}
}

const minute = rental.Millis(60_000)

func millis(d time.Duration) rental.Millis { return rental.Millis(d.Milliseconds()) }

// allowedAt returns the earliest moment at which the delivery may start; now or earlier means now.
func (l *limits) allowedAt(d rental.Delivery, now rental.Millis) rental.Millis {
	at := max(l.dueAt(d, now), l.paused[pauseKey{d.Route, d.Kind == kindUpdate}])
	if d.Kind == kindUpdate {
		if l.freeUpdates(now) == 0 {
			at = max(at, l.updates[0]+minute)
		}
		return at
	}
	if d.Severity != rental.Page {
		at = max(at, l.o.Quiet(d.Severity, now))
	}
	at = max(at, l.nextMessage[d.Route])
	if last, ok := l.lastThread[lane{d.Route, d.Incident}]; ok && d.Kind == kindThread && !isDetails(d) {
		at = max(at, last+millis(l.o.ThreadEvery))
	}
	return at
}

// dueAt is the delivery's own time. One that failed for good is tried at once by a new
// process (a restart often follows a repair), and soon after its route took another message.
func (l *limits) dueAt(d rental.Delivery, now rental.Millis) rental.Millis {
	if d.State != rental.DeliveryFailed {
		return d.NextAt
	}
	failed, known := l.failedAt[d.ID]
	switch {
	case !known:
		return now
	case l.lastSuccess[d.Route] > failed:
		return min(d.NextAt, failed+minute/2)
	default:
		return d.NextAt
	}
}

// freeUpdates returns how many edits may still start now.
func (l *limits) freeUpdates(now rental.Millis) int {
	for len(l.updates) > 0 && l.updates[0]+minute <= now {
		l.updates = l.updates[1:]
	}
	return max(0, l.o.UpdatesPerMinute-len(l.updates))
}

// started counts a call against the limits.
func (l *limits) started(d rental.Delivery, now rental.Millis) {
	if d.Kind == kindUpdate {
		l.updates = append(l.updates, now)
		return
	}
	l.nextMessage[d.Route] = now + millis(l.o.MessageEvery)
}

// finished takes in what the call taught.
func (l *limits) finished(r result, now rental.Millis) {
	d := r.delivery
	if r.retryAfter > 0 {
		l.paused[pauseKey{d.Route, d.Kind == kindUpdate}] = now + millis(r.retryAfter)
	}
	switch {
	case r.err == nil:
		l.lastSuccess[d.Route] = now
		delete(l.failedAt, d.ID)
		if d.Kind == kindThread && !isDetails(d) && d.State == rental.DeliverySent {
			l.lastThread[lane{d.Route, d.Incident}] = now
		}
	case d.State == rental.DeliveryFailed:
		l.failedAt[d.ID] = now
		// Whatever is wrong with a token or a channel is wrong for the next message too.
		l.nextMessage[d.Route] = max(l.nextMessage[d.Route], now+millis(5*l.o.MessageEvery))
	}
	for key, at := range l.lastThread {
		if at+millis(l.o.ThreadEvery) < now {
			delete(l.lastThread, key)
		}
	}
}
