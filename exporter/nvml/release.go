//go:build linux && cgo

package nvml

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// releasedReason is the reason of the state released.
const releasedReason = "an operator let go of it"

// passedReason is the reason where nobody told the exporter, and the kernel does.
const passedReason = "passed through to a virtual machine"

// observeAbsent tells the state machine of a card that nobody can ask through the driver. One that
// was given to a virtual machine is not missed here.
func (r *Reader) observeAbsent(c *card, o gpu.Observation) {
	r.mu.Lock()
	address := c.identity.PCIAddress
	r.mu.Unlock()
	if address != "" && r.options.PassedThrough(address) {
		o = gpu.Observation{At: o.At, Answer: gpu.AnswerReleased, Reason: passedReason}
	}
	r.observe(c, o, nil)
}

// letting is a request to end the library's session and start another one, so that the
// library closes the device files of the cards that were let go of.
type letting struct{ done chan error }

// Release lets go of a GPU: nothing more is asked of it, and the library closes its device
// files. For that the library is started anew, which costs the other GPUs a moment and loses
// nothing. A released GPU stays so when it is lost, passed through to a virtual machine or
// listed again, until Resume.
//
// The error is gpu.ErrNotFound, or gpu.ErrRefused where a call that hangs keeps the library
// from closing the device: the GPU is released all the same, and the driver may still hold it.
func (r *Reader) Release(ctx context.Context, uuid string) error {
	r.mu.Lock()
	c := r.known(uuid)
	if c == nil {
		r.mu.Unlock()
		return fmt.Errorf("uuid %q: %w", uuid, gpu.ErrNotFound)
	}
	again := c.released
	c.released = true
	slots := slices.DeleteFunc(slices.Clone(r.slots), func(s *slot) bool { return s.card != c })
	r.mu.Unlock()
	r.observe(c, gpu.Observation{At: r.options.Now(), Answer: gpu.AnswerReleased, Reason: releasedReason}, nil)
	if again && !r.owing.Load() && !slices.ContainsFunc(slots, func(s *slot) bool { return s.caller.current.Load() != nil }) {
		return nil
	}
	patience, cancel := context.WithTimeout(ctx, r.budget())
	defer cancel()
	for _, s := range slots {
		if !s.drop(patience) {
			return r.held()
		}
	}
	return r.letGo(ctx)
}

// held says why a card that was let go of may still be held.
func (r *Reader) held() error {
	out := r.callsOut()
	if out == "" {
		out = "those that start the driver, or wait for its events"
	}
	return fmt.Errorf("%w: nothing more is asked of the GPU, but the driver may hold it until these calls have returned: %s",
		gpu.ErrRefused, strings.TrimSuffix(out, "; "))
}

// letGo has the library's session ended and another one started.
func (r *Reader) letGo(ctx context.Context) error {
	if r.session.Load() == nil {
		return nil // nothing is held
	}
	request := letting{make(chan error, 1)}
	select {
	case r.lettings <- request:
	case <-ctx.Done():
		return r.held()
	}
	select {
	case err := <-request.done:
		return err
	case <-ctx.Done():
		return r.held()
	}
}

// Resume takes a released GPU back: it is asked again from now on, with a new handle.
// The error is gpu.ErrNotFound.
func (r *Reader) Resume(_ context.Context, uuid string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.known(uuid)
	if c == nil {
		return fmt.Errorf("uuid %q: %w", uuid, gpu.ErrNotFound)
	}
	if !c.released {
		return nil
	}
	c.released = false
	r.options.Logger.Info("a released GPU is asked again", slog.Int("gpu", c.identity.Index), slog.String("uuid", uuid))
	r.epoch.Add(1)
	signal(r.rescan)
	return nil
}

// Retire forgets a GPU that is not there any more, a card that was sent back. The error is
// gpu.ErrNotFound, or gpu.ErrRefused where the driver lists the GPU.
func (r *Reader) Retire(_ context.Context, uuid string) error {
	err := r.retire(uuid)
	if err == nil {
		r.publish()
	}
	return err
}

func (r *Reader) retire(uuid string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.known(uuid)
	if c == nil {
		return fmt.Errorf("uuid %q: %w", uuid, gpu.ErrNotFound)
	}
	live := r.session.Load()
	if live == nil {
		return fmt.Errorf("%w: the driver does not answer, and may list the GPU", gpu.ErrRefused)
	}
	for _, s := range r.slots {
		if s.card == c && s.index < int(live.count.Load()) {
			return fmt.Errorf("%w: the driver lists the GPU, at index %d", gpu.ErrRefused, s.index)
		}
	}
	for _, s := range r.slots {
		if s.card == c {
			s.card = nil
		}
	}
	for handle, of := range r.handles {
		if of == c {
			delete(r.handles, handle)
		}
	}
	r.cards = slices.DeleteFunc(slices.Clone(r.cards), func(other *card) bool { return other == c })
	r.options.Logger.Info("a GPU is retired", slog.String("uuid", uuid), slog.String("serial", c.identity.Serial))
	return nil
}

// known returns the card of a UUID, or nil. The Reader's lock must be held.
func (r *Reader) known(uuid string) *card {
	for _, c := range r.cards {
		if uuid != "" && c.identity.UUID == uuid {
			return c
		}
	}
	return nil
}

// drop waits until no call of the slot is out, and forgets its handle. It returns false where
// ctx ends before.
func (s *slot) drop(ctx context.Context) bool {
	select {
	case s.inside <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	s.device, s.healthy = nil, false
	<-s.inside
	return true
}

// rests tells whether the slot's card is released, as far as can be known without asking:
// while the driver lists as many GPUs as when the slot was bound to it, it has not moved.
func (s *slot) rests(live *session) bool {
	r := s.reader
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.card == nil {
		if c := r.remembered(s.index); c != nil && c.released {
			s.card, s.listed = c, live.count.Load()
		}
	}
	return s.card != nil && s.card.released && s.listed == live.count.Load()
}

// shun lets go of a card that is released and yet has a handle: the driver's list became
// another, and only a handle tells who is where; or a call was out at the release.
func (s *slot) shun() {
	s.device, s.healthy = nil, false
	select {
	case s.reader.lettings <- letting{make(chan error, 1)}:
	default: // one is under way
	}
}

// recycle ends the session, so that another one is started. Where a call that hangs prevents
// that, the session goes on, and the error says which call it is.
func (r *Reader) recycle(ctx context.Context, s *session) error {
	r.setSession(nil)
	patience, cancel := context.WithTimeout(ctx, r.budget())
	defer cancel()
	if ended := r.shutdown(patience, s); ended {
		r.owing.Store(false)
		return nil
	}
	r.owing.Store(true)
	return r.held()
}

// answerLettings tells those who wait that no session is left that could hold a card.
func (r *Reader) answerLettings() {
	for {
		select {
		case request := <-r.lettings:
			request.done <- nil
		default:
			return
		}
	}
}
