//go:build linux && cgo

package nvml

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// Reader is the gpu.Source of a host with NVIDIA's driver.
//
// Three kinds of goroutines make it: the host's, which starts the driver and counts its GPUs;
// one for each GPU, which alone calls for it; and the keeper (Run's own), which calls nothing,
// watches the others for calls that hang, and publishes. A fourth waits for events.
type Reader struct {
	options Options
	start   time.Time
	timing  *timing
	current atomic.Pointer[gpu.Snapshot]
	started atomic.Bool

	// calls is held for reading by each goroutine while it is in the driver, and for writing
	// to shut the driver's library down.
	calls   sync.RWMutex
	session atomic.Pointer[session] // nil while the driver is not up
	epoch   atomic.Int64            // moves when the list of GPUs may be another: every slot asks again who it is
	host    *caller
	hung    *inCall       // of the keeper: the host's call that was said to hang
	twice   bool          // of the host's goroutine: the last count had one card at two places
	failed  chan failure  // a call said that the driver is gone
	rescan  chan struct{} // the list of GPUs may have changed
	dirty   chan struct{} // there is something new to publish
	waiting atomic.Int32  // slots that have not brought the readings of the present round yet
	gpm     *gpmGate      // nil where GPM is switched off
	// lettings asks the host's goroutine to start the library anew.
	lettings chan letting
	owing    atomic.Bool // a call that hung has prevented it
	// forgotten are the changes that the time without an exporter brought, told by Run.
	forgotten []gpu.Event

	// emitting keeps events in order. It is taken before mu.
	emitting sync.Mutex
	emit     func(gpu.Event)
	stopped  bool // Run returns: a call that comes back later changes nothing

	mu     sync.Mutex // guards what follows
	driver gpu.Driver
	cards  []*card
	slots  []*slot
	// strangers are XIDs of PCI addresses that no card has said to be its own.
	strangers []gpu.XIDReport
	// unclaimed counts the same, by address and code.
	unclaimed map[gpu.StrangerXID]unclaimed
	// handles tells whose events they are, also of cards that cannot be asked any more.
	handles map[nvml.Device]*card
}

// failure is one call's word that the driver does not answer any more.
type failure struct {
	session *session
	state   gpu.DriverState
	reason  string
}

var _ gpu.Source = (*Reader)(nil)

// New returns a Reader. It calls nothing before Run.
func New(options Options) (*Reader, error) {
	options = options.withDefaults()
	if options.Slow < options.Fast || options.Identity < options.Slow {
		return nil, errors.New("the intervals of the tiers must not shrink: fast <= slow <= identity")
	}
	r := &Reader{
		options:  options,
		start:    options.Now(),
		timing:   newTiming(options.Metrics),
		failed:   make(chan failure, 1),
		rescan:   make(chan struct{}, 1),
		dirty:    make(chan struct{}, 1),
		lettings: make(chan letting, 1),
		driver:   gpu.Driver{State: gpu.DriverInitFailed, Reason: notStarted},
	}
	if !options.NoGPM {
		r.gpm = newGPMGate(r.budget()/4, newGPMRequest())
	}
	r.host = newCaller(options.Now, r.timing, r.budget())
	r.remember(options.Known)
	r.publish()
	return r, nil
}

// notStarted is the driver's reason until it was tried. Snapshots have no time until then:
// they tell of no round.
const notStarted = "not started yet"

// budget is how long a call may take before its round is given up: one interval of the fast
// tier, and not so little that a busy machine looks like a hanging driver.
func (r *Reader) budget() time.Duration { return max(r.options.Fast, time.Second) }

// Snapshot returns the newest snapshot.
func (r *Reader) Snapshot() *gpu.Snapshot { return r.current.Load() }

// stopPatience is how long Run waits for its goroutines once ctx has ended. A call stuck in
// the kernel cannot be called back; its thread ends with the process.
const stopPatience = time.Second

