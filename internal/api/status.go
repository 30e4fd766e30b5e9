package api

import "github.com/leasewatch/leasewatch/internal/rental"

// Status is how the server itself is.
type Status struct {
	Version string        `json:"version"`
	At      rental.Millis `json:"at"`
	Paging  Paging        `json:"paging"`
	Store   Store         `json:"store"`
	Outbox  Outbox        `json:"outbox"`
	// EvaluationFailures names the groups of rules of which one failed to evaluate last, with the reason.
	EvaluationFailures []Failure `json:"evaluation_failures"`
	// TargetsDown names the exporters that cannot be read, with the reason.
	TargetsDown []Failure `json:"targets_down"`
	// ChangesWaiting counts the changes that wait for a second person, for whoever may decide.
	ChangesWaiting int `json:"changes_waiting,omitempty"`
}

// Paging tells whether anybody is told of a page.
type Paging struct {
	Enabled bool `json:"enabled"`
	// Cause is PagingNoToken where that is why nobody is paged; empty where Enabled.
	Cause string `json:"cause,omitempty"`
	// Reason says why nobody is paged: "no Slack token is configured". Empty where Enabled.
	Reason string `json:"reason,omitempty"`
}

// PagingNoToken tells that no Slack token is configured.
const PagingNoToken = "no_token"

// Store is how the store of samples is.
type Store struct {
	// Kind is embedded or remote.
	Kind string `json:"kind"`
	// Healthy is false while samples cannot be stored.
	Healthy bool `json:"healthy"`
	// Cause is one of the words below; empty where Healthy.
	Cause string `json:"cause,omitempty"`
	// Reason is the error of the newest write that failed; empty where Healthy.
	Reason string `json:"reason,omitempty"`
	// Since is when the first of these writes failed; 0 where Healthy.
	Since rental.Millis `json:"since,omitempty"`
	// Series is how many series are held in memory.
	Series int64 `json:"series"`
}

// Why samples cannot be stored.
const (
	StoreFull     = "full"      // no space, or no quota, is left
	StoreReadOnly = "read_only" // mounted so, or not this user's
	StoreFails    = "fails"     // any other error; the reason says it
)

// Outbox is what waits to be told to people.
type Outbox struct {
	Pending int `json:"pending"`
	Failed  int `json:"failed"`
	// OldestSeconds is the age of the oldest message that waits; 0 where none does.
	OldestSeconds int64  `json:"oldest_seconds"`
	Reason        string `json:"reason,omitempty"` // the last error of the oldest message
}

// Failure is something that does not work, since when and why.
type Failure struct {
	Name   string        `json:"name"`
	Reason string        `json:"reason"`
	Since  rental.Millis `json:"since,omitempty"`
}
