package gpu

import (
	"slices"
	"time"
)

// Answer is the class of what the driver said about one GPU in one round of calls.
type Answer string

// The classes of answers.
const (
	// AnswerOK: the round's calls answered, and the driver asks for nothing.
	AnswerOK Answer = "ok"
	// AnswerLost: any call answered "GPU is lost". Getters that still answer do not outweigh it.
	AnswerLost Answer = "lost"
	// AnswerNotSeen: the driver answers, and no longer lists this GPU.
	AnswerNotSeen Answer = "not_seen"
	// AnswerResetRequired: a call answered "reset required", or the recovery action is one without
	// which the card takes no work.
	AnswerResetRequired Answer = "reset_required"
	// AnswerTimeout: a call has not returned; Observation.Since is when it began.
	AnswerTimeout Answer = "timeout"
	// AnswerDriverDown: library or kernel driver do not answer for any GPU.
	AnswerDriverDown Answer = "driver_down"
	// AnswerFabricIncomplete: the calls answer, but the NVSwitch fabric has not taken the GPU in.
	AnswerFabricIncomplete Answer = "fabric_incomplete"
	// AnswerReleased: the exporter let go of the GPU by policy and asks it nothing, or the GPU was
	// passed through to a virtual machine.
	AnswerReleased Answer = "released"
	// AnswerError: the calls are refused in a way that says nothing about the card ("unknown error").
	AnswerError Answer = "error"
	// AnswerNobodyAsked: the exporter did not run. Observation.Since is when it last knew.
	AnswerNobodyAsked Answer = "nobody_asked"
)

// Answers lists every class. Where one round gives several, the earliest in this list counts.
var Answers = []Answer{
	AnswerReleased, AnswerDriverDown, AnswerLost, AnswerNotSeen, AnswerResetRequired,
	AnswerTimeout, AnswerFabricIncomplete, AnswerError, AnswerNobodyAsked, AnswerOK,
}

// Worse returns the answer that counts where one round of calls gave both.
func Worse(a, b Answer) Answer {
	if slices.Index(Answers, a) <= slices.Index(Answers, b) {
		return a
	}
	return b
}

// Holds before an answer that may pass by itself changes the state.
const (
	// UnresponsiveAfter is how long one call may hang before its GPU is unresponsive: a GSP
	// timeout stalls each call for 45 s and can still be answered.
	UnresponsiveAfter = 60 * time.Second
	// UnknownAfter is how long refusals without meaning keep the present state: two rounds
	// of the 5 s tier.
	UnknownAfter = 10 * time.Second
)

// Transition is one row of the state machine's table.
type Transition struct {
	Answer Answer
	// From holds the states that this row moves; in any other the GPU stays where it is.
	From []State
	To   State
	// After is how long the answer must last. The new state then counts from its beginning.
	After time.Duration
	// Why is the reason for the row, for the documentation.
	Why string
}

// Transitions is the whole state machine. A state that is down is left by a clear answer
// only: a hanging or meaningless call never turns it into a milder one.
var Transitions = []Transition{
	{AnswerOK, States, OK, 0, "the first good round ends every failure"},
	{AnswerLost, States, Lost, 0, "the driver says so"},
	{AnswerNotSeen, States, Lost, 0, "a card that was there and is no longer listed is not gone quietly"},
	{AnswerResetRequired, States, ResetRequired, 0, "the driver, or the recovery action, asks for it"},
	{AnswerDriverDown, States, DriverDown, 0, "no card can be asked"},
	{AnswerFabricIncomplete, States, FabricIncomplete, 0, "the card works, jobs across the fabric do not start"},
	{AnswerReleased, States, Released, 0, "an operator let go of the card"},
	{AnswerTimeout, []State{OK, FabricIncomplete, Released, Unknown}, Unresponsive, UnresponsiveAfter,
		"a call may be slow; one that hangs this long will not be used"},
	{AnswerError, []State{OK, FabricIncomplete, Released, Unknown}, Unknown, UnknownAfter,
		"nothing can be said of the card, which is not the same as down"},
	{AnswerNobodyAsked, []State{OK, FabricIncomplete}, Unknown, 0,
		"the exporter did not run: that the card worked is no longer known, that it failed or was let go of still is"},
}

