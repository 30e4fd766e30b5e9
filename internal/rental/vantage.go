package rental

// VantageGuest marks what was taken from inside a lease: in the guest of a passthrough machine, or
// in a rented container. Everything else was taken on the host, and its vantage is empty.
const VantageGuest = "guest"

// byVantage parts the series of the host from those of guests.
func byVantage(series []Series) (host, guest []Series) {
	for _, s := range series {
		if s.Labels["vantage"] == VantageGuest {
			guest = append(guest, s)
		} else {
			host = append(host, s)
		}
	}
	return host, guest
}

// believed lays what a guest told over what the host told: the host is believed wherever it knows
// anything, the guest where the host says nothing or has let go of the card.
func believed(host, guest []Interval) []Interval {
	var out []Interval
	next := 0
	for _, iv := range host {
		for next < len(guest) && guest[next].Span.End <= iv.Span.Start {
			next++
		}
		if iv.Class != NoData {
			out = appendInterval(out, iv)
			continue
		}
		for k := next; k < len(guest) && guest[k].Span.Start < iv.Span.End; k++ {
			told := guest[k]
			told.Span = told.Span.Clip(iv.Span)
			if told.Class == NoData {
				told.Class, told.Reason = iv.Class, iv.Reason
			} else {
				told.Vantage = VantageGuest
			}
			out = appendInterval(out, told)
		}
	}
	return out
}

// Unwatched names the silence of a card that only a guest ever measured: opaque, not unknown. Whoever
// runs the guest may stop what measures there, so its silence is nobody's downtime, whatever the
// contract says of unknown time. Where the host measured the card at any time, silence stays unknown.
func Unwatched(timeline []Interval) []Interval {
	inside := false
	for _, iv := range timeline {
		if iv.Class == Up || iv.Class == Down {
			if iv.Vantage == VantageOutOfBand {
				continue // it says of the machine, and nobody measured the card by it
			}
			if iv.Vantage != VantageGuest {
				return timeline
			}
			inside = true
		}
	}
	if !inside {
		return timeline
	}
	var out []Interval
	for _, iv := range timeline {
		if iv.Class == NoData && (iv.Reason == ReasonNoSamples || iv.Reason == ReasonBlind) {
			iv.Reason = ReasonOpaque
		}
		out = appendInterval(out, iv)
	}
	return out
}

// unmeasured tells whether time is unknown because nobody could look, by whose choice ever: a card
// that was let go of, or one that only its tenant sees. It is neither kept nor down (rule 7 of the
// design).
func (iv Interval) unmeasured() bool {
	return iv.Class == NoData && (iv.Reason == ReasonReleased || iv.Reason == ReasonOpaque)
}

// without returns a low bound without the time that nobody could measure: that is not taken for down.
func (b Bound) without(unmeasured int64) Bound {
	return Bound{Numerator: b.Numerator + unmeasured, Denominator: b.Denominator}
}

// asMeasured takes unmeasured time for up, so that only what the contract calls unknown is left of it.
func asMeasured(timeline []Interval) []Interval {
	var out []Interval
	for _, iv := range timeline {
		if iv.unmeasured() {
			iv.Class = Up
		}
		out = appendInterval(out, iv)
	}
	return out
}
