package rental

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// counters are readings of gpu_state_seconds_total at one moment.
func counters(at Millis, seconds map[string]float64) map[string]Sample {
	out := map[string]Sample{}
	for state, v := range seconds {
		out[state] = Sample{At: at, Value: v}
	}
	return out
}

func TestTheCountersOfStatesAreSetBesideTheLineOfTime(t *testing.T) {
	hour := 60 * minute
	line := func(intervals ...Interval) []Interval { return intervals }
	ok := Interval{Span: Span{0, hour}, Class: Up, Reason: "ok"}
	for name, c := range map[string]struct {
		timeline    []Interval
		first, last map[string]Sample
		want        string
	}{
		"both agree": {line(ok), counters(0, map[string]float64{"ok": 100, "lost": 5}), counters(hour, map[string]float64{"ok": 3700, "lost": 5}),
			"[{ok 3600000 3600000}] differ by 0"},
		"unknown time that the exporter counted": {
			line(Interval{Span: Span{0, 40 * minute}, Class: Up, Reason: "ok"}, Interval{Span: Span{40 * minute, hour}, Class: NoData, Reason: ReasonNoSamples}),
			counters(0, map[string]float64{"ok": 0, "lost": 0}), counters(hour, map[string]float64{"ok": 3300, "lost": 300}),
			"[{lost 300000 0} {ok 3300000 2400000}] differ by 1200000"},
		"degraded time is ok to the exporter": {line(Interval{Span: Span{0, hour}, Class: Up, Reason: ReasonDegraded}),
			counters(0, map[string]float64{"ok": 0}), counters(hour, map[string]float64{"ok": 3600}), "[{ok 3600000 3600000}] differ by 0"},
		"what the witnesses told is not the exporter's": {line(Interval{Span: Span{0, hour}, Class: Down, Reason: ReasonHostDown, Vantage: VantageOutOfBand}),
			counters(0, map[string]float64{"ok": 0}), counters(hour, map[string]float64{"ok": 0}), "[] differ by 0"},
		"a state that was taken for another": {line(ok), counters(0, map[string]float64{"ok": 0, "lost": 0}), counters(hour, map[string]float64{"ok": 3540, "lost": 60}),
			"[{lost 60000 0} {ok 3540000 3600000}] differ by 60000"},
		"an exporter that was started anew counts less": {line(ok), counters(0, map[string]float64{"ok": 10}), counters(hour, map[string]float64{"ok": 3550}),
			"[{ok 3540000 3600000}] differ by 60000"},
		"a counter that fell":  {line(ok), counters(0, map[string]float64{"ok": 100}), counters(hour, map[string]float64{"ok": 5}), "none"},
		"a reading is missing": {line(ok), nil, counters(hour, map[string]float64{"ok": 5}), "none"},
		"a state is missing":   {line(ok), counters(0, map[string]float64{"ok": 1, "lost": 1}), counters(hour, map[string]float64{"ok": 5}), "none"},
	} {
		t.Run(name, func(t *testing.T) {
			got := "none"
			if check, ok := CheckStates(c.timeline, c.first, c.last); ok {
				got = fmt.Sprintf("%v differ by %d", check.States, check.DifferenceMS)
			}
			if got != c.want {
				t.Errorf("%s, expected %s", got, c.want)
			}
		})
	}
}

func TestChecksOfTwoDaysAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(start Millis) StateCheck {
			counted, derived := map[string]int64{}, map[string]int64{}
			for _, state := range []string{"ok", "lost"} {
				counted[state] = rapid.Int64Range(0, 100).Draw(t, "counted")
				derived[state] = rapid.Int64Range(0, 100).Draw(t, "derived")
			}
			return checkOf(Span{start, start + 100}, counted, derived)
		}
		a, b := draw(0), draw(100)
		sum := a.Add(b)
		if sum.DifferenceMS != a.DifferenceMS+b.DifferenceMS || sum.Span != (Span{0, 200}) {
			t.Fatalf("%+v and %+v make %+v", a, b, sum)
		}
		total := func(c StateCheck) (counted, derived int64) {
			for _, one := range c.States {
				counted, derived = counted+one.CountedMS, derived+one.DerivedMS
			}
			return counted, derived
		}
		ac, ad := total(a)
		bc, bd := total(b)
		if sc, sd := total(sum); sc != ac+bc || sd != ad+bd {
			t.Fatalf("%+v and %+v make %+v", a, b, sum)
		}
	})
}
