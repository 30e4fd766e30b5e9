package metering

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// The metrics that are metered.
const (
	utilization = "gpu_utilization_ratio"
	allocated   = "gpu_allocated"
	smActive    = "gpu_sm_active_ratio"
	energy      = "gpu_energy_joules_total"
)

// cardHours is how many cards times hours are held in memory at once: an hour of 8,000 cards
// at four readings a minute is about 150 MB.
const cardHours = 8000

// Meter derives the usage records of every hour that the span touches, saves those that
// differ from what is known and returns how many it saved. The hour under way is metered up to
// now. What an hour holds of cards that no assignment gives it any more is taken back.
func (s *Service) Meter(ctx context.Context, span rental.Span) (int, error) {
	return s.meter(ctx, span, "")
}

// meter does Meter's work, for one lease only where one is named.
func (s *Service) meter(ctx context.Context, span rental.Span, lease string) (int, error) {
	span.Start = floorHour(span.Start)
	span.End = min(floorHour(span.End+hour-1), rental.At(s.o.Now()))
	saved := 0
	for span.Start < span.End {
		assignments, err := s.ledger.AssignmentsAt(ctx, rental.Span{Start: span.Start, End: min(span.Start+24*hour, span.End)})
		if err != nil {
			return saved, fmt.Errorf("metering: %w", err)
		}
		assignments = only(assignments, lease)
		hours := rental.Millis(min(24, max(1, cardHours/max(1, len(assignments)))))
		chunk := rental.Span{Start: span.Start, End: min(span.Start+hours*hour, span.End)}
		n, err := s.meterChunk(ctx, chunk, lease, assignments)
		saved += n
		if err != nil {
			return saved, fmt.Errorf("metering from %s to %s: %w", chunk.Start, chunk.End, err)
		}
		span.Start = chunk.End
	}
	s.saved.Add(int64(saved))
	return saved, nil
}

func only(all []rental.Assignment, lease string) []rental.Assignment {
	if lease == "" {
		return all
	}
	return slices.DeleteFunc(all, func(a rental.Assignment) bool { return a.Lease != lease })
}

func (s *Service) meterChunk(ctx context.Context, chunk rental.Span, lease string, assignments []rental.Assignment) (int, error) {
	contracts, err := s.contractsOf(ctx)
	if err != nil {
		return 0, err
	}
	read, err := s.readings(ctx, chunk, assignments)
	if err != nil {
		return 0, err
	}
	var records []rental.UsageRecord
	cutters := map[string]cutter{} // by contract
	for _, a := range assignments {
		contract, ok := contracts[a.Lease]
		if !ok {
			return 0, fmt.Errorf("lease %q: expected a contract for its assignment of %s", a.Lease, a.UUID)
		}
		served := a.Span.Clip(chunk)
		if served.Empty() {
			continue
		}
		by, known := cutters[contract.Name]
		if !known {
			if by, err = cutterOf(chunk, contract); err != nil {
				return 0, err
			}
			cutters[contract.Name] = by
		}
		classes, err := s.ledger.Timeline(ctx, a.Lease, a.UUID, served)
		if err != nil {
			return 0, err
		}
		for _, piece := range by.cut(served) {
			r := record(a, piece, classes, read.card(a.UUID))
			by.splitNight(&r)
			records = append(records, r)
		}
	}
	return s.save(ctx, chunk, lease, records)
}

// record sums one piece of one card's time.
func record(a rental.Assignment, piece rental.Span, classes []rental.Interval, c *cardReadings) rental.UsageRecord {
	r := rental.UsageRecord{Lease: a.Lease, UUID: a.UUID, Span: piece, AllocatedMS: piece.Duration()}
	c.use.over(piece, func(ms int64, millionths int64) {
		r.MeasuredMS += ms
		r.UsedMicros += ms * millionths / 1000
		if millionths > 0 {
			r.BusyMS += ms
		}
	})
	c.held.over(piece, func(ms int64, millionths int64) {
		r.HeldKnownMS += ms
		if millionths > 0 {
			r.HeldMS += ms
		}
	})
	c.working.over(piece, func(ms int64, millionths int64) {
		r.WorkingKnownMS += ms
		r.WorkingMicros += ms * millionths / 1000
	})
	r.EnergyMilliJoules, r.EnergyKnownMS = energyOver(c.energy, piece)
	for _, i := range classes {
		ms := i.Span.Clip(piece).Duration()
		switch i.Class {
		case rental.Up:
			r.UpMS += ms
		case rental.Down:
			r.DownMS += ms
		case rental.Excluded:
			r.ExcludedMS += ms
		}
	}
	r.UnknownMS = r.AllocatedMS - r.UpMS - r.DownMS - r.ExcludedMS
	return r
}

// place is what SaveUsage replaces together.
type place struct {
	lease, uuid string
	hour        rental.Millis
}

func placeOf(r rental.UsageRecord) place { return place{r.Lease, r.UUID, floorHour(r.Span.Start)} }

// save writes the places that differ from what is known, and takes back those that are no more.
func (s *Service) save(ctx context.Context, chunk rental.Span, lease string, records []rental.UsageRecord) (int, error) {
	known, err := s.known(ctx, chunk, lease)
	if err != nil {
		return 0, err
	}
	before, after := map[place][]rental.UsageRecord{}, map[place][]rental.UsageRecord{}
	for _, r := range known {
		r.Revision = 0
		before[placeOf(r)] = append(before[placeOf(r)], r)
	}
	for _, r := range records {
		after[placeOf(r)] = append(after[placeOf(r)], r)
	}
	var changed []rental.UsageRecord
	for p, now := range after {
		slices.SortFunc(now, func(a, b rental.UsageRecord) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
		if now = kept(now, before[p]); !slices.Equal(now, before[p]) {
			changed = append(changed, now...)
		}
	}
	for p := range before {
		if _, still := after[p]; !still && p.hour >= chunk.Start {
			changed = append(changed, rental.UsageRecord{Lease: p.lease, UUID: p.uuid, Span: rental.Span{Start: p.hour, End: p.hour + hour}})
		}
	}
	if len(changed) == 0 {
		return 0, nil
	}
	slices.SortFunc(changed, func(a, b rental.UsageRecord) int {
		return cmp.Or(cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.Lease, b.Lease), cmp.Compare(a.UUID, b.UUID))
	})
	return len(changed), s.ledger.SaveUsage(ctx, changed)
}

func (s *Service) known(ctx context.Context, span rental.Span, lease string) ([]rental.UsageRecord, error) {
	if lease != "" {
		return s.ledger.UsageRecords(ctx, lease, span)
	}
	return s.ledger.UsageRecordsAt(ctx, span)
}

// contractsOf returns the contract of each lease.
func (s *Service) contractsOf(ctx context.Context) (map[string]rental.Contract, error) {
	contracts, err := s.ledger.Contracts(ctx)
	if err != nil {
		return nil, err
	}
	byName := make(map[string]rental.Contract, len(contracts))
	for _, c := range contracts {
		byName[c.Name] = c
	}
	leases, err := s.ledger.Leases(ctx)
	if err != nil {
		return nil, err
	}
	of := make(map[string]rental.Contract, len(leases))
	for _, l := range leases {
		if c, ok := byName[l.Contract]; ok {
			of[l.ID] = c
		}
	}
	return of, nil
}
