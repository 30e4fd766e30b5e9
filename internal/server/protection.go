package server

import (
	"cmp"
	"context"
	"slices"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// protection keeps what is known of backups, and of work that was lost and came back.
type protection struct {
	ledger *ledger.Ledger
	// changed is told after each act, so that the server's own series follow at once.
	changed func()
}

// backupsShown is how many backups are told where nobody says a number.
const backupsShown = 100

// Backups returns those that the query chooses, the newest data first.
func (p protection) Backups(ctx context.Context, q api.BackupQuery) ([]rental.Backup, error) {
	return p.ledger.Backups(ctx, ledger.BackupFilter{Lease: q.Lease, Span: allOfTime, Verified: q.Verified, Limit: cmp.Or(q.Limit, backupsShown)})
}

// Backup returns one.
func (p protection) Backup(ctx context.Context, id string) (rental.Backup, error) {
	return p.ledger.BackupNamed(ctx, id)
}

// ReportBackup records what is told of a backup, in the name of who tells it.
func (p protection) ReportBackup(ctx context.Context, by rental.Principal, in api.ReportBackup) (rental.Backup, error) {
	b := rental.Backup{Lease: in.Lease, Set: in.Set, DataAt: in.DataAt, FinishedAt: in.FinishedAt, VerifiedAt: in.VerifiedAt, Place: in.Place}
	out, err := p.ledger.ReportBackup(ctx, b, rental.Act{By: by.Name, Side: rental.SideOf(by), Note: in.Note})
	return followed(p, out, err)
}

// CheckBackup records what a check found.
func (p protection) CheckBackup(ctx context.Context, by rental.Principal, id string, in api.CheckBackup) (rental.Backup, error) {
	out, err := p.ledger.CheckBackup(ctx, id, in.Outcome == rental.ActVerified, rental.Act{By: by.Name, Side: rental.SideOf(by), Note: in.Note})
	return followed(p, out, err)
}

// followed has the server's series follow a change.
func followed[T any](p protection, out T, err error) (T, error) {
	if err == nil {
		p.changed()
	}
	return out, err
}

// Failures returns those that the query chooses, by id.
func (p protection) Failures(ctx context.Context, q api.FailureQuery) ([]rental.WorkLoss, error) {
	all, err := p.ledger.Failures(ctx, q.Lease)
	return slices.DeleteFunc(all, func(f rental.WorkLoss) bool { return q.State != "" && f.State != q.State }), err
}

// Failure returns one.
func (p protection) Failure(ctx context.Context, id string) (rental.WorkLoss, error) {
	return p.ledger.Failure(ctx, id)
}

// OpenFailure opens a case, or returns the one that is there.
func (p protection) OpenFailure(ctx context.Context, by rental.Principal, in api.OpenFailure) (rental.WorkLoss, error) {
	f := rental.WorkLoss{Lease: in.Lease, Incident: in.Incident, FailedAt: in.FailedAt, Drill: in.Drill}
	out, err := p.ledger.OpenFailure(ctx, f, rental.Act{By: by.Name, Side: rental.SideOf(by), Note: in.Note})
	return followed(p, out, err)
}

// RestoreFailure tells that the work is there again.
func (p protection) RestoreFailure(ctx context.Context, by rental.Principal, id string, in api.RestoreFailure) (rental.WorkLoss, error) {
	out, err := p.ledger.ActOnFailure(ctx, id, rental.Act{Kind: rental.ActRestored, By: by.Name, Side: rental.SideOf(by), Note: in.Note}, in.Backup, in.RestoredAt)
	return followed(p, out, err)
}

// SettleFailure says what came of it.
func (p protection) SettleFailure(ctx context.Context, by rental.Principal, id string, in api.SettleFailure) (rental.WorkLoss, error) {
	out, err := p.ledger.ActOnFailure(ctx, id, rental.Act{Kind: in.Outcome, By: by.Name, Side: rental.SideOf(by), Note: in.Note}, "", 0)
	return followed(p, out, err)
}

// told says whether a backup of the lease was ever told of.
func (p protection) told(ctx context.Context, lease string) (bool, error) {
	found, err := p.ledger.Backups(ctx, ledger.BackupFilter{Lease: lease, Span: allOfTime, Limit: 1})
	return len(found) > 0, err
}
