package rental

import "slices"

// Kinds of an incident's events that its clocks read.
const (
	EventAcked          = "acked"            // by a person of the provider
	EventAckedByProgram = "acked_by_program" // quiet, and no answer: the response clock goes on
	EventSilenced       = "silenced"         // by a person, who has it in hand by that
	EventNotified       = "notified"         // a message was delivered
	EventReported       = "reported"
	EventVerified       = "verified"
	EventAnswerNoted    = "answer_noted"
	EventAnswerApproved = "answer_approved"
)

// LateAnswer is a response that a person gave elsewhere and noted afterwards. It counts once a
// second person has approved it.
type LateAnswer struct {
	At         Millis `json:"at"` // when it was given, as noted
	By         string `json:"by"`
	Note       string `json:"note"`
	NotedAt    Millis `json:"noted_at"`
	ApprovedBy string `json:"approved_by,omitempty"`
	ApprovedAt Millis `json:"approved_at,omitempty"`
}

// Reported is when the provider was told: by the first message that was delivered or by somebody,
// whichever came first; 0 where nobody was told.
func (i Incident) Reported() Millis {
	at := i.ReportedAt
	for _, e := range i.Events {
		if e.Kind == EventNotified && (at == 0 || e.At < at) {
			at = e.At
		}
	}
	return at
}

// Responded is when a person of the provider answered first; 0 where none did. A late answer
// counts once it is approved. An incident of before events said who acked has only its AckedAt.
func (i Incident) Responded() Millis {
	var at Millis
	first := func(t Millis) {
		if t != 0 && (at == 0 || t < at) {
			at = t
		}
	}
	program := false
	for _, e := range i.Events {
		program = program || e.Kind == EventAckedByProgram
		if e.Kind == EventAcked || e.Kind == EventSilenced {
			first(e.At)
		}
	}
	if !program {
		first(i.AckedAt)
	}
	for _, a := range i.Answers {
		if a.ApprovedBy != "" {
			first(a.At)
		}
	}
	return at
}

// answerPending tells whether a late answer of before the moment waits for its second person.
func (i Incident) answerPending(before Millis) bool {
	return slices.ContainsFunc(i.Answers, func(a LateAnswer) bool { return a.ApprovedBy == "" && a.At <= before })
}

// Report returns the incident as somebody told the provider of it; the first who did stays named.
// Refused once it is over.
func (i Incident) Report(at Millis, by, note string) (Incident, error) {
	if i.Status == IncidentResolved || i.Status == IncidentUnknown {
		return i, refusedf("incident %s: found it %s, expected one that is not over", i.ID, i.Status)
	}
	if i.ReportedAt == 0 {
		i.ReportedAt, i.ReportedBy = at, by
		i.addEvent(at, EventReported, by, note)
	}
	return i, nil
}

// Verify returns the incident with somebody's word that it works again; the first who says so stays
// named. Refused before it is resolved.
func (i Incident) Verify(at Millis, by, note string) (Incident, error) {
	if i.Status != IncidentResolved {
		return i, refusedf("incident %s: found it %s, expected one that is resolved", i.ID, i.Status)
	}
	if i.VerifiedAt == 0 {
		i.VerifiedAt, i.VerifiedBy = at, by
		i.addEvent(at, EventVerified, by, note)
	}
	return i, nil
}

// NoteAnswer notes at a moment that a person answered earlier, at given. It changes nothing before
// a second person has approved it.
func (i Incident) NoteAnswer(given, at Millis, by, note string) (Incident, error) {
	var f faults
	f.required("note", note, "how and by whom it was answered, in a few words")
	f.check(given >= min(i.EvidenceAt, i.DetectedAt, i.OpenedAt), "at", given.String(), "a time not before the incident's evidence")
	f.check(given <= at, "at", given.String(), "a time not after now")
	f.check(!i.answerPending(Forever), "at", "another answer", "the one that waits to be approved first")
	if err := invalidOf("incident "+i.ID, f.list); err != nil {
		return i, err
	}
	i.Answers = append(slices.Clone(i.Answers), LateAnswer{At: given, By: by, Note: note, NotedAt: at})
	i.addEvent(at, EventAnswerNoted, by, given.String()+": "+note)
	return i, nil
}

// ApproveAnswer approves the answer that waits, by another person than who noted it.
func (i Incident) ApproveAnswer(at Millis, by string) (Incident, error) {
	n := slices.IndexFunc(i.Answers, func(a LateAnswer) bool { return a.ApprovedBy == "" })
	if n < 0 {
		return i, refusedf("incident %s: no answer waits to be approved", i.ID)
	}
	if err := SecondPerson("incident "+i.ID, by, i.Answers[n].By); err != nil {
		return i, err
	}
	i.Answers = slices.Clone(i.Answers)
	i.Answers[n].ApprovedBy, i.Answers[n].ApprovedAt = by, at
	i.addEvent(at, EventAnswerApproved, by, i.Answers[n].At.String())
	return i, nil
}

func (i *Incident) addEvent(at Millis, kind, by, note string) {
	i.Events = append(slices.Clone(i.Events), IncidentEvent{At: at, Kind: kind, By: by, Note: note})
	i.Revision++
}
