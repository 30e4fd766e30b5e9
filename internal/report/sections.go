package report

import (
	"html/template"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/leasewatch/leasewatch/internal/chart"
	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// numeric marks a head that stands over numbers.
func numeric(key phrase.Key) phrase.Key { return ">" + key }

// objectives says each objective's verdict; one that nothing measures is not measured, and never kept.
func (w writer) objectives() section {
	s := section{Title: w.say.Say(phrase.ReportVerdicts), Table: &table{
		Head: w.heads(phrase.ReportObjective, phrase.ReportTarget, phrase.ReportBounds, phrase.ReportVerdict, phrase.ReportHow),
	}}
	outcome := func(o rental.Outcome) cell {
		look := w.say.Outcome(o)
		return cell{Text: look.Glyph + "\u00a0" + look.Word, Class: look.Kind}
	}
	v := w.Verdict
	row := []cell{{Text: w.say.Say(phrase.ReportAvailability)}, {Text: "-", Class: "whole"}, {Text: "-", Class: "whole"}, outcome(v.Outcome), {}}
	if v.Target.IsSet() && v.Low.Denominator > 0 {
		row[1].Text = v.Target.String() + "\u00a0%"
		row[2].Text = v.Low.Percent(v.Target) + "\u00a0% – " + v.High.Percent(v.Target) + "\u00a0%"
		row[4].Text = v.Explain(w.say.Lang())
		if w.Forecast != nil {
			row[4].More = append(row[4].More, w.say.Say(phrase.SLAForecast, w.Forecast.Explain(w.say.Lang())))
		}
	}
	s.Table.Rows = append(append(s.Table.Rows, row), w.clockRows(outcome)...)
	if c := v.Coverage; c.Denominator > 0 {
		share := c.Percent(v.Target) + "\u00a0%"
		if c.Numerator*1000 < c.Denominator*999 {
			share = w.say.Say(phrase.ReportCoverageLow, share)
		}
		s.Lines = append(s.Lines, w.say.Say(phrase.ReportCoverage, share))
	}
	names := make([]string, 0, len(v.PerGPU))
	for name := range v.PerGPU {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) > 1 {
		for _, name := range names {
			card := v.PerGPU[name]
			s.Table.Rows = append(s.Table.Rows, []cell{{Text: clean(name), Class: "small wrap"}, {Text: v.Target.String() + "\u00a0%", Class: "whole"},
				{Text: card.Low.Percent(v.Target) + "\u00a0% – " + card.High.Percent(v.Target) + "\u00a0%", Class: "whole"}, outcome(card.Outcome), {Text: card.Explain(w.say.Lang())}})
		}
	}
	return s
}

// timeline draws a strip for each card.
func (w writer) timeline() section {
	s := section{Title: w.say.Say(phrase.ReportTimeline)}
	panel := chart.Panel{}
	for _, card := range w.Hardware {
		served := card.Served.Clip(w.Period).Clip(rental.Span{Start: w.Lease.Start, End: w.Lease.End})
		if end := w.MadeAt; served.End > end {
			served.End = max(end, served.Start)
		}
		row := chart.Row{Label: shortName(card)}
		for _, iv := range rental.Partition(served, w.Facts.Timelines[card.UUID]) {
			name := iv.Reason
			if iv.Class == rental.NoData || name == "" {
				name = string(iv.Class)
			}
			look := w.say.State(name)
			row.Bands = append(row.Bands, chart.Band{Span: iv.Span, Class: "state-" + look.Kind, Glyph: look.Glyph,
				Tip: look.Word + ", " + w.time(iv.Span.Start) + " – " + w.time(iv.Span.End)})
		}
		// The longest first, so that a second of downtime is drawn over an hour without.
		slices.SortStableFunc(row.Bands, func(a, b chart.Band) int { return int(b.Span.Duration()/1000 - a.Span.Duration()/1000) })
		panel.Rows = append(panel.Rows, row)
	}
	if len(panel.Rows) == 0 {
		return s
	}
	picture := chart.Chart{
		Title: w.say.Say(phrase.ReportTimelineOf, w.Lease.ID, w.time(w.Period.Start), w.time(w.Period.End)),
		Span:  w.Period, Zone: w.zone, Panels: []chart.Panel{panel}, Alone: true,
	}
	s.Picture = template.HTML(picture.SVG()) //nolint:gosec // chart escapes every string
	return s
}

// shortName is a card's place, else the end of its uuid.
func shortName(c Card) string {
	if c.Host != "" {
		return c.Host + "/" + strconv.Itoa(c.Slot)
	}
	return c.UUID[max(0, len(c.UUID)-8):]
}

func (w writer) downtime() section {
	s := section{Title: w.say.Say(phrase.ReportDowntime)}
	t := &table{Small: true, Head: w.heads(phrase.ReportFrom, phrase.ReportTo, numeric(phrase.ReportSeconds), phrase.ReportGPU, phrase.ReportCause, phrase.ReportWitness, phrase.ReportStanding)}
	for _, d := range w.Facts.Downtimes {
		if !d.Span.Overlaps(w.Period) {
			continue
		}
		seconds := "-"
		if d.Span.End != rental.Forever {
			seconds = rental.GroupDigits(strings.TrimSuffix(big.NewRat(d.Span.Duration(), 1000).FloatString(3), ".000"))
		}
		witnesses := cell{Class: "wrap", More: cleanAll(d.Witnesses)}
		if d.Incident != "" {
			witnesses.Text = w.say.Say(phrase.ReportIncident, clean(d.Incident))
		} else if n := len(witnesses.More); n > 0 {
			witnesses.Text, witnesses.More = witnesses.More[0], witnesses.More[1:]
		}
		standing := cell{Text: w.standing(d)}
		for _, act := range d.Acts {
			standing.More = append(standing.More, clean(w.act(act)))
		}
		t.Rows = append(t.Rows, []cell{
			{Text: w.time(d.Span.Start)}, {Text: w.time(d.Span.End)}, {Text: seconds, Class: "n"}, {Text: strings.Join(w.places(d.UUIDs), ", "), Class: "wrap"},
			{Text: w.say.State(d.Reason).Word, More: []string{w.say.Cause(d.Cause)}}, witnesses, standing,
		})
	}
	if len(t.Rows) == 0 {
		s.Lines = []string{w.say.Say(phrase.ReportNoDowntime)}
		return s
	}
	s.Table = t
	return s
}

func (w writer) act(a rental.Act) string {
	return w.say.Act(a, w.zone)
}

// standing says where a downtime stands with people.
func (w writer) standing(d rental.Downtime) string {
	switch d.Status() {
	case rental.DowntimeApproved:
		if d.ApprovedBy == rental.ApprovalAutomatic {
			return w.say.Say(phrase.ReportApprovedAuto)
		}
		return w.say.Say(phrase.ReportApprovedBy, clean(d.ApprovedBy))
	case rental.DowntimeRejected:
		return w.say.Say(phrase.ReportRejectedBy, clean(d.RejectedBy))
	case rental.DowntimeDisputed:
		return w.say.Say(phrase.ReportDisputedBy, clean(d.DisputedBy))
	case rental.DowntimeWithdrawn:
		return w.say.Say(phrase.ReportWithdrawn)
	}
	return w.say.Say(phrase.ReportWaiting)
}

// places names cards by host and slot, else by uuid.
func (w writer) places(uuids []string) []string {
	out := make([]string, len(uuids))
	for i, uuid := range uuids {
		out[i] = clean(uuid)
		for _, c := range w.Hardware {
			if c.UUID == uuid {
				out[i] = clean(shortName(c))
			}
		}
	}
	return out
}

func cleanAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = clean(text)
	}
	return out
}

