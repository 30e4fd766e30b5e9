package incident

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/leasewatch/leasewatch/internal/rental"
)

func splitFields(text string) []string { return strings.Fields(text) }

func lastUpdate(all []told) told {
	var last told
	for _, m := range all {
		if m.delivery.Kind == kindUpdate {
			last = m
		}
	}
	return last
}

func gaugeOf(t *testing.T, reg *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := reg.Gather()
	must(t, err)
	for _, family := range families {
		if family.GetName() == name {
			return family.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

// errCrash is thrown where a process would have died.
var errCrash = errors.New("crash")

// process is one life of the program on a store: it handles the words and drains the outbox,
// and dies at the named point, the nth time that it is passed.
func process(store *memory, route *channel, c *clock, point string, nth int, words []rental.AlertGroup) (err error) {
	defer func() {
		if r := recover(); r != nil {
			if cause, ok := r.(error); !ok || !errors.Is(cause, errCrash) {
				panic(r)
			}
			err = errCrash
		}
	}()
	passed := 0
	crash := func(name string) {
		if name == point {
			if passed++; passed == nth {
				panic(errCrash)
			}
		}
	}
	engine, err := New(Options{Store: store, Routes: oneRoute, Now: c.now, Logger: quiet(), CrashPoint: crash})
	if err != nil {
		return err
	}
	outbox, err := NewOutbox(OutboxOptions{Store: store, Sender: route, Now: c.now, Logger: quiet(), CrashPoint: crash})
	if err != nil {
		return err
	}
	ctx := context.Background()
	for _, word := range words {
		if err := engine.Handle(ctx, word); err != nil {
			return err
		}
		if err := drain(ctx, outbox, c); err != nil {
			return err
		}
	}
	return nil
}

// drain sends all that is pending, moving the clock where something has to wait.
func drain(ctx context.Context, o *Outbox, c *clock) error {
	for {
		pending, err := o.o.Store.PendingDeliveries(ctx)
		if err != nil || len(pending) == 0 {
			return err
		}
		s := o.plan(pending, c.ms)
		if err := o.tidy(ctx, s); err != nil {
			return err
		}
		for _, d := range s.start {
			o.limits.started(d, c.ms)
			r := o.deliver(ctx, d)
			if r.err != nil {
				r = o.failed(ctx, r)
			}
			o.settle(r)
		}
		c.ms += 1000
	}
}

func TestACrashAtAnyPointLosesNothingAndRepeatsNothingUnmarked(t *testing.T) {
	for _, point := range CrashPoints() {
		for nth := 1; nth <= 4; nth++ {
			t.Run(fmt.Sprintf("%s, time %d", point, nth), func(t *testing.T) {
				store, c := &memory{}, start()
				route := &channel{now: c.now}
				words := []rental.AlertGroup{
					group(c.ms, alert(1, c.ms, 0)),
					group(c.ms+1000, alert(1, c.ms, 0), alert(2, c.ms, 0)),
					group(c.ms+2000, alert(1, c.ms, c.ms+1900), alert(2, c.ms, c.ms+1900)),
				}
				first := process(store, route, c, point, nth, words)
				if first != nil && !errors.Is(first, errCrash) {
					t.Fatal(first)
				}
				must(t, process(store, route, c, "", 0, words)) // the sender says its words again
				posts, replies, repeats := 0, 0, 0
				for _, m := range route.told {
					switch m.delivery.Kind {
					case kindPost:
						posts++
					case kindThread:
						if !isDetails(m.delivery) {
							replies++
						}
					}
					if m.delivery.Repeat {
						repeats++
					}
				}
				equal(t, "incidents", len(store.incidents), 1)
				equal(t, "posts", posts, 1)
				if replies > 1 {
					t.Errorf("%d replies, want at most 1", replies)
				}
				equal(t, "what people see in the end", lastUpdate(route.told).status, rental.IncidentResolved)
				if point == "delivery-send-after" && repeats != 0 {
					t.Errorf("%d messages are marked as repeats though the first could be found", repeats)
				}
			})
		}
	}
}

// blind cannot look its messages up, as a Slack app without the scope for it.
type blind struct{ *channel }

func (b blind) Find(context.Context, rental.Delivery, rental.Incident) (rental.MessageRef, bool, error) {
	return rental.MessageRef{}, false, sendError{text: "missing_scope", terminal: true, refused: true}
}

func TestWhatCannotBeLookedUpIsToldAgainAndMarked(t *testing.T) {
	store, c := &memory{}, start()
	route := &channel{now: c.now}
	words := []rental.AlertGroup{group(c.ms, alert(1, c.ms, 0))}
	if err := process(store, route, c, "delivery-send-after", 1, words); !errors.Is(err, errCrash) {
		t.Fatalf("got %v, want a crash", err)
	}
	outbox, err := NewOutbox(OutboxOptions{Store: store, Sender: blind{route}, Now: c.now, Logger: quiet()})
	must(t, err)
	must(t, drain(context.Background(), outbox, c))
	all := route.all()
	equal(t, "messages", len(all), 2)
	equal(t, "second is marked", all[1].delivery.Repeat, true)
}

// lockedOut refuses everything until it is repaired.
type lockedOut struct {
	*channel

	calls int
}

func (l *lockedOut) refuse() error {
	if l.calls++; l.calls <= 4 {
		return sendError{text: "invalid_auth", terminal: true, refused: true}
	}
	return nil
}

func (l *lockedOut) Send(ctx context.Context, d rental.Delivery, inc rental.Incident) (rental.MessageRef, error) {
	if err := l.refuse(); err != nil {
		return rental.MessageRef{}, err
	}
	return l.channel.Send(ctx, d, inc)
}

func (l *lockedOut) Find(ctx context.Context, d rental.Delivery, inc rental.Incident) (rental.MessageRef, bool, error) {
	if err := l.refuse(); err != nil {
		return rental.MessageRef{}, false, err
	}
	return l.channel.Find(ctx, d, inc)
}

func TestARefusalDoesNotSettleAnEarlierDoubt(t *testing.T) {
	store, c := &memory{}, start()
	route := &channel{now: c.now}
	words := []rental.AlertGroup{group(c.ms, alert(1, c.ms, 0))}
	if err := process(store, route, c, "delivery-send-after", 1, words); !errors.Is(err, errCrash) {
		t.Fatalf("got %v, want a crash", err)
	}
	locked := &lockedOut{channel: route}
	outbox, err := NewOutbox(OutboxOptions{Store: store, Sender: locked, Now: c.now, Logger: quiet()})
	must(t, err)
	must(t, drain(context.Background(), outbox, c))
	equal(t, "messages", len(route.all()), 1)
}
