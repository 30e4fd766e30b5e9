package rental

// HistoryEntry is one revision of one thing that bears on a lease: when it was recorded, by whom,
// why, and what it changed. What holds is the last revision of each thing.
type HistoryEntry struct {
	At Millis `json:"at"`
	// By is the id of a person or the name of a program; empty where it is not told.
	By string `json:"by,omitempty"`
	// ApprovedBy is the second person, where one was needed.
	ApprovedBy string `json:"approved_by,omitempty"`
	// Why is the reason that was given.
	Why string `json:"why,omitempty"`
	// Kind and Name say what was recorded: a resource by its kind, or one of the History kinds.
	Kind     string `json:"kind"`
	Name     string `json:"name"`
	Revision int    `json:"revision"`
	// Action is create, update or withdraw.
	Action string `json:"action"`
	// Diff holds one line a changed field, old -> new; of a first revision each field.
	Diff string `json:"diff,omitempty"`
}

// The kinds of history entries that are no resources.
const (
	HistoryAssignment = "Assignment" // a GPU that serves the lease, by its uuid
	HistoryDowntime   = "Downtime"
	HistoryInvoice    = "Invoice" // a month whose bill was closed
)

// ActionWithdraw takes a fact back: its span holds no time any more.
const ActionWithdraw = "withdraw"
