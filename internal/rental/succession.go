package rental

import (
	"cmp"
	"fmt"
	"slices"
)

// Succeeding returns the downtime, as samples tell it now, with what people said of those of before
// whose time it takes over: samples that came late moved a start, joined two downtimes or split
// one, and the id of a measured downtime goes with its start. A dispute of any of them goes on, and
// a decision holds where all say the same and it covers no more time than it was taken on; else it
// waits for a person again. Those of which nobody said anything, and which the contract's word
// alone approved, change nothing.
func (d Downtime) Succeeding(before []Downtime, at Millis) Downtime {
	before = slices.Clone(before)
	slices.SortFunc(before, func(a, b Downtime) int {
		return cmp.Or(cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.ID, b.ID))
	})
	out, spoken := d, len(d.Acts) > 0
	for _, b := range before {
		if b.ID == d.ID || !b.Span.Overlaps(d.Span) || !b.spokenOf() {
			continue
		}
		told := b.Renewed(d, at)
		acts := slices.Clone(out.Acts)
		for _, a := range told.Acts {
			if !slices.Contains(acts, a) {
				acts = append(acts, a)
			}
		}
		acts = append(acts, Act{At: at, By: Server, Kind: ActChanged, Note: fmt.Sprintf(
			"takes over from %s, %s to %s: samples that came later changed its times", b.ID, b.Span.Start, b.Span.End)})
		if spoken {
			told = out.agreeing(told)
		}
		out, spoken = told, true
		out.Acts = acts
	}
	return out
}

// spokenOf tells whether a person said anything of the downtime.
func (d Downtime) spokenOf() bool {
	return d.DisputedBy != "" || d.RejectedBy != "" || d.ApprovedBy != "" && d.ApprovedBy != ApprovalAutomatic ||
		slices.ContainsFunc(d.Acts, func(a Act) bool { return a.By != Server })
}

// agreeing returns the downtime as it stands by both words.
func (d Downtime) agreeing(other Downtime) Downtime {
	disputed := cmp.Or(d.DisputedBy, other.DisputedBy)
	if disputed != "" || d.ApprovedBy != other.ApprovedBy || d.RejectedBy != other.RejectedBy || d.Cause != other.Cause {
		d.ApprovedBy, d.RejectedBy = "", ""
	}
	d.DisputedBy, d.Incident, d.EnteredBy = disputed, cmp.Or(d.Incident, other.Incident), cmp.Or(d.EnteredBy, other.EnteredBy)
	return d
}
