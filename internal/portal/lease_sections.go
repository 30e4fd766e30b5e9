package portal

import (
	"cmp"
	"errors"
	"html/template"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/chart"
	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// maxStrips bounds the GPUs in the picture of states; a lease of more is read as a table.
const maxStrips = 32

type usageSection struct {
	Error, Empty string
	Picture      template.HTML
	Rows         []usageRow
	Notes        []string
	// Currency is said once in the heads of the table.
	Currency string
	// Waste tells whether a part of the cost is known to be idle, Unsplit whether of some it is not.
	Waste, Unsplit bool
}

type usageRow struct{ Day, Cost, Idle, Use, Coverage string }

// usageSection draws cost beside use, day by day.
func (d leaseData) usageSection() usageSection {
	say := d.say
	s := usageSection{Error: d.sectionError(d.useErr), Notes: d.usage.Notes, Currency: string(d.usage.Currency)}
	if s.Error != "" {
		return s
	}
	if len(d.usage.Points) == 0 {
		s.Empty = say.Say(phrase.PortalUsageEmpty)
		return s
	}
	costs := chart.Panel{Title: say.Say(phrase.PortalChartCost, d.usage.Currency)}
	line := chart.Line{Class: "series-2"}
	coverage := chart.Row{Label: say.Say(phrase.PortalChartCoverage)}
	for _, p := range d.usage.Points {
		day := p.Span.Start.Time().In(d.zone).Format("2006-01-02")
		row := usageRow{Day: day, Cost: d.cost(p), Idle: d.idle(p), Use: percent(say, p.Utilisation), Coverage: seen(say, p.Coverage)}
		s.Rows = append(s.Rows, row)
		tip := say.Say(phrase.PortalChartTip, day, row.Cost, row.Idle, row.Use, row.Coverage)

		whole, waste := height(p.Cost), height(p.IdleCost)
		bar := chart.Bar{Span: p.Span, Tip: tip}
		if p.IdleCost == nil {
			bar.Parts = []chart.Part{{Height: whole, Class: "unsplit"}}
			s.Unsplit = s.Unsplit || whole > 0
		} else {
			bar.Parts = []chart.Part{{Height: max(whole-waste, 0), Class: "series-1"}, {Height: min(waste, whole), Class: "waste"}}
			s.Waste = true
		}
		costs.Bars = append(costs.Bars, bar)

		point := chart.Point{At: p.Span.Start + rental.Millis(p.Span.Duration()/2), Set: p.Utilisation != nil, Tip: tip}
		if point.Set {
			point.Value = *p.Utilisation * 100
		}
		line.Points = append(line.Points, point)
		coverage.Bands = append(coverage.Bands, chart.Band{Span: p.Span, Class: coverageClass(p.Coverage), Tip: tip})
	}
	picture := chart.Chart{
		Title: say.Say(phrase.PortalChartTitle, d.detail.Summary.ID, d.month), Span: d.usage.Span, Zone: d.zone,
		Panels: []chart.Panel{
			costs,
			{Title: say.Say(phrase.PortalChartUse), Max: 100, Lines: []chart.Line{line}},
			{Title: say.Say(phrase.PortalCoverage), Rows: []chart.Row{coverage}},
		},
	}
	s.Picture = template.HTML(picture.SVG()) //nolint:gosec // chart escapes every string
	return s
}

func (d leaseData) cost(p api.UsagePoint) string {
	return decimalMoney(d.say, d.usage.Currency, p.Cost)
}

// coverageClass is the style of a day by how much of it was seen.
func coverageClass(ratio *float64) string {
	switch {
	case ratio == nil || *ratio <= 0:
		return "unseen"
	case *ratio < 0.999:
		return "half-seen"
	}
	return "seen"
}

type stateSection struct {
	Error, Empty, More string
	Picture            template.HTML
	// Looks are the states that the picture holds, for its legend.
	Looks []phrase.Look
	// Differs says of which GPUs the exporter's own count of states says another thing.
	Differs []string
}

// checkFrom is from which difference on a GPU is named: a state that nobody pushed is seen at the
// next scrape, up to 25 s late, and again so when it ends.
const checkFrom = 60_000

// differs says how the exporter's count of a GPU's states differs; false where it does not.
func differs(say phrase.Printer, name string, check *rental.StateCheck) (string, bool) {
	if check == nil || check.DifferenceMS < checkFrom {
		return "", false
	}
	var parts []string
	for _, s := range check.States {
		if s.CountedMS != s.DerivedMS {
			parts = append(parts, say.Say(phrase.PortalStateCheckPart, say.State(s.State).Word, say.Duration(s.CountedMS), say.Duration(s.DerivedMS)))
		}
	}
	return say.Say(phrase.PortalStateCheck, name, say.Duration(check.DifferenceMS), strings.Join(parts, "; ")), true
}

// stateSection draws each GPU's states over the month.
func (d leaseData) stateSection() stateSection {
	say := d.say
	s := stateSection{Error: d.sectionError(d.stateErr)}
	if s.Error != "" {
		return s
	}
	if len(d.states.GPUs) == 0 {
		s.Empty = say.Say(phrase.PortalStatesEmpty)
		return s
	}
	panel := chart.Panel{}
	shown := map[phrase.Look]bool{}
	for i, g := range d.states.GPUs {
		if i == maxStrips {
			s.More = say.Say(phrase.AndMore, len(d.states.GPUs)-maxStrips)
			break
		}
		if words, ok := differs(say, g.Host+"/"+strconv.Itoa(g.Slot), g.Check); ok {
			s.Differs = append(s.Differs, words)
		}
		row := chart.Row{Label: strings.TrimSuffix(g.Host+"/"+strconv.Itoa(g.Slot)+" "+g.Profile, " ")}
		if len([]rune(row.Label)) > 11 {
			row.Label = "…" + string([]rune(row.Label)[len([]rune(row.Label))-10:])
		}
		for _, iv := range g.Intervals {
			look, ok := d.lookOf(iv)
			if !ok {
				continue
			}
			if !shown[look] {
				shown[look] = true
				s.Looks = append(s.Looks, look)
			}
			glyph := look.Glyph
			if look.Kind == phrase.KindUp {
				glyph = ""
			}
			row.Bands = append(row.Bands, chart.Band{
				Span: iv.Span, Class: "state-" + look.Kind, Glyph: glyph,
				Tip: say.Say(phrase.PortalStripTip, seenFrom(say, look.Word, iv.Vantage), say.Time(iv.Span.Start, d.zone), say.Time(iv.Span.End, d.zone), say.Duration(iv.Span.Duration())),
			})
		}
		// A short failure is drawn over the long stretches around it, so that it is seen.
		slices.SortStableFunc(row.Bands, func(a, b chart.Band) int { return -cmp.Compare(a.Span.Duration(), b.Span.Duration()) })
		panel.Rows = append(panel.Rows, row)
	}
	picture := chart.Chart{
		Title: say.Say(phrase.PortalStripTitle, d.detail.Summary.ID, d.month),
		Span:  d.states.Span, Zone: d.zone, Panels: []chart.Panel{panel},
	}
	s.Picture = template.HTML(picture.SVG()) //nolint:gosec // chart escapes every string
	return s
}

// seenFrom adds to a state's word from where it was seen, if not from the host.
func seenFrom(say phrase.Printer, word, vantage string) string {
	if vantage == rental.VantageGuest {
		return word + " · " + say.Say(phrase.PortalFromGuest)
	}
	return word
}

// lookOf returns how a stretch of time appears; false where the lease did not run.
func (d leaseData) lookOf(iv rental.Interval) (phrase.Look, bool) {
	switch iv.Reason {
	case rental.ReasonOutside:
		return phrase.Look{}, false
	case "", rental.ReasonNoSamples:
		return d.say.State(string(iv.Class)), true
	case rental.ReasonNotDelivered:
		return d.say.State("down"), true
	case rental.ReasonTenant:
		return d.say.State("excluded"), true
	}
	return d.say.State(iv.Reason), true
}

type billSection struct {
	Error, Empty string
	Rows         []billRow
	Total        string
	Provisional  []string
	Month        string
}

type billRow struct{ Item, Quantity, UnitPrice, Amount, How string }

func (d leaseData) billSection() billSection {
	say := d.say
	s := billSection{Error: d.sectionError(d.billErr), Month: d.month}
	if errors.Is(d.billErr, api.ErrForbidden) {
		s.Error = say.Say(phrase.PortalBillNotSeen)
	}
	if s.Error != "" {
		return s
	}
	s.Total, s.Provisional = say.Money(d.bill.Total), d.bill.Provisional
	if len(d.bill.Lines) == 0 {
		s.Empty = say.Say(phrase.PortalBillEmpty)
	}
	for _, l := range d.bill.Lines {
		s.Rows = append(s.Rows, billRow{
			Item: d.item(l.Item, l.Name), Quantity: quantity(l.Quantity) + noBreak + l.Unit,
			UnitPrice: l.UnitPrice.String(), Amount: say.Money(l.Amount), How: l.Explain(say.Lang()),
		})
	}
	return s
}

func (d leaseData) item(item, name string) string { return d.say.BillItem(item, name) }

// quantity writes an exact fraction as people read it: with up to six decimals, and marked
// where that is not all of it.
func quantity(fraction string) string {
	exact, ok := new(big.Rat).SetString(fraction)
	if !ok {
		return fraction
	}
	text := exact.FloatString(6)
	short, _ := new(big.Rat).SetString(text)
	text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	text = strings.ReplaceAll(rental.GroupDigits(text), ",", "\u202f")
	if short == nil || short.Cmp(exact) != 0 {
		return "≈" + noBreak + text
	}
	return text
}

type slaSection struct {
	Error     string
	Downtimes []downtimeRow
	Credits   []creditRow
	Clocks    []clockRow
}

type downtimeRow struct {
	From, To                            moment
	Lasted, GPUs, Reason, Cause, Proofs string
	Incident, Approved                  string
	Acts                                []string
}

type creditRow struct {
	Percent, Amount, State, How string
	Acts                        []string
	Provisional                 bool
}

func (d leaseData) slaSection() slaSection {
	say := d.say
	s := slaSection{Error: d.sectionError(d.slaErr)}
	for _, t := range d.sla.Downtimes {
		row := downtimeRow{
			From: at(say, t.Span.Start, d.zone), To: at(say, t.Span.End, d.zone), Lasted: say.Duration(t.Span.Duration()),
			GPUs: d.cards(t.UUIDs), Reason: say.State(t.Reason).Word, Cause: d.cause(t.Cause),
			Proofs: strings.Join(t.Witnesses, ", "), Incident: t.Incident, Approved: say.Decision(t),
		}
		if t.Span.End == rental.Forever {
			row.Lasted = say.Say(phrase.TimeOpen)
		}
		for _, a := range t.Acts {
			row.Acts = append(row.Acts, say.Act(a, d.zone))
		}
		s.Downtimes = append(s.Downtimes, row)
	}
	s.Clocks = d.clockRows()
	for _, c := range d.sla.Credits {
		row := creditRow{Percent: c.Percent.String() + noBreak + "%", Amount: say.Money(c.Amount), How: c.Arithmetic, Provisional: c.Provisional}
		row.State = say.CreditState(c)
		if c.ClaimUntil != 0 && c.State == rental.CreditClaimable {
			row.State += "; " + say.Say(phrase.CreditUntil, say.Time(c.ClaimUntil, d.zone))
		}
		for _, a := range c.Acts {
			row.Acts = append(row.Acts, say.Act(a, d.zone))
		}
		s.Credits = append(s.Credits, row)
	}
	return s
}

// cards names GPUs as a person finds them: host and slot, or the uuid of one that is gone.
func (d leaseData) cards(uuids []string) string {
	places := map[string]string{}
	for _, g := range d.detail.GPUs {
		places[g.UUID] = g.Host + "/" + strconv.Itoa(g.Slot)
	}
	for _, m := range d.detail.MIGInstances {
		if place, ok := places[m.GPU]; ok {
			places[m.UUID] = place + " MIG " + m.Profile
		}
	}
	names := make([]string, len(uuids))
	for i, uuid := range uuids {
		names[i] = uuid
		if place, ok := places[uuid]; ok {
			names[i] = place
		}
	}
	return strings.Join(names, ", ")
}

func (d leaseData) cause(name string) string { return d.say.Cause(name) }
