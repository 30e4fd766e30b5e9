package billing

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

//go:embed bill.html
var billPage string

// page is what the template shows, already in words.
type page struct {
	Lang, Title, How, ByGPU string
	Head                    []string
	Bills                   []pageBill
}

type pageBill struct {
	Title, Parties, Invoice string
	Rows                    [][]string
	Totals                  [][]string // name and amount
	Notes, Provisional      []string
	GPUs                    [][]string // uuid and amount
}

// WriteHTML writes bills as one page that needs nothing else and prints on A4, each bill from a
// new sheet, in English ("en") or Chinese ("zh"). Times are those of the contracts' zones.
func WriteHTML(w io.Writer, bills []rental.Bill, lang string) error {
	view, err := template.New("bill").Parse(billPage)
	if err != nil {
		return fmt.Errorf("bill page: %w", err)
	}
	if lang == "" && len(bills) > 0 {
		lang = bills[0].Language
	}
	p := phrase.For(lang)
	out := page{Lang: p.Lang(), Title: p.Say(phrase.BillMonths), How: p.Say(phrase.BillHow), ByGPU: p.Say(phrase.BillByGPU),
		Head: []string{p.Say(phrase.BillItem), p.Say(phrase.BillCharged), p.Say(phrase.BillQuantity), p.Say(phrase.BillUnitPrice), p.Say(phrase.BillUse), p.Say(phrase.BillAmount)}}
	for _, bill := range bills {
		shown, err := pageOf(p, bill, lang)
		if err != nil {
			return err
		}
		out.Bills = append(out.Bills, shown)
	}
	if len(out.Bills) == 1 {
		out.Title = out.Bills[0].Title
	}
	if err := view.Execute(w, out); err != nil {
		return fmt.Errorf("bill page: %w", err)
	}
	return nil
}

func pageOf(p phrase.Printer, bill rental.Bill, lang string) (pageBill, error) {
	zone, err := rental.LoadZone(bill.TimeZone)
	if err != nil {
		return pageBill{}, fmt.Errorf("bill of lease %s: %w", bill.Lease, err)
	}
	out := pageBill{
		Title:   p.Say(phrase.BillTitle, clean(bill.Lease), periodName(p, bill.Period, zone)),
		Parties: p.Say(phrase.BillParties, clean(bill.Tenant), clean(bill.Provider), clean(bill.Contract)),
		Totals:  [][]string{{p.Say(phrase.BillTotal), bill.Total.String()}},
	}
	if i := bill.Invoice; i != nil {
		out.Invoice = p.Say(phrase.BillInvoice, clean(i.Number), p.Time(i.ClosedAt, zone), clean(i.ClosedBy))
	}
	if bill.TaxContained != nil {
		out.Totals = append(out.Totals, []string{p.Say(phrase.BillTaxContained), bill.TaxContained.String()})
	}
	for _, l := range bill.Lines {
		out.Rows = append(out.Rows, []string{itemName(p, l, zone), chargedName(p, l.Charged, zone), quantityName(l, lang), priceName(l), useName(p, l.Use), l.Amount.String()})
		out.Notes = append(out.Notes, p.Say(phrase.BillNote, itemName(p, l, zone), clean(l.Explain(lang))))
	}
	out.Notes = append(out.Notes, useNotes(p, bill)...)
	for _, why := range bill.Provisional {
		out.Provisional = append(out.Provisional, p.Say(phrase.BillProvisional, clean(why)))
	}
	out.GPUs = byGPU(bill)
	return out, nil
}

// byGPU sums what the lines ask for each card.
func byGPU(bill rental.Bill) [][]string {
	sums := map[string]int64{}
	for _, l := range bill.Lines {
		for uuid, minor := range l.PerGPU {
			sums[uuid] += minor
		}
	}
	var out [][]string
	for uuid, minor := range sums {
		out = append(out, []string{clean(uuid), rental.Amount{Currency: bill.Currency, Minor: minor}.String()})
	}
	slices.SortFunc(out, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return out
}
