package httpapi

import (
	"cmp"
	"context"
	"slices"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// Protection keeps what is known of backups, and of work that was lost and came back.
type Protection interface {
	// Backups returns those that the query chooses, the newest data first.
	Backups(ctx context.Context, q api.BackupQuery) ([]rental.Backup, error)
	// Backup returns one; rental.CodeNotFound where there is none.
	Backup(ctx context.Context, id string) (rental.Backup, error)
	ReportBackup(ctx context.Context, by rental.Principal, in api.ReportBackup) (rental.Backup, error)
	CheckBackup(ctx context.Context, by rental.Principal, id string, in api.CheckBackup) (rental.Backup, error)
	// Failures returns those that the query chooses, by id.
	Failures(ctx context.Context, q api.FailureQuery) ([]rental.WorkLoss, error)
	// Failure returns one; rental.CodeNotFound where there is none.
	Failure(ctx context.Context, id string) (rental.WorkLoss, error)
	OpenFailure(ctx context.Context, by rental.Principal, in api.OpenFailure) (rental.WorkLoss, error)
	RestoreFailure(ctx context.Context, by rental.Principal, id string, in api.RestoreFailure) (rental.WorkLoss, error)
	SettleFailure(ctx context.Context, by rental.Principal, id string, in api.SettleFailure) (rental.WorkLoss, error)
}

// IncidentClocks takes what people say of an incident that its clocks count.
type IncidentClocks interface {
	ReportIncident(ctx context.Context, by rental.Principal, id, note string) (rental.Incident, error)
	VerifyIncident(ctx context.Context, by rental.Principal, id, note string) (rental.Incident, error)
	NoteAnswer(ctx context.Context, by rental.Principal, id string, in api.NoteAnswer) (rental.Incident, error)
	ApproveAnswer(ctx context.Context, by rental.Principal, id string) (rental.Incident, error)
}

// BackupPath is the path of one backup.
type BackupPath struct {
	ID string `doc:"The backup's id: lease, set and time of its data." maxLength:"400" path:"id"`
}

// FailurePath is the path of one loss of work.
type FailurePath struct {
	ID string `doc:"The failure's id, such as REC-000001." maxLength:"200" path:"id"`
}

func (r *routes) addProtection() error {
	type query struct {
		Lease    string `maxLength:"200"                              query:"lease"`
		Verified bool   `doc:"Only those that are verified now."      query:"verified"`
		Limit    int    `default:"100" maximum:"1000" minimum:"1"     query:"limit"`
	}
	if err := operation(r, "list-backups", "List backups of leases' work, the newest data first",
		func(ctx context.Context, v view, in *query) (*body[api.List[rental.Backup]], error) {
			return items(v.backups(ctx, api.BackupQuery{Lease: in.Lease, Verified: in.Verified, Limit: in.Limit}))
		}); err != nil {
		return err
	}
	if err := operation(r, "report-backup", "Tell of a backup; told again it is the same one",
		func(ctx context.Context, v view, in *body[api.ReportBackup]) (*body[rental.Backup], error) {
			if err := v.lease(ctx, in.Body.Lease); err != nil {
				return nil, err
			}
			return answer(v.deps.Protection.ReportBackup(ctx, v.who, in.Body))
		}); err != nil {
		return err
	}
	type check struct {
		BackupPath

		Body api.CheckBackup
	}
	if err := operation(r, "check-backup", "Say what a check of a backup found",
		func(ctx context.Context, v view, in *check) (*body[rental.Backup], error) {
			if err := v.ownBackup(ctx, in.ID); err != nil {
				return nil, err
			}
			return answer(v.deps.Protection.CheckBackup(ctx, v.who, in.ID, in.Body))
		}); err != nil {
		return err
	}
	return r.addFailures()
}

func (r *routes) addFailures() error {
	type query struct {
		Lease string `maxLength:"200"                          query:"lease"`
		State string `enum:"open,restored,verified,given_up" query:"state"`
	}
	if err := operation(r, "list-failures", "List losses of work with what was restored",
		func(ctx context.Context, v view, in *query) (*body[api.List[rental.WorkLoss]], error) {
			return items(v.failures(ctx, api.FailureQuery{Lease: in.Lease, State: in.State}))
		}); err != nil {
		return err
	}
	if err := operation(r, "get-failure", "Show one loss of work with what people did",
		func(ctx context.Context, v view, in *FailurePath) (*body[rental.WorkLoss], error) {
			return answer(v.failure(ctx, in.ID))
		}); err != nil {
		return err
	}
	if err := operation(r, "open-failure", "Tell that a lease's work was lost, or announce a drill",
		func(ctx context.Context, v view, in *body[api.OpenFailure]) (*body[rental.WorkLoss], error) {
			if err := v.lease(ctx, in.Body.Lease); err != nil {
				return nil, err
			}
			if in.Body.Incident != "" {
				if _, err := v.incident(ctx, in.Body.Incident); err != nil {
					return nil, err
				}
			}
			return answer(v.deps.Protection.OpenFailure(ctx, v.who, in.Body))
		}); err != nil {
		return err
	}
	if err := failureAct(r, "restore-failure", "Tell that the work is there again, from a backup",
		func(ctx context.Context, v view, id string, in api.RestoreFailure) (rental.WorkLoss, error) {
			return v.deps.Protection.RestoreFailure(ctx, v.who, id, in)
		}); err != nil {
		return err
	}
	return failureAct(r, "settle-failure", "Say what came of it: verified, failed or given up",
		func(ctx context.Context, v view, id string, in api.SettleFailure) (rental.WorkLoss, error) {
			return v.deps.Protection.SettleFailure(ctx, v.who, id, in)
		})
}

// failureAct adds one act upon a failure that the caller may see.
func failureAct[T any](r *routes, id, summary string, act func(context.Context, view, string, T) (rental.WorkLoss, error)) error {
	type input struct {
		FailurePath

		Body T
	}
	return operation(r, id, summary, func(ctx context.Context, v view, in *input) (*body[rental.WorkLoss], error) {
		if _, err := v.failure(ctx, in.ID); err != nil {
			return nil, err
		}
		return answer(act(ctx, v, in.ID, in.Body))
	})
}

func (v view) backups(ctx context.Context, q api.BackupQuery) ([]rental.Backup, error) {
	if q.Lease != "" {
		if err := v.lease(ctx, q.Lease); err != nil {
			return nil, err
		}
		return v.deps.Protection.Backups(ctx, q)
	}
	if v.tenantOnly() == "" {
		return v.deps.Protection.Backups(ctx, q)
	}
	leases, err := v.leases(ctx, api.LeaseQuery{})
	if err != nil {
		return nil, err
	}
	var out []rental.Backup
	for _, l := range leases {
		q.Lease = l.ID
		own, err := v.deps.Protection.Backups(ctx, q)
		if err != nil {
			return nil, err
		}
		out = append(out, own...)
	}
	slices.SortStableFunc(out, func(a, b rental.Backup) int { return cmp.Compare(b.DataAt, a.DataAt) })
	return out[:min(len(out), q.Limit)], nil
}

// ownBackup tells that there is no such backup where the caller may not see its lease.
func (v view) ownBackup(ctx context.Context, id string) error {
	b, err := v.deps.Protection.Backup(ctx, id)
	if rental.CodeOf(err) == rental.CodeNotFound || err == nil && v.lease(ctx, b.Lease) != nil {
		return api.NotFound("backup", id)
	}
	return err
}

func (v view) failures(ctx context.Context, q api.FailureQuery) ([]rental.WorkLoss, error) {
	if q.Lease != "" {
		if err := v.lease(ctx, q.Lease); err != nil {
			return nil, err
		}
	}
	found, err := v.deps.Protection.Failures(ctx, q)
	if v.tenantOnly() == "" {
		return found, err
	}
	return slices.DeleteFunc(slices.Clone(found), func(f rental.WorkLoss) bool { return v.lease(ctx, f.Lease) != nil }), err
}

func (v view) failure(ctx context.Context, id string) (rental.WorkLoss, error) {
	f, err := v.deps.Protection.Failure(ctx, id)
	if rental.CodeOf(err) == rental.CodeNotFound || err == nil && v.lease(ctx, f.Lease) != nil {
		return rental.WorkLoss{}, api.NotFound("failure", id)
	}
	return f, err
}

// addIncidentClocks adds what people say of an incident that its clocks count.
func (r *routes) addIncidentClocks() error {
	if err := incidentAct(r, "report-incident", "Tell the provider of an incident: the moment may start its clocks",
		func(ctx context.Context, v view, id string, in api.IncidentWord) (rental.Incident, error) {
			return v.deps.Clocks.ReportIncident(ctx, v.who, id, in.Note)
		}); err != nil {
		return err
	}
	if err := incidentAct(r, "verify-incident", "Say that it works again, once it is resolved",
		func(ctx context.Context, v view, id string, in api.IncidentWord) (rental.Incident, error) {
			return v.deps.Clocks.VerifyIncident(ctx, v.who, id, in.Note)
		}); err != nil {
		return err
	}
	if err := incidentAct(r, "note-answer", "Note that a person answered earlier; it counts once another person approves it",
		func(ctx context.Context, v view, id string, in api.NoteAnswer) (rental.Incident, error) {
			return v.deps.Clocks.NoteAnswer(ctx, v.who, id, in)
		}); err != nil {
		return err
	}
	return incidentAct(r, "approve-answer", "Approve the answer that was noted late, as another person",
		func(ctx context.Context, v view, id string, _ api.ApproveAnswer) (rental.Incident, error) {
			return v.deps.Clocks.ApproveAnswer(ctx, v.who, id)
		})
}

// incidentAct adds one act upon an incident that the caller may see; what comes back is what the
// caller sees of it.
func incidentAct[T any](r *routes, id, summary string, act func(context.Context, view, string, T) (rental.Incident, error)) error {
	type input struct {
		IncidentPath

		Body T
	}
	return operation(r, id, summary, func(ctx context.Context, v view, in *input) (*body[rental.Incident], error) {
		if _, err := v.incident(ctx, in.ID); err != nil {
			return nil, err
		}
		changed, err := act(ctx, v, in.ID, in.Body)
		if err != nil {
			return nil, err
		}
		shown, _ := v.incidentOf(changed)
		return answer(shown, nil)
	})
}
