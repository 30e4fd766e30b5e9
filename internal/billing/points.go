package billing

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Bases of an idle cost.
const (
	IdleByUse        = rental.IdleByUse        // measured time without any use
	IdleByAllocation = rental.IdleByAllocation // time in which a scheduler said that no job held the card
)

// CostPoint is what a lease cost in one step, beside how it was used.
type CostPoint struct {
	Span rental.Span
	// Exact is the cost before any rounding; Cost is its copy for show, rounded half up.
	Exact rental.Money
	Cost  rental.Amount
	// CardMS is the charged time of all cards, in milliseconds.
	CardMS int64
	Use    rental.Use
	// IdleCost is the cost of the time without use; nil where nothing is known of use.
	// IdleBasis says what it rests on: use, else allocation.
	IdleCost  *rental.Amount
	IdleBasis string
}

// Steps cuts span into "hour"s of UTC or "day"s of the zone; a bounded span is needed.
func Steps(zone string, span rental.Span, step string) ([]rental.Span, error) {
	switch step {
	case "hour":
		return rental.Hours(span), nil
	case "day":
		return rental.Days(zone, span)
	default:
		return nil, &rental.Error{Code: rental.CodeInvalid, Message: fmt.Sprintf("step %q: expected hour or day", step)}
	}
}

// CostPoints returns the cost and use of each step, which are in order of time and do not
// overlap. Time after now costs nothing yet.
func (s *Service) CostPoints(ctx context.Context, lease string, steps []rental.Span) ([]CostPoint, error) {
	if len(steps) == 0 {
		return nil, nil
	}
	whole := rental.Span{Start: steps[0].Start, End: steps[len(steps)-1].End}
	f, err := s.facts(ctx, lease, whole.End)
	if err != nil {
		return nil, err
	}
	records, err := s.ledger.UsageRecords(ctx, lease, whole)
	if err != nil {
		return nil, err
	}
	fine, owner := s.refine(f, steps)
	costs, err := rental.ChargeSteps(f, fine)
	if err != nil {
		return nil, fmt.Errorf("cost of lease %s: %w", lease, err)
	}
	sums := make([]pointSum, len(steps))
	for i, recs := range recordsIn(fine, records) {
		sums[owner[i]].add(costs[i], rental.SumUse(recs))
	}
	out := make([]CostPoint, len(steps))
	for i, span := range steps {
		if out[i], err = sums[i].point(span, f.Contract.Currency); err != nil {
			return nil, fmt.Errorf("cost of lease %s: %w", lease, err)
		}
	}
	return out, nil
}

// Cost returns what the lease cost in the span up to now, before credits, rounded half up for
// show. It does not read use, so it is cheap to ask often.
func (s *Service) Cost(ctx context.Context, lease string, span rental.Span) (rental.Amount, error) {
	f, err := s.facts(ctx, lease, span.End)
	if err != nil {
		return rental.Amount{}, err
	}
	exact, err := rental.ChargeExact(rental.ChargeInput{Facts: f, Period: s.until(span)})
	if err != nil {
		return rental.Amount{}, fmt.Errorf("cost of lease %s: %w", lease, err)
	}
	return exact.Round(rental.HalfUp)
}

// refine cuts the steps at UTC hours and at price changes, as usage records are cut, so that the
// time without use is priced as that time was. It returns which step each part belongs to.
func (s *Service) refine(f rental.Facts, steps []rental.Span) (fine []rental.Span, owner []int) {
	for i, step := range steps {
		for _, part := range rental.Hours(s.until(step).Clip(f.Lease.Span())) {
			cursor := part.Start
			for _, at := range f.Contract.Plan.PriceChanges(f.Lease.Start) {
				if at > cursor && at < part.End {
					fine, owner = append(fine, rental.Span{Start: cursor, End: at}), append(owner, i)
					cursor = at
				}
			}
			fine, owner = append(fine, rental.Span{Start: cursor, End: part.End}), append(owner, i)
		}
	}
	return fine, owner
}

// recordsIn groups records by the part in which they begin.
func recordsIn(parts []rental.Span, records []rental.UsageRecord) [][]rental.UsageRecord {
	out := make([][]rental.UsageRecord, len(parts))
	for _, r := range records {
		i, _ := slices.BinarySearchFunc(parts, r.Span.Start, func(p rental.Span, at rental.Millis) int {
			if p.End <= at {
				return -1
			}
			return 1
		})
		if i < len(parts) && parts[i].Contains(r.Span.Start) {
			out[i] = append(out[i], r)
		}
	}
	return out
}

// pointSum gathers the parts of one step.
type pointSum struct {
	cost, idleUse, idleFree big.Rat
	cardMS                  int64
	use                     rental.Use
}

func (p *pointSum) add(c rental.CostStep, use rental.Use) {
	p.cost.Add(&p.cost, c.Cost.Rat())
	p.cardMS += c.CardMS
	p.use.Sum(use)
	if c.CardMS == 0 {
		return
	}
	for _, part := range []struct {
		sum *big.Rat
		ms  int64
	}{{&p.idleUse, use.IdleMS()}, {&p.idleFree, use.FreeMS()}} {
		share := big.NewRat(min(part.ms, c.CardMS), c.CardMS)
		part.sum.Add(part.sum, share.Mul(share, c.Cost.Rat()))
	}
}

func (p *pointSum) point(span rental.Span, currency rental.Currency) (CostPoint, error) {
	out := CostPoint{Span: span, Exact: rental.NewMoney(currency, &p.cost), CardMS: p.cardMS, Use: p.use}
	var err error
	if out.Cost, err = out.Exact.Round(rental.HalfUp); err != nil {
		return CostPoint{}, err
	}
	var idle *big.Rat
	switch {
	case p.use.MeasuredMS > 0:
		idle, out.IdleBasis = &p.idleUse, IdleByUse
	case p.use.HeldKnownMS > 0:
		idle, out.IdleBasis = &p.idleFree, IdleByAllocation
	default:
		return out, nil
	}
	shown, err := rental.NewMoney(currency, idle).Round(rental.HalfUp)
	out.IdleCost = &shown
	return out, err
}
