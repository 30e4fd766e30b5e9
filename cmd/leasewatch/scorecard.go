package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// printScorecard writes a provider's scorecard as text, JSON or CSV.
func printScorecard(w io.Writer, format string, p phrase.Printer, card rental.Scorecard) error {
	switch format {
	case "json":
		return printJSON(w, card)
	case "csv":
		return printScorecardCSV(w, p, card)
	}
	measured := 0
	for _, f := range card.Figures {
		if f.Measured {
			measured++
		}
	}
	fmt.Fprintln(w, p.Say(phrase.ScoreAnswer, p.Say(phrase.ScoreTitle, card.Provider), p.Time(card.Period.Start, time.UTC), p.Time(card.Period.End, time.UTC),
		len(card.Leases), measured, len(card.Figures)))
	if card.Tenant != "" {
		fmt.Fprintln(w, p.Say(phrase.ScoreTenant, card.Tenant))
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	heads := []phrase.Key{phrase.ScoreHeadName, phrase.ScoreHeadValue, phrase.ScoreHeadCover, phrase.ScoreHeadFrom, phrase.ScoreHeadAt}
	words := make([]string, len(heads))
	for i, key := range heads {
		words[i] = strings.ToUpper(p.Say(key))
	}
	fmt.Fprintln(tab, strings.Join(words, "\t"))
	for _, f := range card.Figures {
		at := "-"
		if f.Measured {
			at = p.Time(f.At, time.UTC)
		}
		if f.Stale {
			at = p.Say(phrase.ScoreStale, at)
		}
		fmt.Fprintln(tab, strings.Join([]string{p.ScoreName(f), p.ScoreValue(f), orDash(p.ScoreCoverage(f)), orDash(p.ScoreSource(f)), at}, "\t"))
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, p.Say(phrase.ScoreNote))
	return err
}

// printScorecardCSV writes one row a figure by RFC 4180.
func printScorecardCSV(w io.Writer, p phrase.Printer, card rental.Scorecard) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	rows := [][]string{{"provider", "tenant", "period_start", "period_end", "figure", "measured", "value", "coverage", "source", "evidence_up_to", "stale"}}
	for _, f := range card.Figures {
		at := ""
		if f.Measured {
			at = f.At.String()
		}
		rows = append(rows, []string{card.Provider, card.Tenant, card.Period.Start.String(), card.Period.End.String(), f.Name, fmt.Sprint(f.Measured),
			p.ScoreValue(f), p.ScoreCoverage(f), f.Source, at, fmt.Sprint(f.Stale)})
	}
	for _, row := range rows {
		for i, cell := range row {
			row[i] = plainCell(cell)
		}
	}
	return out.WriteAll(rows)
}
