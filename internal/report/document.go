// Package report writes what a tenant is given about a lease's month: verdict, downtime, credits,
// use, cost and hardware, with the records that prove it. The same document is a page to print, a
// table and a signed file, which Verify checks without asking anybody.
package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/leasewatch/leasewatch/internal/proof"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// Format is the version of the document. A program refuses one that it does not know.
const Format = "leasewatch-report/1"

// The kinds of reports.
const (
	KindMonth = "month" // a month of the contract's zone
	KindTrial = "trial" // a lease's first 168 hours (R41)
	KindSpan  = "span"
)

// TrialLength is how long a trial lasts before its report, in milliseconds: a week (R41).
const TrialLength = rental.Millis(168 * 3_600_000)

// linksAfter is how long after a period's end its records are still expected under new heads:
// samples come up to 26 h late, and a head closes a day. Heads in that time carry their records.
const linksAfter = rental.Millis(3 * 24 * 3_600_000)

// Document is a report's content: all that is shown, and all that it was worked out from. It holds
// no fractions, so that its canonical form is one.
type Document struct {
	Format  string        `json:"format"`
	Kind    string        `json:"kind"`
	MadeAt  rental.Millis `json:"made_at"`
	Program string        `json:"program"`
	// Month is that of the contract's zone; empty for another span.
	Month  string      `json:"month,omitempty"`
	Period rental.Span `json:"period"`
	// Language is that of the sentences within, en or zh.
	Language string `json:"language"`

	TenantName   string          `json:"tenant_name"`
	ProviderName string          `json:"provider_name"`
	Lease        rental.Lease    `json:"lease"`
	Contract     rental.Contract `json:"contract"`
	Facts        Facts           `json:"facts"`

	Verdict  rental.Verdict   `json:"verdict"`
	Forecast *rental.Forecast `json:"forecast,omitempty"`
	// Objectives are response, resolution, RTO and RPO, as far as the contract has them.
	Objectives []rental.ObjectiveVerdict `json:"objectives,omitempty"`
	Credits    []rental.Credit           `json:"credits"`
	// Use is how each card spent its paid time, by uuid; Total their sum.
	Use   []CardUse  `json:"use"`
	Total rental.Use `json:"use_total"`
	// Bill is null where the reader may not see it or none could be made.
	Bill     *rental.Bill `json:"bill"`
	Hardware []Card       `json:"hardware"`

	// Chain is the lease's chain from its first head; Unsealed are records that no head closes yet.
	Chain    []proof.Sealed    `json:"chain"`
	Unsealed []json.RawMessage `json:"unsealed"`
}

// Facts are what the verdict was judged from, besides lease and contract.
type Facts struct {
	Assignments  []rental.Assignment  `json:"assignments"`
	Downtimes    []rental.Downtime    `json:"downtimes"`
	Maintenances []rental.Maintenance `json:"maintenances"`
	// Known is up to when samples were read; 0 where the whole period was.
	Known rental.Millis `json:"known,omitempty"`
	// Timelines are what samples said of each card, by uuid.
	Timelines map[string][]rental.Interval `json:"timelines"`
	// Consumptions are what metered items used: the bill's lines rest on them.
	Consumptions []rental.Consumption `json:"consumptions,omitempty"`
	// LateMS is how long after its end a month's samples are still taken, in milliseconds: until then
	// its credit is provisional.
	LateMS rental.Millis `json:"late_ms,omitempty"`
}

// CardUse is one card's use in the period.
type CardUse struct {
	UUID string `json:"uuid"`

	rental.Use
}

// Card is one card that served the lease: what was promised and what the inventory holds.
type Card struct {
	UUID     string      `json:"uuid"`
	Serial   string      `json:"serial"`
	Host     string      `json:"host"`
	Slot     int         `json:"slot"`
	Promised string      `json:"promised"` // the contract's hardware; empty where it names none
	Found    string      `json:"found"`    // the hardware that the inventory knows the card as
	Model    string      `json:"model"`
	Served   rental.Span `json:"served"`
	Reason   string      `json:"reason"`
}

// Input is what a Document is made of.
type Input struct {
	Kind, Month, Program, Language string
	MadeAt                         rental.Millis
	TenantName, ProviderName       string
	Judged                         rental.JudgeInput
	Verdict                        rental.Verdict
	Forecast                       *rental.Forecast
	Objectives                     []rental.ObjectiveVerdict
	Credits                        []rental.Credit
	Bill                           *rental.Bill
	GPUs                           []rental.GPU
	SKUs                           []rental.SKU
	Chain                          []proof.Sealed
	Unsealed                       []json.RawMessage
	// Consumptions are those of the lease, Late how long samples of a month are taken after its end.
	Consumptions []rental.Consumption
	Late         rental.Millis
}

// New puts a report together. What concerns other leases is left out: a maintenance names this
// lease and its hosts alone.
func New(in Input) (Document, error) {
	d := Document{
		Format: Format, Kind: in.Kind, MadeAt: in.MadeAt, Program: in.Program, Month: in.Month, Period: in.Judged.Period, Language: in.Language,
		TenantName: in.TenantName, ProviderName: in.ProviderName, Lease: in.Judged.Lease, Contract: in.Judged.Contract,
		Facts: Facts{
			Assignments: in.Judged.Assignments, Downtimes: in.Judged.Downtimes, Maintenances: own(in.Judged),
			Known: in.Judged.Now, Timelines: in.Judged.Timelines, Consumptions: in.Consumptions, LateMS: in.Late,
		},
		Verdict: in.Verdict, Forecast: in.Forecast, Objectives: in.Objectives, Credits: in.Credits, Bill: in.Bill, Hardware: hardware(in),
		Chain: in.Chain, Unsealed: in.Unsealed,
	}
	d.Credits, d.Chain, d.Unsealed = orEmpty(d.Credits), orEmpty(d.Chain), orEmpty(d.Unsealed)
	d.Facts.Assignments, d.Facts.Downtimes = orEmpty(d.Facts.Assignments), orEmpty(d.Facts.Downtimes)
	records, err := d.records()
	if err != nil {
		return d, err
	}
	d.Use, d.Total = useOf(records.usage, d.Period)
	return d, nil
}

