package focus

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// checkPeriods checks that periods have time.
func (c *checker) checkPeriods() {
	for _, name := range []string{"Billing", "Charge"} {
		start, end := c.values[name+"PeriodStart"], c.values[name+"PeriodEnd"]
		if start != "" && end != "" && start >= end {
			c.fault(name+"PeriodEnd", end, "a time after "+name+"PeriodStart "+start+": periods are half-open")
		}
	}
	if c.values["ChargeCategory"] == purchase && c.values["ChargeFrequency"] == usageBased {
		c.fault("ChargeFrequency", usageBased, oneTime+" or "+recurring+" in a row of "+purchase)
	}
}

// checkCosts checks that prices, quantities and costs agree, where a row has all three and
// corrects nothing, and that they are there where they must be.
func (c *checker) checkCosts() {
	correction, category := c.values["ChargeClass"] == "Correction", c.values["ChargeCategory"]
	charged := category == usage || category == purchase
	for _, name := range []string{"PricingQuantity", "PricingUnit", "ListUnitPrice", "ContractedUnitPrice", "PricingCategory", "SkuId", "SkuPriceId",
		"PricingCurrencyListUnitPrice", "PricingCurrencyContractedUnitPrice"} {
		switch v := c.values[name]; {
		case !c.has(name):
		case category == tax && v != "":
			c.fault(name, short(v), "nothing in a row of "+tax)
		case charged && !correction && v == "":
			c.fault(name, "nothing", "a value in a row of "+category+" that corrects nothing")
		case strings.HasSuffix(name, "UnitPrice") && strings.HasPrefix(v, "-"):
			c.fault(name, v, "a price that is not negative")
		}
	}
	quantity := c.values["PricingQuantity"]
	if quantity != "" && c.values["PricingUnit"] == "" && c.has("PricingUnit") && !charged {
		c.fault("PricingUnit", "nothing", "a unit where there is a PricingQuantity")
	}
	if correction {
		return
	}
	for _, name := range []string{"List", "Contracted"} {
		price, cost := c.values[name+"UnitPrice"], c.values[name+"Cost"]
		switch {
		case cost == "":
		case price != "" && quantity != "":
			if product := new(big.Rat).Mul(rat(price), rat(quantity)); !sameDecimal(product, cost) {
				c.fault(name+"Cost", cost, fmt.Sprintf("%sUnitPrice %s x PricingQuantity %s = %s", name, price, quantity, decimal(product, 15)))
			}
		case category == credit:
			c.sameAsBilled(name + "Cost")
		}
	}
	if category == credit {
		c.sameAsBilled("EffectiveCost")
	}
}

// sameAsBilled checks a cost of a charge that no other charge is behind.
func (c *checker) sameAsBilled(name string) {
	billed, cost := c.values["BilledCost"], c.values[name]
	if billed != "" && cost != "" && rat(billed).Cmp(rat(cost)) != 0 {
		c.fault(name, cost, "BilledCost "+billed+" in a row of "+c.values["ChargeCategory"])
	}
}

// sameDecimal tells whether a written cost is the product to its last digit.
func sameDecimal(product *big.Rat, cost string) bool {
	_, fraction, _ := strings.Cut(cost, ".")
	unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(fraction))), nil))
	difference := new(big.Rat).Sub(product, rat(cost))
	return difference.Abs(difference).Cmp(unit) < 0
}

// checkConsumed checks that what was consumed is told of usage, and of nothing else.
func (c *checker) checkConsumed() {
	q, u := c.values["ConsumedQuantity"], c.values["ConsumedUnit"]
	category, unused := c.values["ChargeCategory"], c.values["CommitmentDiscountStatus"] == "Unused"
	switch {
	case q != "" && unused:
		c.fault("ConsumedQuantity", q, "nothing where the commitment is unused")
	case c.version == Version10:
	case q != "" && category != "" && category != usage:
		c.fault("ConsumedQuantity", q, "nothing in a row of "+category)
	case q == "" && c.has("ConsumedQuantity") && category == usage && !unused && c.values["ChargeClass"] == "":
		c.fault("ConsumedQuantity", "nothing", "a quantity in a row of "+usage+" that corrects nothing")
	}
	if (q == "") != (u == "") && c.has("ConsumedUnit") && c.has("ConsumedQuantity") {
		c.fault("ConsumedUnit", or(u, "nothing"), "a unit where there is a ConsumedQuantity, and only there")
	}
}