// Run collects until ctx ends, and returns nil then, or until only a new process can load the
// driver's library, and returns gpu.ErrAnew. It may be called once.
func (r *Reader) Run(ctx context.Context, emit func(gpu.Event)) error {
	if !r.started.CompareAndSwap(false, true) {
		return errors.New("this reader has run already: make a new one")
	}
	r.emit = emit
	for _, e := range r.forgotten {
		emit(e)
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.runHost(ctx, end)
	}()
	r.keep(ctx)
	select {
	case <-done:
	case <-time.After(stopPatience):
		r.options.Logger.Warn("a driver call has not returned: its thread stays until the process ends", slog.String("calls", r.callsOut()))
	}
	r.emitting.Lock()
	defer r.emitting.Unlock()
	r.stopped = true
	if cause := context.Cause(ctx); errors.Is(cause, gpu.ErrAnew) {
		return cause
	}
	return nil
}

// settle is how long a round's readings wait for a GPU that takes its time.
const settle = 20 * time.Millisecond

// keep beats the time of the fast tier for all, watches for calls that hang, and publishes
// what the workers bring. There is one beat because to wake an idle process costs more than a
// round of calls does: all GPUs are asked, and the result is published, in one go.
func (r *Reader) keep(ctx context.Context) {
	beat := time.NewTicker(r.options.Fast)
	defer beat.Stop()
	late := time.NewTimer(settle)
	defer late.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			r.watchCalls()
			r.tellStrangers()
			signal(r.rescan)
			r.beginRound()
			late.Reset(settle)
			continue
		case <-r.dirty:
			if r.waiting.Load() > 0 {
				continue
			}
			late.Stop()
		case <-late.C:
		}
		r.publish()
	}
}

// beginRound wakes every slot that is not in a call.
func (r *Reader) beginRound() {
	r.mu.Lock()
	slots := r.slots
	r.mu.Unlock()
	for _, s := range slots {
		if s.caller.current.Load() == nil && !s.due.Swap(true) {
			r.waiting.Add(1)
		}
		signal(s.wake)
	}
}

// endRound notes that a slot has brought what it could.
func (r *Reader) endRound(s *slot) {
	if s.due.Swap(false) {
		r.waiting.Add(-1)
	}
	r.markDirty()
}

// watchCalls tells the state machines of calls that have been out longer than their budget.
func (r *Reader) watchCalls() {
	now := r.options.Now()
	r.watchHostsCall(now)
	r.mu.Lock()
	slots := r.slots
	r.mu.Unlock()
	for _, s := range slots {
		out := s.caller.current.Load()
		if out == nil || now.Sub(out.since) <= r.budget() {
			continue
		}
		r.observe(s.bound(r), gpu.Observation{
			At: now, Answer: gpu.AnswerTimeout, Since: s.slowSince(out.since), Reason: out.name + " has not returned", Call: out.name,
		}, nil)
	}
}

// watchHostsCall tells of a call that concerns no one GPU and does not return. While none of the
// GPUs answers either, the driver is down for all of them once it has hung for as long as makes
// one of them unresponsive.
func (r *Reader) watchHostsCall(now time.Time) {
	out := r.host.current.Load()
	if out != nil && now.Sub(out.since) <= r.budget() {
		out = nil
	}
	r.setHanging(out)
	if out == nil {
		return
	}
	reason := fmt.Sprintf("%s has not returned since %s: the driver hangs; look at the kernel log", out.name, out.since.UTC().Format(time.RFC3339))
	var unheard []*card
	if now.Sub(out.since) >= gpu.UnresponsiveAfter {
		unheard = r.unheard(out.since)
	}
	if r.session.Load() == nil || len(unheard) > 0 {
		r.setDriver(gpu.DriverInitFailed, reason)
	}
	for _, c := range unheard {
		r.observeAbsent(c, gpu.Observation{At: now, Answer: gpu.AnswerDriverDown, Since: out.since, Reason: reason, Call: out.name})
	}
}

