package incident

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// sendError says of itself what a route's errors may say.
type sendError struct {
	text              string
	after             time.Duration
	terminal, refused bool
	gone              bool
}

func (e sendError) Error() string             { return e.text }
func (e sendError) RetryAfter() time.Duration { return e.after }
func (e sendError) Terminal() bool            { return e.terminal }
func (e sendError) Refused() bool             { return e.refused }
func (e sendError) Gone() bool                { return e.gone }

// told is one message that arrived.
type told struct {
	at       time.Time
	delivery rental.Delivery
	revision int
	status   rental.IncidentStatus
}

// channel is a route that records what arrives.
type channel struct {
	mu   sync.Mutex
	now  func() time.Time
	took time.Duration // how long a call lasts
	told []told
	// before fails a call that does not arrive, after one that does.
	before, after func(d rental.Delivery) error
}

var _ Sender = (*channel)(nil)

func (c *channel) Send(ctx context.Context, d rental.Delivery, inc rental.Incident) (rental.MessageRef, error) {
	var took time.Duration
	c.do(func() { took = c.took })
	if took > 0 {
		select {
		case <-time.After(took):
		case <-ctx.Done():
			return rental.MessageRef{}, ctx.Err()
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.before != nil {
		if err := c.before(d); err != nil {
			return rental.MessageRef{}, err
		}
	}
	c.told = append(c.told, told{c.now(), d, inc.Revision, inc.Status})
	if c.after != nil {
		if err := c.after(d); err != nil {
			return rental.MessageRef{}, err
		}
	}
	return rental.MessageRef{Channel: "C0123", ID: fmt.Sprintf("ts-%d", len(c.told))}, nil
}

func (c *channel) Find(_ context.Context, d rental.Delivery, _ rental.Incident) (rental.MessageRef, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, got := range c.told {
		if got.delivery.ID == d.ID {
			return rental.MessageRef{Channel: "C0123", ID: fmt.Sprintf("ts-%d", i+1)}, true, nil
		}
	}
	return rental.MessageRef{}, false, nil
}

// all returns what arrived but the details, which follow each post when nothing else waits.
func (c *channel) all() []told {
	return slices.DeleteFunc(c.everything(), func(m told) bool { return isDetails(m.delivery) })
}

// do runs fn while no call is inside the channel.
func (c *channel) do(fn func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fn()
}

func (c *channel) everything() []told {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.told)
}

// rig is an engine and an outbox on one store, under the bubble's own clock.
type rig struct {
	store  *memory
	route  *channel
	engine *Engine
	mutes  mutes
	outbox *Outbox
	reg    *prometheus.Registry
	stop   func()
}

func newRig(t *testing.T, routes func(rental.Incident) []string) *rig {
	t.Helper()
	r := &rig{store: &memory{}, route: &channel{now: time.Now, took: 100 * time.Millisecond}, reg: prometheus.NewRegistry()}
	var err error
	r.outbox, err = NewOutbox(OutboxOptions{Store: r.store, Sender: r.route, Now: time.Now, Logger: quiet(), Registerer: r.reg})
	must(t, err)
	r.engine, err = New(Options{
		Store: r.store, Routes: routes, Now: time.Now, Logger: quiet(), Wake: r.outbox.Wake, Ladder: ladder, Silencer: &r.mutes,
	})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- r.outbox.Run(ctx) }()
	r.stop = func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run ended with %v, want context.Canceled", err)
		}
	}
	return r
}

// mutes is a pager's silences: their ends by their ids.
type mutes struct {
	mu   sync.Mutex
	made int
	ends map[string]time.Time
}

var _ Silencer = (*mutes)(nil)

func (m *mutes) Silence(_ context.Context, matchers map[string]string, until time.Time, _, _ string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if matchers["subject"] == "" || matchers["severity"] == "" {
		return "", fmt.Errorf("matchers %v: expected subject and severity", matchers)
	}
	m.made++
	if m.ends == nil {
		m.ends = map[string]time.Time{}
	}
	id := fmt.Sprintf("s%d", m.made)
	m.ends[id] = until
	return id, nil
}

func (m *mutes) ProlongSilence(_ context.Context, id string, until time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ends[id].Before(time.Now()) {
		return fmt.Errorf("silence %s has ended", id)
	}
	m.ends[id] = until
	return nil
}

func (m *mutes) ExpireSilence(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ends[id] = time.Now()
	return nil
}

// active returns the silences that mute now.
func (m *mutes) active() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ids []string
	for id, end := range m.ends {
		if end.After(time.Now()) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// page opens, or adds to, the incident of host n with the alerts.
func (r *rig) page(t *testing.T, n int, severity string, alerts ...rental.Alert) {
	t.Helper()
	g := group(rental.At(time.Now()), alerts...)
	g.Key = fmt.Sprintf("slack/host-%d/%s", n, severity)
	for i := range g.Alerts {
		g.Alerts[i].Labels["severity"] = severity
	}
	must(t, r.engine.Handle(context.Background(), g))
}

func (r *rig) incident(t *testing.T, id string) rental.Incident {
	t.Helper()
	inc, err := r.store.Incident(context.Background(), id)
	must(t, err)
	return *inc
}

// fail makes calls fail before they arrive, as fn says.
func (r *rig) fail(fn func(rental.Delivery) error) { r.route.do(func() { r.route.before = fn }) }

func nowMillis() rental.Millis { return rental.At(time.Now()) }
