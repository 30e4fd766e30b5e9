package ledger_test

import (
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// metered is the fleet with a contract that has a metered item, and a lease on it.
func metered() rental.Resources {
	r := fleet()
	r.Contracts[0].Items = []rental.Item{{Name: "egress", Kind: "traffic", Charge: rental.ChargeMetered, Unit: "GB", Prices: []rental.ItemPrice{{Price: decimal("0.05")}}}}
	r.Leases = []rental.Lease{lease("L", "acme", "2026-03-01T00:00:00Z", "open", "GPU-A")}
	return r
}

func consumed(change func(*rental.Consumption)) rental.Resources {
	c := rental.Consumption{ID: "c", Lease: "L", Item: "egress", Start: at("2026-03-31T00:00:00Z"), End: at("2026-04-01T00:00:00Z"), Quantity: decimal("5"), Unit: "GiB"}
	change(&c)
	return rental.Resources{Consumptions: []rental.Consumption{c}}
}

func adjusted(change func(*rental.Adjustment)) rental.Resources {
	a := rental.Adjustment{ID: "a", Lease: "L", Month: "2026-04", Start: at("2026-03-01T00:00:00Z"), End: at("2026-03-02T00:00:00Z"), Amount: decimal("-24"), Currency: "USD", Reason: "why"}
	change(&a)
	return rental.Resources{Adjustments: []rental.Adjustment{a}}
}

func TestWhatIsBookedIsCheckedAgainstItsLease(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.apply(metered())
		march := span("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z")
		if _, err := s.CloseMonth(ctx, "fin", "L", march, frozen("bill")); err != nil {
			t.Fatal(err)
		}
		for want, r := range map[string]rental.Resources{
			"expected a Lease that is recorded":          consumed(func(c *rental.Consumption) { c.Lease = "M" }),
			"expected a metered item of contract":        consumed(func(c *rental.Consumption) { c.Item = "ingress" }),
			`unit: found "requests", expected "GB"`:      consumed(func(c *rental.Consumption) { c.Unit = "requests" }),
			"expected a span within lease":               consumed(func(c *rental.Consumption) { c.Start = at("2026-02-01T00:00:00Z") }),
			"expected a quantity that is not negative":   consumed(func(c *rental.Consumption) { c.Quantity = decimal("-1") }),
			`currency: found "EUR", expected "USD"`:      adjusted(func(a *rental.Adjustment) { a.Currency = "EUR" }),
			"month: found 2026-03, whose bill is closed": adjusted(func(a *rental.Adjustment) { a.Month = "2026-03" }),
		} {
			if _, err := s.Apply(ctx, "ada", "", r, false); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, expected %q", err, want)
			}
		}
		// C64: traffic of a closed March that arrives late is taken.
		r := consumed(func(*rental.Consumption) {})
		r.Append(adjusted(func(*rental.Adjustment) {}))
		s.apply(r)
		if changes := s.apply(r); changes[0].Action != rental.ActionUnchanged || changes[1].Action != rental.ActionUnchanged {
			t.Errorf("applied again: %+v", changes)
		}
		used, err := s.Consumptions(ctx, "L")
		if err != nil || len(used) != 1 || used[0] != r.Consumptions[0] {
			t.Errorf("consumptions %+v, %v", used, err)
		}
		booked, err := s.Adjustments(ctx, "L")
		if err != nil || len(booked) != 1 || booked[0] != r.Adjustments[0] {
			t.Errorf("adjustments %+v, %v", booked, err)
		}
		if none, err := s.Adjustments(ctx, "M"); err != nil || len(none) != 0 {
			t.Errorf("adjustments of another lease: %+v, %v", none, err)
		}
	})
}

// TestOldContractsStayReadable reads a contract as it was recorded before plans had terms.
func TestOldContractsStayReadable(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		s.apply(metered())
		was, err := s.Contract(t.Context(), fleet().Contracts[0].Name)
		if err != nil {
			t.Fatal(err)
		}
		old := fleet().Contracts[0]
		s.apply(rental.Resources{Contracts: []rental.Contract{old}})
		history, err := s.History(t.Context(), rental.KindContract, old.Name)
		if err != nil || len(history) != 2 || len(was.Items) != 1 {
			t.Fatalf("history %+v, %v", history, err)
		}
		for _, field := range []string{"items", "rates", "tax", "steps", "reserved", "early_end_percent", "priced_in", "slices"} {
			if strings.Contains(string(history[1].Body), `"`+field+`"`) {
				t.Errorf("a contract without %s is recorded with it: %s", field, history[1].Body)
			}
		}
	})
}
