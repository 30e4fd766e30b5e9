package report

import (
	"fmt"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// itemCredit is what the bill calls a line that pays a credit back.
const itemCredit = "sla_credit"

// checkCredits works the credit of each month out anew, from the contract's prices and table and
// the facts of the report, and holds what people did with it against its record.
func (d Document) checkCredits(records held, fault faulter) {
	shown := map[string]rental.Credit{}
	for _, c := range d.Credits {
		shown[d.creditName(c)] = c
	}
	computed, err := d.credits(shown)
	if err != nil {
		fault("credits", "they cannot be worked out: %s", err)
		return
	}
	for _, name := range keysOf(computed, shown) {
		want, due := computed[name]
		got, there := shown[name]
		switch {
		case !due:
			fault("credit "+name, "worked out anew nothing is paid back, the report says %s", got.Amount)
		case !there:
			fault("credit "+name, "worked out anew it is %s (%s), the report leaves it out", want.Amount, want.Arithmetic)
		case want.Amount != got.Amount:
			fault("credit "+name, "worked out anew it is %s (%s), the report says %s (%s)", want.Amount, want.Arithmetic, got.Amount, got.Arithmetic)
		case !same(want, got):
			fault("credit "+name, "worked out anew it is %s, %s %%, claimable until %s (%s), the report says %s, %s %%, until %s (%s)",
				want.State, want.Percent, want.ClaimUntil, want.Arithmetic, got.State, got.Percent, got.ClaimUntil, got.Arithmetic)
		}
		if there {
			d.checkActs(name, got, records, fault)
		}
	}
}

// creditName is the id of a credit; those of before credits were cases have their period instead.
func (d Document) creditName(c rental.Credit) string {
	if c.ID != "" {
		return c.ID
	}
	month, err := rental.MonthOf(d.Contract.TimeZone, c.Period.Start)
	if err != nil {
		return c.Period.Start.String()
	}
	return rental.CreditCase{Lease: d.Lease.ID, Month: month.String()}.ID()
}

// credits works out what is paid back for each month of the report, by id. What people did is
// taken from those that are shown; it is held against the records elsewhere.
func (d Document) credits(shown map[string]rental.Credit) (map[string]rental.Credit, error) {
	out := map[string]rental.Credit{}
	if d.Contract.Credits == nil {
		return out, nil
	}
	in := d.judgeInput()
	months, err := in.WholeMonths(d.Period)
	if err != nil {
		return nil, err
	}
	for _, m := range months {
		if in.Period, err = m.Span(d.Contract.TimeZone); err != nil {
			return nil, err
		}
		if in.Period.Start >= d.MadeAt {
			continue
		}
		of := rental.CreditCase{Lease: d.Lease.ID, Month: m.String()}
		of.Acts = shown[of.ID()].Acts
		month, err := rental.CreditForMonth(in, d.MadeAt)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m, err)
		}
		credit, err := month.Standing(d.Contract, of, d.MadeAt, d.Facts.LateMS)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m, err)
		}
		if credit.Amount.Minor != 0 {
			out[of.ID()] = credit
		}
	}
	return out, nil
}

// checkActs holds what people did with a credit against its last record in the chain.
func (d Document) checkActs(name string, c rental.Credit, records held, fault faulter) {
	recorded, ok := records.credits[name]
	switch {
	case !ok && len(c.Acts) > 0:
		fault("credit "+name, "no record of what people did with it is in the chain")
	case ok && !same(recorded.Acts, c.Acts):
		fault("credit "+name, "its acts are not what its last record says")
	}
}

// checkBill adds the lines up and, where the bill is not closed, charges the lease anew at the
// contract's prices.
func (d Document) checkBill(fault faulter) {
	if d.Bill == nil {
		return
	}
	amounts := make([]rental.Amount, len(d.Bill.Lines))
	for i, l := range d.Bill.Lines {
		amounts[i] = l.Amount
	}
	sum, err := rental.SumAmounts(d.Bill.Currency, amounts...)
	if err != nil || sum != d.Bill.Total {
		fault("bill", "its lines sum to %s, it says %s", sum, d.Bill.Total)
	}
	if d.Bill.Invoice == nil {
		until := rental.Span{Start: d.Period.Start, End: max(min(d.Period.End, d.MadeAt), d.Period.Start)}
		d.checkLines(until, fault)
		d.checkTax(until, fault)
		d.checkCreditLines(fault)
	}
}

