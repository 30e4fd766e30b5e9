// Package focus writes bills in the FinOps Open Cost and Usage Specification (FOCUS), versions
// 1.0 and 1.2, and checks files that claim to be in it. The names, levels and rules are those of
// the specification at focus.finops.org.
package focus

import (
	"fmt"
	"maps"
	"slices"
)

// The versions that are written and checked.
const (
	Version10 = "1.0"
	Version12 = "1.2"
)

// kind is what a column holds.
type kind int

const (
	text kind = iota
	number
	moment
	currency
	pairs // a JSON object of tags
)

// column is one column of the specification.
type column struct {
	name string
	kind kind
	// since is the version that brought it.
	since string
	// mandatory columns are in every file; required ones have a value in every row.
	mandatory, required bool
	allowed             []string
}

var categories = []string{usage, purchase, tax, credit, adjustment}

// columns are in the order in which they are written.
var columns = []column{
	{name: "AvailabilityZone", since: Version10},
	{name: "BilledCost", since: Version10, kind: number, mandatory: true, required: true},
	{name: "BillingAccountId", since: Version10, mandatory: true, required: true},
	{name: "BillingAccountName", since: Version10, mandatory: true},
	{name: "BillingAccountType", since: Version12, required: true},
	{name: "BillingCurrency", since: Version10, kind: currency, mandatory: true, required: true},
	{name: "BillingPeriodEnd", since: Version10, kind: moment, mandatory: true, required: true},
	{name: "BillingPeriodStart", since: Version10, kind: moment, mandatory: true, required: true},
	{name: "CapacityReservationId", since: Version12},
	{name: "CapacityReservationStatus", since: Version12, allowed: []string{"Used", "Unused"}},
	{name: "ChargeCategory", since: Version10, mandatory: true, required: true, allowed: categories},
	{name: "ChargeClass", since: Version10, mandatory: true, allowed: []string{"Correction"}},
	{name: "ChargeDescription", since: Version10, mandatory: true},
	{name: "ChargeFrequency", since: Version10, required: true, allowed: []string{oneTime, recurring, usageBased}},
	{name: "ChargePeriodEnd", since: Version10, kind: moment, mandatory: true, required: true},
	{name: "ChargePeriodStart", since: Version10, kind: moment, mandatory: true, required: true},
	{name: "CommitmentDiscountCategory", since: Version10, allowed: []string{"Spend", "Usage"}},
	{name: "CommitmentDiscountId", since: Version10},
	{name: "CommitmentDiscountName", since: Version10},
	{name: "CommitmentDiscountQuantity", since: Version12, kind: number},
	{name: "CommitmentDiscountStatus", since: Version10, allowed: []string{"Used", "Unused"}},
	{name: "CommitmentDiscountType", since: Version10},
	{name: "CommitmentDiscountUnit", since: Version12},
	{name: "ConsumedQuantity", since: Version10, kind: number},
	{name: "ConsumedUnit", since: Version10},
	{name: "ContractedCost", since: Version10, kind: number, mandatory: true, required: true},
	{name: "ContractedUnitPrice", since: Version10, kind: number},
	{name: "EffectiveCost", since: Version10, kind: number, mandatory: true, required: true},
	{name: "InvoiceId", since: Version12},
	{name: "InvoiceIssuerName", since: Version10, mandatory: true, required: true},
	{name: "ListCost", since: Version10, kind: number, mandatory: true, required: true},
	{name: "ListUnitPrice", since: Version10, kind: number},
	{name: "PricingCategory", since: Version10, allowed: []string{"Standard", "Dynamic", "Committed", "Other"}},
	{name: "PricingCurrency", since: Version12, kind: currency, required: true},
	{name: "PricingCurrencyContractedUnitPrice", since: Version12, kind: number},
	{name: "PricingCurrencyEffectiveCost", since: Version12, kind: number, required: true},
	{name: "PricingCurrencyListUnitPrice", since: Version12, kind: number},
	{name: "PricingQuantity", since: Version10, kind: number, mandatory: true},
	{name: "PricingUnit", since: Version10, mandatory: true},
	{name: "ProviderName", since: Version10, mandatory: true, required: true},
	{name: "PublisherName", since: Version10, mandatory: true, required: true},
	{name: "RegionId", since: Version10},
	{name: "RegionName", since: Version10},
	{name: "ResourceId", since: Version10},
	{name: "ResourceName", since: Version10},
	{name: "ResourceType", since: Version10},
	{name: "ServiceCategory", since: Version10, mandatory: true, required: true, allowed: slices.Sorted(maps.Keys(services))},
	{name: "ServiceName", since: Version10, mandatory: true, required: true},
	{name: "ServiceSubcategory", since: Version12, required: true},
	{name: "SkuId", since: Version10},
	{name: "SkuMeter", since: Version12},
	{name: "SkuPriceDetails", since: Version12, kind: pairs},
	{name: "SkuPriceId", since: Version10},
	{name: "SubAccountId", since: Version10},
	{name: "SubAccountName", since: Version10},
	{name: "SubAccountType", since: Version12},
	{name: "Tags", since: Version10, kind: pairs},
}

// of returns the columns of a version.
func of(version string) ([]column, error) {
	switch version {
	case Version12:
		return columns, nil
	case Version10:
		return slices.DeleteFunc(slices.Clone(columns), func(c column) bool { return c.since != Version10 }), nil
	}
	return nil, fmt.Errorf("FOCUS version %q: expected %s or %s", version, Version10, Version12)
}
