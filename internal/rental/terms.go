package rental

import (
	"math/big"
	"strings"
)

// Values of Plan.Proration.
const (
	ProrateDays  = "days"      // by the days of the month: ten days of a February of 28 are 10/28
	ProrateHours = "hours"     // by the hours of the month, daylight saving included
	ProrateFlat  = "flat_730h" // 730 hours are one month, whatever month it is
)

// Step is a price that holds past a volume of time in the month.
type Step struct {
	// Over is the volume in the plan's units (card-hours with mode hour).
	Over  Decimal `json:"over" yaml:"over"`
	Price Decimal `json:"price" yaml:"price"`
}

// Reservation is a number of cards that is paid for as long as the lease lasts. It is matched
// with the cards' time hour by hour of the zone's clock; nothing is carried over to another hour.
type Reservation struct {
	Cards int `json:"cards" yaml:"cards"`
	// Price is per card and hour, used or not; 0 where all is paid upfront or by the month.
	Price Decimal `json:"price" yaml:"price"`
	// DiscountPercent, instead of Price, is what is taken off the plan's price as it is in each hour.
	DiscountPercent Decimal `json:"discount_percent,omitzero" yaml:"discount_percent"`
	// Upfront is paid once for the whole, when the lease starts.
	Upfront Decimal `json:"upfront,omitzero" yaml:"upfront"`
	// Monthly is paid for the whole by the calendar month, pro rata by its days.
	Monthly Decimal `json:"monthly,omitzero" yaml:"monthly"`
}

// priceOf returns what a reserved card costs while the plan's price is list.
func (r Reservation) priceOf(list Decimal) Decimal {
	if !r.DiscountPercent.IsSet() {
		return r.Price
	}
	left := new(big.Rat).Sub(hundred, r.DiscountPercent.Rat())
	_, digits, _ := strings.Cut(r.DiscountPercent.text, ".")
	return list.percent(Decimal{text: left.FloatString(len(digits))})
}

// Values of Slices.By.
const (
	SlicesByCompute = "compute" // 3g.40gb is 3
	SlicesByMemory  = "memory"  // 3g.40gb is 40
)

// Slices says what share of a card a MIG instance is: its profile's compute or memory figure of
// the card's.
type Slices struct {
	By string `json:"by" yaml:"by"`
	// Of is the card's whole: 7 compute slices, or its memory as the profiles count it (80).
	Of int `json:"of" yaml:"of"`
}

// Values of Item.Charge.
const (
	ChargeOnce    = "once"    // when the lease starts
	ChargeMonth   = "month"   // a calendar month of the zone, pro rata by its days
	ChargeMetered = "metered" // by the Consumptions that name the item
)

// Item is one thing that a contract charges besides cards.
type Item struct {
	Name string `json:"name" yaml:"name"` // as the bill shows it and as Consumptions name it
	// Kind is storage, traffic, support, backup, ip, setup, license or other.
	Kind   string `json:"kind" yaml:"kind"`
	Charge string `json:"charge" yaml:"charge"` // once, month or metered
	// Unit is what one price buys: GB (10^9 bytes), GiB (2^30), TB, TiB or a word such as address.
	Unit string `json:"unit" yaml:"unit"`
	// Quantity is how many units; none where the item is metered.
	Quantity Decimal `json:"quantity,omitzero" yaml:"quantity"`
	// Included items cost nothing, and the bill shows that.
	Included bool `json:"included,omitempty" yaml:"included"`
	// IncludedQuantity is what a month holds before a metered item costs anything, in units.
	IncludedQuantity Decimal     `json:"included_quantity,omitzero" yaml:"included_quantity"`
	Prices           []ItemPrice `json:"prices,omitempty" yaml:"prices"`
}

// ItemPrice is a price of an item that holds from a moment on.
type ItemPrice struct {
	From  Millis  `json:"from,omitempty" yaml:"from"`
	Price Decimal `json:"price" yaml:"price"`
	// Stopped is the price while the tenant has stopped the lease; mandatory for items by the month.
	Stopped Decimal `json:"stopped,omitzero" yaml:"stopped"`
}

// Consumption is how much of a metered item a lease used in a span. It is charged in the month in
// which it ends.
type Consumption struct {
	ID       string  `json:"id" yaml:"-"`
	Lease    string  `json:"lease" yaml:"lease"`
	Item     string  `json:"item" yaml:"item"`
	Start    Millis  `json:"start" yaml:"start"`
	End      Millis  `json:"end" yaml:"end"`
	Quantity Decimal `json:"quantity" yaml:"quantity"`
	Unit     string  `json:"unit" yaml:"unit"`
}

// Rate is what one unit of the contract's PricedIn is in its Currency from a moment on.
type Rate struct {
	From   Millis  `json:"from" yaml:"from"`
	Rate   Decimal `json:"rate" yaml:"rate"`
	Source string  `json:"source,omitempty" yaml:"source"` // who published it
}

// Values of Tax.On.
const (
	TaxOnLine = "line" // each line's tax is rounded by itself
	TaxOnSum  = "sum"  // the tax of the sum is rounded once
)

// Tax is what a bill adds, or holds, by law.
type Tax struct {
	Name    string  `json:"name" yaml:"name"` // VAT
	Percent Decimal `json:"percent" yaml:"percent"`
	// Included tells whether the prices hold the tax; else it is added.
	Included *bool  `json:"included" yaml:"included"`
	On       string `json:"on" yaml:"on"` // line or sum
}

// Adjustment is a correction that a person books: an amount that the bill of a month carries for a
// period that is closed, or for what no rule knows.
type Adjustment struct {
	ID    string `json:"id" yaml:"-"`
	Lease string `json:"lease" yaml:"lease"`
	// Month is the month of the contract's zone whose bill carries it ("2026-06").
	Month string `json:"month" yaml:"month"`
	// Start and End are the period that it is about.
	Start Millis `json:"start" yaml:"start"`
	End   Millis `json:"end" yaml:"end"`
	// Amount is in the currency's major unit, below 0 where the tenant gets it back.
	Amount   Decimal  `json:"amount" yaml:"amount"`
	Currency Currency `json:"currency" yaml:"currency"`
	Reason   string   `json:"reason" yaml:"reason"`
}

// Money returns the amount in minor units; one with more digits than the currency has is an error.
func (a Adjustment) Money() (Amount, error) { return NewMoney(a.Currency, a.Amount.Rat()).Round(Exact) }
