// Package chart draws time as SVG: bars, lines and strips of states under one axis. Colours
// are style classes, so that a page's own style sheet decides them and dark follows the
// system; a picture that stands alone carries the light ones in itself.
package chart

import (
	"fmt"
	"strings"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Chart is panels above each other that share one axis of time.
type Chart struct {
	// Title says what the picture shows, for those who cannot see it.
	Title string
	Span  rental.Span
	// Zone is where days begin; nil is UTC.
	Zone   *time.Location
	Panels []Panel
	// Alone puts the colours and a background into the picture.
	Alone bool
}

// Panel is one of a chart's panels. It holds bars and lines under a scale of values, or
// rows of bands.
type Panel struct {
	// Title names the panel with its unit: "Cost a day, USD"; it may be empty.
	Title string
	// Max is the top of the scale; 0 takes the highest value, rounded up.
	Max float64
	// Ticks names the values on the scale; nil writes the plain number.
	Ticks func(value float64) string
	Bars  []Bar
	Lines []Line
	Rows  []Row
}

// Bar is a value over a span, in parts from the bottom up.
type Bar struct {
	Span  rental.Span
	Parts []Part
	// Tip says the bar in words.
	Tip string
}

// Part is one part of a bar.
type Part struct {
	Height float64
	// Class is the style: series-1 to series-4, waste (hatched) or blank.
	Class string
}

// Line joins points; a point that is not set breaks it.
type Line struct {
	Class  string
	Points []Point
}

// Point is the value at a moment.
type Point struct {
	At    rental.Millis
	Value float64
	// Set is false where nothing was measured.
	Set bool
	Tip string
}

// Row is a strip of bands; a later one is drawn over an earlier one.
type Row struct {
	Label string
	Bands []Band
}

// Band is a stretch of time in one look.
type Band struct {
	Span rental.Span
	// Class is the style: state-up, state-down... or seen, unseen.
	Class string
	// Glyph is drawn on the band where it is wide enough, so that colour is not alone.
	Glyph string
	Tip   string
}

// The measures of a picture, in pixels.
const (
	width      = 720
	left       = 76
	right      = 8
	panelSpace = 112 // height of a panel with a scale
	titleSpace = 24
	rowSpace   = 16 // height of a row of bands
	rowGap     = 4
	axisSpace  = 24
	maxTicks   = 12
	leastBand  = 3 // a second of downtime in a month must still be seen
)

// SVG returns the picture. All strings in it are escaped; it has no script and no link.
func (c Chart) SVG() string {
	zone := c.Zone
	if zone == nil {
		zone = time.UTC
	}
	d := &drawing{span: c.Span, zone: zone}
	y := 0.0
	for _, p := range c.Panels {
		y = d.panel(p, y)
	}
	d.axis(y)
	height := y + axisSpace

	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 %d %s" role="img" aria-label="%s">`, width, px(height), escape(c.Title))
	fmt.Fprintf(&out, `<title>%s</title>`, escape(c.Title))
	if c.Alone {
		fmt.Fprintf(&out, `<style>%s</style><rect class="paper" width="%d" height="%s"/>`, lightStyle, width, px(height))
	}
	out.WriteString(hatch)
	out.WriteString(d.out.String())
	out.WriteString(`</svg>`)
	return out.String()
}

// hatch is the pattern of waste.
const hatch = `<defs><pattern id="waste" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">` +
	`<rect class="waste-ground" width="6" height="6"/><rect class="waste-line" width="2" height="6"/></pattern></defs>`

type drawing struct {
	span rental.Span
	zone *time.Location
	out  strings.Builder
}

// x returns where a moment lies; moments outside the span lie at its edge.
func (d *drawing) x(at rental.Millis) float64 {
	if d.span.Empty() {
		return left
	}
	at = min(max(at, d.span.Start), d.span.End)
	share := float64(at-d.span.Start) / float64(d.span.Duration())
	return left + share*(width-left-right)
}

// panel draws one panel whose top is y, and returns its bottom.
func (d *drawing) panel(p Panel, y float64) float64 {
	if p.Title != "" {
		fmt.Fprintf(&d.out, `<text class="panel-title" x="0" y="%s">%s</text>`, px(y+14), escape(p.Title))
		y += titleSpace
	}
	if len(p.Rows) > 0 {
		return d.rows(p.Rows, y)
	}
	top := p.Max
	if top <= 0 || !finite(top) {
		top = ceiling(p.highest())
	}
	bottom := y + panelSpace - titleSpace
	scale := func(value float64) float64 { return bottom - min(max(value/top, 0), 1)*(bottom-y) }
	for _, tick := range []float64{0, top / 2, top} {
		label := trimmed(tick)
		if p.Ticks != nil {
			label = p.Ticks(tick)
		}
		fmt.Fprintf(&d.out, `<line class="grid" x1="%d" x2="%d" y1="%s" y2="%s"/>`, left, width-right, px(scale(tick)), px(scale(tick)))
		fmt.Fprintf(&d.out, `<text class="tick" text-anchor="end" x="%d" y="%s">%s</text>`, left-6, px(scale(tick)+4), escape(label))
	}
	for _, b := range p.Bars {
		d.bar(b, scale)
	}
	for _, l := range p.Lines {
		d.line(l, scale)
	}
	return bottom + 12
}

func (p Panel) highest() float64 {
	top := 0.0
	for _, b := range p.Bars {
		sum := 0.0
		for _, part := range b.Parts {
			if finite(part.Height) {
				sum += part.Height
			}
		}
		top = max(top, sum)
	}
	for _, l := range p.Lines {
		for _, point := range l.Points {
			if point.Set && finite(point.Value) {
				top = max(top, point.Value)
			}
		}
	}
	return top
}

func (d *drawing) bar(b Bar, scale func(float64) float64) {
	x1, x2 := d.x(b.Span.Start), d.x(b.Span.End)
	gap := min(2, (x2-x1)/5)
	d.out.WriteString(`<g>`)
	d.tip(b.Tip)
	sum := 0.0
	for _, part := range b.Parts {
		if part.Height <= 0 || !finite(part.Height) {
			continue
		}
		y1, y2 := scale(sum+part.Height), scale(sum)
		sum += part.Height
		fmt.Fprintf(&d.out, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`,
			escape(part.Class), px(x1+gap/2), px(y1), px(max(x2-x1-gap, 0.5)), px(y2-y1))
	}
	d.out.WriteString(`</g>`)
}

// line draws a path for each run of set points, and a dot for each point.
func (d *drawing) line(l Line, scale func(float64) float64) {
	var path strings.Builder
	pen := "M"
	for _, p := range l.Points {
		if !p.Set || !finite(p.Value) {
			pen = "M"
			continue
		}
		fmt.Fprintf(&path, "%s%s %s", pen, px(d.x(p.At)), px(scale(p.Value)))
		pen = "L"
	}
	if path.Len() > 0 {
		fmt.Fprintf(&d.out, `<path class="line %s" d="%s"/>`, escape(l.Class), path.String())
	}
	for _, p := range l.Points {
		if p.Set && finite(p.Value) {
			fmt.Fprintf(&d.out, `<circle class="%s" cx="%s" cy="%s" r="2.5">`, escape(l.Class), px(d.x(p.At)), px(scale(p.Value)))
			d.tip(p.Tip)
			d.out.WriteString(`</circle>`)
		}
	}
}

func (d *drawing) rows(rows []Row, y float64) float64 {
	for _, r := range rows {
		fmt.Fprintf(&d.out, `<text class="tick" text-anchor="end" x="%d" y="%s">%s</text>`, left-6, px(y+rowSpace-4), escape(r.Label))
		for _, b := range r.Bands {
			x1, x2 := d.x(b.Span.Start), d.x(b.Span.End)
			if x2-x1 < leastBand {
				x2 = min(x1+leastBand, width-right)
				x1 = x2 - leastBand
			}
			fmt.Fprintf(&d.out, `<rect class="%s" x="%s" y="%s" width="%s" height="%d">`, escape(b.Class), px(x1), px(y), px(x2-x1), rowSpace)
			d.tip(b.Tip)
			d.out.WriteString(`</rect>`)
			if b.Glyph != "" && x2-x1 >= 12 {
				fmt.Fprintf(&d.out, `<text class="on-band" text-anchor="middle" x="%s" y="%s">%s</text>`, px((x1+x2)/2), px(y+rowSpace-4), escape(b.Glyph))
			}
		}
		y += rowSpace + rowGap
	}
	return y + 8
}

func (d *drawing) tip(text string) {
	if text != "" {
		fmt.Fprintf(&d.out, `<title>%s</title>`, escape(text))
	}
}
