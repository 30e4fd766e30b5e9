package rental

// Amount is money of one currency in its minor units, as a bill line shows it.
type Amount struct {
	Currency Currency `json:"currency"`
	Minor    int64    `json:"minor"` // cents, fen, yen
}

// Bill is what a lease costs in a billing period.
type Bill struct {
	Lease    string   `json:"lease"`
	Tenant   string   `json:"tenant"`
	Provider string   `json:"provider"`
	Contract string   `json:"contract"`
	Currency Currency `json:"currency"`
	TimeZone string   `json:"time_zone"`
	Period   Span     `json:"period"`
	// Language is that of the sentences in the bill, "en" or "zh".
	Language string     `json:"language,omitempty"`
	Lines    []BillLine `json:"lines"`
	Total    Amount     `json:"total"`
	// TaxContained is what of Total is tax, where the prices hold it; nil where they do not.
	TaxContained *Amount `json:"tax_contained,omitempty"`
	// Use is how the paid time of the cards was used; nil where the bill charges for none.
	Use *BillUse `json:"use,omitempty"`
	// Reservation says whether the reservation paid off; nil without one.
	Reservation *ReservationUse `json:"reservation,omitempty"`
	// Outlook is what the period will have cost by its end; nil once it has ended.
	Outlook *Outlook `json:"outlook,omitempty"`
	// Invoice is set once the bill is closed; nothing in it changes then.
	Invoice *Invoice `json:"invoice,omitempty"`
	// Provisional says why the bill may still change (the month is open, a conflict is open); empty when final.
	Provisional []string `json:"provisional,omitempty"`
}

// BillLine is one (lease, item, unit price, billing period); its GPUs are summed exactly and rounded once.
type BillLine struct {
	Item string `json:"item"` // gpu_time, reserved_unused, storage, sla_credit, tax...
	// Name is what the contract calls the item; empty where Item says all.
	Name string `json:"name,omitempty"`
	// Charged is the charge period that the line covers.
	Charged   Span    `json:"charged"`
	UnitPrice Decimal `json:"unit_price"`
	// ListPrice is what the unit costs without the reservation that covers it; unset in other lines.
	ListPrice Decimal `json:"list_price,omitzero"`
	// Converted is how the price became the amount's currency; nil where it is in it already.
	Converted *Conversion `json:"converted,omitempty"`
	Unit      string      `json:"unit"` // gpu-hour, gpu-minute, gpu-month...
	// Quantity is the exact quantity as a fraction in lowest terms ("5952", "31/6").
	Quantity string `json:"quantity"`
	// QuantityMS is the time behind the quantity, in card-milliseconds.
	QuantityMS int64  `json:"quantity_ms"`
	Amount     Amount `json:"amount"`
	// Quantities are the exact quantities of the cards; they sum to Quantity.
	Quantities map[string]string `json:"quantities,omitempty"`
	// PerGPU splits Amount over the cards by largest remainder; it always sums to Amount.
	PerGPU map[string]int64 `json:"per_gpu,omitempty"`
	// Rounding is the mode of the line's one rounding.
	Rounding Rounding `json:"rounding,omitempty"`
	Note     string   `json:"note,omitempty"` // the arithmetic in words
	// Use is how the line's cards spent the charge period; nil in lines that are not for their time.
	Use *BillUse `json:"use,omitempty"`
	// Corrects is the closed period that a correction is about; nil in every other line.
	Corrects *Span `json:"corrects,omitempty"`
}

// Invoice marks a bill that was closed: a person's act.
type Invoice struct {
	Number   string `json:"number"` // INV-000001, ... without gaps
	ClosedAt Millis `json:"closed_at"`
	ClosedBy string `json:"closed_by"`
	// ApprovedBy is the second person, where one was needed.
	ApprovedBy string `json:"approved_by,omitempty"`
}

// ClosedMonth is a billing period of a lease whose bill is frozen.
type ClosedMonth struct {
	Lease string `json:"lease"`
	Span  Span   `json:"span"`
	Invoice
	Hash string `json:"hash"` // SHA-256 of the bill's bytes, in hex
	Bill []byte `json:"-"`
}
