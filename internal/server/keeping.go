package server

import (
	"bytes"
	"context"
	"errors"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/manifest"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// keeping takes resources into the ledger and lists them.
type keeping struct {
	ledger *ledger.Ledger
	// changed is told after each change, so that the server's own series follow at once.
	changed func()
}

// Apply reads YAML and records it as a whole, or with dryRun says what it would change.
func (k keeping) Apply(ctx context.Context, by rental.Principal, yaml []byte, dryRun bool) (api.Changes, error) {
	resources, err := manifest.Read("body", bytes.NewReader(yaml))
	if err != nil {
		return api.Changes{}, &rental.Error{Code: rental.CodeInvalid, Message: err.Error()}
	}
	return k.apply(ctx, by, "apply", resources, ledger.Submission{DryRun: dryRun})
}

func (k keeping) apply(ctx context.Context, by rental.Principal, why string, resources rental.Resources, s ledger.Submission) (api.Changes, error) {
	changes, held, err := k.ledger.Submit(ctx, by, why, resources, s)
	if err == nil && !s.DryRun && held == nil {
		k.changed()
	}
	return api.Changes{DryRun: s.DryRun, Changes: changes, Pending: held}, err
}

// EndLease ends a lease and returns it as it then stands.
func (k keeping) EndLease(ctx context.Context, by rental.Principal, id string, at rental.Millis) (api.EndedLease, error) {
	held, err := k.ledger.EndLeaseUnder(ctx, by, "end", id, at)
	if err != nil {
		return api.EndedLease{}, err
	}
	if held == nil {
		k.changed()
	}
	lease, err := k.ledger.Lease(ctx, id)
	return api.EndedLease{Lease: lease, Pending: held}, err
}

// Resources lists everything that is recorded.
func (k keeping) Resources(ctx context.Context) (rental.Resources, error) {
	var r rental.Resources
	var errs [9]error
	r.Providers, errs[0] = k.ledger.Providers(ctx)
	r.Tenants, errs[1] = k.ledger.Tenants(ctx)
	r.Sites, errs[2] = k.ledger.Sites(ctx)
	r.Hosts, errs[3] = k.ledger.Hosts(ctx)
	r.SKUs, errs[4] = k.ledger.SKUs(ctx)
	r.GPUs, errs[5] = k.ledger.GPUs(ctx)
	r.Contracts, errs[6] = k.ledger.Contracts(ctx)
	r.Leases, errs[7] = k.ledger.Leases(ctx)
	r.MIGInstances, errs[8] = k.ledger.MIGInstances(ctx)
	return r, errors.Join(errs[:]...)
}
