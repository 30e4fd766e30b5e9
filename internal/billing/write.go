package billing

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// WriteJSON writes the bill as indented JSON with a newline at its end.
func WriteJSON(w io.Writer, bill rental.Bill) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(bill)
}

// WriteTable writes the bill for a terminal or a mail, in English or Chinese, or in the bill's own
// language where lang is empty. Times are those of the contract's zone.
func WriteTable(w io.Writer, bill rental.Bill, lang string) error {
	lang = cmp.Or(lang, bill.Language)
	p := phrase.For(lang)
	zone, err := rental.LoadZone(bill.TimeZone)
	if err != nil {
		return fmt.Errorf("bill of lease %s: %w", bill.Lease, err)
	}
	var b strings.Builder
	fmt.Fprintln(&b, p.Say(phrase.BillTitle, clean(bill.Lease), periodName(p, bill.Period, zone)))
	fmt.Fprintln(&b, p.Say(phrase.BillParties, clean(bill.Tenant), clean(bill.Provider), clean(bill.Contract)))
	if i := bill.Invoice; i != nil {
		fmt.Fprintln(&b, p.Say(phrase.BillInvoice, clean(i.Number), p.Time(i.ClosedAt, zone), clean(i.ClosedBy)))
	}
	b.WriteString("\n")
	t := columns{right: []bool{false, false, true, true, true, true}}
	t.add(p.Say(phrase.BillItem), p.Say(phrase.BillCharged), p.Say(phrase.BillQuantity), p.Say(phrase.BillUnitPrice), p.Say(phrase.BillUse), p.Say(phrase.BillAmount))
	for _, l := range bill.Lines {
		t.add(itemName(p, l, zone), chargedName(p, l.Charged, zone), quantityName(l, lang), priceName(l), useName(p, l.Use), l.Amount.String())
	}
	t.add(p.Say(phrase.BillTotal), "", "", "", "", bill.Total.String())
	if bill.TaxContained != nil {
		t.add(p.Say(phrase.BillTaxContained), "", "", "", "", bill.TaxContained.String())
	}
	t.write(&b)
	b.WriteString("\n")
	for _, l := range bill.Lines {
		fmt.Fprintln(&b, p.Say(phrase.BillNote, itemName(p, l, zone), clean(l.Explain(lang))))
	}
	for _, note := range useNotes(p, bill) {
		fmt.Fprintln(&b, note)
	}
	for _, why := range bill.Provisional {
		fmt.Fprintln(&b, p.Say(phrase.BillProvisional, clean(why)))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("bill of lease %s: %w", bill.Lease, err)
	}
	return nil
}

// periodName is the month where the period is one of the zone, else the span.
func periodName(p phrase.Printer, period rental.Span, zone *time.Location) string {
	month, err := rental.MonthOf(zone.String(), period.Start)
	if err == nil {
		if span, err := month.Span(zone.String()); err == nil && span == period {
			return month.String()
		}
	}
	return chargedName(p, period, zone)
}

func chargedName(p phrase.Printer, span rental.Span, zone *time.Location) string {
	return p.Say(phrase.BillSpan, p.Time(span.Start, zone), p.Time(span.End, zone))
}

func itemName(p phrase.Printer, l rental.BillLine, zone *time.Location) string {
	name := p.BillItem(l.Item, l.Name)
	if l.Corrects != nil && l.Item != ItemAdjustment {
		name = p.Say(phrase.BillCorrects, name, periodName(p, *l.Corrects, zone))
	}
	return clean(name)
}

func quantityName(l rental.BillLine, lang string) string {
	switch l.Unit {
	case "":
		return "-"
	case "percent":
		return l.Quantity + " %"
	}
	return rental.GroupDigits(l.QuantityDecimal(6)) + " " + clean(l.UnitName(lang))
}

func priceName(l rental.BillLine) string {
	if !l.UnitPrice.IsSet() {
		return "-"
	}
	return l.UnitPrice.String() + " " + string(currencyOf(l))
}

