package rental

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Downtime is a ledger fact: cards of a lease were down for a span.
type Downtime struct {
	ID    string   `json:"id"`
	Lease string   `json:"lease"`
	UUIDs []string `json:"uuids"`
	Span  Span     `json:"span"`
	// Cause is provider, tenant or undetermined.
	Cause string `json:"cause"`
	// Reason is what was seen: lost, reset_required, driver_down...
	Reason    string   `json:"reason"`
	Witnesses []string `json:"witnesses"`
	Incident  string   `json:"incident,omitempty"`
	// Evidence are the ids of what proves it, in order of time.
	Evidence []Evidence `json:"evidence,omitempty"`
	// EnteredBy is who recorded it by hand; empty where it was derived from samples.
	EnteredBy string `json:"entered_by,omitempty"`
	// ApprovedBy is a person's name, or "automatic" by the contract's word; empty while it may
	// change no money.
	ApprovedBy string `json:"approved_by,omitempty"`
	RejectedBy string `json:"rejected_by,omitempty"`
	// DisputedBy is who disputed it first; empty where nobody does, or it was decided.
	DisputedBy string `json:"disputed_by,omitempty"`
	// Acts are what people did with it, the oldest first.
	Acts       []Act  `json:"acts,omitempty"`
	RecordedAt Millis `json:"recorded_at"`
}

// Evidence names one thing that proves a downtime.
type Evidence struct {
	// Kind is one of the Evidence constants.
	Kind string `json:"kind"`
	// ID names it: a sample as series and time, an incident, a file.
	ID string `json:"id,omitempty"`
	// SHA256 is that of a file's bytes, in hex. The bytes stay with whoever recorded it.
	SHA256 string `json:"sha256,omitempty"`
	// Text is what a person wrote down.
	Text string `json:"text,omitempty"`
}

// Kinds of Evidence.
const (
	EvidenceTransition = "transition" // the sample at which a state began
	EvidenceSilence    = "silence"    // the moment from which nobody told a state
	EvidenceIncident   = "incident"   // the incident that was opened of it
	EvidenceText       = "text"       // a person's words
	EvidenceFile       = "file"       // a file, by its hash
	EvidenceProbe      = "probe"      // a host answered a probe, or did not
	EvidenceBMC        = "bmc"        // what a host's BMC said
	EvidenceReading    = "reading"    // a card's reading that is under what was promised
)

// AutomaticPrefix begins the ids of downtimes that were derived from samples. A verdict reads
// those from the timeline itself, which knows them better; the ledger's fact is for the money.
const AutomaticPrefix = "auto-"

// measured tells whether the fact was derived from samples.
func (d Downtime) measured() bool { return strings.HasPrefix(d.ID, AutomaticPrefix) }

// Statuses of a Downtime.
const (
	DowntimeWaiting   = "waiting"   // for an approval
	DowntimeApproved  = "approved"  // it may change money
	DowntimeRejected  = "rejected"  // it may not
	DowntimeDisputed  = "disputed"  // held until a person decides
	DowntimeWithdrawn = "withdrawn" // disproved by later samples
)

// DowntimeStatuses lists every status, for checks.
var DowntimeStatuses = []string{DowntimeWaiting, DowntimeApproved, DowntimeRejected, DowntimeDisputed, DowntimeWithdrawn}

// Status returns where the downtime stands.
func (d Downtime) Status() string {
	switch {
	case d.Span.Empty():
		return DowntimeWithdrawn
	case d.DisputedBy != "":
		return DowntimeDisputed
	case d.ApprovedBy != "":
		return DowntimeApproved
	case d.RejectedBy != "":
		return DowntimeRejected
	default:
		return DowntimeWaiting
	}
}

// Undecided tells whether a person has still to decide: until then it changes no money, and holds
// the credit of its month.
func (d Downtime) Undecided() bool {
	status := d.Status()
	return status == DowntimeWaiting || status == DowntimeDisputed
}

// counts tells whether the downtime is approved, by a person or the contract.
func (d Downtime) counts() bool { return d.Status() == DowntimeApproved }

// Do returns the downtime after an act of ActApproved, ActRejected, ActDisputed or ActDecided; d
// itself is left as it is. An act that is not whole is CodeInvalid; one that does not fit how
// things stand, or that settles what the same person entered or disputed, is CodeRefused.
func (d Downtime) Do(a Act) (Downtime, error) {
	what := "downtime " + d.ID
	if err := a.check(what); err != nil {
		return d, err
	}
	if d.Status() == DowntimeWithdrawn {
		return d, refusedf("%s: withdrawn, later samples disprove it: nothing is left to act on", what)
	}
	var err error
	switch a.Kind {
	case ActDisputed:
		err = d.dispute(what, a)
	case ActApproved, ActRejected, ActDecided:
		err = d.settle(what, a)
	default:
		err = &Error{Code: CodeInvalid, Message: fmt.Sprintf("%s: found the act %q, expected one of %s, %s, %s, %s", what, a.Kind,
			ActApproved, ActRejected, ActDisputed, ActDecided)}
	}
	if err != nil {
		return d, err
	}
	d.Acts = append(slices.Clone(d.Acts), a)
	return d, nil
}

