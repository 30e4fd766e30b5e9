//go:build linux && cgo

package nvml

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// session is one life of the driver, from Init to Shutdown.
type session struct {
	lib    *library
	count  atomic.Int32  // GPUs listed now
	events nvml.EventSet // nil where the driver tells none
}

// runHost starts the driver, and again after it went, until ctx ends. Where only a new process
// can start it, it ends ctx with that as the cause.
func (r *Reader) runHost(ctx context.Context, end context.CancelCauseFunc) {
	var workers sync.WaitGroup
	defer workers.Wait()
	pause := r.options.Retry
	var lib *library
	for ctx.Err() == nil {
		s := r.startDriver(&lib)
		r.answerLettings() // no session older than this one is left
		if s == nil {
			if err := r.outdated(lib); err != nil {
				end(err)
				return
			}
			sleep(ctx, pause)
			pause = min(2*pause, r.options.RetryMax)
			continue
		}
		pause = r.options.Retry
		drain(r.failed)
		r.live(ctx, &workers, s)
	}
}

// live is one session: it ends when the driver went, or was asked to let go of a GPU.
func (r *Reader) live(ctx context.Context, workers *sync.WaitGroup, s *session) {
	for {
		listening, stop := context.WithCancel(ctx)
		var events sync.WaitGroup
		events.Go(func() { r.runEvents(listening, s) })
		r.setSession(s)
		lost, letting := r.watchHost(ctx, workers, s)
		stop()
		if ctx.Err() != nil {
			return // the kernel takes the library's session back with the process
		}
		if letting == nil {
			r.setSession(nil)
			r.fail(lost)
			events.Wait()
			r.shutdown(ctx, s)
			r.owing.Store(false)
			r.answerLettings()
			return
		}
		events.Wait()
		err := r.recycle(ctx, s)
		letting.done <- err
		if err == nil {
			r.answerLettings()
			return
		}
	}
}

// setSession changes the session in one step with the cards: no round of the old one is
// taken in afterwards.
func (r *Reader) setSession(s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.session.Store(s)
	r.epoch.Add(1)
	r.handles = map[nvml.Device]*card{}
}

