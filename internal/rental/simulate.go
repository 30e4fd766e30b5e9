package rental

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
)

// Quote is what one contract would charge for a use.
type Quote struct {
	Contract string     `json:"contract"`
	Provider string     `json:"provider"`
	Currency Currency   `json:"currency"`
	Lines    []BillLine `json:"lines"`
	Total    Amount     `json:"total"`
	// PerHour is Total over the card-hours of the use, rounded half up for show; nil without use.
	PerHour *Amount `json:"per_card_hour,omitempty"`
	// Reason says why the contract cannot price it; empty where it can.
	Reason string `json:"reason,omitempty"`
}

// Simulate prices the facts of one lease under each contract, as Charge would with tax and without
// credits. The quotes of a currency are in order of total; those that cannot be made come last.
func Simulate(f Facts, contracts []Contract, period Span) []Quote {
	used := new(big.Rat).SetFrac64(cardTime(f, period), int64(millisOfHour))
	out := make([]Quote, len(contracts))
	for i, c := range contracts {
		q := Quote{Contract: c.Name, Provider: c.Provider, Currency: c.Currency, Total: Amount{Currency: c.Currency}}
		f.Contract, f.Lease.Contract = c, c.Name
		if err := q.price(f, period, used); err != nil {
			q = Quote{Contract: c.Name, Provider: c.Provider, Currency: c.Currency, Total: Amount{Currency: c.Currency}, Reason: err.Error()}
		}
		out[i] = q
	}
	slices.SortStableFunc(out, func(a, b Quote) int {
		return cmp.Or(cmp.Compare(lastIf(a.Reason != ""), lastIf(b.Reason != "")), cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.Total.Minor, b.Total.Minor), cmp.Compare(a.Contract, b.Contract))
	})
	return out
}

func lastIf(last bool) int {
	if last {
		return 1
	}
	return 0
}

func (q *Quote) price(f Facts, period Span, used *big.Rat) error {
	lines, err := Charge(ChargeInput{Facts: f, Period: period})
	if err != nil {
		return err
	}
	taxes, _, err := TaxLines(f.Contract, period, lines)
	if err != nil {
		return err
	}
	q.Lines = append(lines, taxes...)
	if q.Total, err = lineTotal(f.Contract.Currency, q.Lines); err != nil || used.Sign() == 0 {
		return err
	}
	whole, err := q.Total.Money()
	if err != nil {
		return err
	}
	perHour, err := NewMoney(q.Currency, new(big.Rat).Quo(whole.Rat(), used)).Round(HalfUp)
	q.PerHour = &perHour
	return err
}

// cardTime returns how long cards served the lease in the period, without stops, in milliseconds.
func cardTime(f Facts, period Span) int64 {
	var sum int64
	for _, a := range f.cleanAssignments() {
		sum += TotalMillis(SubtractSpans([]Span{a.Span.Clip(period)}, f.Lease.Stops))
	}
	return sum
}

// Profile is a use that is no lease yet: cards on one host that run for the first hours of each day.
type Profile struct {
	Cards int
	// Start is the midnight from which days are counted, in the time zone of the profile.
	Start    Millis
	TimeZone string
	Days     int
	// HoursPerDay may have a fraction; 24 where the cards never stop.
	HoursPerDay Decimal
}

// The most that a profile may hold: what Charge reckons in well under a second.
const (
	maxProfileCards = 10_000
	maxProfileDays  = 3660
)

// Facts returns the profile as the lease that it would be, and its period.
func (p Profile) Facts() (Facts, Span, error) {
	running := new(big.Rat).Mul(p.HoursPerDay.Rat(), new(big.Rat).SetInt64(int64(millisOfHour)))
	switch {
	case p.Cards < 1 || p.Cards > maxProfileCards:
		return Facts{}, Span{}, fmt.Errorf("%d GPUs: expected 1 to %d", p.Cards, maxProfileCards)
	case p.Days < 1 || p.Days > maxProfileDays:
		return Facts{}, Span{}, fmt.Errorf("%d days: expected 1 to %d", p.Days, maxProfileDays)
	case running.Sign() <= 0 || running.Cmp(big.NewRat(24*int64(millisOfHour), 1)) > 0:
		return Facts{}, Span{}, fmt.Errorf("%s hours per day: expected more than 0 and at most 24", p.HoursPerDay.found())
	}
	loc, err := LoadZone(p.TimeZone)
	if err != nil {
		return Facts{}, Span{}, err
	}
	y, m, d := p.Start.Time().In(loc).Date()
	period := Span{Start: p.Start, End: daySpan(loc, y, m, d+p.Days-1).End}
	f := Facts{Lease: Lease{ID: "simulated", Tenant: "simulated", Start: period.Start, End: period.End}}
	for _, day := range cutDays(loc, period) {
		if stop := (Span{Start: day.Start + Millis(wholeMillis(running)), End: day.End}); !stop.Empty() && running.Cmp(big.NewRat(24*int64(millisOfHour), 1)) < 0 {
			f.Lease.Stops = append(f.Lease.Stops, stop)
		}
	}
	for i := range p.Cards {
		uuid := fmt.Sprintf("GPU %d", i+1)
		f.Lease.GPUs = append(f.Lease.GPUs, GPURef{UUID: uuid})
		f.Assignments = append(f.Assignments, Assignment{Lease: f.Lease.ID, UUID: uuid, Span: period, Reason: "start", Host: "simulated"})
	}
	return f, period, nil
}