// lineKey is what names a line among those of a bill.
type lineKey struct {
	item, name string
	charged    rental.Span
	price      string
}

func keyOf(l rental.BillLine) lineKey {
	return lineKey{l.Item, l.Name, l.Charged, l.UnitPrice.String()}
}

// checkLines charges the lease's time and items anew. Corrections and what a person booked rest on
// facts that are no part of a report, and are added up only.
func (d Document) checkLines(until rental.Span, fault faulter) {
	facts := d.judgeInput().Facts
	facts.Consumptions = d.Facts.Consumptions
	lines, err := rental.Charge(rental.ChargeInput{Facts: facts, Period: until})
	if err != nil {
		fault("bill", "it cannot be charged anew: %s", err)
		return
	}
	shown := map[lineKey]rental.BillLine{}
	for _, l := range d.Bill.Lines {
		shown[keyOf(l)] = l
	}
	charged := map[lineKey]bool{}
	for _, want := range lines {
		charged[keyOf(want)] = true
		got, ok := shown[keyOf(want)]
		where := fmt.Sprintf("bill line %s%s from %s", want.Item, orName(want.Name), want.Charged.Start)
		switch {
		case !ok:
			fault(where, "charged anew it is %s at %s a %s, the bill leaves it out or has another price", want.Amount, want.UnitPrice, want.Unit)
		case got.Amount != want.Amount || got.Quantity != want.Quantity:
			fault(where, "charged anew it is %s for %s %s, the bill says %s for %s", want.Amount, want.Quantity, want.Unit, got.Amount, got.Quantity)
		}
	}
	for _, got := range d.Bill.Lines {
		if got.Corrects == nil && rental.ChargesTime(got.Item) && !charged[keyOf(got)] {
			fault(fmt.Sprintf("bill line %s from %s", got.Item, got.Charged.Start), "it asks %s for time that the contract does not charge so", got.Amount)
		}
	}
}

// checkTax works the tax out anew from the other lines.
func (d Document) checkTax(until rental.Span, fault faulter) {
	var others, shown []rental.BillLine
	for _, l := range d.Bill.Lines {
		if l.Item == rental.ItemTax && l.Corrects == nil {
			shown = append(shown, l)
		} else {
			others = append(others, l)
		}
	}
	want, contained, err := rental.TaxLines(d.Contract, until, others)
	if err != nil {
		fault("tax", "it cannot be worked out: %s", err)
		return
	}
	equal := func(a, b rental.BillLine) bool { return a.Amount == b.Amount && a.Quantity == b.Quantity }
	if !slices.EqualFunc(want, shown, equal) || !same(contained, d.Bill.TaxContained) {
		fault("tax", "it is not what the contract's tax makes of the other lines")
	}
}

// checkCreditLines holds the lines that pay back against the credits that are booked, once the
// period has ended.
func (d Document) checkCreditLines(fault faulter) {
	if d.MadeAt < d.Period.End {
		return
	}
	var booked, paid int64
	for _, c := range d.Credits {
		if c.State == rental.CreditBooked {
			booked += c.Amount.Minor
		}
	}
	for _, l := range d.Bill.Lines {
		if l.Item == itemCredit && l.Corrects == nil {
			paid -= l.Amount.Minor
		}
	}
	if booked != paid {
		fault("bill", "credits of %s are booked, its lines pay %s back",
			rental.Amount{Currency: d.Bill.Currency, Minor: booked}, rental.Amount{Currency: d.Bill.Currency, Minor: paid})
	}
}

func orName(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(" %q", name)
}

// keysOf returns the keys of two maps, in order.
func keysOf(a, b map[string]rental.Credit) []string {
	var out []string
	for name := range a {
		out = append(out, name)
	}
	for name := range b {
		if _, twice := a[name]; !twice {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
