package rental

// Contract is a plan, objectives, the hardware promised and what is included.
// It has no hidden defaults: a field without which money or a verdict would be a guess is mandatory.
type Contract struct {
	Name     string   `json:"name" yaml:"-"`
	Provider string   `json:"provider" yaml:"provider"`
	Currency Currency `json:"currency" yaml:"currency"`
	// TimeZone is the IANA zone in which months and days begin.
	TimeZone string `json:"time_zone" yaml:"time_zone"`
	Language string `json:"language,omitempty" yaml:"language"` // en or zh; en where empty
	SKU      string `json:"sku,omitempty" yaml:"sku"`           // the hardware promised

	Plan Plan `json:"plan" yaml:"plan"`
	// Items are what the contract charges besides cards: storage, traffic, support, set-up.
	Items []Item `json:"items,omitempty" yaml:"items"`
	// PricedIn is the currency of the prices where it is not that of the bill; Rates then convert.
	PricedIn Currency `json:"priced_in,omitempty" yaml:"priced_in"`
	// Rates are the versions of the exchange rate in order of From.
	Rates []Rate `json:"rates,omitempty" yaml:"rates"`
	Tax   *Tax   `json:"tax,omitempty" yaml:"tax"`

	// MonthlyBudget is what the tenant means to spend on a lease in a calendar month, in Currency,
	// with tax and before credits. It changes no amount: 50, 80 and 100 % of it are told.
	MonthlyBudget Decimal `json:"monthly_budget,omitzero" yaml:"monthly_budget"`

	// Energy is what a kWh costs under the contract, where that is known; it stands beside the bill
	// and changes no amount. Without it that of the card's site holds.
	Energy *EnergyTariff `json:"energy,omitempty" yaml:"energy"`

	BillWhileDown        *bool `json:"bill_while_down" yaml:"bill_while_down"`
	BillWhileMaintenance *bool `json:"bill_while_maintenance" yaml:"bill_while_maintenance"`
	// LineRounding is how a bill line becomes minor units: half_up, half_even, up or down.
	LineRounding Rounding `json:"line_rounding" yaml:"line_rounding"`

	Availability *Availability `json:"availability,omitempty" yaml:"availability"`
	Credits      *Credits      `json:"credits,omitempty" yaml:"credits"`

	// Response and Resolution are how fast incidents are answered and solved, Recovery how much a
	// failure may cost. Calendar names the Calendar of limits that count working hours; WorkTime is
	// the copy of it that the contract took when it was recorded.
	Response   *Clocks   `json:"response,omitempty" yaml:"response"`
	Resolution *Clocks   `json:"resolution,omitempty" yaml:"resolution"`
	Recovery   *Recovery `json:"recovery,omitempty" yaml:"recovery"`
	Calendar   string    `json:"calendar,omitempty" yaml:"calendar"`
	WorkTime   *Calendar `json:"work_time,omitempty" yaml:"-"`

	// DowntimeApproval is automatic or manual: whether measured downtime changes money by itself.
	DowntimeApproval string `json:"downtime_approval" yaml:"downtime_approval"`
	// AutoCredit books a computed credit without a claim.
	AutoCredit bool `json:"auto_credit" yaml:"auto_credit"`
}

// Plan is how a lease is priced.
type Plan struct {
	// Mode is the unit of time that one price buys: second, minute, hour, clock_hour, day, week,
	// month (of the calendar) or anniversary_month; see the constants.
	Mode string `json:"mode" yaml:"mode"`
	// Unit is what one price buys: gpu, instance (all GPUs of the lease on one host) or lease.
	Unit string `json:"unit" yaml:"unit"`
	// Prices are the price's versions in order of From; the first holds from the beginning.
	Prices []PriceVersion `json:"prices" yaml:"prices"`
	// Market says that the provider sets the price as it goes, as with spot capacity: the versions
	// tell what it was. It changes no amount; FOCUS calls such a price dynamic.
	Market bool `json:"market,omitempty" yaml:"market"`
	// Rounding is what becomes of a started unit of time: exact (pro rata), up, down or half_up.
	Rounding Rounding `json:"rounding" yaml:"rounding"`
	// RoundingScope is session (each run by itself) or sum; mandatory where Rounding is not exact.
	RoundingScope string `json:"rounding_scope,omitempty" yaml:"rounding_scope"`
	// Minimum is the least time charged per start ("60s").
	Minimum Duration `json:"minimum,omitempty" yaml:"minimum"`
	// Proration tells how a part of a calendar month is counted: days, hours or flat_730h; days
	// where it is empty. Mode month only.
	Proration string `json:"proration,omitempty" yaml:"proration"`
	// Trial is the length of time from the lease's start that costs nothing ("168h").
	Trial Duration `json:"trial,omitempty" yaml:"trial"`
	// Steps are the prices past a volume of card-time in the month, over all cards of the lease.
	Steps []Step `json:"steps,omitempty" yaml:"steps"`
	// Reserved are cards that the tenant pays for whether used or not.
	Reserved *Reservation `json:"reserved,omitempty" yaml:"reserved"`
	// MinimumTerm is how long the lease is to last; one that ends earlier pays EarlyEndPercent of
	// the price for what is missing.
	MinimumTerm     Duration `json:"minimum_term,omitempty" yaml:"minimum_term"`
	EarlyEndPercent Decimal  `json:"early_end_percent,omitzero" yaml:"early_end_percent"`
	// Slices says what share of a card a MIG instance is; mandatory where Unit is slice.
	Slices *Slices `json:"slices,omitempty" yaml:"slices"`
}

