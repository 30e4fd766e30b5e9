package rental

import "testing"

func TestAnOpenMonthIsExpectedToGoOnAsItIs(t *testing.T) {
	no := false
	c := planned(t, "10", func(c *Contract) {
		c.MonthlyBudget = dec(t, "10000")
		c.Tax = &Tax{Name: "VAT", Percent: dec(t, "10"), Included: &no, On: TaxOnSum}
		c.Items = []Item{
			{Name: "egress", Kind: "traffic", Charge: ChargeMetered, Unit: "GB", IncludedQuantity: dec(t, "1000"), Prices: []ItemPrice{{Price: dec(t, "0.5")}}},
			{Name: "snapshots", Kind: "backup", Charge: ChargeMetered, Unit: "GB", Prices: []ItemPrice{{Price: dec(t, "1")}}},
		}
	})
	june := span(t, "2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z")
	f := facts(c, Span{june.Start, Forever}, 1)
	f.Lease.End, f.Assignments[0].Span.End = Forever, Forever
	f.Consumptions = []Consumption{
		{ID: "a", Lease: "L", Item: "egress", Start: june.Start, End: june.Start + 1000, Quantity: dec(t, "600"), Unit: "GB"},
		{ID: "b", Lease: "L", Item: "egress", Start: june.Start - 1000, End: june.Start, Quantity: dec(t, "9999"), Unit: "GB"}, // May's
	}
	o, err := OutlookOf(f, june, ms(t, "2026-06-16T00:00:00Z"))
	if err != nil {
		t.Fatal(err)
	}
	// 15 of 30 days: 3,600 with 10 % tax; 600 GB become 1,200, of which 200 cost 100.
	if o.SoFar.Decimal() != "3960.00" || o.Forecast.Decimal() != "8030.00" || o.UsedPercent != "39.6" || o.ForecastPercent != "80.3" {
		t.Errorf("outlook: %+v", o)
	}
	if e := o.Metered[0]; e.Used != "600" || e.Forecast != "1200" || e.UsedPercent != "60" || e.ForecastPercent != "120" || e.Included != "1000" {
		t.Errorf("egress: %+v", e)
	}
	if s := o.Metered[1]; s.Used != "0" || s.Forecast != "0" || s.Included != "" || s.UsedPercent != "" {
		t.Errorf("snapshots: %+v", s)
	}
	if len(f.Consumptions) != 2 {
		t.Errorf("the facts were changed: %+v", f.Consumptions)
	}

	f.Lease.End, f.Assignments[0].Span.End = ms(t, "2026-06-21T00:00:00Z"), ms(t, "2026-06-21T00:00:00Z")
	if o, err = OutlookOf(f, june, ms(t, "2026-06-16T00:00:00Z")); err != nil || o.Forecast.Decimal() != "5280.00" || o.Metered[0].Forecast != "800" {
		t.Errorf("of a lease that ends on the 20th: %+v, %v", o, err)
	}
	week := span(t, "2026-06-01T00:00:00Z", "2026-06-08T00:00:00Z")
	if o, err = OutlookOf(f, week, week.Start); err != nil || o.Budget != nil || o.SoFar.Minor != 0 || o.Forecast.Decimal() != "1848.00" {
		t.Errorf("of a week that begins: %+v, %v", o, err)
	}
}

func TestABudgetIsMoreThanNothing(t *testing.T) {
	c := hourly(t, "10")
	c.MonthlyBudget = dec(t, "0")
	if faults := c.Validate(); len(faults) != 1 || faults[0].Path != "monthly_budget" {
		t.Errorf("faults: %v", faults)
	}
}
