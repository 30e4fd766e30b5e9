package rental

import (
	"fmt"
	"slices"
	"strings"
)

// KindRMA is the kind of the facts that hold the cases of cards that go back to their maker.
const KindRMA = "RMA"

// RMA is the case of one card that goes back to its maker, from the first word to what came of it.
type RMA struct {
	ID string `json:"id"` // RMA-000001
	// GPU is the card's uuid; serial, SKU, host and slot are as they were when the case was opened.
	GPU    string `json:"gpu"`
	Serial string `json:"serial"`
	SKU    string `json:"sku"`
	Host   string `json:"host"`
	Slot   int    `json:"slot"`
	// Incident is the incident that it began with; empty where there was none.
	Incident string `json:"incident,omitempty"`
	// State is RMAOpen, RMAReplaced or RMAClosed.
	State string `json:"state"`
	// Replacement is the card that the maker gave for it; nil where there is none (yet).
	Replacement *RMAReplacement `json:"replacement,omitempty"`
	// Acts are what people did, the oldest first.
	Acts []Act `json:"acts"`
}

// RMAReplacement is a card that came for another one.
type RMAReplacement struct {
	UUID   string `json:"uuid"`
	Serial string `json:"serial"`
}

// States of an RMA.
const (
	RMAOpen     = "open"     // the card waits for its maker's word
	RMAReplaced = "replaced" // another card has come for it
	RMAClosed   = "closed"
)

// RMAStates lists every state, for checks.
var RMAStates = []string{RMAOpen, RMAReplaced, RMAClosed}

// Kinds of an Act upon an RMA.
const (
	ActOpened   = "opened"
	ActReplaced = "replaced"
	ActClosed   = "closed"
)

// What came of an RMA: the Outcome of its ActClosed.
const (
	RMAOutcomeReplaced = "replaced" // the maker gave another card
	RMAOutcomeRepaired = "repaired" // the same card came back mended
	RMAOutcomeNoFault  = "no_fault" // the same card came back; the maker found nothing
	RMAOutcomeRefused  = "refused"  // the maker does not answer for it
)

// RMAOutcomes lists every outcome, for checks.
var RMAOutcomes = []string{RMAOutcomeReplaced, RMAOutcomeRepaired, RMAOutcomeNoFault, RMAOutcomeRefused}

// RMALife is where a card stands in its life after an outcome: one that was replaced stays with
// its maker, one that came back waits in stock. A refused one stays where it is: what becomes of
// it is for a person to say.
func RMALife(outcome string) GPULife {
	switch outcome {
	case RMAOutcomeReplaced:
		return GPUScrapped
	case RMAOutcomeRepaired, RMAOutcomeNoFault:
		return GPUStock
	}
	return GPURMA
}

// OpenRMA begins the case of a card. Errors are CodeInvalid.
func OpenRMA(id string, g GPU, incident string, a Act) (RMA, error) {
	a.Kind = ActOpened
	if err := a.check("RMA of GPU " + g.UUID); err != nil {
		return RMA{}, err
	}
	return RMA{ID: id, GPU: g.UUID, Serial: g.Serial, SKU: g.SKU, Host: g.Host, Slot: g.Slot, Incident: incident,
		State: RMAOpen, Acts: []Act{a}}, nil
}

// Do returns the case after an act of ActReplaced, with the card that came, or of ActClosed, with
// its Outcome. A replacement may be named again, to correct it. Errors are CodeInvalid, and
// CodeRefused for what does not fit to how the case stands.
func (r RMA) Do(a Act, with RMAReplacement) (RMA, error) {
	if err := a.check(r.ID); err != nil {
		return r, err
	}
	if r.State == RMAClosed {
		return r, refusedf("%s: it is closed: expected one that is not; open another for what came later", r.ID)
	}
	switch a.Kind {
	case ActReplaced:
		var f faults
		f.required("uuid", with.UUID, "the uuid of the card that came")
		f.required("serial", with.Serial, "the serial of the card that came")
		f.check(with.UUID != r.GPU, "uuid", with.UUID, "another card than the one that went")
		if err := invalidOf(r.ID, f.list); err != nil {
			return r, err
		}
		r.State, r.Replacement = RMAReplaced, &with
	case ActClosed:
		if !slices.Contains(RMAOutcomes, a.Outcome) {
			return r, &Error{Code: CodeInvalid, Message: fmt.Sprintf("%s: outcome: found %q, expected %s", r.ID, a.Outcome, strings.Join(RMAOutcomes, ", "))}
		}
		if came := r.Replacement != nil; came != (a.Outcome == RMAOutcomeReplaced) {
			if came {
				return r, refusedf("%s: GPU %s came for it: expected the outcome %s, found %s", r.ID, r.Replacement.UUID, RMAOutcomeReplaced, a.Outcome)
			}
			return r, refusedf("%s: no other card is recorded for it: expected that one is named first (leasewatch rma replace)", r.ID)
		}
		r.State = RMAClosed
	default:
		return r, &Error{Code: CodeInvalid, Message: fmt.Sprintf("%s: found the act %q, expected %s or %s", r.ID, a.Kind, ActReplaced, ActClosed)}
	}
	r.Acts = append(slices.Clone(r.Acts), a)
	return r, nil
}