// currencyOf is the currency of a line's unit price.
func currencyOf(l rental.BillLine) rental.Currency {
	if l.Converted != nil {
		return l.Converted.From
	}
	return l.Amount.Currency
}

// clean keeps a string of the ledger on its own line and column.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, s)
}

// WriteCSV writes the bill's lines as CSV by RFC 4180: one row a line, amounts as plain decimals,
// times in UTC. Quantities are rounded to nine places, because a fraction would read as a date; the
// note and card_milliseconds are exact. Cells that a spreadsheet would run as a formula are quoted with an apostrophe.
func WriteCSV(w io.Writer, bills ...rental.Bill) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	rows := [][]string{{"lease", "tenant", "provider", "contract", "item", "charge_start", "charge_end", "quantity", "unit",
		"unit_price", "card_milliseconds", "amount", "currency", "provisional", "note",
		"name", "price_currency", "rate", "rate_date", "corrects_start", "corrects_end", "invoice",
		"utilisation_percent", "coverage_percent", "idle_cost", "idle_basis", "useful_hour_cost", "working_percent", "working_coverage_percent",
		"day_utilisation_percent", "day_coverage_percent", "night_utilisation_percent", "night_coverage_percent", "energy_kwh", "energy_coverage_percent"}}
	for _, bill := range bills {
		rows = append(rows, csvRows(bill)...)
	}
	if err := out.WriteAll(rows); err != nil {
		return fmt.Errorf("bills as CSV: %w", err)
	}
	return nil
}

func csvRows(bill rental.Bill) [][]string {
	var rows [][]string
	for _, l := range bill.Lines {
		priced, rate, on := "", "", ""
		if l.UnitPrice.IsSet() {
			priced = string(currencyOf(l))
		}
		if l.Converted != nil {
			rate, on = l.Converted.Rate.String(), l.Converted.On.String()
		}
		from, to, invoice := "", "", ""
		if l.Corrects != nil {
			from, to = l.Corrects.Start.String(), l.Corrects.End.String()
		}
		if bill.Invoice != nil {
			invoice = bill.Invoice.Number
		}
		rows = append(rows, append([]string{
			cell(bill.Lease), cell(bill.Tenant), cell(bill.Provider), cell(bill.Contract), cell(l.Item),
			l.Charged.Start.String(), l.Charged.End.String(), l.QuantityDecimal(9), cell(l.Unit), l.UnitPrice.String(),
			strconv.FormatInt(l.QuantityMS, 10), l.Amount.Decimal(), string(l.Amount.Currency),
			strconv.FormatBool(len(bill.Provisional) > 0), cell(l.Note),
			cell(l.Name), priced, rate, on, from, to, cell(invoice),
		}, useCells(l.Use)...))
	}
	return rows
}

// useCells are a line's columns of use, empty where nothing is known. Costs are in the row's currency.
func useCells(use *rental.BillUse) []string {
	if use == nil {
		use = &rental.BillUse{}
	}
	decimal := func(a *rental.Amount) string {
		if a == nil {
			return ""
		}
		return a.Decimal()
	}
	var day, night rental.UseShare
	if use.Day != nil && use.Night != nil {
		day, night = *use.Day, *use.Night
	}
	return []string{
		use.UtilisationPercent, use.CoveragePercent, decimal(use.IdleCost), use.IdleBasis, decimal(use.UsefulHour),
		use.WorkingPercent, use.WorkingCoveragePercent, day.UtilisationPercent, day.CoveragePercent,
		night.UtilisationPercent, night.CoveragePercent, use.EnergyKWh, use.EnergyCoveragePercent,
	}
}

// WriteTables writes several bills one after another.
func WriteTables(w io.Writer, bills []rental.Bill, lang string) error {
	for i, bill := range bills {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return fmt.Errorf("bill of lease %s: %w", bill.Lease, err)
			}
		}
		if err := WriteTable(w, bill, lang); err != nil {
			return err
		}
	}
	return nil
}

// cell makes text that came from people safe in a spreadsheet: a leading =, +, -, @, tab or
// carriage return starts a formula there.
func cell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		return "'" + text
	}
	return text
}
