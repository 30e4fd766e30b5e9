package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// csvColumns are the columns of the file. Each row is one figure or one fact: what it is in section
// and name, when, and its value with the unit.
var csvColumns = []string{"lease", "section", "name", "from", "to", "value", "unit", "detail"}

// WriteCSV writes the report by RFC 4180, times in UTC, so that a spreadsheet can add it up again.
// Cells that a spreadsheet would run as a formula begin with an apostrophe. lang is en or zh, the
// document's own where it is empty.
func WriteCSV(w io.Writer, d Document, lang string) error {
	if lang == "" {
		lang = d.Language
	}
	out := csv.NewWriter(w)
	out.UseCRLF = true
	rows := append([][]string{csvColumns}, d.csvRows(lang)...)
	for i, row := range rows {
		for k, text := range row {
			if i > 0 {
				row[k] = safe(clean(text))
			}
		}
		if err := out.Write(row); err != nil {
			return fmt.Errorf("csv: %w", err)
		}
	}
	out.Flush()
	return out.Error()
}

func (d Document) csvRows(lang string) [][]string {
	var rows [][]string
	add := func(section, name string, span rental.Span, value, unit, detail string) {
		rows = append(rows, []string{d.Lease.ID, section, name, span.Start.String(), span.End.String(), value, unit, detail})
	}
	ms := func(section, name string, value int64) {
		add(section, name, d.Period, strconv.FormatInt(value, 10), "ms", "")
	}
	v := d.Verdict
	add("availability", "verdict", d.Period, string(v.Outcome), "", v.Explain(lang))
	if v.Low.Denominator > 0 {
		add("availability", "target", d.Period, v.Target.String(), "percent", "")
		add("availability", "low", d.Period, v.Low.Percent(v.Target), "percent", "")
		add("availability", "high", d.Period, v.High.Percent(v.Target), "percent", "")
		add("availability", "coverage", d.Period, v.Coverage.Percent(v.Target), "percent", "")
		ms("availability", "period", v.PeriodMS)
		ms("availability", "up", v.UpMS)
		ms("availability", "down", v.DownMS)
		ms("availability", "excluded", v.ExcludedMS)
		ms("availability", "unknown", v.UnknownMS)
	}
	d.csvClocks(lang, add)
	for _, t := range d.Facts.Downtimes {
		if !t.Span.Overlaps(d.Period) {
			continue
		}
		length := ""
		if t.Span.End != rental.Forever {
			length = strconv.FormatInt(t.Span.Duration(), 10)
		}
		add("downtime", t.ID, t.Span, length, "ms", strings.Join([]string{t.Status(), t.Reason, t.Cause, strings.Join(t.UUIDs, " "), strings.Join(t.Witnesses, "; ")}, ", "))
	}
	for _, c := range d.Credits {
		add("credit", c.State, c.Period, c.Amount.Decimal(), string(c.Amount.Currency), c.Arithmetic)
	}
	for _, u := range d.Use {
		add("use", u.UUID, d.Period, strconv.FormatInt(u.AllocatedMS, 10), "allocated_ms", "")
		add("use", u.UUID, d.Period, u.Utilisation().RoundedPercent(4), "utilisation_percent", "")
		add("use", u.UUID, d.Period, u.Coverage().RoundedPercent(4), "coverage_percent", "")
	}
	if d.Bill != nil {
		for _, l := range d.Bill.Lines {
			add("cost", strings.TrimSpace(l.Item+" "+l.Name), l.Charged, l.Amount.Decimal(), string(l.Amount.Currency), l.Explain(lang))
		}
		add("cost", "total", d.Period, d.Bill.Total.Decimal(), string(d.Bill.Total.Currency), "")
	}
	for _, c := range d.Hardware {
		add("hardware", c.UUID, c.Served, c.Found, "sku", strings.Join([]string{"promised " + c.Promised, "serial " + c.Serial, c.Host + "/" + strconv.Itoa(c.Slot)}, ", "))
	}
	for _, s := range d.Chain {
		add("head", strconv.Itoa(s.Number), rental.Span{Start: s.SealedAt, End: s.SealedAt}, s.Hash, "sha256", "")
	}
	return rows
}

// safe keeps a spreadsheet from running a cell; a negative number is no formula.
func safe(text string) string {
	if text == "" || !strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		return text
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return text
	}
	return "'" + text
}