func orEmpty[T any](values []T) []T {
	if values == nil {
		return []T{}
	}
	return values
}

// own returns the windows that touch the lease, each with this lease and its hosts alone.
func own(in rental.JudgeInput) []rental.Maintenance {
	hosts := map[string]bool{}
	for _, a := range in.Assignments {
		hosts[a.Host] = a.Host != ""
	}
	for _, ref := range in.Lease.GPUs {
		hosts[ref.Host] = ref.Host != ""
	}
	out := []rental.Maintenance{}
	for _, m := range in.Maintenances {
		m = m.For(in.Lease.Tenant, func(l string) bool { return l == in.Lease.ID }, func(h string) bool { return hosts[h] })
		if len(m.Leases)+len(m.Hosts) > 0 {
			out = append(out, m)
		}
	}
	return out
}

func hardware(in Input) []Card {
	cards, models := map[string]rental.GPU{}, map[string]string{}
	for _, g := range in.GPUs {
		cards[g.UUID] = g
	}
	for _, s := range in.SKUs {
		models[s.Name] = s.Model
	}
	out := []Card{}
	for _, a := range in.Judged.Assignments {
		if a.Lease != in.Judged.Lease.ID || !a.Span.Overlaps(in.Judged.Period) {
			continue
		}
		g := cards[a.UUID]
		out = append(out, Card{
			UUID: a.UUID, Serial: g.Serial, Host: cmp.Or(a.Host, g.Host), Slot: g.Slot, Promised: in.Judged.Contract.SKU,
			Found: g.SKU, Model: models[g.SKU], Served: a.Span, Reason: a.Reason,
		})
	}
	return out
}

// WantsRecords tells whether a head's records must be in a report of the period: those that were
// sealed in it and for some days after, in which late samples are taken.
func WantsRecords(period rental.Span, h rental.Head) bool {
	return h.SealedAt > period.Start && h.SealedAt <= period.End+linksAfter
}

// Touches tells whether a record is about time of the period; one that cannot be read may be.
func Touches(period rental.Span, record json.RawMessage) bool {
	c, err := proof.Read(record)
	switch {
	case err != nil:
		return true
	case c.Downtime != nil:
		return c.Downtime.Span.Overlaps(period) || c.Downtime.Span.Empty()
	case c.Credit != nil:
		return monthNear(c.Credit.Month, period)
	}
	return period.Contains(c.Usage.Span.Start)
}

// monthNear tells whether a month, in whatever zone, may overlap the period.
func monthNear(name string, period rental.Span) bool {
	const day = 24 * 3_600_000
	month, err := rental.ParseMonth(name)
	if err != nil {
		return true
	}
	span, err := month.Span("UTC")
	return err != nil || rental.Span{Start: span.Start - day, End: span.End + day}.Overlaps(period)
}

// held is what the records say that hold, after later ones have replaced earlier ones.
type held struct {
	usage     []rental.UsageRecord // in order of start and uuid
	downtimes map[string]rental.Downtime
	credits   map[string]rental.CreditCase // by id
}

// records reads what the document's records say.
func (d Document) records() (held, error) {
	type slot struct {
		uuid string
		hour rental.Millis
	}
	const hour = 3_600_000
	hours := map[slot][]rental.UsageRecord{}
	out := held{downtimes: map[string]rental.Downtime{}, credits: map[string]rental.CreditCase{}}
	take := func(text json.RawMessage) error {
		c, err := proof.Read(text)
		if err != nil {
			return err
		}
		if c.Downtime != nil {
			out.downtimes[c.Downtime.ID] = *c.Downtime
			return nil
		}
		if c.Credit != nil {
			out.credits[c.Credit.ID()] = *c.Credit
			return nil
		}
		at := slot{c.Usage.UUID, c.Usage.Span.Start - c.Usage.Span.Start%hour}
		if known := hours[at]; len(known) > 0 && known[0].Revision != c.Usage.Revision {
			hours[at] = nil // a later revision replaces the hour as a whole
		}
		hours[at] = append(hours[at], *c.Usage)
		return nil
	}
	for _, s := range d.Chain {
		for _, link := range s.Links {
			if err := take(link.Record); err != nil {
				return out, fmt.Errorf("head %d: %w", s.Number, err)
			}
		}
	}
	for _, text := range d.Unsealed {
		if err := take(text); err != nil {
			return out, err
		}
	}
	for _, records := range hours {
		out.usage = append(out.usage, records...)
	}
	slices.SortFunc(out.usage, func(a, b rental.UsageRecord) int {
		return cmp.Or(cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.UUID, b.UUID))
	})
	return out, nil
}

// useOf sums the records that begin in the period, by card and in all.
func useOf(records []rental.UsageRecord, period rental.Span) ([]CardUse, rental.Use) {
	cards := map[string]*rental.Use{}
	var total rental.Use
	for _, r := range records {
		if !period.Contains(r.Span.Start) {
			continue
		}
		if cards[r.UUID] == nil {
			cards[r.UUID] = &rental.Use{}
		}
		cards[r.UUID].Add(r)
		total.Add(r)
	}
	out := []CardUse{}
	for uuid, use := range cards {
		out = append(out, CardUse{uuid, *use})
	}
	slices.SortFunc(out, func(a, b CardUse) int { return cmp.Compare(a.UUID, b.UUID) })
	return out, total
}
