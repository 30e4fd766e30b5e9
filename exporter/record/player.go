package record

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// Player is a source that plays a recording as if it happened now: every time in it is moved
// to the present. At its end it begins anew, and its counters with it, as after a restart of
// the machine.
type Player struct {
	recording *Recording
	now       func() time.Time
	newest    atomic.Pointer[gpu.Snapshot]
}

var _ gpu.Source = (*Player)(nil)

// Open reads the recording in a file, to be played by the clock now.
func Open(path string, now func() time.Time) (*Player, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the recording: %w", err)
	}
	defer file.Close()
	recording, err := Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return Play(recording, now), nil
}

// Play makes a player of a recording.
func Play(recording *Recording, now func() time.Time) *Player {
	p := &Player{recording: recording, now: now}
	p.newest.Store(&gpu.Snapshot{})
	return p
}

// Snapshot returns the newest snapshot.
func (p *Player) Snapshot() *gpu.Snapshot { return p.newest.Load() }

// step is a moment of the recording: a snapshot or an event.
type step struct {
	at time.Time
	line
}

// steps puts snapshots and events in the order of their times.
func (p *Player) steps() []step {
	var steps []step
	events := p.recording.Events
	for _, s := range p.recording.Snapshots {
		for len(events) > 0 && !events[0].At.After(s.At) {
			steps, events = append(steps, step{events[0].At, line{Event: &events[0]}}), events[1:]
		}
		steps = append(steps, step{s.At, line{Snapshot: s}})
	}
	for i := range events {
		steps = append(steps, step{events[i].At, line{Event: &events[i]}})
	}
	return steps
}

// pause is between the last moment of a recording and its beginning anew; a recording of a
// single snapshot is told again at this pace.
const pause = 5 * time.Second

// Run plays until ctx ends.
func (p *Player) Run(ctx context.Context, emit func(gpu.Event)) error {
	steps := p.steps()
	for {
		moved := p.now().Sub(p.recording.Snapshots[0].At)
		for _, s := range steps {
			if !wait(ctx, s.at.Add(moved).Sub(p.now())) {
				return nil
			}
			if err := p.tell(s.line, moved, emit); err != nil {
				return err
			}
		}
		if !wait(ctx, pause) {
			return nil
		}
	}
}

func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(max(d, 0))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}

// tell publishes a moved copy: what was read stays as it is, for the next round.
func (p *Player) tell(l line, moved time.Duration, emit func(gpu.Event)) error {
	copied, err := l.clone()
	if err != nil {
		return err
	}
	if copied.Event != nil {
		shift(copied.Event, moved)
		emit(*copied.Event)
		return nil
	}
	shift(copied.Snapshot, moved)
	p.newest.Store(copied.Snapshot)
	return nil
}
