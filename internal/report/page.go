package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

//go:embed page.html
var pageTemplate string

// sheet is a report in words.
type sheet struct {
	Lang, Title, Parties, Period, Provisional, Made string
	Sections                                        []section
}

type section struct {
	Title   string
	Picture template.HTML
	Table   *table
	Lines   []string
}

type table struct {
	Small bool
	Head  []cell
	Rows  [][]cell
	Foot  []cell
}

// cell is one cell: its text, its style class, and lines below.
type cell struct {
	Text, Class string
	More        []string
}

// WriteHTML writes the report as one page that needs nothing else, has no script, and prints on
// A4. lang is en or zh; the document's own where it is empty. keyID names the key that signed it.
func WriteHTML(w io.Writer, d Document, keyID, lang string) error {
	view, err := template.New("report").Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("report page: %w", err)
	}
	s, err := sheetOf(d, keyID, lang)
	if err != nil {
		return err
	}
	if err := view.Execute(w, s); err != nil {
		return fmt.Errorf("report page: %w", err)
	}
	return nil
}

// writer puts a document into words.
type writer struct {
	Document

	say  phrase.Printer
	zone *time.Location
}

func sheetOf(d Document, keyID, lang string) (sheet, error) {
	zone, err := rental.LoadZone(d.Contract.TimeZone)
	if err != nil {
		return sheet{}, fmt.Errorf("report of lease %s: %w", d.Lease.ID, err)
	}
	if lang == "" {
		lang = d.Language
	}
	w := writer{Document: d, say: phrase.For(lang), zone: zone}
	s := sheet{
		Lang: w.say.Lang(), Title: w.title(),
		Parties: w.say.Say(phrase.ReportParties, clean(d.TenantName), clean(d.ProviderName), clean(d.Lease.Contract)),
		Period:  w.say.Say(phrase.ReportPeriod, w.time(d.Period.Start), w.time(d.Period.End)),
		Made:    w.say.Say(phrase.ReportMade, w.time(d.MadeAt), clean(d.Program)),
	}
	if w.provisional() {
		s.Provisional = w.say.Say(phrase.ReportOpen)
	}
	s.Sections = []section{w.objectives(), w.timeline(), w.downtime(), w.credits(), w.use(), w.cost(), w.cards(), w.proof(keyID)}
	if len(d.Objectives) > 0 {
		s.Sections = slices.Insert(s.Sections, 3, w.clocks())
	}
	return s, nil
}

func (w writer) title() string {
	switch w.Kind {
	case KindTrial:
		return w.say.Say(phrase.ReportTitleTrial, clean(w.Lease.ID))
	case KindSpan:
		return w.say.Say(phrase.ReportTitleSpan, clean(w.Lease.ID), w.time(w.Period.Start), w.time(w.Period.End))
	}
	return w.say.Say(phrase.ReportTitle, clean(w.Lease.ID), w.Month)
}

// provisional tells whether late samples may still change the report.
func (d Document) provisional() bool {
	const late = rental.Millis(26 * 3_600_000)
	return d.Verdict.Open || d.MadeAt < d.Period.End+late
}

func (w writer) time(at rental.Millis) string { return w.say.Time(at, w.zone) }

// heads makes the head of a table; a name that begins with > stands over numbers.
func (w writer) heads(keys ...phrase.Key) []cell {
	out := make([]cell, len(keys))
	for i, key := range keys {
		name, number := strings.CutPrefix(string(key), ">")
		out[i].Text = w.say.Say(phrase.Key(name))
		if number {
			out[i].Class = "n"
		}
	}
	return out
}

// clean makes text of a host, a label or a contract fit for one line.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, s)
}
