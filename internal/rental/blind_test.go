package rental

import (
	"fmt"
	"testing"
)

func TestAServerIsBlindBetweenItsOwnSamples(t *testing.T) {
	at := func(times ...Millis) Series {
		s := Series{}
		for _, m := range times {
			s.Samples = append(s.Samples, Sample{At: m, Value: 1})
		}
		return s
	}
	for name, c := range map[string]struct {
		own  []Series
		want string
	}{
		"it never ran":                 {nil, "[]"},
		"it ran all the time":          {[]Series{at(0, 5000, 10_000, 15_000)}, "[]"},
		"exactly as long as it may be": {[]Series{at(0, 30_000)}, "[]"},
		"a millisecond longer":         {[]Series{at(0, 30_001)}, "[{0 30001}]"},
		"two versions of it":           {[]Series{at(90_000, 95_000), at(0, 5000)}, "[{5000 90000}]"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range BlindSpans(c.own) {
				got = append(got, fmt.Sprintf("{%d %d}", s.Start, s.End))
			}
			if fmt.Sprint(got) != c.want {
				t.Errorf("blind in %v, expected %s", got, c.want)
			}
		})
	}
}

func TestBlindnessNamesSilenceAndNothingElse(t *testing.T) {
	card := []Interval{
		{Span: Span{0, 10}, Class: Up, Reason: "ok"}, {Span: Span{10, 40}, Class: NoData, Reason: ReasonNoSamples},
		{Span: Span{40, 50}, Class: Down, Reason: ReasonHostDown, Vantage: VantageOutOfBand}, {Span: Span{50, 60}, Class: NoData, Reason: ReasonReleased},
	}
	want := []Interval{card[0], {Span: Span{10, 20}, Class: NoData, Reason: ReasonNoSamples}, {Span: Span{20, 40}, Class: NoData, Reason: ReasonBlind}, card[2], card[3]}
	if got := UnderBlindness(card, []Span{{20, 100}}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, expected %v", got, want)
	}
}
