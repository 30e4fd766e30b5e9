//go:build linux && cgo

package nvml

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// strangerWait is how long an XID waits for a card of its address before it is told of the address:
// at the start the log is read before any card has said where it is.
const strangerWait = 30 * time.Second

// unclaimed is what was reported of an address and no card has said to be its own.
type unclaimed struct {
	seen  gpu.XID
	since time.Time // when the first report came
	told  uint64    // how many of them were told
}

// count keeps a report of an address without a card. The Reader's lock must be held.
func (r *Reader) count(report gpu.XIDReport) {
	key := gpu.StrangerXID{PCIAddress: report.PCIAddress, Code: report.Code}
	u, known := r.unclaimed[key]
	if !known {
		if len(r.unclaimed) == maxStrangers {
			return // a host has not so many cards and codes: something writes nonsense
		}
		u.since = r.options.Now()
	}
	u.seen.Count++
	if report.At.After(u.seen.Last) {
		u.seen.Last = report.At
	}
	if r.unclaimed == nil {
		r.unclaimed = map[gpu.StrangerXID]unclaimed{}
	}
	r.unclaimed[key] = u
}

// settled returns what has waited for its card for long enough, nil for nothing. The Reader's lock
// must be held.
func (r *Reader) settled(now time.Time) map[gpu.StrangerXID]gpu.XID {
	var settled map[gpu.StrangerXID]gpu.XID
	for key, u := range r.unclaimed {
		if now.Sub(u.since) < strangerWait {
			continue
		}
		if settled == nil {
			settled = map[gpu.StrangerXID]gpu.XID{}
		}
		settled[key] = u.seen
	}
	return settled
}

// tellStrangers tells of what was settled or came to it since it was told last. It is told with the
// present time, however long ago it happened: nobody could tell it before.
func (r *Reader) tellStrangers() {
	now := r.options.Now()
	r.emitting.Lock()
	defer r.emitting.Unlock()
	if r.stopped || r.emit == nil {
		return
	}
	var events []gpu.Event
	r.mu.Lock()
	for key, seen := range r.settled(now) {
		u := r.unclaimed[key]
		if u.told == seen.Count {
			continue
		}
		u.told = seen.Count
		r.unclaimed[key] = u
		events = append(events, gpu.Event{At: now, Since: seen.Last, GPU: gpu.Identity{PCIAddress: key.PCIAddress}, Unlisted: true,
			XID: gpu.Some(key.Code), XIDCount: seen.Count, Reason: fmt.Sprintf("XID %d of a GPU that the driver does not list", key.Code)})
	}
	r.mu.Unlock()
	if len(events) == 0 {
		return
	}
	slices.SortFunc(events, func(a, b gpu.Event) int {
		return cmp.Or(cmp.Compare(a.GPU.PCIAddress, b.GPU.PCIAddress), cmp.Compare(a.Reason, b.Reason))
	})
	r.publish()
	for _, e := range events {
		code, _ := e.XID.Get()
		r.options.Logger.Warn("XID of a GPU that the driver does not list", slog.Uint64("xid", code),
			slog.String("pci_address", e.GPU.PCIAddress), slog.Time("at", e.Since), slog.Uint64("count", e.XIDCount))
		r.emit(e)
	}
}
