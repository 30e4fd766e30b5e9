package replay

import (
	"slices"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// span is an event of the script on one GPU, with its end.
type span struct {
	Event
	from, to time.Time // to is far away where it is never healed
}

func (s span) covers(t time.Time) bool { return !t.Before(s.from) && t.Before(s.to) }

// overlap is how much of the span lies before t, from after its beginning on.
func (s span) overlap(t time.Time, after time.Duration) time.Duration {
	from := s.from.Add(after)
	if t.After(s.to) {
		t = s.to
	}
	return max(t.Sub(from), 0)
}

// never is the end of what is not healed.
func never() time.Time { return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) }

// spansOf gives the events of the script that touch one GPU of the host, each with its end.
func spansOf(script Script, host string, index int, zero time.Time) []span {
	var spans []span
	for _, e := range script {
		if e.Host != "" && e.Host != host || e.GPU != nil && *e.GPU != index {
			continue
		}
		at := zero.Add(e.At)
		if e.Kind == Heal {
			for i := range spans {
				if spans[i].covers(at) {
					spans[i].to = at
				}
			}
		}
		s := span{Event: e, from: at, to: never()}
		switch {
		case e.For > 0:
			s.to = at.Add(e.For)
		case e.Kind == Heal || e.Kind == XID && e.XID != fellOffTheBus:
			s.to = at
		}
		spans = append(spans, s)
	}
	return spans
}

// fellOffTheBus is the XID after which the driver answers "GPU is lost".
const fellOffTheBus = 79

// answer is what the driver says while the span lasts.
func (s span) answer() (gpu.Answer, bool) {
	if s.Kind == XID && s.XID == fellOffTheBus {
		return gpu.AnswerLost, true
	}
	return answers(s.Kind)
}

// sighting is one XID at one time.
type sighting struct {
	at   time.Time
	code uint64
}

func sightings(spans []span) []sighting {
	var out []sighting
	for _, s := range spans {
		switch s.Kind {
		case XID:
			out = append(out, sighting{s.from, s.XID})
		case ECCUncorrectable:
			out = append(out, sighting{s.from, 94}, sighting{s.from, 63})
		}
	}
	return out
}

// statusAt runs the state machine over the script up to t.
func statusAt(spans []span, start, t time.Time) gpu.Status {
	machine := gpu.NewMachine(start)
	walk(machine, spans, start, t, nil)
	return machine.Status()
}

// walk feeds the machine every answer that changes from start to t, and tells each change.
func walk(machine *gpu.Machine, spans []span, start, t time.Time, told func(gpu.Change)) {
	moments := []time.Time{start, t}
	for _, s := range spans {
		moments = append(moments, s.from, s.to)
		if answer, ok := s.answer(); ok && answer == gpu.AnswerTimeout {
			moments = append(moments, s.from.Add(gpu.UnresponsiveAfter))
		}
	}
	slices.SortFunc(moments, time.Time.Compare)
	for _, at := range moments {
		if at.Before(start) || at.After(t) {
			continue
		}
		observation := gpu.Observation{At: at, Answer: gpu.AnswerOK}
		for _, s := range spans {
			if answer, ok := s.answer(); ok && s.covers(at) && gpu.Worse(answer, observation.Answer) == answer {
				observation = gpu.Observation{At: at, Answer: answer, Since: s.from, Reason: reason(s)}
			}
		}
		if change, changed := machine.Observe(observation); changed && told != nil {
			told(change)
		}
	}
}

// reason is what the driver would have said.
func reason(s span) string {
	answer, _ := s.answer()
	switch answer {
	case gpu.AnswerLost:
		return "nvmlDeviceGetTemperature: GPU is lost"
	case gpu.AnswerResetRequired:
		return "nvmlDeviceGetTemperature: GPU requires reset"
	case gpu.AnswerTimeout:
		return "nvmlDeviceGetTemperature: no answer since " + s.from.UTC().Format(time.RFC3339)
	case gpu.AnswerDriverDown:
		return "nvmlInit_v2: driver not loaded"
	case gpu.AnswerFabricIncomplete:
		return "fabric state: in progress"
	default:
		return "released by the operator"
	}
}
