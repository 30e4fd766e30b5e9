package focus

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Bill is a bill with what FOCUS asks besides.
type Bill struct {
	rental.Bill
	Contract rental.Contract
	// Names of the parties as people know them; their ids where empty.
	TenantName, ProviderName string
	// Span is the lease's.
	Span rental.Span
	// Regions are where the cards are and Names what people call them, by uuid; a card may have none.
	Regions, Names map[string]string
}

// Write writes bills as CSV of a version: a row for each card of a line, and one for a line
// without cards. The rows' BilledCost sums to the bills' totals; a list or contracted cost is its
// unit price times the row's quantity, exactly as both are written.
func Write(w io.Writer, version string, bills []Bill) error {
	cols, err := of(version)
	if err != nil {
		return err
	}
	out := csv.NewWriter(w)
	out.UseCRLF = true
	header := make([]string, len(cols))
	for i, c := range cols {
		header[i] = c.name
	}
	if err := out.Write(header); err != nil {
		return fmt.Errorf("FOCUS: %w", err)
	}
	for _, b := range bills {
		rows, err := b.rows()
		if err != nil {
			return fmt.Errorf("FOCUS: bill of lease %s: %w", b.Lease, err)
		}
		for _, r := range rows {
			cells := make([]string, len(cols))
			for i, c := range cols {
				cells[i] = r[c.name]
				if c.kind == text && c.allowed == nil {
					cells[i] = cell(cells[i])
				}
			}
			if err := out.Write(cells); err != nil {
				return fmt.Errorf("FOCUS: bill of lease %s: %w", b.Lease, err)
			}
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("FOCUS: %w", err)
	}
	return nil
}

// cell makes text safe in a spreadsheet, where a leading =, +, -, @, tab or return starts a formula.
func cell(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r\n", rune(s[0])) {
		return "'" + s
	}
	return s
}

// row holds a row's values by column.
type row map[string]string

// costs are what the rows of a line sum to; tax is reckoned on each of them.
type costs struct{ billed, list, contracted, effective big.Rat }

func (c *costs) add(r row) {
	for _, of := range []struct {
		sum  *big.Rat
		name string
	}{{&c.billed, "BilledCost"}, {&c.list, "ListCost"}, {&c.contracted, "ContractedCost"}, {&c.effective, "EffectiveCost"}} {
		of.sum.Add(of.sum, rat(r[of.name]))
	}
}

// part is what of a line one row charges, and what of prepaid cost it bears.
type part struct {
	uuid     string
	amount   rental.Amount
	quantity *big.Rat
	prepaid  int64
}

// rows returns the rows of all lines in their order.
func (b Bill) rows() ([]row, error) {
	prepaid, err := b.amortized()
	if err != nil {
		return nil, err
	}
	rows := make([][]row, len(b.Lines))
	var sums []costs // of the lines that are no tax
	var taxes []int
	for i, l := range b.Lines {
		if l.Item == rental.ItemTax {
			taxes = append(taxes, i)
			continue
		}
		var sum costs
		for _, p := range parts(l, prepaid[i]) {
			r := b.row(l, p)
			sum.add(r)
			rows[i] = append(rows[i], r)
		}
		sums = append(sums, sum)
	}
	for k, i := range taxes {
		related := sums
		if len(taxes) == len(sums) && b.Contract.Tax != nil && b.Contract.Tax.On == rental.TaxOnLine {
			related = sums[k : k+1]
		}
		rows[i] = []row{b.taxRow(b.Lines[i], related)}
	}
	return slices.Concat(rows...), nil
}

// parts splits a line over its cards.
func parts(l rental.BillLine, prepaid int64) []part {
	if len(l.PerGPU) == 0 {
		return []part{{amount: l.Amount, quantity: quantityOf(l.Quantity), prepaid: prepaid}}
	}
	out := make([]part, 0, len(l.PerGPU))
	for uuid, minor := range l.PerGPU {
		out = append(out, part{uuid: uuid, amount: rental.Amount{Currency: l.Amount.Currency, Minor: minor}, quantity: quantityOf(l.Quantities[uuid])})
	}
	slices.SortFunc(out, func(a, b part) int { return strings.Compare(a.uuid, b.uuid) })
	quantities := make([]*big.Rat, len(out))
	for i, p := range out {
		quantities[i] = p.quantity
	}
	for i, minor := range rental.SplitLargestRemainder(prepaid, quantities) {
		out[i].prepaid = minor
	}
	return out
}

// quantityDigits is how many digits of a quantity that does not end are written.
const quantityDigits = 12

