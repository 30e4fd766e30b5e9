package rental

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// every15s is a series with a reading every 15 s of minutes, by the value of each minute.
func every15s(labels map[string]string, minutes ...float64) Series {
	s := Series{Labels: labels}
	for i, v := range minutes {
		for at := Millis(0); at < minute; at += 15_000 {
			s.Samples = append(s.Samples, Sample{At: Millis(i)*minute + at, Value: v})
		}
	}
	return s
}

// counting is a counter of seconds that grows in the minutes from-to of an hour by the share of time.
func counting(reason string, from, to int, share float64) Series {
	s := Series{Labels: map[string]string{"reason": reason}}
	value := 100.0
	for at := Millis(0); at <= 60*minute; at += 15_000 {
		s.Samples = append(s.Samples, Sample{At: at, Value: value})
		if at >= Millis(from)*minute && at < Millis(to)*minute {
			value += 15 * share
		}
	}
	return s
}

func flat(value float64, minutes int) []float64 {
	out := make([]float64, minutes)
	for i := range out {
		out[i] = value
	}
	return out
}

func TestACardIsDegradedWhereItDoesLessThanPromised(t *testing.T) {
	sku := SKU{PCIeWidth: 16, NVLinks: 18, PowerWatts: 700}
	busy := []Series{every15s(nil, flat(0.9, 60)...)}
	for name, c := range map[string]struct {
		r    CardReadings
		sku  SKU
		want string // minutes from-to
	}{
		"fewer lanes for two minutes": {CardReadings{PCIeWidth: []Series{every15s(nil, 16, 8, 8, 16)}}, sku, "1-3"},
		"fewer lanes for 45 seconds": {CardReadings{PCIeWidth: []Series{{Samples: []Sample{
			{0, 16}, {15_000, 8}, {30_000, 8}, {45_000, 8}, {60_000, 16}}}}}, sku, ""},
		"fewer lanes for exactly a minute": {CardReadings{PCIeWidth: []Series{every15s(nil, 16, 8, 16)}}, sku, "1-2"},
		"fewer lanes with a silence between": {CardReadings{PCIeWidth: []Series{{Samples: []Sample{
			{0, 8}, {15_000, 8}, {60_000, 8}, {75_000, 8}}}}}, sku, ""},
		"no promise of lanes":                     {CardReadings{PCIeWidth: []Series{every15s(nil, 8, 8, 8)}}, SKU{}, ""},
		"a link missing":                          {CardReadings{NVLinks: []Series{every15s(nil, 18, 17, 17)}}, sku, "1-3.25"},
		"a lowered power limit":                   {CardReadings{PowerLimit: []Series{every15s(nil, 700, 650, 650, 700)}}, sku, "1-3"},
		"a power limit a few milliwatts short":    {CardReadings{PowerLimit: []Series{every15s(nil, 699.99, 699.99)}}, sku, ""},
		"a copy that tells more":                  {CardReadings{PCIeWidth: []Series{every15s(nil, 8, 8, 8), every15s(nil, 16, 16, 16)}}, sku, ""},
		"heat for four minutes of a busy hour":    {CardReadings{HeldSeconds: []Series{counting("hw_thermal", 10, 14, 1)}, Use: busy}, sku, "10-14"},
		"heat for exactly 5 % of a busy hour":     {CardReadings{HeldSeconds: []Series{counting("sw_thermal", 10, 13, 1)}, Use: busy}, sku, ""},
		"the power brake for six minutes":         {CardReadings{HeldSeconds: []Series{counting("hw_power_brake", 30, 36, 1)}, Use: busy}, sku, "30-36"},
		"the software power cap all the time":     {CardReadings{HeldSeconds: []Series{counting("sw_power_cap", 0, 60, 1)}, Use: busy}, sku, ""},
		"heat in an hour that was hardly busy":    {CardReadings{HeldSeconds: []Series{counting("hw_thermal", 0, 20, 1)}, Use: []Series{every15s(nil, flat(0.9, 20)...)}}, sku, ""},
		"heat and nobody measured use":            {CardReadings{HeldSeconds: []Series{counting("hw_thermal", 0, 60, 1)}}, sku, ""},
		"two reasons at once are not added":       {CardReadings{HeldSeconds: []Series{counting("hw_thermal", 10, 12, 1), counting("sw_thermal", 10, 12, 1)}, Use: busy}, sku, ""},
		"a driver that does not count, by moment": {CardReadings{HeldNow: []Series{every15s(map[string]string{"reason": "hw_thermal"}, append(flat(0, 5), append(flat(1, 6), flat(0, 49)...)...)...)}, Use: busy}, sku, "5-11"},
		"a counter that was set back": {CardReadings{HeldSeconds: []Series{{Labels: map[string]string{"reason": "hw_thermal"}, Samples: []Sample{
			{0, 9000}, {15_000, 3}, {30_000, 4}}}}, Use: busy}, sku, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, d := range Degradations(c.sku, c.r, 15_000) {
				got = append(got, fmt.Sprintf("%g-%g", float64(d.Span.Start)/60_000, float64(d.Span.End)/60_000))
				if d.Evidence.ID == "" {
					t.Error("a degradation without evidence")
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("degraded in minutes %q, expected %q", strings.Join(got, " "), c.want)
			}
		})
	}
}

func TestOnlyWhatWasOkBecomesDegraded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var card []Interval
		states := []Interval{{Class: Up, Reason: "ok"}, {Class: Down, Reason: "lost"}, {Class: NoData, Reason: ReasonNoSamples}, {Class: Up, Reason: "ok", Vantage: VantageGuest}}
		for at := Millis(0); at < 100; at += 10 {
			iv := rapid.SampledFrom(states).Draw(t, "state")
			iv.Span = Span{at, at + 10}
			card = appendInterval(card, iv)
		}
		from := Millis(rapid.IntRange(0, 90).Draw(t, "from"))
		slow := Span{from, from + Millis(rapid.IntRange(1, 30).Draw(t, "length"))}
		got := UnderDegradation(card, []Degradation{{Span: slow}}, "")
		for at := Millis(0); at < 100; at++ {
			was, is := intervalAt(card, at), intervalAt(got, at)
			if degraded := slow.Contains(at) && was.Reason == "ok" && was.Vantage == ""; degraded != (is.Reason == ReasonDegraded) || is.Class != was.Class || is.Vantage != was.Vantage {
				t.Fatalf("at %d: %+v became %+v with %v slow", at, was, is, slow)
			}
		}
	})
}

func intervalAt(intervals []Interval, at Millis) Interval {
	for _, iv := range intervals {
		if iv.Span.Contains(at) {
			return iv
		}
	}
	return Interval{}
}
