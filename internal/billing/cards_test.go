package billing_test

import (
	"testing"

	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestC28EachMIGInstanceShowsItsShareOfTheCardBesideItsOwnUse(t *testing.T) {
	b := newBook()
	hour := rental.Span{Start: may().Start, End: may().Start + 3_600_000}
	b.facts.Contract.Plan.Unit, b.facts.Contract.Plan.Prices[0].Price = rental.UnitSlice, decimal("14")
	b.facts.Contract.Plan.Slices = &rental.Slices{By: rental.SlicesByCompute, Of: 7}
	b.facts.Lease.End = hour.End
	b.facts.Lease.GPUs, b.facts.Assignments = nil, nil
	for uuid, profile := range map[string]string{"MIG-1": "3g.40gb", "MIG-2": "2g.20gb", "MIG-3": "1g.10gb"} {
		b.facts.Lease.GPUs = append(b.facts.Lease.GPUs, rental.GPURef{UUID: uuid, Profile: profile})
		b.facts.Assignments = append(b.facts.Assignments, rental.Assignment{Lease: "L-1", UUID: uuid, Card: "GPU-0", Span: hour, Reason: "start"})
	}
	b.records = []rental.UsageRecord{
		spent("MIG-1", hour.Start, 1_800_000, 3_600_000), // used for half of it
		spent("MIG-2", hour.Start, 0, 1_800_000),         // seen idle for half of it
	}
	cards, err := b.service(late).CardCosts(t.Context(), "L-1", hour)
	if err != nil || len(cards) != 3 {
		t.Fatalf("%+v, %v", cards, err)
	}
	for i, want := range []struct{ uuid, profile, cost, idle, useful string }{
		{"MIG-1", "3g.40gb", "6.00", "3.00", "12.00"},
		{"MIG-2", "2g.20gb", "4.00", "2.00", ""},
		{"MIG-3", "1g.10gb", "2.00", "", ""},
	} {
		c := cards[i]
		shown := func(a *rental.Amount) string {
			if a == nil {
				return ""
			}
			return a.Decimal()
		}
		if c.UUID != want.uuid || c.Card != "GPU-0" || c.Profile != want.profile || c.Cost.Decimal() != want.cost || shown(c.IdleCost) != want.idle || shown(c.UsefulHour) != want.useful {
			t.Errorf("found %s %s of %s: cost %s, idle %q, useful hour %q; expected %+v", c.UUID, c.Profile, c.Card, c.Cost.Decimal(), shown(c.IdleCost), shown(c.UsefulHour), want)
		}
	}
}

func TestTheCardsOfALeaseSumToTheLinesForTheirTime(t *testing.T) {
	b := newBook()
	b.facts.Contract.Plan.Prices[0].Price = decimal("0.333")
	b.facts.Contract.Plan.Prices = append(b.facts.Contract.Plan.Prices, rental.PriceVersion{From: may().Start + 7*3_600_000, Price: decimal("0.777")})
	bill := b.bill(t, late, may())
	cards, err := b.service(late).CardCosts(t.Context(), "L-1", may())
	if err != nil || len(cards) != 8 {
		t.Fatal(cards, err)
	}
	var sum int64
	for _, c := range cards {
		sum += c.Cost.Minor
		if c.IdleCost != nil || c.UsefulHour != nil {
			t.Errorf("%s: %+v of use that nobody measured", c.UUID, c)
		}
	}
	if sum != bill.Total.Minor {
		t.Errorf("the cards sum to %d, the bill to %d", sum, bill.Total.Minor)
	}
}
