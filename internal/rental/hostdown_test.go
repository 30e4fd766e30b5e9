package rental

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const (
	witnessHold = 30_000
	minute      = Millis(60_000)
)

// probed is a witness that probes every 15 s from 0 on: its readings are told minute by minute, 1
// or 0 for the whole minute, - for silence.
func probed(path, way, minutes string) Series {
	s := Series{Labels: map[string]string{"host": "gpu-a1", "path": path, "way": way}}
	s.Samples = readings(minutes)
	return s
}

func readings(minutes string) []Sample {
	var out []Sample
	for i, c := range minutes {
		for at := Millis(0); c != '-' && at < minute; at += 15_000 {
			out = append(out, Sample{At: Millis(i)*minute + at, Value: float64(c - '0')})
		}
	}
	return out
}

func aliveAt(minutes string) []Millis {
	var out []Millis
	for _, s := range readings(minutes) {
		out = append(out, s.At)
	}
	return out
}

func TestAHostIsDownOnlyByWitnessesThatCount(t *testing.T) {
	power := func(minutes string) []Series {
		return []Series{{Labels: map[string]string{"host": "gpu-a1"}, Samples: readings(minutes)}}
	}
	for name, c := range map[string]struct {
		w    HostWitnesses
		want string // minutes from-to
	}{
		"two paths fail after a success":                      {HostWitnesses{Probes: []Series{probed("a", "icmp", "1110001"), probed("b", "icmp", "1110001")}}, "3-6"},
		"one path fails, the other is silent":                 {HostWitnesses{Probes: []Series{probed("a", "icmp", "1110001"), probed("b", "icmp", "111---1")}}, ""},
		"one path fails and the other is answered":            {HostWitnesses{Probes: []Series{probed("a", "icmp", "1110001"), probed("b", "icmp", "1111111")}}, ""},
		"two ways of one path are one path":                   {HostWitnesses{Probes: []Series{probed("a", "icmp", "1110001"), probed("a", "tcp:22", "1110001")}}, ""},
		"one way of a path is answered":                       {HostWitnesses{Probes: []Series{probed("a", "icmp", "1110001"), probed("b", "icmp", "1110001"), probed("b", "tcp:22", "1111111")}}, ""},
		"the second path confirms a minute later":             {HostWitnesses{Probes: []Series{probed("a", "icmp", "1110001"), probed("b", "icmp", "1111001")}}, "4-6"},
		"a witness that never had a success":                  {HostWitnesses{Probes: []Series{probed("a", "icmp", "1110001"), probed("b", "icmp", "0000000")}}, ""},
		"a way that never had a success hides no other":       {HostWitnesses{Probes: []Series{probed("a", "icmp", "1110001"), probed("b", "icmp", "1110001"), probed("b", "tcp:22", "0000000")}}, "3-6"},
		"a success exactly five minutes before":               {HostWitnesses{Probes: []Series{probed("a", "icmp", "-11111001"), oneSuccess("b", minute, "------001")}}, "6-8"},
		"a success more than five minutes before":             {HostWitnesses{Probes: []Series{probed("a", "icmp", "-11111001"), oneSuccess("b", minute-1, "------001")}}, ""},
		"witnesses that were silent for a while go on":        {HostWitnesses{Probes: []Series{probed("a", "icmp", "1110---001"), probed("b", "icmp", "1110---001")}}, "3-4.25 7-9"},
		"witnesses that were silent too long start anew":      {HostWitnesses{Probes: []Series{probed("a", "icmp", "110------001"), probed("b", "icmp", "110------001")}}, "2-3.25"},
		"the BMC alone says that the power is off":            {HostWitnesses{Power: power("1110011")}, "3-5"},
		"the BMC says off and the host answers":               {HostWitnesses{Power: power("1110011"), Probes: []Series{probed("a", "icmp", "1111111")}}, ""},
		"the BMC has always said off, which is a reading too": {HostWitnesses{Power: power("0001111")}, "0-3"},
		"the host speaks all the time":                        {HostWitnesses{Probes: []Series{probed("a", "icmp", "1110001"), probed("b", "icmp", "1110001")}, Alive: aliveAt("1111111")}, ""},
		"the host fell silent a minute after":                 {HostWitnesses{Probes: []Series{probed("a", "icmp", "1110001"), probed("b", "icmp", "1110001")}, Alive: append(aliveAt("1111"), 4*minute)}, "4.001-6"},
		"nobody looks":                                        {HostWitnesses{Alive: aliveAt("111----")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, o := range HostDown(Span{0, 20 * minute}, c.w, witnessHold, witnessHold) {
				// A thousandth stands for the millisecond after a sign of life.
				show := func(m Millis) string {
					return strings.TrimSuffix(fmt.Sprintf("%g", float64(m/1000*1000)/60_000)+map[bool]string{true: ".001"}[m%1000 == 1], " ")
				}
				got = append(got, show(o.Span.Start)+"-"+show(o.Span.End))
				if len(o.Evidence) == 0 {
					t.Errorf("%s has no evidence", got[len(got)-1])
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("down in minutes %q, expected %q", strings.Join(got, " "), c.want)
			}
		})
	}
}

// oneSuccess is a witness with one success at a moment, and the readings.
func oneSuccess(path string, at Millis, minutes string) Series {
	s := probed(path, "icmp", minutes)
	s.Samples = append([]Sample{{At: at, Value: 1}}, s.Samples...)
	return s
}

func TestAnOutageOfAHostNamesTheReadingsThatProveIt(t *testing.T) {
	w := HostWitnesses{Probes: []Series{probed("a", "icmp", "1110001"), probed("b", "tcp:22", "1110001")}}
	found := HostDown(Span{0, 20 * minute}, w, witnessHold, witnessHold)
	var ids []string
	for _, o := range found {
		for _, e := range o.Evidence {
			ids = append(ids, e.Kind+" "+e.ID)
		}
	}
	want := []string{
		`probe host_probe_success{host="gpu-a1",path="a",way="icmp"} == 1 @ 1970-01-01T00:02:45Z`,
		`probe host_probe_success{host="gpu-a1",path="b",way="tcp:22"} == 1 @ 1970-01-01T00:02:45Z`,
		`probe host_probe_success{host="gpu-a1",path="a",way="icmp"} == 0 @ 1970-01-01T00:03:00Z`,
		`probe host_probe_success{host="gpu-a1",path="b",way="tcp:22"} == 0 @ 1970-01-01T00:03:00Z`,
		`probe host_probe_success{host="gpu-a1",path="a",way="icmp"} == 1 @ 1970-01-01T00:06:00Z`,
		`probe host_probe_success{host="gpu-a1",path="b",way="tcp:22"} == 1 @ 1970-01-01T00:06:00Z`,
	}
	if !slices.Equal(ids, want) {
		t.Errorf("evidence:\n%s\nexpected:\n%s", strings.Join(ids, "\n"), strings.Join(want, "\n"))
	}
}

func TestAHostThatIsDownChangesWhatNobodyToldOfItsCards(t *testing.T) {
	down := []HostOutage{{Span: Span{20, 60}}}
	card := []Interval{
		{Span: Span{0, 30}, Class: Up, Reason: "ok"}, {Span: Span{30, 40}, Class: NoData, Reason: ReasonNoSamples},
		{Span: Span{40, 45}, Class: Down, Reason: "lost"}, {Span: Span{45, 50}, Class: Up, Reason: "ok", Vantage: VantageGuest},
		{Span: Span{50, 80}, Class: NoData, Reason: ReasonReleased},
	}
	var got []string
	for _, iv := range UnderHostDown(card, down) {
		got = append(got, fmt.Sprintf("%d-%d %s %s %s", iv.Span.Start, iv.Span.End, iv.Class, iv.Reason, iv.Vantage))
	}
	want := []string{"0-20 up ok ", "20-40 down host_down out-of-band", "40-45 down lost ", "45-50 up ok guest",
		"50-60 down host_down out-of-band", "60-80 unknown released "}
	if !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
}

func TestAWitnessMakesNoMeasurementOfACardThatOnlyItsGuestSees(t *testing.T) {
	timeline := Unwatched([]Interval{
		{Span: Span{0, 10}, Class: Up, Reason: "ok", Vantage: VantageGuest},
		{Span: Span{10, 20}, Class: Down, Reason: ReasonHostDown, Vantage: VantageOutOfBand},
		{Span: Span{20, 30}, Class: NoData, Reason: ReasonNoSamples},
	})
	if timeline[2].Reason != ReasonOpaque {
		t.Errorf("silence is %q, expected %q", timeline[2].Reason, ReasonOpaque)
	}
}

// TestHostOutagesByAnyOrderOfArrival holds that the order of series, samples and copies changes
// nothing, that more signs of life never make more outage, and that no outage holds a success.
func TestHostOutagesByAnyOrderOfArrival(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		minutes := rapid.StringMatching(`[01-]{12}`)
		w := HostWitnesses{
			Probes: []Series{probed("a", "icmp", minutes.Draw(t, "a")), probed("b", "icmp", minutes.Draw(t, "b")), probed("b", "tcp:22", minutes.Draw(t, "c"))},
			Power:  []Series{{Labels: map[string]string{"host": "gpu-a1"}, Samples: readings(minutes.Draw(t, "power"))}},
		}
		span := Span{0, 12 * minute}
		first := fmt.Sprint(HostDown(span, w, witnessHold, witnessHold))
		shuffled := HostWitnesses{Power: w.Power}
		for _, s := range rapid.Permutation(append(slices.Clone(w.Probes), w.Probes[0])).Draw(t, "order") {
			shuffled.Probes = append(shuffled.Probes, Series{Labels: s.Labels, Samples: rapid.Permutation(s.Samples).Draw(t, "samples")})
		}
		if again := fmt.Sprint(HostDown(span, shuffled, witnessHold, witnessHold)); again != first {
			t.Fatalf("%s in one order, %s in another", first, again)
		}
		total := func(alive []Millis) (sum int64) {
			w.Alive = alive
			for _, o := range HostDown(span, w, witnessHold, witnessHold) {
				sum += o.Span.Duration()
				for _, s := range append(slices.Clone(w.Probes), Series{}) {
					for _, r := range s.Samples {
						if r.Value == 1 && o.Span.Contains(r.At) {
							t.Fatalf("down %v holds the success of %s at %s", o.Span, s.Labels["path"], r.At)
						}
					}
				}
			}
			return sum
		}
		alive := aliveAt(minutes.Draw(t, "alive"))
		if without, with := total(nil), total(alive); with > without {
			t.Fatalf("%d ms down with signs of life, %d without", with, without)
		}
	})
}
