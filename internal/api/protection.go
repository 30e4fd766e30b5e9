package api

import (
	"context"
	"net/url"
	"strconv"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// ReportBackup tells of one copy of a lease's work. Told again it is the same one.
type ReportBackup struct {
	Lease string `json:"lease" maxLength:"200" minLength:"1"`
	// Set names what is copied, such as checkpoints.
	Set string `json:"set" maxLength:"100" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]*$" patternDescription:"letters, digits, dots, lines"`
	// DataAt is up to when the work is in it, FinishedAt when the copy was whole.
	DataAt     rental.Millis `json:"data_at"`
	FinishedAt rental.Millis `json:"finished_at"`
	// VerifiedAt is when it was found to be whole, where it was.
	VerifiedAt rental.Millis `json:"verified_at,omitempty"`
	// Place is where it lies, in the reporter's words.
	Place string `json:"place,omitempty" maxLength:"500"`
	Note  string `json:"note,omitempty" maxLength:"2000"`
}

// CheckBackup says what a check of a backup found.
type CheckBackup struct {
	Outcome string `enum:"verified,failed" json:"outcome"`
	// Note is how it was checked.
	Note string `json:"note" maxLength:"2000" minLength:"1"`
}

// BackupQuery chooses backups; its zero value is the newest that the caller may see.
type BackupQuery struct {
	Lease    string
	Verified bool // only those that are verified now
	Limit    int  // 0 is the server's own
}

// OpenFailure tells that a lease's work was lost and is to be restored.
type OpenFailure struct {
	Lease string `json:"lease" maxLength:"200" minLength:"1"`
	// Incident is what took it: its first evidence is then the failure.
	Incident string `json:"incident,omitempty" maxLength:"200"`
	// FailedAt is the moment of the failure; now where neither it nor an incident is given.
	FailedAt rental.Millis `json:"failed_at,omitempty"`
	// Drill tells of an exercise, before it begins: it is measured and kept out of the objectives.
	Drill bool   `json:"drill,omitempty"`
	Note  string `json:"note" maxLength:"2000" minLength:"1"`
}

// FailureQuery chooses failures.
type FailureQuery struct {
	Lease string
	State string // one of rental.FailureStates; "" is any
}

// RestoreFailure tells that the work is there again.
type RestoreFailure struct {
	Backup string `json:"backup" maxLength:"400" minLength:"1"`
	// RestoredAt is when; now where it is not given.
	RestoredAt rental.Millis `json:"restored_at,omitempty"`
	Note       string        `json:"note" maxLength:"2000" minLength:"1"`
}

// SettleFailure says what came of it: verified (the restore works), failed (it does not, and the
// work is still lost) or given_up (nothing can be restored).
type SettleFailure struct {
	Outcome string `enum:"verified,failed,given_up" json:"outcome"`
	Note    string `json:"note" maxLength:"2000" minLength:"1"`
}

// IncidentWord is what a person says of an incident.
type IncidentWord struct {
	Note string `json:"note" maxLength:"2000" minLength:"1"`
}

// NoteAnswer notes that a person answered an incident earlier, by phone for one.
type NoteAnswer struct {
	At   rental.Millis `json:"at"`
	Note string        `json:"note" maxLength:"2000" minLength:"1"`
}

// ApproveAnswer approves the answer of an incident that was noted late.
type ApproveAnswer struct {
	Note string `json:"note,omitempty" maxLength:"2000"`
}

// Backups returns the backups that the query chooses, the newest data first.
func (c *Client) Backups(ctx context.Context, q BackupQuery) ([]rental.Backup, error) {
	v := url.Values{}
	set(v, "lease", q.Lease)
	if q.Verified {
		v.Set("verified", "true")
	}
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	var out List[rental.Backup]
	return out.Items, c.get(ctx, v, &out, "backups")
}

// ReportBackup tells of a backup in the caller's name.
func (c *Client) ReportBackup(ctx context.Context, in ReportBackup) (rental.Backup, error) {
	var out rental.Backup
	return out, c.post(ctx, in, &out, "backups")
}

// CheckBackup says what a check of a backup found; ErrNotFound where there is none for the caller.
func (c *Client) CheckBackup(ctx context.Context, id string, in CheckBackup) (rental.Backup, error) {
	var out rental.Backup
	return out, c.post(ctx, in, &out, "backups", id, "check")
}

// Failures returns the losses of work that the query chooses, by id.
func (c *Client) Failures(ctx context.Context, q FailureQuery) ([]rental.WorkLoss, error) {
	v := url.Values{}
	set(v, "lease", q.Lease)
	set(v, "state", q.State)
	var out List[rental.WorkLoss]
	return out.Items, c.get(ctx, v, &out, "failures")
}

// Failure returns one; ErrNotFound where there is none, or none for the caller.
func (c *Client) Failure(ctx context.Context, id string) (rental.WorkLoss, error) {
	var out rental.WorkLoss
	return out, c.get(ctx, nil, &out, "failures", id)
}

// OpenFailure tells of a loss of work; the same told again is the case that is there.
func (c *Client) OpenFailure(ctx context.Context, in OpenFailure) (rental.WorkLoss, error) {
	var out rental.WorkLoss
	return out, c.post(ctx, in, &out, "failures")
}

// RestoreFailure tells that the work is there again, from a backup.
func (c *Client) RestoreFailure(ctx context.Context, id string, in RestoreFailure) (rental.WorkLoss, error) {
	var out rental.WorkLoss
	return out, c.post(ctx, in, &out, "failures", id, "restore")
}

// SettleFailure says what came of a failure; ErrConflict where it is closed or needs another person.
func (c *Client) SettleFailure(ctx context.Context, id string, in SettleFailure) (rental.WorkLoss, error) {
	var out rental.WorkLoss
	return out, c.post(ctx, in, &out, "failures", id, "settle")
}

// ReportIncident tells the provider of an incident: the moment may start its clocks.
func (c *Client) ReportIncident(ctx context.Context, id string, in IncidentWord) (rental.Incident, error) {
	var out rental.Incident
	return out, c.post(ctx, in, &out, "incidents", id, "report")
}

// VerifyIncident says that it works again; ErrConflict before it is resolved.
func (c *Client) VerifyIncident(ctx context.Context, id string, in IncidentWord) (rental.Incident, error) {
	var out rental.Incident
	return out, c.post(ctx, in, &out, "incidents", id, "verify")
}

// NoteAnswer notes an answer that was given earlier; it counts once another person approves it.
func (c *Client) NoteAnswer(ctx context.Context, id string, in NoteAnswer) (rental.Incident, error) {
	var out rental.Incident
	return out, c.post(ctx, in, &out, "incidents", id, "answer")
}

// ApproveAnswer approves the answer that waits; ErrConflict for who noted it.
func (c *Client) ApproveAnswer(ctx context.Context, id string) (rental.Incident, error) {
	var out rental.Incident
	return out, c.post(ctx, ApproveAnswer{}, &out, "incidents", id, "answer", "approve")
}