func (b Bill) row(l rental.BillLine, p part) row {
	what := kindOf(l)
	billed, effective := p.amount, p.amount
	effective.Minor += p.prepaid
	if _, fee := reserved(l); fee {
		effective.Minor = 0 // it is borne by the time that it pays for
	}
	r := row{
		"BilledCost": billed.Decimal(), "EffectiveCost": effective.Decimal(), "ListCost": billed.Decimal(), "ContractedCost": billed.Decimal(),
		"BillingAccountId": b.Tenant, "BillingAccountName": or(b.TenantName, b.Tenant), "BillingAccountType": "Tenant",
		"BillingCurrency": string(b.Currency), "BillingPeriodStart": stamp(b.Period.Start), "BillingPeriodEnd": stamp(b.Period.End),
		"ChargeCategory": what.category, "ChargeFrequency": what.frequency, "ChargeDescription": oneLine(or(l.Note, l.Name, l.Item)),
		"ChargePeriodStart": floor(l.Charged.Start), "ChargePeriodEnd": ceil(l.Charged.End),
		"InvoiceIssuerName": or(b.ProviderName, b.Provider), "ProviderName": or(b.ProviderName, b.Provider), "PublisherName": or(b.ProviderName, b.Provider),
		"PricingCurrency": string(b.Currency), "PricingCurrencyEffectiveCost": effective.Decimal(),
		"ServiceCategory": what.service, "ServiceName": serviceName(l, what), "ServiceSubcategory": what.subcategory,
		"SubAccountId": b.Lease, "SubAccountName": b.Lease, "SubAccountType": "Lease",
		"Tags": tags(b, l),
	}
	if b.Invoice != nil {
		r["InvoiceId"] = b.Invoice.Number
	}
	// What is about the period itself corrects nothing that was invoiced.
	if l.Corrects != nil && l.Corrects.End <= b.Period.Start {
		r["ChargeClass"] = "Correction"
	}
	if p.uuid != "" {
		r["ResourceId"], r["ResourceName"], r["ResourceType"] = p.uuid, b.Names[p.uuid], "GPU"
		r["RegionId"], r["RegionName"] = b.Regions[p.uuid], b.Regions[p.uuid]
	}
	if l.UnitPrice.IsSet() && (what.category == usage || what.category == purchase) {
		b.price(r, l, p, what, effective)
	}
	return r
}

// taxRow is a row of tax. Its costs are the tax on the costs of the lines that it is for; where
// those differ from what is billed, by the tax's rate.
func (b Bill) taxRow(l rental.BillLine, related []costs) row {
	r := b.row(l, part{amount: l.Amount})
	var sum costs
	for _, c := range related {
		sum.billed.Add(&sum.billed, &c.billed)
		sum.list.Add(&sum.list, &c.list)
		sum.contracted.Add(&sum.contracted, &c.contracted)
		sum.effective.Add(&sum.effective, &c.effective)
	}
	rate := quantityOf(l.Quantity)
	rate.Quo(rate, big.NewRat(100, 1))
	for _, of := range []struct {
		base *big.Rat
		name string
	}{{&sum.list, "ListCost"}, {&sum.contracted, "ContractedCost"}, {&sum.effective, "EffectiveCost"}} {
		if of.base.Cmp(&sum.billed) != 0 {
			r[of.name] = terminating(new(big.Rat).Mul(of.base, rate))
		}
	}
	r["PricingCurrencyEffectiveCost"] = r["EffectiveCost"]
	return r
}

