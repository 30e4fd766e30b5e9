//go:build linux && cgo

package nvml

import (
	"context"
	"log/slog"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// eventWait bounds how long one wait for events lasts, and so how soon a driver that went can
// be started again, or a GPU be let go of: a beat of the fast tier, at most this. A stop does
// not wait for it.
const eventWait = 5 * time.Second

// eventPause keeps a driver that refuses to wait from being asked in a circle; it doubles up to
// eventWait.
const eventPause = 250 * time.Millisecond

// createEvents makes the session's event set. Where there is none, the state machine still
// sees what the getters answer.
func (r *Reader) createEvents(s *session) nvml.EventSet {
	if s.lib.has["nvmlEventSetWait"] && s.lib.has["nvmlDeviceRegisterEvents"] {
		if set, ok := value(r.host, "nvmlEventSetCreate", s.lib.api.EventSetCreate); ok {
			return set
		}
	}
	r.options.Logger.Warn("the driver tells no events: XIDs are not counted", slog.String("reason", r.host.reason))
	return nil
}

// runEvents waits for XID events until ctx ends.
func (r *Reader) runEvents(ctx context.Context, s *session) {
	if s.events == nil {
		return
	}
	c := newCaller(r.options.Now, r.timing, r.budget())
	for pause := eventPause; ctx.Err() == nil; {
		r.calls.RLock()
		event, ret := s.events.Wait(uint32(min(r.options.Fast, eventWait).Milliseconds()))
		r.calls.RUnlock()
		c.begin(s.lib)
		switch {
		case ctx.Err() != nil:
		case ret == nvml.SUCCESS:
			pause = eventPause
			r.tell(c, event)
		case ret == nvml.ERROR_TIMEOUT:
			pause = eventPause
		default: // one lost GPU makes it answer so without waiting
			if judge(ret) == driverFails {
				c.driver, c.at = ret, "nvmlEventSetWait"
				r.report(s, c)
			} else if pause == eventPause {
				r.wakeAll()
			}
			sleep(ctx, pause)
			pause = min(2*pause, eventWait)
		}
	}
}

// register has the events of a new handle told. It is a call of the slot's GPU, made by its
// worker once the slot is bound: what the driver then tells again is known before it comes.
func (s *slot) register(live *session) {
	if !s.deaf || live.events == nil || s.caller.ended {
		return
	}
	s.deaf = false
	if card := s.bound(s.reader); card != nil {
		s.reader.mu.Lock()
		card.xids.EventsAsked(s.reader.options.Now())
		s.reader.mu.Unlock()
	}
	s.caller.ask("nvmlDeviceRegisterEvents", "nvmlDeviceRegisterEvents", func() nvml.Return {
		return s.device.RegisterEvents(nvml.EventTypeXidCriticalError, live.events)
	})
}

func (r *Reader) wakeAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.slots {
		signal(s.wake)
	}
}

// tell takes an event of the driver.
func (r *Reader) tell(c *caller, event nvml.EventData) {
	if event.EventType != nvml.EventTypeXidCriticalError {
		return
	}
	code, at := event.EventData, r.options.Now()
	r.mu.Lock()
	card := r.handles[event.Device]
	r.mu.Unlock()
	if card == nil {
		card = r.ask(c, event.Device)
	}
	if card == nil {
		r.options.Logger.Error("an XID of a GPU that does not say who it is", slog.Uint64("xid", code))
		r.wakeAll()
		return
	}
	r.seeXID(card, gpu.WitnessDriver, code, at)
}

// ask finds the card of a handle that no worker has fetched.
func (r *Reader) ask(c *caller, handle nvml.Device) *card {
	r.calls.RLock()
	defer r.calls.RUnlock()
	uuid, ok := value(c, "nvmlDeviceGetUUID", handle.GetUUID)
	if !ok {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, card := range r.cards {
		if card.identity.UUID == uuid {
			return card
		}
	}
	return nil
}