func drain(c chan failure) {
	select {
	case <-c:
	default:
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// startDriver loads the library, once, and starts the driver. It returns nil where it cannot,
// after saying why.
func (r *Reader) startDriver(lib **library) *session {
	if *lib == nil {
		loaded, err := openLibrary(r.options.LibraryPath)
		if err != nil {
			r.fail(failure{nil, gpu.DriverNoLibrary, err.Error() + "; install the NVIDIA driver, or name the library's path"})
			return nil
		}
		*lib = loaded
	}
	r.host.begin(*lib)
	r.host.forget()
	if ret := r.host.timed("nvmlInit_v2", (*lib).api.Init); ret != nvml.SUCCESS {
		state, reason := driverState("nvmlInit_v2", ret)
		r.fail(failure{nil, state, reason})
		return nil
	}
	s := &session{lib: *lib}
	r.readVersions(s)
	s.events = r.createEvents(s)
	r.setDriver(gpu.DriverOK, "")
	return s
}

func (r *Reader) readVersions(s *session) {
	c, api := r.host, s.lib.api
	c.begin(s.lib)
	driver, _ := value(c, "nvmlSystemGetDriverVersion", api.SystemGetDriverVersion)
	library, _ := value(c, "nvmlSystemGetNVMLVersion", api.SystemGetNVMLVersion)
	cuda := ""
	if v, ok := value(c, "nvmlSystemGetCudaDriverVersion_v2", api.SystemGetCudaDriverVersion_v2); ok && v > 0 {
		cuda = fmt.Sprintf("%d.%d", v/1000, v%1000/10)
	}
	r.setVersions(clean(driver), cuda, clean(library))
}

// watchHost counts the GPUs at each beat until the driver goes, and returns how, or is to let
// go of a GPU, or ctx ends.
func (r *Reader) watchHost(ctx context.Context, workers *sync.WaitGroup, s *session) (failure, *letting) {
	for {
		r.scan(ctx, workers, s)
		select {
		case <-ctx.Done():
			return failure{}, nil
		case request := <-r.lettings:
			return failure{}, &request
		case lost := <-r.failed:
			if lost.session == s {
				return lost, nil
			}
		case <-r.rescan:
			if r.owing.Load() && r.callsOut() == "" {
				return failure{}, &letting{make(chan error, 1)}
			}
		}
	}
}

// scan counts the GPUs, has each new one asked by a worker of its own, and marks those that
// are no longer listed.
func (r *Reader) scan(ctx context.Context, workers *sync.WaitGroup, s *session) {
	r.host.begin(s.lib)
	n, ok := value(r.host, "nvmlDeviceGetCount_v2", s.lib.api.DeviceGetCount)
	if !ok {
		r.report(s, r.host)
		return
	}
	r.setDriver(gpu.DriverOK, "") // it may have been said to hang
	if before := s.count.Swap(int32(n)); int(before) != n {
		r.epoch.Add(1)
		r.options.Logger.Info("the driver lists GPUs", slog.Int("before", int(before)), slog.Int("now", n))
	}
	r.mu.Lock()
	r.driver.Listed = n
	var fresh []*slot
	for len(r.slots) < n {
		sl := newSlot(r, len(r.slots))
		fresh = append(fresh, sl)
		r.slots = append(r.slots, sl)
	}
	slots := r.slots
	r.mu.Unlock()
	for _, sl := range fresh {
		workers.Go(func() { sl.run(ctx) })
	}
	for _, sl := range slots[:n] {
		if sl.epoch.Load() != r.epoch.Load() {
			signal(sl.wake)
		}
	}
	r.markUnlisted(s, slots)
}

// markUnlisted tells the state machines of cards that no slot is bound to any more. While a
// slot has not yet said who it is, nothing is known.
func (r *Reader) markUnlisted(s *session, slots []*slot) {
	n := int(s.count.Load())
	r.mu.Lock()
	listed, twice := map[*card]bool{}, false
	for _, sl := range slots[:n] {
		if sl.epoch.Load() != r.epoch.Load() && sl.caller.current.Load() == nil {
			r.mu.Unlock()
			return
		}
		twice = twice || listed[sl.card]
		listed[sl.card] = true
	}
	if twice { // one of both slots asked when the list was another: let all ask again, once
		r.epoch.Add(1)
		if r.twice = !r.twice; r.twice {
			r.mu.Unlock()
			return
		}
	}
	var gone []*card
	for _, c := range r.cards {
		if !listed[c] {
			gone = append(gone, c)
		}
	}
	r.mu.Unlock()
	for _, c := range gone {
		r.observeAbsent(c, gpu.Observation{At: r.options.Now(), Answer: gpu.AnswerNotSeen,
			Reason: fmt.Sprintf("the driver lists %d GPUs, not this one", n)})
	}
}

// report passes on that a round of calls found the driver gone.
func (r *Reader) report(s *session, c *caller) {
	if c.driver == nvml.SUCCESS {
		return
	}
	state, reason := driverState(c.at, c.driver)
	select {
	case r.failed <- failure{s, state, reason}:
	default:
	}
}

// fail notes that the driver is not to be had, for the host and for every card that was seen.
func (r *Reader) fail(f failure) {
	r.setDriver(f.state, f.reason)
	r.mu.Lock()
	cards := r.cards
	r.mu.Unlock()
	for _, c := range cards {
		r.observeAbsent(c, gpu.Observation{At: r.options.Now(), Answer: gpu.AnswerDriverDown, Reason: f.reason})
	}
}

// shutdown ends the library's session once nobody is inside a call. While a call hangs that
// has to wait: the library's memory must not go. It returns false where ctx ends before.
func (r *Reader) shutdown(ctx context.Context, s *session) bool {
	for waited := false; !r.calls.TryLock(); waited = true {
		if !waited {
			r.options.Logger.Warn("waiting for a driver call to return before the driver is started again", slog.String("calls", r.callsOut()))
		}
		sleep(ctx, min(r.options.Fast, time.Second)/10)
		if ctx.Err() != nil {
			return false
		}
	}
	defer r.calls.Unlock()
	r.host.begin(s.lib)
	r.mu.Lock()
	slots := r.slots
	r.mu.Unlock()
	r.freeGPM(r.host, slots...) // no worker is in the library, nor comes in before this returns
	if s.events != nil && s.lib.has["nvmlEventSetFree"] {
		r.host.timed("nvmlEventSetFree", s.events.Free)
	}
	r.host.timed("nvmlShutdown", s.lib.api.Shutdown)
	return true
}

// callsOut names the calls that have not returned.
func (r *Reader) callsOut() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := ""
	for _, sl := range r.slots {
		if out := sl.caller.current.Load(); out != nil {
			text += fmt.Sprintf("GPU %d in %s since %s; ", sl.index, out.name, out.since.UTC().Format(time.RFC3339))
		}
	}
	return text
}
