package server

import (
	"context"
	"fmt"
	"time"

	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// objectives judges what clocks measure: response, resolution, RTO and RPO.
type objectives struct {
	ledger *ledger.Ledger
	now    func() time.Time
}

// Judge returns how each such objective of a lease's contract stands over the period; none where
// the contract has none.
func (o objectives) Judge(ctx context.Context, lease rental.Lease, contract rental.Contract, period rental.Span, lang string) ([]rental.ObjectiveVerdict, error) {
	in := rental.ClocksInput{Lease: lease, Contract: contract, Period: period, Now: rental.At(o.now()), Language: lang}
	if in.Contract.Name == "" {
		in.Contract.Name = lease.Contract
	}
	if contract.Response != nil || contract.Resolution != nil {
		// A clock may start a day before its incident is recorded, at the first evidence.
		span := rental.Span{Start: period.Start, End: period.End}
		if span.End != rental.Forever {
			span.End += rental.Millis((24 * time.Hour).Milliseconds())
		}
		var err error
		if in.Incidents, err = o.ledger.LeaseIncidents(ctx, lease.ID, span); err != nil {
			return nil, err
		}
	}
	if contract.Recovery != nil {
		if err := o.recoveries(ctx, &in); err != nil {
			return nil, err
		}
	}
	out, err := rental.JudgeClocks(in)
	if err != nil {
		return nil, fmt.Errorf("objectives of lease %s: %w", lease.ID, err)
	}
	return out, nil
}

// recoveries reads the failures of the period, and the backups that they were restored from or
// would be.
func (o objectives) recoveries(ctx context.Context, in *rental.ClocksInput) error {
	all, err := o.ledger.Failures(ctx, in.Lease.ID)
	if err != nil {
		return err
	}
	for _, f := range all {
		if !in.Period.Contains(f.FailedAt) {
			continue
		}
		in.Failures = append(in.Failures, f)
		if f.Backup != "" {
			b, err := o.ledger.BackupNamed(ctx, f.Backup)
			if err != nil {
				return err
			}
			in.Backups = append(in.Backups, b)
			continue
		}
		b, found, err := o.ledger.LastVerifiedBackup(ctx, in.Lease.ID, f.FailedAt)
		if err != nil {
			return err
		}
		if found {
			in.Backups = append(in.Backups, b)
		}
	}
	return nil
}
