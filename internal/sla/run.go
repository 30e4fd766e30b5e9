package sla

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// run is a stretch of down time that one vantage told, the states that it went through and what came after it.
type run struct {
	span   rental.Span
	states []rental.Interval
	after  *rental.Interval // nil where it goes on
	// proof is what proves the states that no sample of the card itself tells, by their start.
	proof map[rental.Millis][]rental.Evidence
}

// judged gives degraded time the class that the contract gives it.
func (p promise) judged(timeline []rental.Interval) []rental.Interval {
	if p.contract.Availability == nil || p.contract.Availability.Degraded != string(rental.Down) {
		return timeline
	}
	out := slices.Clone(timeline)
	for i := range out {
		if out[i].Reason == rental.ReasonDegraded {
			out[i].Class = rental.Down
		}
	}
	return out
}

func downRuns(timeline []rental.Interval) []run {
	var runs []run
	for i, iv := range timeline {
		n := len(runs)
		touches := n > 0 && runs[n-1].span.End == iv.Span.Start
		switch {
		case iv.Class != rental.Down:
			if touches {
				runs[n-1].after = &timeline[i]
			}
		case touches && runs[n-1].vantage() == iv.Vantage:
			runs[n-1].span.End = iv.Span.End
			runs[n-1].states = append(runs[n-1].states, iv)
		default:
			if touches {
				runs[n-1].after = &timeline[i]
			}
			runs = append(runs, run{span: iv.Span, states: []rental.Interval{iv}})
		}
	}
	return runs
}

// prove looks up what proves the states of a run that the card's own samples do not tell.
func (s *Service) prove(ctx context.Context, a rental.Assignment, sku rental.SKU, r *run) error {
	for _, iv := range r.states {
		var found []rental.Evidence
		var err error
		switch iv.Reason {
		case rental.ReasonHostDown:
			found, err = s.hostProof(ctx, a.Host, iv.Span)
		case rental.ReasonDegraded:
			found, err = s.slowProof(ctx, a.CardUUID(), sku, iv)
		}
		if err != nil {
			return err
		}
		if len(found) > 0 {
			if r.proof == nil {
				r.proof = map[rental.Millis][]rental.Evidence{}
			}
			r.proof[iv.Span.Start] = found
		}
	}
	return nil
}

// evidence names the samples at which the run's states began and at which it ended.
func (r run) evidence(uuid string) []rental.Evidence {
	told := func(iv rental.Interval) []rental.Evidence {
		switch {
		case iv.Reason == rental.ReasonHostDown, iv.Reason == rental.ReasonDegraded && iv.Class == rental.Down:
			return r.proof[iv.Span.Start]
		case iv.Reason == rental.ReasonDegraded:
			iv.Reason = "ok" // as its samples say
		case iv.Reason == rental.ReasonNoSamples, iv.Reason == rental.ReasonBlind:
			return []rental.Evidence{{Kind: rental.EvidenceSilence, ID: fmt.Sprintf("%s{uuid=%q} @ %s", stateMetric, uuid, iv.Span.Start)}}
		}
		return []rental.Evidence{{Kind: rental.EvidenceTransition, ID: fmt.Sprintf("%s @ %s", sample(uuid, iv), iv.Span.Start)}}
	}
	var out []rental.Evidence
	for _, iv := range r.states {
		out = append(out, told(iv)...)
	}
	if r.after != nil {
		out = append(out, told(*r.after)...)
	}
	return out
}

// witnesses names who saw the run begin.
func (r run) witnesses(uuid string) []string {
	first := r.states[0]
	var out []string
	for _, e := range r.proof[first.Span.Start] {
		if e.Kind == rental.EvidenceReading || strings.Contains(e.ID, " == 0 @ ") {
			out = append(out, e.ID)
		}
	}
	if len(out) == 0 {
		out = []string{fmt.Sprintf("%s == 1 at %s", sample(uuid, first), first.Span.Start)}
	}
	return out
}

// fact makes the downtime of a run. Its id depends on lease, card and start alone, so deriving it
// again, or its longer end, is the same fact.
func fact(lease string, a rental.Assignment, r run, c rental.Contract) rental.Downtime {
	sum := sha256.Sum256([]byte(lease + "\x00" + a.UUID + "\x00" + r.span.Start.String()))
	d := rental.Downtime{
		ID: rental.AutomaticPrefix + hex.EncodeToString(sum[:8]), Lease: lease, UUIDs: []string{a.UUID}, Span: r.span,
		Cause: r.cause(), Reason: r.states[0].Reason,
		Witnesses: r.witnesses(a.CardUUID()), Evidence: r.evidence(a.CardUUID()),
	}
	// What the tenant may have done himself, as who is root can unload the driver, waits for a
	// person under any contract.
	if c.DowntimeApproval == rental.ApprovalAutomatic && d.Cause == rental.CauseProvider {
		d.ApprovedBy = rental.ApprovalAutomatic
	}
	return d
}