// Observation is one round's answer about one GPU.
type Observation struct {
	At     time.Time
	Answer Answer
	// Since is when the answer began to hold, where that is before At: when the call that hangs
	// began (AnswerTimeout), when the exporter last knew (AnswerNobodyAsked). Zero means At.
	Since time.Time
	// Reason says in a few words what was seen.
	Reason string
	// Call is the driver call that hangs, "" where none does.
	Call string
}

// Change is one change of state.
type Change struct {
	From, To State
	// Since is when the new state began: for a state with a hold, when the answer began.
	Since time.Time
	// Seen is when the change was noticed; a hold lies between both.
	Seen   time.Time
	Reason string
}

// Machine holds the state of one GPU. It is not safe for concurrent use: the worker of the
// GPU owns it and publishes copies.
type Machine struct {
	status  Status
	seen    time.Time // the newest observation
	counted time.Time // Seconds are complete up to here; before seen while an answer is held
	held    Answer    // an answer that has not lasted long enough yet
	heldAt  time.Time
}

// NewMachine returns a machine that starts to count at start, in state unknown.
func NewMachine(start time.Time) *Machine {
	return &Machine{
		status:  Status{State: Unknown, Since: start, Reason: "not asked yet", Seconds: make(map[State]float64, len(States))},
		seen:    start,
		counted: start,
	}
}

// ResumeMachine returns a machine that goes on from what was known of a GPU when the exporter
// last ran. Times after now come from a clock that was wrong, and count as now.
func ResumeMachine(last Status, now time.Time) *Machine {
	counted := earlier(last.Until, now)
	m := NewMachine(counted)
	if slices.Contains(States, last.State) {
		m.status.State, m.status.Since, m.status.Reason = last.State, earlier(last.Since, counted), last.Reason
	}
	for _, state := range States {
		m.status.Seconds[state] = max(0, last.Seconds[state])
	}
	return m
}

// Observe takes one round's answer and tells whether the state changed. Time never runs
// back: an observation older than the last one counts as made at the last one's time.
func (m *Machine) Observe(o Observation) (Change, bool) {
	at := later(o.At, m.seen)
	m.seen = at
	began := at
	if !o.Since.IsZero() && o.Since.Before(at) {
		began = later(o.Since, m.counted)
	}
	row, moves := m.row(o.Answer)
	if !moves {
		if o.Call != "" && m.status.State == Unresponsive { // the file that kept the state does not know it
			m.status.Call = o.Call
		}
		m.settle(at)
		return Change{}, false
	}
	if row.After > 0 {
		if m.held != o.Answer {
			began = later(began, m.heldAt) // an earlier hold of another kind came to nothing
			m.settle(began)
			m.held, m.heldAt = o.Answer, began
		}
		if at.Sub(m.heldAt) < row.After {
			return Change{}, false
		}
		began = m.heldAt
	}
	return m.enter(row.To, began, at, o)
}

// Status returns a copy of the present state. Its seconds reach up to the last observation,
// or up to the beginning of an answer that is still held: what that time was is not known yet.
func (m *Machine) Status() Status {
	s := m.status
	s.Until = m.counted
	s.Seconds = make(map[State]float64, len(States))
	for _, state := range States {
		s.Seconds[state] = m.status.Seconds[state]
	}
	return s
}

// row finds the transition for an answer in the present state.
func (m *Machine) row(a Answer) (Transition, bool) {
	for _, t := range Transitions {
		if t.Answer == a {
			return t, slices.Contains(t.From, m.status.State)
		}
	}
	return Transition{}, false
}

// settle counts the time up to at as spent in the present state and forgets a held answer.
func (m *Machine) settle(at time.Time) {
	if at.After(m.counted) {
		m.status.Seconds[m.status.State] += at.Sub(m.counted).Seconds()
		m.counted = at
	}
	m.held, m.heldAt = "", time.Time{}
}

// enter counts the old state up to began and the new one from there up to at.
func (m *Machine) enter(to State, began, at time.Time, o Observation) (Change, bool) {
	m.settle(began)
	from := m.status.State
	if from != to {
		m.status.State, m.status.Since = to, began
	}
	m.status.Reason, m.status.Call = o.Reason, o.Call
	m.settle(at)
	return Change{From: from, To: to, Since: m.status.Since, Seen: at, Reason: o.Reason}, from != to
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
