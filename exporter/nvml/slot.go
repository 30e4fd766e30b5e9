//go:build linux && cgo

package nvml

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// slot is one index of the driver's list and the goroutine that makes all calls for the GPU
// there. Who that GPU is it finds out by asking: after a loss the numbers may have moved.
type slot struct {
	reader *Reader
	index  int
	caller *caller
	wake   chan struct{}
	due    atomic.Bool  // the round's readings wait for this slot
	urgent atomic.Bool  // the next round reads errors and links as well
	epoch  atomic.Int64 // the list's state that this slot has asked who it is under
	slow   atomic.Int64 // when the first of the calls in a row began that took too long, in Unix ns; 0 for none

	// Guarded by the Reader's lock:
	card   *card
	listed int32 // how many GPUs the driver listed when the slot was bound to the card

	inside chan struct{} // holds a token while the goroutine makes a round

	// Of the goroutine alone:
	session    *session
	device     device
	handle     nvml.Device
	healthy    bool // the last round was good
	deaf       bool // the handle is new, and its events are not asked for yet
	fixed      fixed
	identity   gpu.Identity
	health     health
	frozen     frozen
	identityAt time.Time
	healthAt   time.Time
	gpm        gpmReader
	mig        migReader
	instances  []gpu.Instance
	// What was told last of the calls, and how much that was of each.
	unsupported []string
	dropped     map[string]uint64
	drops       uint64
}

func newSlot(r *Reader, index int) *slot {
	return &slot{
		reader: r, index: index, wake: make(chan struct{}, 1), inside: make(chan struct{}, 1),
		caller: newCaller(r.options.Now, r.timing, r.budget()),
	}
}

// bound returns the card that the slot is bound to, or nil.
func (s *slot) bound(r *Reader) *card {
	r.mu.Lock()
	defer r.mu.Unlock()
	return s.card
}

// slowSince tells since when this slot's calls take too long, where one is out since then.
func (s *slot) slowSince(out time.Time) time.Time {
	if ns := s.slow.Load(); ns != 0 {
		return time.Unix(0, ns)
	}
	return out
}

func (s *slot) run(ctx context.Context) {
	for {
		s.visit()
		s.reader.endRound(s)
		select {
		case <-ctx.Done():
			s.end()
			return
		case <-s.wake:
		}
	}
}

// end gives back what the slot holds of the library, if the library is there to take it.
func (s *slot) end() {
	if s.session == nil || !s.reader.calls.TryRLock() {
		return
	}
	defer s.reader.calls.RUnlock()
	if s.session == s.reader.session.Load() {
		s.caller.begin(s.session.lib)
		s.reader.freeGPM(s.caller, s)
	}
}

// visit makes one round of calls, if there is a driver and it lists this slot.
func (s *slot) visit() {
	if !s.reader.calls.TryRLock() {
		return // the library is being shut down
	}
	defer s.reader.calls.RUnlock()
	s.inside <- struct{}{}
	defer func() { <-s.inside }()
	live := s.reader.session.Load()
	if live == nil || s.index >= int(live.count.Load()) {
		return
	}
	if s.session != live { // handles do not outlive their session
		s.session, s.device, s.healthy = live, nil, false
	}
	if s.rests(live) {
		if s.device != nil {
			s.shun()
		}
		s.epoch.Store(s.reader.epoch.Load())
		s.reader.observe(s.bound(s.reader), gpu.Observation{At: s.reader.options.Now(), Answer: gpu.AnswerReleased}, nil)
		return
	}
	s.caller.begin(live.lib)
	readings, answer, reason := s.round(live)
	s.commit(live, readings, answer, reason)
}

// round asks for everything that is due.
func (s *slot) round(live *session) (readings gpu.Readings, answer gpu.Answer, reason string) {
	defer func() {
		if p := recover(); p != nil { // a driver that answers nonsense may not end the others
			answer, reason = gpu.AnswerError, fmt.Sprintf("reading failed: %v", p)
			s.reader.options.Logger.Error("reading a GPU failed", slog.Int("gpu", s.index), slog.Any("panic", p))
		}
	}()
	c, now := s.caller, s.reader.options.Now()
	if !s.attach(live) {
		answer, reason = c.verdict()
		return readings, answer, reason
	}
	if s.mig.switched(c, s.device) {
		s.identityAt = time.Time{}
	}
	if s.identityAt.IsZero() || now.Sub(s.identityAt) >= s.reader.options.Identity {
		c.forget()
		identity := readIdentity(c, s.device, s.index, s.identity.UUID)
		s.fixed = readFixed(c, s.device)
		if s.healthAt = (time.Time{}); !c.ended { // half of an identity is none
			s.identity, s.identityAt = identity, now
		}
		s.gpm.asked = false
	}
	slow := s.urgent.Swap(false) || s.healthAt.IsZero() || now.Sub(s.healthAt) >= s.reader.options.Slow
	if slow {
		s.health = readHealth(c, s.device, s.identity, &s.fixed)
		s.healthAt = now
	}
	readings = s.health.readings
	readMoving(c, s.device, &s.fixed, &readings)
	if s.frozen.look(c, now, s.reader.options.Frozen, &readings) {
		action := readings.RecoveryAction
		readings = s.health.readings
		readings.RecoveryAction = action
	}
	instances := s.mig.read(c, s.device, s.identity.UUID, readings.MemoryTotalBytes, slow)
	if s.mig.on {
		readings.MIGInstances = gpu.Some(float64(len(instances)))
	}
	s.readWorkloads(&readings, instances)
	s.readGPM(live, &readings, instances)
	s.keepInstances(instances)
	readings.At = now
	if s.health.answer != gpu.AnswerOK {
		c.note(s.health.answer, s.health.reason)
	}
	answer, reason = c.verdict()
	return readings, answer, reason
}

