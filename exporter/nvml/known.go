//go:build linux && cgo

package nvml

import (
	"slices"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// remember makes the cards of what was known when the exporter last ran. Whether they still
// work nobody has seen since.
func (r *Reader) remember(known *gpu.Snapshot) {
	d := known.Driver
	r.driver.Version, r.driver.CUDAVersion, r.driver.NVMLVersion = d.Version, d.CUDAVersion, d.NVMLVersion
	r.driver.Changes, r.driver.Listed = d.Changes, d.Listed
	for i := range known.GPUs {
		g := &known.GPUs[i]
		c := &card{
			identity: g.Identity,
			machine:  gpu.ResumeMachine(g.Status, r.start),
			readings: gpu.Readings{At: g.Readings.At},
			xids:     gpu.NewXIDLog(r.start, g.Readings.XIDs),
			released: g.Status.State == gpu.Released && g.Status.Reason != passedReason,
		}
		r.cards = append(r.cards, c)
		until := c.machine.Status().Until
		change, changed := c.machine.Observe(gpu.Observation{At: r.start, Answer: gpu.AnswerNobodyAsked, Since: until,
			Reason: "the exporter has not run since " + until.UTC().Format(time.RFC3339)})
		if changed {
			r.forgotten = append(r.forgotten, changeOf(c.identity, change))
		}
	}
}

func changeOf(identity gpu.Identity, change gpu.Change) gpu.Event {
	return gpu.Event{At: change.Seen, GPU: identity, From: change.From, To: change.To, Since: change.Since, Reason: change.Reason}
}

// remembered returns the card that was at an index when the exporter last ran, if there is
// no doubt: the driver lists as many GPUs as then, one card had the index, and no slot has it
// now. The Reader's lock must be held.
func (r *Reader) remembered(index int) *card {
	if live := r.session.Load(); live == nil || int(live.count.Load()) != r.options.Known.Driver.Listed {
		return nil
	}
	var found *card
	for _, c := range r.cards {
		if c.identity.Index != index {
			continue
		}
		if found != nil {
			return nil
		}
		found = c
	}
	if slices.ContainsFunc(r.slots, func(s *slot) bool { return s.card != nil && s.card == found }) {
		return nil
	}
	return found
}