// price fills in what a row with a unit price has: quantity, prices and the costs that they make.
func (b Bill) price(r row, l rental.BillLine, p part, what item, effective rental.Amount) {
	quantity := decimal(p.quantity, quantityDigits)
	unit, rate := l.UnitPrice, big.NewRat(1, 1)
	if l.Converted != nil {
		rate = l.Converted.Rate.Rat()
		r["PricingCurrency"] = string(l.Converted.From)
		if exact, err := effective.Money(); err == nil {
			r["PricingCurrencyEffectiveCost"] = decimal(new(big.Rat).Quo(exact.Rat(), rate), quantityDigits)
		}
	}
	// A contracted price leaves out what a commitment takes off it: it is the plan's.
	if l.ListPrice.IsSet() {
		unit = l.ListPrice
	}
	priced := new(big.Rat).Mul(unit.Rat(), rate)
	counted := rat(quantity)
	r["PricingQuantity"], r["PricingUnit"] = quantity, unitName(l.Unit)
	r["SkuId"], r["SkuPriceId"] = b.sku(l)
	r["SkuMeter"], r["SkuPriceDetails"] = what.name, b.details(l)
	r["PricingCategory"] = what.pricing
	if b.Contract.Plan.Market && l.Item == rental.ItemGPUTime {
		r["PricingCategory"] = "Dynamic"
	}
	r["ContractedUnitPrice"], r["ListUnitPrice"] = terminating(priced), terminating(priced)
	r["PricingCurrencyContractedUnitPrice"], r["PricingCurrencyListUnitPrice"] = unit.String(), unit.String()
	cost := terminating(priced.Mul(priced, counted))
	r["ContractedCost"], r["ListCost"] = cost, cost
	if what.category == usage && l.Item != rental.ItemReservedUnused {
		r["ConsumedQuantity"], r["ConsumedUnit"] = quantity, unitName(l.Unit)
	}
	time, fee := reserved(l)
	if !time && !fee {
		return
	}
	r["CommitmentDiscountId"], r["CommitmentDiscountName"] = b.Lease+"/reserved", b.Bill.Contract+" reservation"
	r["CommitmentDiscountCategory"], r["CommitmentDiscountType"] = usage, "Reservation"
	r["CommitmentDiscountQuantity"], r["CommitmentDiscountUnit"] = quantity, unitName(b.Contract.Plan.Unit+"-"+b.Contract.Plan.Mode)
	switch l.Item {
	case rental.ItemReservedUsed:
		r["CommitmentDiscountStatus"] = "Used"
	case rental.ItemReservedUnused:
		r["CommitmentDiscountStatus"] = "Unused"
	default:
		r["CommitmentDiscountQuantity"] = decimal(b.committed(l), quantityDigits)
	}
	if p.uuid == "" {
		r["ResourceId"], r["ResourceName"], r["ResourceType"] = b.Lease+"/reserved", b.Bill.Contract+" reservation", "Reservation"
	}
}

// sku returns the ids of what is sold and of its price: neither amount, currency, date nor contract
// is part of a price's id, so that it stays the same when they change.
func (b Bill) sku(l rental.BillLine) (id, price string) {
	id = or(b.Contract.SKU, "gpu")
	if l.Name != "" {
		id = l.Item
		return id, id + "/" + l.Name + "/" + l.Unit
	}
	return id, id + "/" + l.Item + "/" + l.Unit
}

func or(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, s)
}

// stamp writes a moment as FOCUS wants it: UTC, whole seconds.
func stamp(at rental.Millis) string { return at.Time().Format("2006-01-02T15:04:05Z") }

func floor(at rental.Millis) string {
	return at.Time().Truncate(time.Second).Format("2006-01-02T15:04:05Z")
}

func ceil(at rental.Millis) string {
	return at.Time().Add(time.Second - time.Millisecond).Truncate(time.Second).Format("2006-01-02T15:04:05Z")
}

// decimal writes a fraction with at most so many digits, rounded half up.
func decimal(r *big.Rat, digits int) string {
	s := r.FloatString(digits)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// terminating writes a decimal fraction whole: products of decimals always end.
func terminating(r *big.Rat) string {
	if n, exact := r.FloatPrec(); exact {
		return r.FloatString(n)
	}
	return decimal(r, 2*quantityDigits)
}

// unitName writes a unit as FOCUS wants it: sizes of data as they are, other words with a capital,
// the time in the plural.
func unitName(unit string) string {
	what, mode, timed := strings.Cut(unit, "-")
	names := map[string]string{rental.UnitGPU: "GPU", rental.UnitSlice: "GPU"}
	what = or(names[what], capital(what))
	if !timed {
		return what
	}
	return what + "-" + capital(mode) + "s"
}

// serviceName is what a line charges for, as the contract calls it; an adjustment's name is its id.
func serviceName(l rental.BillLine, what item) string {
	if what.category == adjustment {
		return what.name
	}
	return or(l.Name, what.name)
}

func capital(word string) string {
	first, size := utf8.DecodeRuneInString(word)
	return string(unicode.ToUpper(first)) + word[size:]
}

func tags(b Bill, l rental.BillLine) string {
	// Keys of the provider's own carry a prefix; keys without one are a user's.
	t := map[string]string{"leasewatch/lease": b.Lease, "leasewatch/contract": b.Bill.Contract, "leasewatch/item": l.Item}
	text, err := json.Marshal(t)
	if err != nil {
		return "" // a map of strings always marshals
	}
	return string(text)
}
