package server

import (
	"context"
	"slices"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// clocksFor is how old the series of clocks may be when they are gathered.
const clocksFor = 15 * time.Second

// readClocks tells how much is left of the clocks that run, and how old the work is that a failure
// would bring back.
func (s *leaseSeries) readClocks(ctx context.Context, now time.Time, p *page) error {
	leases, err := s.ledger.Leases(ctx)
	if err != nil {
		return err
	}
	open, err := s.ledger.UnresolvedIncidents(ctx)
	if err != nil {
		return err
	}
	all, err := s.ledger.Contracts(ctx)
	if err != nil {
		return err
	}
	contracts := make(map[string]rental.Contract, len(all))
	for _, c := range all {
		contracts[c.Name] = c
	}
	for _, lease := range leases {
		if !lease.Span().Contains(rental.At(now)) {
			continue
		}
		contract := contracts[lease.Contract]
		if err := s.leaseClocks(lease, contract, open, now, p); err != nil {
			s.log.Error("a lease has no series of clocks", "lease", lease.ID, "error", err)
		}
		if err := s.leaseProtection(ctx, lease, contract, now, p); err != nil {
			s.log.Error("a lease has no series of its backups", "lease", lease.ID, "error", err)
		}
	}
	return nil
}

// leaseClocks tells what is left of each clock of an incident that nobody has stopped yet.
func (s *leaseSeries) leaseClocks(lease rental.Lease, contract rental.Contract, open []rental.Incident, now time.Time, p *page) error {
	if contract.Response == nil && contract.Resolution == nil {
		return nil
	}
	of := slices.DeleteFunc(slices.Clone(open), func(i rental.Incident) bool { return !slices.Contains(i.Leases, lease.ID) })
	verdicts, err := rental.JudgeClocks(rental.ClocksInput{Lease: lease, Contract: contract, Incidents: of, Period: allOfTime, Now: rental.At(now)})
	if err != nil {
		return err
	}
	for _, v := range verdicts {
		for _, r := range v.Runs {
			if r.Drill || r.StartAt == 0 || r.StopAt != 0 {
				continue
			}
			p.gauge("lease_clock_remaining_ratio", "Part of the limit that is left of a clock of an incident which nobody has stopped yet; negative where it is passed.",
				float64(r.LimitMS-r.ElapsedMS)/float64(r.LimitMS), "lease", lease.ID, "incident", r.Incident, "objective", r.Objective)
			p.gauge("lease_clock_due_timestamp_seconds", "When the limit of that clock is up, in seconds since 1970.",
				float64(r.DueAt)/1000, "lease", lease.ID, "incident", r.Incident, "objective", r.Objective)
		}
	}
	return nil
}

// leaseProtection tells how old the newest verified backup of a lease is. A lease that promises no
// RPO and of which no backup was ever told has no such series: nobody said that its work is worth one.
func (s *leaseSeries) leaseProtection(ctx context.Context, lease rental.Lease, contract rental.Contract, now time.Time, p *page) error {
	at := rental.At(now)
	last, verified, err := s.ledger.LastVerifiedBackup(ctx, lease.ID, at)
	if err != nil {
		return err
	}
	promised := contract.Recovery != nil && contract.Recovery.RPO > 0
	if !verified && !promised {
		told, err := protection{ledger: s.ledger}.told(ctx, lease.ID)
		if err != nil || !told {
			return err
		}
	}
	since := max(lease.Start, last.DataAt)
	p.gauge("lease_backup_age_seconds", "Time since the data of the newest verified backup, or since the lease's start where it has none.",
		float64(at-since)/1000, "lease", lease.ID)
	p.gauge("lease_unprotected_seconds", "Time that the lease has worked since then: without its tenant's stops.",
		float64(rental.Unprotected(lease, last.DataAt, at))/1000, "lease", lease.ID)
	if promised {
		p.gauge("lease_rpo_seconds", "The contract's recovery point objective.", float64(contract.Recovery.RPO.Milliseconds())/1000, "lease", lease.ID)
	}
	return nil
}