// dispute holds the downtime. A second word, of whichever side, is added to the first.
func (d *Downtime) dispute(what string, a Act) error {
	if a.Side != SideProvider && a.Side != SideTenant {
		return &Error{Code: CodeInvalid, Message: fmt.Sprintf("%s: side: found %q, expected provider or tenant", what, a.Side)}
	}
	if d.DisputedBy == "" {
		d.DisputedBy = a.By
	}
	d.ApprovedBy, d.RejectedBy = "", ""
	return nil
}

// settle approves or rejects.
func (d *Downtime) settle(what string, a Act) error {
	disputed := d.DisputedBy != ""
	outcome := a.Kind
	if a.Kind == ActDecided {
		outcome = a.Outcome
	}
	switch {
	case outcome != ActApproved && outcome != ActRejected:
		return &Error{Code: CodeInvalid, Message: fmt.Sprintf("%s: outcome: found %q, expected %s or %s", what, outcome, ActApproved, ActRejected)}
	case a.Cause != "" && !slices.Contains([]string{CauseProvider, CauseTenant, CauseUndetermined}, a.Cause):
		return &Error{Code: CodeInvalid, Message: fmt.Sprintf("%s: cause: found %q, expected %s, %s or %s", what, a.Cause, CauseProvider, CauseTenant, CauseUndetermined)}
	case d.Span.End == Forever:
		return refusedf("%s: it goes on: expected its end first, since an approval covers no more time than is known", what)
	case disputed && a.Kind != ActDecided:
		return refusedf("%s: disputed by %s: expected a decision (downtime decide) with the notes of both sides", what, d.DisputedBy)
	case !disputed && a.Kind == ActDecided:
		return refusedf("%s: nobody disputes it: expected a dispute (downtime dispute) before a decision", what)
	case !disputed && d.Status() != DowntimeWaiting:
		return refusedf("%s: %s by %s already: expected a dispute (downtime dispute) of what is settled", what, d.Status(), d.ApprovedBy+d.RejectedBy)
	}
	if missing := d.silentSide(); disputed && missing != "" {
		return refusedf("%s: the %s has not said its side: expected a note of both sides (downtime dispute --side=%s) before a decision", what, missing, missing)
	}
	if err := SecondPerson(what, a.By, append(d.disputers(), d.EnteredBy)...); err != nil {
		return err
	}
	d.ApprovedBy, d.RejectedBy, d.DisputedBy = "", "", ""
	if outcome == ActRejected {
		d.RejectedBy = a.By
		return nil
	}
	d.ApprovedBy = a.By
	if a.Cause != "" {
		d.Cause = a.Cause
	}
	return nil
}

// dispute returns the acts of the dispute that is open.
func (d Downtime) openDispute() []Act {
	var out []Act
	for i := len(d.Acts) - 1; i >= 0; i-- {
		switch d.Acts[i].Kind {
		case ActDisputed:
			out = append(out, d.Acts[i])
		case ActApproved, ActRejected, ActDecided:
			return out
		}
	}
	return out
}

func (d Downtime) disputers() []string {
	var names []string
	for _, a := range d.openDispute() {
		names = append(names, a.By)
	}
	return names
}

// silentSide returns the side that said nothing in the open dispute; empty where both did.
func (d Downtime) silentSide() string {
	for _, side := range []string{SideProvider, SideTenant} {
		if !slices.ContainsFunc(d.openDispute(), func(a Act) bool { return a.Side == side }) {
			return side
		}
	}
	return ""
}

// Renewed returns what later samples make of the recorded downtime: span, reason and evidence of
// fresh, with what people said of it. A decision covers no more time than it was taken on; past
// that, the downtime waits for a person again, who decided once that the contract's word is not
// enough.
func (d Downtime) Renewed(fresh Downtime, at Millis) Downtime {
	fresh.Acts, fresh.EnteredBy, fresh.RejectedBy, fresh.DisputedBy = slices.Clone(d.Acts), d.EnteredBy, "", d.DisputedBy
	if fresh.Incident == "" {
		fresh.Incident = d.Incident
	}
	if d.Cause != CauseOfState(d.Reason) {
		fresh.Cause = d.Cause // a person's word
	}
	if fresh.DisputedBy != "" {
		fresh.ApprovedBy = ""
		return fresh
	}
	byPerson := d.RejectedBy != "" || d.ApprovedBy != "" && d.ApprovedBy != ApprovalAutomatic
	if !byPerson {
		if slices.ContainsFunc(d.Acts, func(a Act) bool { return a.Kind != ActWithdrawn }) {
			fresh.ApprovedBy = ""
		}
		return fresh
	}
	if d.Span.Start <= fresh.Span.Start && fresh.Span.End <= d.Span.End {
		fresh.ApprovedBy, fresh.RejectedBy = d.ApprovedBy, d.RejectedBy
		return fresh
	}
	fresh.ApprovedBy = ""
	fresh.Acts = append(fresh.Acts, Act{At: at, By: Server, Kind: ActChanged, Note: fmt.Sprintf(
		"samples that came later say %s to %s, it was decided on %s to %s", fresh.Span.Start, fresh.Span.End, d.Span.Start, d.Span.End)})
	return fresh
}