// setHanging notes the host's call that hangs, nil for none, and logs it once.
func (r *Reader) setHanging(out *inCall) {
	if out == r.hung {
		return
	}
	r.hung = out
	call := ""
	if out != nil {
		call = out.name
		r.options.Logger.Warn("a driver call does not return", slog.String("call", call), slog.Time("since", out.since))
	}
	r.mu.Lock()
	r.driver.Call = call
	r.mu.Unlock()
	r.markDirty()
}

// unheard returns the cards that nobody has asked since a time, but for those whose own calls
// hang, which have a state of their own; none where any card was heard of since.
func (r *Reader) unheard(since time.Time) []*card {
	r.mu.Lock()
	defer r.mu.Unlock()
	busy := map[*card]bool{}
	for _, s := range r.slots {
		busy[s.card] = busy[s.card] || s.caller.current.Load() != nil
	}
	for _, c := range r.cards {
		if c.heard.After(since) {
			return nil
		}
	}
	return slices.DeleteFunc(slices.Clone(r.cards), func(c *card) bool { return busy[c] })
}

// publish puts the snapshot together.
func (r *Reader) publish() {
	now := r.options.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &gpu.Snapshot{At: now, Driver: r.driver, GPUs: make([]gpu.GPU, len(r.cards)), Strangers: r.settled(now)}
	if r.driver.Reason == notStarted {
		s.At = time.Time{}
	}
	for i, c := range byIndex(r.cards) {
		s.GPUs[i] = c.describe(now, 2*r.budget())
		if scheduler := r.options.Scheduler; scheduler != nil {
			allocate(&s.GPUs[i], scheduler)
		}
	}
	r.current.Store(s)
}

func (r *Reader) markDirty() { signal(r.dirty) }

// signal wakes whoever waits at a channel of one place.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// observe tells a card's state machine what was seen. update, if any, changes the card in the
// same step, or says that what was seen does not count any more. A change of state is
// published before it is told.
func (r *Reader) observe(c *card, o gpu.Observation, update func(*card) bool) {
	if c == nil {
		return
	}
	r.emitting.Lock()
	defer r.emitting.Unlock()
	if r.stopped {
		return
	}
	r.mu.Lock()
	switch {
	case c.released: // by policy, whatever else is seen
		o = gpu.Observation{At: o.At, Answer: gpu.AnswerReleased, Reason: releasedReason}
	case o.Answer == gpu.AnswerReleased && o.Reason != passedReason, update != nil && !update(c):
		r.mu.Unlock()
		return
	}
	change, changed := c.machine.Observe(o)
	identity := c.identity
	r.mu.Unlock()
	if !changed {
		r.markDirty()
		return
	}
	r.publish()
	r.options.Logger.Info("GPU changed its state", slog.Int("gpu", identity.Index), slog.String("uuid", identity.UUID),
		slog.String("from", string(change.From)), slog.String("to", string(change.To)), slog.String("reason", change.Reason))
	r.emit(changeOf(identity, change))
}

// setDriver notes how the driver answers, and logs it when that changed.
func (r *Reader) setDriver(state gpu.DriverState, reason string) {
	r.mu.Lock()
	changed := r.driver.State != state || r.driver.Reason != reason
	r.driver.State, r.driver.Reason = state, reason
	r.mu.Unlock()
	if !changed {
		return
	}
	r.publish()
	level := slog.LevelWarn
	if state == gpu.DriverOK {
		level = slog.LevelInfo
	}
	r.options.Logger.Log(context.Background(), level, "driver", slog.String("state", string(state)), slog.String("reason", reason))
}

// setVersions notes the driver's versions and counts their changes.
func (r *Reader) setVersions(driver, cuda, library string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := &r.driver
	known := d.Version != "" || d.CUDAVersion != "" || d.NVMLVersion != ""
	if known && (d.Version != driver || d.CUDAVersion != cuda || d.NVMLVersion != library) {
		d.Changes++
	}
	d.Version, d.CUDAVersion, d.NVMLVersion = driver, cuda, library
}