// attach makes sure that the slot has a handle that answers, and knows whose it is. A handle
// is fetched anew after every round that was not good: a reset makes the old one worthless.
func (s *slot) attach(live *session) bool {
	c, epoch := s.caller, s.reader.epoch.Load()
	doubtful := s.device == nil || !s.healthy || s.epoch.Load() != epoch
	defer s.epoch.Store(epoch) // asked; whatever came of it is known
	if !doubtful {
		return true
	}
	s.restartGPM() // samples of two cards, or from before and after a reset, have no difference
	if !s.fetch(live) {
		return false
	}
	// The same call also tells that the handle is good for anything at all.
	uuid, ok := value(c, "nvmlDeviceGetUUID", s.device.GetUUID)
	if !ok {
		if c.answer == gpu.AnswerOK { // refused: the handle is of no use
			c.forget()
			c.refuse("nvmlDeviceGetUUID: " + words(nvml.ERROR_NOT_SUPPORTED))
			c.note(gpu.AnswerError, c.reason)
		}
		s.bind("")
		s.register(live)
		return false
	}
	if s.identity.UUID != uuid {
		s.identity = gpu.Identity{Index: s.index, UUID: uuid}
	}
	s.identityAt = time.Time{}
	if s.bind(uuid).released {
		s.shun()
		c.note(gpu.AnswerReleased, releasedReason)
		return false
	}
	s.register(live)
	return true
}

// fetch gets the handle of the slot's index.
func (s *slot) fetch(live *session) bool {
	const call = "nvmlDeviceGetHandleByIndex_v2"
	var handle nvml.Device
	ret := s.caller.timed(call, func() (ret nvml.Return) {
		handle, ret = live.lib.api.DeviceGetHandleByIndex(s.index)
		return ret
	})
	if ret != nvml.SUCCESS {
		s.device = nil
		s.refused(call, ret)
		s.bind("")
		return false
	}
	if s.device == nil || handle != s.handle {
		s.device, s.handle, s.deaf = handle, handle, true
	}
	return true
}

// refused notes why there is no handle. A GPU that the driver lists and does not find is lost.
func (s *slot) refused(call string, ret nvml.Return) {
	c := s.caller
	switch {
	case judge(ret) == driverFails:
		c.driver, c.at = ret, call
		c.note(gpu.AnswerDriverDown, says(call, ret))
	case ret == nvml.ERROR_NOT_FOUND || ret == nvml.ERROR_GPU_NOT_FOUND:
		c.note(gpu.AnswerLost, says(call, ret))
	case ret == nvml.ERROR_INVALID_ARGUMENT:
		// The list became shorter just now, and may be as long as before when it is counted next:
		// every GPU may have another index.
		c.note(gpu.AnswerError, says(call, ret))
		s.reader.epoch.Add(1)
		signal(s.reader.rescan)
	default:
		c.note(answerOf(ret), says(call, ret))
	}
}

// bind ties the slot to the card of a UUID, or, where none can be asked, to the card it has.
func (s *slot) bind(uuid string) *card {
	r := s.reader
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.card == nil || uuid != "" && s.card.identity.UUID != uuid {
		s.card = r.find(uuid, s.index)
	}
	s.listed = s.session.count.Load()
	if s.device != nil && r.session.Load() == s.session {
		r.handles[s.handle] = s.card
	}
	return s.card
}

// commit hands the round's result over.
func (s *slot) commit(live *session, readings gpu.Readings, answer gpu.Answer, reason string) {
	r, c := s.reader, s.caller
	s.healthy = answer == gpu.AnswerOK || answer == gpu.AnswerFabricIncomplete
	now := r.options.Now()
	seen := gpu.Observation{At: now, Answer: answer, Reason: reason}
	switch {
	case c.slow.IsZero():
		s.slow.Store(0)
	case s.slow.Load() == 0:
		s.slow.Store(c.slow.UnixNano())
	}
	if answer == gpu.AnswerTimeout {
		seen.Since, seen.Call = s.slowSince(now), c.hung
	}
	r.report(live, c)
	if len(s.unsupported) != len(c.unsupported) || s.identityAt.Equal(readings.At) {
		s.unsupported = slices.Sorted(maps.Keys(c.unsupported))
	}
	if s.drops != c.drops {
		s.dropped, s.drops = maps.Clone(c.dropped), c.drops
	}
	complete := s.healthy || answer == gpu.AnswerResetRequired && !readings.At.IsZero()
	bound := s.bound(r)
	r.observe(bound, seen, func(card *card) bool {
		if r.session.Load() != live {
			return false // the driver went while these calls were out, and every card knows
		}
		card.heard, card.unsupported, card.dropped = now, s.unsupported, s.dropped
		if complete {
			card.readings, card.instances = readings, s.instances
		}
		if complete && !s.identityAt.IsZero() {
			card.identity = s.identity
		}
		return true
	})
	if complete && bound != nil && s.identityAt.Equal(readings.At) {
		r.introduce(bound)
	}
}
