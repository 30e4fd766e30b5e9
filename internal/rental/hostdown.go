package rental

import (
	"cmp"
	"fmt"
	"slices"
)

// ReasonHostDown is time in which a second witness saw the whole host down while its cards told nothing.
const ReasonHostDown = "host_down"

// VantageOutOfBand marks what was told of a card from outside its machine: by probes or by the BMC.
const VantageOutOfBand = "out-of-band"

// WitnessWithin is how recently a witness must have had a success for its failures to count (rule 8
// of the design): one that never reached the host, or lost it long ago, says nothing of it now.
const WitnessWithin = Millis(5 * 60_000)

// HostWitnesses is what was told of one host from outside its cards. Copies of one reading may be
// told twice; where they disagree at one moment, the success is believed.
type HostWitnesses struct {
	// Probes are 1 where the host answered and 0 where it did not, one series for each label "path"
	// and "way" (and each copy).
	Probes []Series
	// Power is 1 where the BMC says that the host has power and 0 where it says that it has none.
	Power []Series
	// Alive are moments at which the host itself told anything, in any order.
	Alive []Millis
}

// HostOutage is a stretch in which a host was down.
type HostOutage struct {
	Span Span
	// Evidence are the readings that prove it, in order of time.
	Evidence []Evidence
}

// HostDown returns when a host was down by its witnesses, in order of time: where two paths failed
// whose probes had a success within WitnessWithin before, or where its BMC said that it has no power.
// A probe that is answered on any path, and any sign of life of the host, refutes both. A reading
// counts up to the next one, at most hold (milliseconds, two intervals of the witnesses) long; two
// signs of life at most aliveHold apart are one. So an outage begins at the first failure that the
// second path confirms, and ends at the first success or sign of life. What the witnesses said
// before the span is needed to know their last success: callers select from WitnessWithin earlier.
func HostDown(span Span, w HostWitnesses, hold, aliveHold int64) []HostOutage {
	var answered []Span
	var witnesses []failure
	paths := map[string][]Span{}
	for _, told := range byWitness(w.Probes, "path", "way") {
		answered = append(answered, told.holding(1, Millis(hold))...)
		for _, f := range told.failures(Millis(hold)) {
			witnesses = append(witnesses, f)
			paths[told.labels["path"]] = append(paths[told.labels["path"]], f.span)
		}
	}
	var once, down []Span
	for _, failing := range paths {
		down = append(down, intersect(once, failing)...)
		once = UnionSpans(append(once, failing...))
	}
	for _, told := range byWitness(w.Power) {
		off := told.holding(0, Millis(hold))
		down = append(down, off...)
		for _, s := range UnionSpans(off) {
			witnesses = append(witnesses, failure{witness: told, span: s, success: told.lastBefore(s.Start, 1), next: told.firstFrom(s.End, 1)})
		}
	}
	down = ClipSpans(SubtractSpans(down, append(answered, lived(w.Alive, Millis(aliveHold))...)), span)
	out := make([]HostOutage, 0, len(down))
	for _, s := range down {
		out = append(out, HostOutage{Span: s, Evidence: evidenceOf(s, witnesses)})
	}
	return out
}

// UnderHostDown lays host outages over the line of time of a card: where the card's state was
// unknown, or only held from its last sample, the card was down with its host. A state that was
// down already stays what it is, and what a guest told as up is believed.
func UnderHostDown(card []Interval, outages []HostOutage) []Interval {
	var spans []Span
	for _, o := range outages {
		spans = append(spans, o.Span)
	}
	var out []Interval
	for _, iv := range card {
		if iv.Class == Down || iv.Class == Up && iv.Vantage == VantageGuest {
			out = appendInterval(out, iv)
			continue
		}
		for _, part := range overlay([]Interval{iv}, spans, Down, ReasonHostDown) {
			if part.Class == Down {
				part.Vantage = VantageOutOfBand
			}
			out = appendInterval(out, part)
		}
	}
	return out
}

// witness is one series of readings, copies merged, in order of time.
type witness struct {
	name     string // as evidence names it: the series without the labels of its copies
	kind     string
	labels   map[string]string
	readings []Sample
}

