package api

import (
	"context"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// SchedulerSession is what a scheduler says of one GPU, or of all GPUs of one of its jobs: when it
// was given to a lease, when it was taken back, or both. Scheduler, cluster, session and uuid are
// its name: telling it again changes nothing, and start and end may come apart and in any order.
type SchedulerSession struct {
	Scheduler string `json:"scheduler" maxLength:"63" minLength:"1" pattern:"^[A-Za-z0-9._-]+$" patternDescription:"letters, digits, dots, dashes and underscores"`
	Cluster   string `json:"cluster" maxLength:"200" minLength:"1" pattern:"^[A-Za-z0-9._-]+$" patternDescription:"letters, digits, dots, dashes and underscores"`
	// Session is the scheduler's own: a pod's uid, a job's id.
	Session string `json:"session" maxLength:"200" minLength:"1" pattern:"^[A-Za-z0-9._-]+$" patternDescription:"letters, digits, dots, dashes and underscores"`
	Lease   string `json:"lease" maxLength:"200" minLength:"1"`
	// UUID is the GPU's or MIG instance's; empty, with an end alone, for all of the session's.
	UUID string `json:"uuid,omitempty" maxLength:"200"`
	// Start and End are moments; one that is not known yet is left out.
	Start rental.Millis `json:"start,omitempty"`
	End   rental.Millis `json:"end,omitempty"`
}

// TellAssignments is what a scheduler says at once: all of it is recorded, or nothing.
type TellAssignments struct {
	Sessions []SchedulerSession `json:"sessions" maxItems:"1000" minItems:"1"`
	// Strict refuses a claim of what another lease has, and more GPUs than a floating lease was
	// sold. Without it both are recorded and told as conflicts: a fact does not go away by being refused.
	Strict bool `json:"strict,omitempty"`
}

// ToldAssignments says what became of it.
type ToldAssignments struct {
	// Held are ends whose start is not there yet; they count when it comes.
	Held []SchedulerSession `json:"held"`
	// Over are the times in which a lease that was touched holds more than it was sold.
	Over []OverNumber `json:"over"`
}

// OverNumber is time in which a floating lease holds more GPUs than its number.
type OverNumber struct {
	Lease  string      `json:"lease"`
	Number int         `json:"number"`
	Span   rental.Span `json:"span"`
}

// TellAssignments records what a scheduler says.
func (c *Client) TellAssignments(ctx context.Context, in TellAssignments) (ToldAssignments, error) {
	var out ToldAssignments
	return out, c.post(ctx, in, &out, "assignments")
}