// checkCommitment checks what belongs to a commitment, and that nothing of it stands alone.
func (c *checker) checkCommitment() {
	id, status := c.values["CommitmentDiscountId"], c.values["CommitmentDiscountStatus"]
	category, correction := c.values["ChargeCategory"], c.values["ChargeClass"] == "Correction"
	if id == "" {
		for _, name := range []string{"Status", "Category", "Type", "Name", "Quantity", "Unit"} {
			if v := c.values["CommitmentDiscount"+name]; v != "" {
				c.fault("CommitmentDiscount"+name, short(v), "nothing without a CommitmentDiscountId")
			}
		}
		return
	}
	for _, name := range []string{"CommitmentDiscountCategory", "CommitmentDiscountType"} {
		if c.values[name] == "" {
			c.fault(name, "nothing", "a value beside CommitmentDiscountId "+short(id))
		}
	}
	if isUsage := category == usage; isUsage != (status != "") {
		c.fault("CommitmentDiscountStatus", or(status, "nothing"), "Used or Unused in a row of "+usage+", and only there")
	}
	if c.values["PricingCategory"] == "Committed" && category == purchase {
		c.fault("PricingCategory", "Committed", "Standard where the commitment itself is bought")
	}
	if cost := c.values["EffectiveCost"]; category == purchase && cost != "" && rat(cost).Sign() != 0 {
		c.fault("EffectiveCost", cost, "0 where a commitment is bought: the rows that it covers bear its cost")
	}
	quantity, unit := c.values["CommitmentDiscountQuantity"], c.values["CommitmentDiscountUnit"]
	charged := category == usage || category == purchase
	if c.has("CommitmentDiscountQuantity") && charged && !correction && (quantity == "" || rat(quantity).Sign() <= 0) {
		c.fault("CommitmentDiscountQuantity", or(quantity, "nothing"), "a quantity over 0 beside CommitmentDiscountId "+short(id))
	}
	if !c.has("CommitmentDiscountUnit") {
		return
	}
	if unit == "" && !correction {
		c.fault("CommitmentDiscountUnit", "nothing", "a unit beside CommitmentDiscountId "+short(id))
	}
	c.alike("CommitmentDiscountUnit", unit, "CommitmentDiscountId", id)
}

// alike checks that a value is the same in all rows with one id.
func (c *checker) alike(column, value, key, id string) {
	if value == "" || id == "" {
		return
	}
	at := column + "\x00" + id
	before, seen := c.known[at]
	switch {
	case !seen && len(c.known) < maxKnown:
		c.known[at] = value
	case seen && before != value:
		c.fault(column, short(value), short(before)+" as in the rows above with "+key+" "+short(id))
	}
}

// maxKnown bounds what is remembered of a file.
const maxKnown = 100_000

// checkPairs checks columns that are there only with another, and, where paired is true, always.
func (c *checker) checkPairs() {
	for _, p := range []struct {
		column, with string
		paired       bool
	}{
		{"ResourceType", "ResourceId", true}, {"ResourceName", "ResourceId", false}, {"RegionName", "RegionId", true},
		{"SubAccountName", "SubAccountId", false}, {"SubAccountType", "SubAccountId", true}, {"SkuMeter", "SkuId", false},
		{"SkuPriceDetails", "SkuPriceId", false}, {"CapacityReservationStatus", "CapacityReservationId", false},
	} {
		value, id := c.values[p.column], c.values[p.with]
		switch {
		case value != "" && id == "" && c.has(p.with):
			c.fault(p.column, short(value), "nothing without a "+p.with)
		case p.paired && value == "" && id != "" && c.has(p.column):
			c.fault(p.column, "nothing", "a value beside "+p.with+" "+short(id))
		}
	}
	if id := c.values["CapacityReservationId"]; id != "" && c.values["CapacityReservationStatus"] == "" && c.values["ChargeCategory"] == usage && c.has("CapacityReservationStatus") {
		c.fault("CapacityReservationStatus", "nothing", "Used or Unused beside CapacityReservationId "+short(id))
	}
	category, sub := c.values["ServiceCategory"], c.values["ServiceSubcategory"]
	if category != "" && sub != "" && !slices.Contains(services[category], sub) {
		c.fault("ServiceSubcategory", short(sub), "one of "+category+": "+strings.Join(services[category], ", "))
	}
	c.alike("BillingAccountId", c.values["BillingAccountId"], "InvoiceId", c.values["InvoiceId"])
	c.alike("SkuId", c.values["SkuId"], "SkuPriceId", c.values["SkuPriceId"])
	c.checkDetails()
}