// byWitness merges the copies of series that agree in the labels.
func byWitness(series []Series, labels ...string) []witness {
	var out []witness
	index := map[string]int{}
	for _, s := range series {
		one := witness{name: "host_power_on", kind: EvidenceBMC, labels: s.Labels}
		if len(labels) > 0 {
			one.name, one.kind = "host_probe_success", EvidenceProbe
		}
		one.name += fmt.Sprintf("{host=%q", s.Labels["host"])
		for _, l := range labels {
			one.name += fmt.Sprintf(",%s=%q", l, s.Labels[l])
		}
		one.name += "}"
		i, known := index[one.name]
		if !known {
			i = len(out)
			index[one.name] = i
			out = append(out, one)
		}
		out[i].readings = append(out[i].readings, s.Samples...)
	}
	slices.SortFunc(out, func(a, b witness) int { return cmp.Compare(a.name, b.name) })
	for i := range out {
		slices.SortFunc(out[i].readings, func(a, b Sample) int {
			return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(b.Value, a.Value))
		})
		out[i].readings = slices.CompactFunc(out[i].readings, func(a, b Sample) bool { return a.At == b.At })
	}
	return out
}

// reach is the span for which the i-th reading counts.
func (w witness) reach(i int, hold Millis) Span {
	at := w.readings[i].At
	end := at + hold
	if i+1 < len(w.readings) {
		end = min(end, w.readings[i+1].At)
	}
	return Span{Start: at, End: end}
}

// holding returns the time for which the witness said the value.
func (w witness) holding(value float64, hold Millis) []Span {
	var out []Span
	for i, r := range w.readings {
		if r.Value == value {
			out = append(out, w.reach(i, hold))
		}
	}
	return out
}

func (w witness) lastBefore(at Millis, value float64) Millis {
	var last Millis
	for _, r := range w.readings {
		if r.At < at && r.Value == value {
			last = r.At
		}
	}
	return last
}

func (w witness) firstFrom(at Millis, value float64) Millis {
	for _, r := range w.readings {
		if r.At >= at && r.Value == value {
			return r.At
		}
	}
	return 0
}

// failure is a run of failed readings of one witness whose word counts.
type failure struct {
	witness witness
	span    Span
	success Millis // its last success before; 0 for none
	next    Millis // its first success after; 0 for none yet
}

// failures returns the runs of failed readings that began within WitnessWithin of a success. A
// witness that was silent for at most that long in the middle of a run goes on to count; the
// silence itself does not.
func (w witness) failures(hold Millis) []failure {
	var out []failure
	var success, failed Millis // the last success, and the last failure that counts
	for i, r := range w.readings {
		if r.Value == 1 {
			success, failed = r.At, 0
			continue
		}
		fresh := success != 0 && failed == 0 && r.At-success <= WitnessWithin && (i == 0 || w.readings[i-1].Value == 1)
		goesOn := failed != 0 && r.At-failed <= WitnessWithin
		if r.Value != 0 || !fresh && !goesOn {
			failed = 0
			continue
		}
		failed = r.At
		reach := w.reach(i, hold)
		if n := len(out); n > 0 && out[n-1].span.End == reach.Start {
			out[n-1].span.End = reach.End
			continue
		}
		out = append(out, failure{witness: w, span: reach, success: success, next: w.firstFrom(r.At, 1)})
	}
	return out
}

// lived returns the time for which signs of life speak: from one to the next where they are at
// most hold apart, and the moment alone of one that is the last before a silence.
func lived(alive []Millis, hold Millis) []Span {
	alive = slices.Clone(alive)
	slices.Sort(alive)
	var out []Span
	for i, at := range alive {
		end := at + 1
		if i+1 < len(alive) && alive[i+1]-at <= hold {
			end = max(end, alive[i+1])
		}
		out = append(out, Span{Start: at, End: end})
	}
	return out
}

// intersect returns the time that lies in both.
func intersect(a, b []Span) []Span { return SubtractSpans(a, SubtractSpans(a, b)) }

// evidenceOf names the readings that prove an outage: of each witness that failed in it the last
// success before, the first failure, and the first success after.
func evidenceOf(s Span, witnesses []failure) []Evidence {
	type reading struct {
		at  Millis
		one Evidence
	}
	var told []reading
	add := func(w witness, value int, at Millis) {
		if at != 0 {
			told = append(told, reading{at, Evidence{Kind: w.kind, ID: fmt.Sprintf("%s == %d @ %s", w.name, value, at)}})
		}
	}
	for _, f := range witnesses {
		if f.span.Overlaps(s) {
			add(f.witness, 1, f.success)
			add(f.witness, 0, f.span.Start)
			add(f.witness, 1, f.next)
		}
	}
	slices.SortFunc(told, func(a, b reading) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.one.ID, b.one.ID)) })
	told = slices.Compact(told)
	out := make([]Evidence, 0, len(told))
	for _, t := range told {
		out = append(out, t.one)
	}
	return out
}