func (w writer) credits() section {
	s := section{Title: w.say.Say(phrase.ReportCredits)}
	t := &table{Head: w.heads(phrase.ReportState, numeric(phrase.ReportPercent), numeric(phrase.ReportAmount), phrase.ReportHow)}
	for _, c := range w.Credits {
		state := w.say.CreditState(c)
		if c.Provisional {
			state = w.say.Say(phrase.ReportProvisional, state)
		}
		t.Rows = append(t.Rows, []cell{{Text: state}, {Text: c.Percent.String() + "\u00a0%", Class: "n"}, {Text: w.say.Money(c.Amount), Class: "n"}, {Text: clean(c.Arithmetic)}})
	}
	if len(t.Rows) == 0 {
		s.Lines = []string{w.say.Say(phrase.ReportNoCredits)}
		return s
	}
	s.Table = t
	return s
}

func (w writer) use() section {
	s := section{Title: w.say.Say(phrase.ReportUse)}
	if len(w.Document.Use) == 0 {
		s.Lines = []string{w.say.Say(phrase.ReportNoUse)}
		return s
	}
	row := func(name string, u rental.Use) []cell {
		return []cell{{Text: name}, {Text: hours(u.AllocatedMS), Class: "n"}, {Text: w.share(u.Utilisation()), Class: "n"}, {Text: w.share(u.Coverage()), Class: "n"}}
	}
	s.Table = &table{Head: w.heads(phrase.ReportGPU, numeric(phrase.ReportPaidTime), numeric(phrase.ReportUtilisation), numeric(phrase.ReportSeen))}
	for _, u := range w.Document.Use {
		s.Table.Rows = append(s.Table.Rows, row(w.places([]string{u.UUID})[0], u.Use))
	}
	s.Table.Foot = row(w.say.Say(phrase.ReportAll), w.Total)
	return s
}