// Withdrawn returns the downtime without its time: later samples disprove it.
func (d Downtime) Withdrawn(at Millis) Downtime {
	const why = "later samples show no such downtime"
	d.Span.End = d.Span.Start
	d.Witnesses = append(slices.Clone(d.Witnesses), "withdrawn: "+why)
	d.Acts = append(slices.Clone(d.Acts), Act{At: at, By: Server, Kind: ActWithdrawn, Note: why})
	return d
}

var sha256Hex = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Validate returns what is wrong with the downtime; nothing where it is whole. An empty span
// withdraws an earlier revision.
func (d Downtime) Validate() []FieldError {
	var f faults
	f.required("lease", d.Lease, "the id of a lease")
	f.check(len(d.UUIDs) > 0, "uuids", "nothing", "the GPUs that were down")
	f.check(d.Span.Start != 0, "span.start", "nothing", "a time with an offset")
	f.check(d.Span.End >= d.Span.Start, "span.end", d.Span.End.String(), "a time not before the start "+d.Span.Start.String()+", or open")
	f.choice("cause", d.Cause, CauseProvider, CauseTenant, CauseUndetermined)
	f.required("reason", d.Reason, "what was seen, such as lost")
	f.check(len(d.Witnesses) > 0, "witnesses", "nothing", "at least one witness")
	for i, e := range d.Evidence {
		path := "evidence[" + strconv.Itoa(i) + "]"
		f.choice(path+".kind", e.Kind, EvidenceTransition, EvidenceSilence, EvidenceIncident, EvidenceText, EvidenceFile,
			EvidenceProbe, EvidenceBMC, EvidenceReading)
		switch e.Kind {
		case EvidenceText:
			f.required(path+".text", e.Text, "what the person saw")
		case EvidenceFile:
			f.required(path+".id", e.ID, "the file's name")
			f.check(sha256Hex.MatchString(e.SHA256), path+".sha256", orNothing(e.SHA256), "the SHA-256 of the file's bytes, 64 hexadecimal digits in small letters")
		default:
			f.required(path+".id", e.ID, "what it names")
		}
	}
	return f.list
}

// ByHand completes a downtime that a person enters: the cards are those that served the lease in
// the span where none are named, the witnesses are what the evidence says. It is refused, as
// CodeInvalid, unless it lies within the lease, has ended, rests on evidence and names cards that
// served the lease then.
func (d Downtime) ByHand(a Act, lease Lease, served []Assignment) (Downtime, error) {
	d.EnteredBy, d.Acts = a.By, []Act{a}
	var here []string
	for _, s := range served {
		if s.Span.Overlaps(d.Span) && !slices.Contains(here, s.UUID) {
			here = append(here, s.UUID)
		}
	}
	var f faults
	f.required("by", a.By, "the name of who acts")
	f.check(d.Span.End > d.Span.Start, "end", d.Span.End.String(), "a time after the start "+d.Span.Start.String())
	f.check(d.Span.End <= a.At, "end", d.Span.End.String(), "a time that has passed: a downtime is recorded once it is over")
	f.check(d.Span.Clip(lease.Span()) == d.Span, "start", d.Span.Start.String()+" to "+d.Span.End.String(),
		"a span within lease "+lease.ID+", "+lease.Start.String()+" to "+lease.End.String())
	f.check(len(d.Evidence) > 0, "evidence", "nothing", "what proves it: a person's words, or a file by its hash")
	f.check(len(here) > 0 || len(d.UUIDs) > 0, "uuids", "nothing", "a card: none served lease "+lease.ID+" then")
	for i, uuid := range d.UUIDs {
		f.check(slices.Contains(here, uuid), "uuids["+strconv.Itoa(i)+"]", quoted(uuid), "a card that served lease "+lease.ID+" in the span")
	}
	if len(d.UUIDs) == 0 {
		d.UUIDs = here
	}
	slices.Sort(d.UUIDs)
	d.UUIDs = slices.Compact(d.UUIDs)
	for _, e := range d.Evidence {
		witness := e.Text
		if e.Kind != EvidenceText {
			witness = strings.TrimSpace(e.Kind + " " + e.ID + " " + e.SHA256)
		}
		d.Witnesses = append(d.Witnesses, witness)
	}
	for _, fault := range d.Validate() {
		if fault.Path != "witnesses" && fault.Path != "uuids" && fault.Path != "span.end" {
			f.list = append(f.list, fault)
		}
	}
	return d, invalidOf("downtime", f.list)
}
