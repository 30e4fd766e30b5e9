package billing

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// CardCost is what one card of a lease, or one MIG instance, cost in a span beside how it was used.
type CardCost struct {
	UUID string
	// Card is the card of which UUID is an instance, Profile what was cut of it; empty of a whole card.
	Card, Profile string
	// Cost is the card's part of the lines for its time: the parts sum to the lines.
	Cost rental.Amount
	Use  rental.Use
	// IdleCost is the cost by the measured time without any use, as a share of the allocated time;
	// nil where nothing was measured.
	IdleCost *rental.Amount
	// UsefulHour is what one fully used hour of it cost; nil where nothing was used.
	UsefulHour *rental.Amount
}

// CardCosts returns what each card that served in the span cost, up to now and before credits, by
// uuid. Lines that charge for no card's time are in none of them.
func (s *Service) CardCosts(ctx context.Context, lease string, span rental.Span) ([]CardCost, error) {
	f, err := s.facts(ctx, lease, span.End)
	if err != nil {
		return nil, err
	}
	lines, err := rental.Charge(rental.ChargeInput{Facts: f, Period: s.until(span)})
	if err != nil {
		return nil, fmt.Errorf("cost of lease %s by card: %w", lease, err)
	}
	uses, err := s.usesOf(ctx, lease, span)
	if err != nil {
		return nil, err
	}
	cards := map[string]*CardCost{}
	for _, a := range f.Assignments {
		if a.Span.Clip(span).Empty() || cards[a.UUID] != nil {
			continue
		}
		cards[a.UUID] = &CardCost{UUID: a.UUID, Card: a.Card, Profile: profileOf(f.Lease, a.UUID), Cost: rental.Amount{Currency: f.Contract.Currency}, Use: uses[a.UUID]}
	}
	for _, line := range lines {
		if !line.TimeOfCards() {
			continue
		}
		for uuid, minor := range line.PerGPU {
			if cards[uuid] != nil {
				cards[uuid].Cost.Minor += minor
			}
		}
	}
	out := make([]CardCost, 0, len(cards))
	for _, card := range cards {
		if err := card.weigh(); err != nil {
			return nil, fmt.Errorf("cost of lease %s: %s: %w", lease, card.UUID, err)
		}
		out = append(out, *card)
	}
	slices.SortFunc(out, func(a, b CardCost) int { return strings.Compare(a.UUID, b.UUID) })
	return out, nil
}

func profileOf(l rental.Lease, uuid string) string {
	for _, ref := range l.GPUs {
		if ref.UUID == uuid {
			return ref.Profile
		}
	}
	return ""
}

// weigh sets what the cost bought beside it.
func (c *CardCost) weigh() error {
	if c.Use.MeasuredMS == 0 {
		return nil
	}
	idle, err := rental.ShareOf(c.Cost, c.Use.IdleMS(), c.Use.AllocatedMS)
	if err != nil {
		return err
	}
	c.IdleCost = &idle
	used := c.Use.Utilisation()
	if used.Numerator == 0 {
		return nil
	}
	cost, err := c.Cost.Money()
	if err != nil {
		return err
	}
	const millisOfHour = 3_600_000
	hour := new(big.Rat).Mul(cost.Rat(), big.NewRat(millisOfHour, c.Use.AllocatedMS))
	shown, err := rental.NewMoney(c.Cost.Currency, hour.Mul(hour, big.NewRat(used.Denominator, used.Numerator))).Round(rental.HalfUp)
	c.UsefulHour = &shown
	return err
}