// share is a percentage that no verdict hangs on.
func (w writer) share(b rental.Bound) string {
	if b.Denominator == 0 {
		return w.say.Say(phrase.NotMeasuredWord)
	}
	return b.RoundedPercent(2) + "\u00a0%"
}

// hours writes card-milliseconds as hours with two digits.
func hours(ms int64) string { return rental.GroupDigits(big.NewRat(ms, 3_600_000).FloatString(2)) }

func (w writer) cost() section {
	s := section{Title: w.say.Say(phrase.ReportCost)}
	if w.Bill == nil {
		s.Lines = []string{w.say.Say(phrase.ReportNoBill)}
		return s
	}
	s.Table = &table{Head: w.heads(phrase.BillItem, numeric(phrase.ReportAmount), phrase.ReportHow)}
	for _, l := range w.Bill.Lines {
		s.Table.Rows = append(s.Table.Rows, []cell{{Text: clean(w.say.BillItem(l.Item, l.Name))}, {Text: w.say.Money(l.Amount), Class: "n"}, {Text: clean(l.Explain(w.say.Lang()))}})
	}
	s.Table.Foot = []cell{{Text: w.say.Say(phrase.BillTotal)}, {Text: w.say.Money(w.Bill.Total), Class: "n"}, {}}
	for _, why := range w.Bill.Provisional {
		s.Lines = append(s.Lines, w.say.Say(phrase.BillProvisional, clean(why)))
	}
	return s
}

func (w writer) cards() section {
	s := section{Title: w.say.Say(phrase.ReportHardware), Table: &table{Small: true,
		Head: w.heads(phrase.ReportPlace, phrase.ReportGPU, phrase.ReportPromised, phrase.ReportFound, phrase.ReportServed)}}
	for _, c := range w.Hardware {
		verdict := cell{Text: clean(c.Found)}
		if c.Model != "" {
			verdict.More = append(verdict.More, clean(c.Model))
		}
		switch {
		case c.Promised == "":
			verdict.More = append(verdict.More, w.say.Say(phrase.ReportNoPromise))
		case c.Found == c.Promised:
			verdict.More = append(verdict.More, w.say.Say(phrase.ReportAsPromised))
		case c.Found != "":
			verdict.More, verdict.Class = append(verdict.More, w.say.Say(phrase.ReportOther)), "down"
		default:
			verdict.Text = w.say.Say(phrase.NotMeasuredWord)
		}
		card := cell{Text: clean(c.UUID), Class: "wrap"}
		if c.Serial != "" {
			card.More = []string{w.say.Say(phrase.ReportSerial) + " " + clean(c.Serial)}
		}
		s.Table.Rows = append(s.Table.Rows, []cell{{Text: clean(shortName(c))}, card, {Text: clean(c.Promised)}, verdict,
			{Text: w.say.Say(phrase.ReportPeriod, w.time(c.Served.Start), w.time(c.Served.End)), More: []string{clean(c.Reason)}}})
	}
	return s
}

func (w writer) proof(keyID string) section {
	s := section{Title: w.say.Say(phrase.ReportProof)}
	if n := len(w.Chain); n > 0 {
		last := w.Chain[n-1]
		s.Lines = append(s.Lines, w.say.Say(phrase.ReportProofHead, last.Number, w.time(last.SealedAt), last.Hash))
	} else {
		s.Lines = append(s.Lines, w.say.Say(phrase.ReportProofNoHead))
	}
	if n := len(w.Unsealed); n > 0 {
		s.Lines = append(s.Lines, w.say.Say(phrase.ReportProofUnseal, n))
	}
	s.Lines = append(s.Lines, w.say.Say(phrase.ReportProofSigned, keyID), w.say.Say(phrase.ReportProofCheck))
	return s
}