// PriceVersion is a price that holds from a moment on.
type PriceVersion struct {
	From  Millis  `json:"from,omitempty" yaml:"from"`
	Price Decimal `json:"price" yaml:"price"` // per Unit and Mode, exact
}

// Availability is an objective with every field that decides a verdict.
type Availability struct {
	TargetPercent Decimal `json:"target_percent" yaml:"target_percent"`
	// Scope is gpu (each card for itself), all (down when any card is down), weighted (mean of
	// the cards) or k_of_n (down when fewer than Needed are up).
	Scope  string `json:"scope" yaml:"scope"`
	Needed int    `json:"needed,omitempty" yaml:"needed"`
	Period string `json:"period" yaml:"period"` // calendar_month
	// Denominator is period (the whole month) or lease (the lease's part of it).
	Denominator string `json:"denominator" yaml:"denominator"`
	// Outage is how an outage counts: exact, whole_minutes (of one run), clock_minutes (wholly down).
	Outage        string   `json:"outage" yaml:"outage"`
	MinimumOutage Duration `json:"minimum_outage,omitempty" yaml:"minimum_outage"`
	FlapMerge     Duration `json:"flap_merge,omitempty" yaml:"flap_merge"`
	// Degraded is up or down.
	Degraded string `json:"degraded" yaml:"degraded"`
	// Unknown is down or excluded: how time without evidence is judged.
	Unknown string `json:"unknown" yaml:"unknown"`
	// ExcludedLeavesDenominator tells whether excluded time is taken out of the denominator.
	ExcludedLeavesDenominator *bool    `json:"excluded_leaves_denominator" yaml:"excluded_leaves_denominator"`
	MaintenanceNotice         Duration `json:"maintenance_notice,omitempty" yaml:"maintenance_notice"`
	// MaintenanceCap is how much maintenance a calendar month of the contract's zone may hold; what
	// is over it counts as any other time. 0 for any amount.
	MaintenanceCap Duration `json:"maintenance_cap,omitempty" yaml:"maintenance_cap"`
}

// Credits is the table of what a missed objective pays back.
type Credits struct {
	// Tiers are strict bounds: a tier holds where availability is under its Under.
	Tiers []CreditTier `json:"tiers" yaml:"tiers"`
	Base  string       `json:"base" yaml:"base"`   // gross or net of unbilled time
	Scope string       `json:"scope" yaml:"scope"` // gpu, instance or lease
	// CapPercent bounds unbilled time and credits together, in percent of the fee; at most 100.
	CapPercent Decimal `json:"cap_percent" yaml:"cap_percent"`
	// ClaimDays is how many days after its month's end a credit may be claimed; 0 for any number.
	ClaimDays int `json:"claim_days,omitempty" yaml:"claim_days"`
}

// CreditTier pays Percent of the base where availability is under Under percent.
type CreditTier struct {
	Under   Decimal `json:"under" yaml:"under"`
	Percent Decimal `json:"percent" yaml:"percent"`
}

// DowntimePays tells whether downtime changes what a lease costs: it is not billed, or a
// missed objective pays a credit.
func (c Contract) DowntimePays() bool {
	return c.Credits != nil || c.BillWhileDown != nil && !*c.BillWhileDown
}
