package gpu

import (
	"maps"
	"slices"
	"time"
)

// Witness is one of those who see an XID.
type Witness string

// The witnesses.
const (
	// WitnessDriver is an event of the driver's library. It has no time of its own: the moment
	// counts at which it was received.
	WitnessDriver Witness = "driver"
	// WitnessKernel is a line of the kernel log, with the kernel's time.
	WitnessKernel Witness = "kernel"
)

// XIDReport is what a witness that does not go through the source's own driver calls saw.
type XIDReport struct {
	Witness Witness
	// PCIAddress tells the card, in any spelling that the function PCIAddress takes.
	PCIAddress string
	Code       uint64
	At         time.Time
	// Within is by how much At may be wrong.
	Within time.Duration
}

// StrangerXID is a code that was told of a PCI address.
type StrangerXID struct {
	PCIAddress string // "0000:1b:00.0"
	Code       uint64
}

// How far two witnesses' times of one XID may lie apart.
const (
	// XIDJitter is how much earlier the driver's event may seem than the kernel's line: the
	// kernel's clock is converted to the wall's.
	XIDJitter = 5 * time.Second
	// XIDLag is how much later the driver's event may be received: a GSP timeout stalls the
	// driver's calls, the wait for events among them, for 45 s.
	XIDLag = 60 * time.Second
	// XIDRetold is how long after events are asked for the driver may tell old ones again.
	XIDRetold = 5 * time.Second
)

// maxSightings bounds the sightings of one code that wait for a second witness: more within
// XIDLag come from one broken program, and their number says no more.
const maxSightings = 128

// XIDLog counts the XIDs of one GPU. Each witness may see all of them or only some; what two
// see is one. It is not safe for concurrent use.
type XIDLog struct {
	start     time.Time
	earlier   map[uint64]XID // what was known at the start
	seen      map[uint64]XID // replaced, never changed: snapshots share it
	waiting   map[uint64][]sighting
	askedAt   time.Time         // when the driver's events were asked for last
	mayRetell map[uint64]uint64 // by code: how often the driver may tell it again
}

// sighting is an XID that one witness has seen, and another one may still tell.
type sighting struct {
	witness Witness
	at      time.Time
}

// NewXIDLog returns a log that goes on from known, which may be nil. start is when the
// exporter began to look: what a witness dates before it is history, which the exporter may
// have counted in an earlier life.
func NewXIDLog(start time.Time, known map[uint64]XID) *XIDLog {
	earlier := maps.Clone(known)
	return &XIDLog{start: start, earlier: earlier, seen: earlier, waiting: map[uint64][]sighting{}}
}

// Seen returns the count and the last time of each code. The map must not be changed.
func (l *XIDLog) Seen() map[uint64]XID { return l.seen }

// EventsAsked notes that the driver was asked at a time to tell its events from now on. Some
// drivers then tell those again that they told before.
func (l *XIDLog) EventsAsked(at time.Time) {
	l.askedAt = at
	l.mayRetell = make(map[uint64]uint64, len(l.seen))
	for code, x := range l.seen {
		l.mayRetell[code] = x.Count
	}
}

// Report takes an XID and tells whether it is one that was not known yet.
func (l *XIDLog) Report(w Witness, code uint64, at time.Time) bool {
	return l.ReportWithin(w, code, at, 0)
}

// ReportWithin is Report of a time that may be wrong by within. What is history and may have
// been counted in an earlier life counts as counted.
func (l *XIDLog) ReportWithin(w Witness, code uint64, at time.Time, within time.Duration) bool {
	known := l.seen[code]
	counted, before := l.earlier[code]
	switch {
	case before && w == WitnessKernel && at.Before(l.start) && !at.After(counted.Last.Add(XIDJitter+within)):
		return false // the log is read from its beginning again
	case l.otherSaw(w, code, at):
		return false
	case w == WitnessDriver && l.retold(code, at):
		return false
	}
	l.wait(code, sighting{w, at})
	seen := maps.Clone(l.seen)
	if seen == nil {
		seen = map[uint64]XID{}
	}
	seen[code] = XID{Count: known.Count + 1, Last: later(known.Last, at)}
	l.seen = seen
	return true
}

// otherSaw finds the same XID in what another witness told, and takes it from the list: two
// lines in the log and two events are two XIDs, however close they are.
func (l *XIDLog) otherSaw(w Witness, code uint64, at time.Time) bool {
	for i, s := range l.waiting[code] {
		if s.witness == w {
			continue
		}
		lag := at.Sub(s.at) // the driver's time behind the kernel's
		if w == WitnessKernel {
			lag = -lag
		}
		if lag >= -XIDJitter && lag <= XIDLag {
			l.waiting[code] = slices.Delete(l.waiting[code], i, i+1)
			return true
		}
	}
	return false
}

// retold tells whether the driver says again what was known when its events were asked for.
func (l *XIDLog) retold(code uint64, at time.Time) bool {
	if l.mayRetell[code] == 0 || at.Sub(l.askedAt) > XIDRetold {
		return false
	}
	l.mayRetell[code]--
	return true
}

// wait keeps a sighting for as long as another witness may tell it.
func (l *XIDLog) wait(code uint64, s sighting) {
	list := slices.DeleteFunc(l.waiting[code], func(old sighting) bool { return s.at.Sub(old.at) > XIDLag+XIDJitter })
	if len(list) == maxSightings {
		list = slices.Delete(list, 0, 1)
	}
	l.waiting[code] = append(list, s)
}
