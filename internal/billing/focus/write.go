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

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Bill is a bill with what FOCUS asks besides.
type Bill struct {
	rental.Bill
	Contract rental.Contract
	// Names of the parties as people know them; their ids where empty.
	TenantName, ProviderName string
	// Regions are where the cards are, by uuid; cards without one have none.
	Regions map[string]string
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
		for _, l := range b.Lines {
			for _, r := range b.rows(l) {
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

// part is what of a line one row charges.
type part struct {
	uuid     string
	amount   rental.Amount
	quantity *big.Rat
}

func (b Bill) rows(l rental.BillLine) []row {
	quantity, ok := new(big.Rat).SetString(l.Quantity)
	if !ok {
		quantity = new(big.Rat)
	}
	parts := []part{{amount: l.Amount, quantity: quantity}}
	if len(l.PerGPU) > 0 {
		parts = nil
		for uuid, minor := range l.PerGPU {
			exact, ok := new(big.Rat).SetString(l.Quantities[uuid])
			if !ok {
				exact = new(big.Rat)
			}
			parts = append(parts, part{uuid, rental.Amount{Currency: l.Amount.Currency, Minor: minor}, exact})
		}
		slices.SortFunc(parts, func(a, b part) int { return strings.Compare(a.uuid, b.uuid) })
	}
	out := make([]row, len(parts))
	for i, p := range parts {
		out[i] = b.row(l, p)
	}
	return out
}

// quantityDigits is how many digits of a quantity that does not end are written.
const quantityDigits = 12

func (b Bill) row(l rental.BillLine, p part) row {
	what := kindOf(l.Item)
	billed := p.amount.Decimal()
	r := row{
		"BilledCost": billed, "EffectiveCost": billed, "ListCost": billed, "ContractedCost": billed,
		"BillingAccountId": b.Tenant, "BillingAccountName": or(b.TenantName, b.Tenant), "BillingAccountType": "Tenant",
		"BillingCurrency": string(b.Currency), "BillingPeriodStart": stamp(b.Period.Start), "BillingPeriodEnd": stamp(b.Period.End),
		"ChargeCategory": what.category, "ChargeFrequency": what.frequency, "ChargeDescription": oneLine(or(l.Note, l.Name, l.Item)),
		"ChargePeriodStart": floor(l.Charged.Start), "ChargePeriodEnd": ceil(l.Charged.End),
		"InvoiceIssuerName": or(b.ProviderName, b.Provider), "ProviderName": or(b.ProviderName, b.Provider), "PublisherName": or(b.ProviderName, b.Provider),
		"ServiceCategory": what.service, "ServiceName": or(l.Name, what.name), "ServiceSubcategory": what.subcategory,
		"SubAccountId": b.Lease, "SubAccountName": b.Lease, "SubAccountType": "Lease",
		"Tags": tags(b, l),
	}
	if b.Invoice != nil {
		r["InvoiceId"] = b.Invoice.Number
	}
	if l.Corrects != nil {
		r["ChargeClass"] = "Correction"
	}
	if p.uuid != "" {
		r["ResourceId"], r["ResourceName"], r["ResourceType"] = p.uuid, p.uuid, "GPU"
		r["RegionId"], r["RegionName"] = b.Regions[p.uuid], b.Regions[p.uuid]
	}
	if l.UnitPrice.IsSet() && (what.category == "Usage" || what.category == "Purchase") {
		b.price(r, l, p, what)
	}
	return r
}

// price fills in what a row with a unit price has: quantity, prices and the costs that they make.
func (b Bill) price(r row, l rental.BillLine, p part, what item) {
	quantity := decimal(p.quantity, quantityDigits)
	unit, rate := l.UnitPrice, big.NewRat(1, 1)
	if l.Converted != nil {
		rate = l.Converted.Rate.Rat()
	}
	contracted := new(big.Rat).Mul(unit.Rat(), rate)
	list := contracted
	if l.Item == rental.ItemReservedUsed {
		list = new(big.Rat).Mul(b.listPrice(l.Charged.Start).Rat(), rate)
	}
	counted, ok := new(big.Rat).SetString(quantity)
	if !ok {
		return // decimal writes nothing else
	}
	r["PricingQuantity"], r["PricingUnit"] = quantity, unitName(l.Unit)
	r["SkuId"], r["SkuPriceId"] = or(b.Contract.SKU, b.Bill.Contract), b.Bill.Contract+"/"+l.Item+"/"+unit.String()
	r["SkuMeter"] = what.name
	r["PricingCategory"] = what.pricing
	r["ContractedUnitPrice"], r["ListUnitPrice"] = terminating(contracted), terminating(list)
	r["ContractedCost"], r["ListCost"] = terminating(new(big.Rat).Mul(contracted, counted)), terminating(new(big.Rat).Mul(list, counted))
	if what.category == "Usage" && l.Item != rental.ItemReservedUnused {
		r["ConsumedQuantity"], r["ConsumedUnit"] = quantity, unitName(l.Unit)
	}
	if l.Item == rental.ItemReservedUsed || l.Item == rental.ItemReservedUnused {
		r["CommitmentDiscountId"], r["CommitmentDiscountName"] = b.Lease+"/reserved", b.Bill.Contract+" reservation"
		r["CommitmentDiscountCategory"], r["CommitmentDiscountType"] = "Usage", "Reservation"
		r["CommitmentDiscountQuantity"], r["CommitmentDiscountUnit"] = quantity, unitName(l.Unit)
		r["CommitmentDiscountStatus"] = "Used"
		if l.Item == rental.ItemReservedUnused {
			r["CommitmentDiscountStatus"] = "Unused"
			r["ResourceId"], r["ResourceName"], r["ResourceType"] = b.Lease+"/reserved", b.Bill.Contract+" reservation", "Reservation"
		}
	}
	if l.Converted != nil {
		r["PricingCurrency"] = string(l.Converted.From)
		r["PricingCurrencyContractedUnitPrice"], r["PricingCurrencyListUnitPrice"] = unit.String(), terminating(new(big.Rat).Quo(list, rate))
		r["PricingCurrencyEffectiveCost"] = terminating(new(big.Rat).Mul(unit.Rat(), counted))
	}
}

// listPrice is what a card costs at a moment without a reservation.
func (b Bill) listPrice(at rental.Millis) rental.Decimal {
	var price rental.Decimal
	for i, v := range b.Contract.Plan.Prices {
		if i == 0 || v.From <= at {
			price = v.Price
		}
	}
	return price
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

func unitName(unit string) string {
	what, mode, timed := strings.Cut(unit, "-")
	names := map[string]string{rental.UnitGPU: "GPU", rental.UnitInstance: "Instance", rental.UnitLease: "Lease", rental.UnitSlice: "GPU"}
	if !timed {
		return unit
	}
	return or(names[what], what) + "-" + strings.ToUpper(mode[:1]) + mode[1:] + "s"
}

func tags(b Bill, l rental.BillLine) string {
	t := map[string]string{"lease": b.Lease, "contract": b.Bill.Contract, "item": l.Item}
	text, err := json.Marshal(t)
	if err != nil {
		return "" // a map of strings always marshals
	}
	return string(text)
}
