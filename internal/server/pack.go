package server

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

//go:embed pack.html
var packTemplate string

// writePack writes a claim pack as json, html, or a zip of both with their hashes. The same facts
// and moment give the same bytes.
func writePack(w io.Writer, pack api.CreditPack, format, lang string) error {
	var data, page bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(pack); err != nil {
		return fmt.Errorf("claim pack: %w", err)
	}
	if format == "json" {
		_, err := w.Write(data.Bytes())
		return err
	}
	view, err := template.New("pack").Parse(packTemplate)
	if err != nil {
		return fmt.Errorf("claim pack: %w", err)
	}
	shown, err := newPackPage(pack, phrase.For(lang))
	if err != nil {
		return err
	}
	if err := view.Execute(&page, shown); err != nil {
		return fmt.Errorf("claim pack: %w", err)
	}
	if format == "html" {
		_, err := w.Write(page.Bytes())
		return err
	}
	return writeZip(w, "claim pack", pack.Made, []zipFile{{"pack.json", data.Bytes()}, {"claim.html", page.Bytes()}})
}

// packPage is what the template shows, already in words.
type packPage struct {
	Lang, Title, Parties, Owed, Deadline, Made string
	Acts                                       []string
	Parts                                      []packPart
}

type packPart struct {
	Title string
	Lines []string
	Items []packPart
}

func newPackPage(pack api.CreditPack, p phrase.Printer) (packPage, error) {
	zone, err := rental.LoadZone(pack.TimeZone)
	if err != nil {
		return packPage{}, fmt.Errorf("claim pack: %w", err)
	}
	c := pack.Credit
	out := packPage{
		Lang: p.Lang(), Title: p.Say(phrase.PackTitle, c.Lease, c.Month), Parties: p.Say(phrase.PackParties, c.Tenant, c.Provider, pack.Contract),
		Owed: p.Say(phrase.PackOwed, c.Amount.String(), p.CreditState(c.Credit)), Deadline: p.Say(phrase.PackNoDeadline),
		Made: p.Say(phrase.PackMade, p.Time(pack.Made, zone)), Acts: actLines(p, c.Acts, zone),
	}
	if c.ClaimUntil != 0 {
		out.Deadline = p.Say(phrase.CreditUntil, p.Time(c.ClaimUntil, zone))
	}
	out.Parts = []packPart{
		{Title: p.Say(phrase.PackArithmetic), Lines: []string{c.Arithmetic}},
		{Title: p.Say(phrase.PackVerdict), Lines: []string{p.Outcome(pack.Verdict.Outcome).Word, pack.Verdict.Explain(p.Lang())}},
		{Title: p.Say(phrase.PackClause), Lines: clause(p, pack)},
		packDowntimes(p, pack, zone),
	}
	if len(pack.Maintenances) > 0 {
		part := packPart{Title: p.Say(phrase.PackMaintenances)}
		for _, m := range pack.Maintenances {
			part.Lines = append(part.Lines, fmt.Sprintf("%s: %s - %s (%s)", m.ID, p.Time(m.Start, zone), p.Time(m.End, zone), p.Time(m.Announced, zone)))
		}
		out.Parts = append(out.Parts, part)
	}
	return out, nil
}

func clause(p phrase.Printer, pack api.CreditPack) []string {
	var lines []string
	if a := pack.Availability; a != nil {
		lines = append(lines, p.Say(phrase.PackTarget, a.TargetPercent, a.Scope, a.Denominator, a.Outage, a.Unknown))
	}
	if c := pack.Credits; c != nil {
		for _, t := range c.Tiers {
			lines = append(lines, p.Say(phrase.PackTier, t.Under, t.Percent, c.Base))
		}
		lines = append(lines, p.Say(phrase.PackCap, c.CapPercent, c.Scope))
	}
	return lines
}

func packDowntimes(p phrase.Printer, pack api.CreditPack, zone *time.Location) packPart {
	part := packPart{Title: p.Say(phrase.PackDowntimes)}
	for _, d := range pack.Downtimes {
		item := packPart{Title: fmt.Sprintf("%s: %s - %s, %s", d.ID, p.Time(d.Span.Start, zone), p.Time(d.Span.End, zone), p.State(d.Reason).Word)}
		item.Lines = append(item.Lines, strings.Join(d.UUIDs, " "), p.Decision(d)+", "+p.Cause(d.Cause))
		for _, e := range d.Evidence {
			item.Lines = append(item.Lines, p.Say(phrase.PackEvidence)+": "+strings.Join(strings.Fields(e.ID+" "+e.SHA256+" "+e.Text), " "))
		}
		item.Lines = append(item.Lines, actLines(p, d.Acts, zone)...)
		part.Items = append(part.Items, item)
	}
	if len(part.Items) == 0 {
		part.Lines = []string{p.Say(phrase.PackNoDowntimes)}
	}
	return part
}

func actLines(p phrase.Printer, acts []rental.Act, zone *time.Location) []string {
	lines := make([]string, len(acts))
	for i, a := range acts {
		lines[i] = p.Act(a, zone)
	}
	return lines
}
