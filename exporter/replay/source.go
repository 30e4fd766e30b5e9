package replay

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// Source is a simulated machine.
type Source struct {
	config Config

	mu    sync.Mutex // guards the cards' saved sums
	cards []*card

	newest atomic.Pointer[gpu.Snapshot]
}

var _ gpu.Source = (*Source)(nil)

// New makes a machine. It fails where the configuration does not hold together.
func New(config Config) (*Source, error) {
	if config.GPUs < 1 || config.GPUs > 64 {
		return nil, fmt.Errorf("a simulated machine of %d GPUs, want 1 to 64", config.GPUs)
	}
	if config.Model == (Model{}) {
		config.Model = H100()
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Start.IsZero() {
		config.Start = config.Now()
	}
	if config.Zero.IsZero() {
		config.Zero = config.Start
	}
	if config.Interval <= 0 {
		config.Interval = time.Second
	}
	if config.DriverVersion == "" {
		config.DriverVersion = "570.158.01"
	}
	for i, e := range config.Script {
		if e.GPU != nil && *e.GPU >= config.GPUs && (e.Host == "" || e.Host == config.Host) {
			return nil, fmt.Errorf("event %d of the script is about GPU %d, host %s has %d", i+1, *e.GPU, config.Host, config.GPUs)
		}
	}
	for _, i := range config.MIG {
		if i < 0 || i >= config.GPUs {
			return nil, fmt.Errorf("MIG is on for GPU %d, host %s has %d", i, config.Host, config.GPUs)
		}
	}
	s := &Source{config: config}
	for i := range config.GPUs {
		s.cards = append(s.cards, newCard(config, i))
	}
	s.newest.Store(&gpu.Snapshot{})
	return s, nil
}

// At is what the machine looks like at a time, from the start on. The same time always
// gives the same answer.
func (s *Source) At(t time.Time) *gpu.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.Before(s.config.Start) {
		t = s.config.Start
	}
	snapshot := &gpu.Snapshot{At: t, Driver: gpu.Driver{
		State: gpu.DriverOK, Version: s.config.DriverVersion, CUDAVersion: "12.8", NVMLVersion: "12." + s.config.DriverVersion, Listed: len(s.cards),
	}}
	if s.config.Machine {
		snapshot.Host = s.machineAt(t)
	}
	for _, c := range s.cards {
		g := c.at(t)
		if g.Status.State == gpu.DriverDown {
			snapshot.Driver = gpu.Driver{State: gpu.DriverNotLoaded, Reason: "nvmlInit_v2: driver not loaded: load the nvidia module"}
		}
		snapshot.GPUs = append(snapshot.GPUs, g)
	}
	return snapshot
}

// Silent tells whether the script has the whole host silent at a time: whoever scrapes or
// pushes for it must then do nothing.
func (s *Source) Silent(t time.Time) bool {
	for _, span := range s.cards[0].spans {
		if span.Kind == Silent && span.covers(t) {
			return true
		}
	}
	return false
}

// Snapshot returns the newest snapshot that Run has taken.
func (s *Source) Snapshot() *gpu.Snapshot { return s.newest.Load() }

// Run takes a snapshot at each interval until ctx ends, and tells the events that the script
// put in between. While the host is silent it takes none.
func (s *Source) Run(ctx context.Context, emit func(gpu.Event)) error {
	tick := time.NewTicker(s.config.Interval)
	defer tick.Stop()
	last := s.config.Now()
	s.newest.Store(s.At(last))
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now := s.config.Now()
		if s.Silent(now) {
			continue
		}
		s.newest.Store(s.At(now))
		for _, e := range s.Events(last, now) {
			emit(e)
		}
		last = now
	}
}

// Events gives what happened after one time and up to another, in order per GPU: changes of
// state and XIDs, each with its own time.
func (s *Source) Events(after, until time.Time) []gpu.Event {
	var events []gpu.Event
	for _, c := range s.cards {
		machine := gpu.NewMachine(s.config.Start)
		within := func(t time.Time) bool { return t.After(after) && !t.After(until) }
		counts := map[uint64]uint64{}
		for _, x := range sightings(c.spans) {
			if x.at.Before(s.config.Start) {
				continue
			}
			counts[x.code]++
			if within(x.at) {
				events = append(events, gpu.Event{At: x.at, GPU: c.identity, XID: gpu.Some(x.code), XIDCount: counts[x.code],
					Reason: fmt.Sprintf("XID %d", x.code)})
			}
		}
		walk(machine, c.spans, s.config.Start, until, func(change gpu.Change) {
			if within(change.Seen) {
				events = append(events, gpu.Event{At: change.Seen, GPU: c.identity, From: change.From, To: change.To, Since: change.Since, Reason: change.Reason})
			}
		})
	}
	return events
}
