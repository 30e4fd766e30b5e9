package rental

import "slices"

// BlindAfter is how long the server's own series, which it stores every 5 s, may be silent before
// it counts as blind.
const BlindAfter = Millis(30_000)

// BlindSpans returns when the server stored nothing of itself: gaps over BlindAfter between two of
// its own samples, given in any order. Before its first and after its last sample there was no
// server to be blind.
func BlindSpans(own []Series) []Span {
	var told []Millis
	for _, s := range own {
		for _, sample := range s.Samples {
			told = append(told, sample.At)
		}
	}
	slices.Sort(told)
	var out []Span
	for i := 1; i < len(told); i++ {
		if told[i]-told[i-1] > BlindAfter {
			out = append(out, Span{Start: told[i-1], End: told[i]})
		}
	}
	return out
}

// UnderBlindness names the silence of a card in which the server was blind.
func UnderBlindness(card []Interval, blind []Span) []Interval {
	var out []Interval
	for _, iv := range card {
		if iv.Class != NoData || iv.Reason != ReasonNoSamples {
			out = appendInterval(out, iv)
			continue
		}
		for _, part := range overlay([]Interval{iv}, blind, NoData, ReasonBlind) {
			out = appendInterval(out, part)
		}
	}
	return out
}
