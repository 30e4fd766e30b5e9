package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// retentionPolicy is the name under which the policy of retention is kept, as a fact like that of
// approvals: a command that opens the ledger by itself holds to it.
const retentionPolicy = "retention"

// SetRetention records how long each kind of data is kept; the same again does nothing.
func (l *Ledger) SetRetention(ctx context.Context, by string, policy rental.RetentionPolicy) error {
	if err := rental.Invalid("retention", policy.Validate()); err != nil {
		return invalid("%s", err)
	}
	body, err := json.Marshal(policy)
	if err != nil {
		return fmt.Errorf("ledger: retention: %w", err)
	}
	return l.transact(ctx, "policy", func(t *txn) error {
		holds, revision, err := retention(ctx, t)
		if err != nil {
			return err
		}
		if maps.Equal(holds, policy) {
			return errRollback
		}
		return t.insertFact(ctx, policyKind, retentionPolicy, revision+1, by, "configuration", body)
	})
}

// retention returns the policy that holds, with its revision.
func retention(ctx context.Context, q knower) (rental.RetentionPolicy, int, error) {
	policy, revision, err := get[rental.RetentionPolicy](ctx, q, policyKind, retentionPolicy)
	if errors.Is(err, rental.ErrNotFound) {
		return rental.DefaultRetention(), 0, nil
	}
	return policy, revision, err
}

// Retention returns how long each kind of data is kept.
func (l *Ledger) Retention(ctx context.Context) (rental.RetentionPolicy, error) {
	policy, _, err := retention(ctx, l.read)
	return policy, err
}

// aged is one thing that has come of age, and goes as a whole or stays.
type aged struct {
	key             []any // what its kind's drop goes by
	leases, tenants []string
	rows            int64
}

// age is what ends: what is older than before, looked at now.
type age struct{ now, before rental.Millis }

// retainer knows one kind of data.
type retainer struct {
	// find returns what has come of age, whoever holds it.
	find func(ctx context.Context, q knower, a age) ([]aged, error)
	// drop ends one of them.
	drop func(ctx context.Context, t *txn, key []any, a age) error
}

var retainers = map[string]retainer{
	rental.RetainIncidentTexts:   {agedTexts, dropTexts},
	rental.RetainDeliveries:      {agedDeliveries, dropDelivery},
	rental.RetainTokens:          {agedTokens, dropToken},
	rental.RetainSchedulerEvents: {agedSessions, dropSession},
	rental.RetainUsageHours:      {agedUsage, dropUsage},
}

// retainAtOnce is how many things go in one transaction, so that writers in between wait for a
// moment only.
const retainAtOnce = 200

// Retain ends what is older than the policy keeps it and what no hold covers, kind by kind and some
// at a time: where it is killed in the middle, the next time goes on. With dryRun it says what
// would end, and ends nothing.
func (l *Ledger) Retain(ctx context.Context, dryRun bool) ([]rental.Retained, error) {
	policy, err := l.Retention(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]rental.Retained, 0, len(rental.RetentionKinds))
	for _, kind := range rental.RetentionKinds {
		one := rental.Retained{Kind: kind.Name, KeepMS: policy[kind.Name]}
		if one.KeepMS > 0 {
			a := age{now: rental.At(l.now())}
			a.before = a.now - rental.Millis(one.KeepMS)
			one.Before = a.before
			err = l.retain(ctx, &one, a, dryRun)
		}
		out = append(out, one)
		if err != nil {
			return out, storeError("ledger: retention of "+kind.Name, err)
		}
	}
	if !dryRun {
		l.scrub(ctx)
	}
	return out, nil
}

// retain ends one kind of data, and counts what ended in one.
func (l *Ledger) retain(ctx context.Context, one *rental.Retained, a age, dryRun bool) error {
	r := retainers[one.Kind]
	found, err := r.find(ctx, l.read, a)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(found, retainAtOnce) {
		if dryRun {
			stand, err := standing(ctx, l.read)
			if err != nil {
				return err
			}
			for _, thing := range some {
				if _, held := stand.Covers(thing.leases, thing.tenants); held {
					one.Held += thing.rows
				} else {
					one.Rows += thing.rows
				}
			}
			continue
		}
		rows, held, err := l.endSome(ctx, one.Kind, some, a)
		if err != nil {
			return err
		}
		one.Rows, one.Held = one.Rows+rows, one.Held+held
	}
	return nil
}

// endSome ends in one transaction those things that no hold covers, and counts the rows of both.
func (l *Ledger) endSome(ctx context.Context, kind string, some []aged, a age) (rows, held int64, err error) {
	err = l.transact(ctx, "retention", func(t *txn) error {
		stand, err := standing(ctx, t)
		if err != nil {
			return err
		}
		if _, err := t.ExecContext(ctx, `INSERT INTO retention_pass (kind) VALUES ($1)`, kind); err != nil {
			return err
		}
		for _, thing := range some {
			if _, covered := stand.Covers(thing.leases, thing.tenants); covered {
				held += thing.rows
				continue
			}
			if err := retainers[kind].drop(ctx, t, thing.key, a); err != nil {
				return err
			}
			rows += thing.rows
		}
		if rows == 0 {
			return errRollback
		}
		_, err = t.ExecContext(ctx, `DELETE FROM retention_pass`)
		return err
	})
	if err != nil {
		rows = 0
	}
	return rows, held, err
}
