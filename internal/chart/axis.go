package chart

import (
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// axis draws the days, or the hours of a span of at most two days, below y.
func (d *drawing) axis(y float64) {
	if d.span.Empty() {
		return
	}
	for _, t := range ticks(d.span, d.zone) {
		x := d.x(rental.At(t.at))
		fmt.Fprintf(&d.out, `<line class="axis" x1="%s" x2="%s" y1="%s" y2="%s"/>`, px(x), px(x), px(y), px(y+4))
		anchor := "middle"
		if x > width-right-16 {
			anchor = "end"
		}
		fmt.Fprintf(&d.out, `<text class="tick" text-anchor="%s" x="%s" y="%s">%s</text>`, anchor, px(x), px(y+16), escape(t.label))
	}
	fmt.Fprintf(&d.out, `<line class="axis" x1="%d" x2="%d" y1="%s" y2="%s"/>`, left, width-right, px(y), px(y))
}

type tick struct {
	at    time.Time
	label string
}

// ticks returns the marks of an axis: midnights of the zone as "05-21", or full hours.
func ticks(span rental.Span, zone *time.Location) []tick {
	start, end := span.Start.Time().In(zone), span.End.Time().In(zone)
	var all []tick
	if span.Duration() <= 48*time.Hour.Milliseconds() {
		for t := start.Truncate(time.Hour); t.Before(end); t = t.Add(time.Hour) {
			if !t.Before(start) {
				all = append(all, tick{at: t, label: t.Format("15:04")})
			}
		}
	} else {
		for t := time.Date(start.Year(), start.Month(), start.Day(), 0, 0, 0, 0, zone); t.Before(end); t = t.AddDate(0, 0, 1) {
			if !t.Before(start) {
				all = append(all, tick{at: t, label: t.Format("01-02")})
			}
		}
	}
	step := (len(all) + maxTicks - 1) / maxTicks
	if step <= 1 {
		return all
	}
	var few []tick
	for i := 0; i < len(all); i += step {
		few = append(few, all[i])
	}
	return few
}

// ceiling returns a round number that is not below top: 1, 2, 4 or 5 times a power of ten.
func ceiling(top float64) float64 {
	if top <= 0 || !finite(top) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(top)))
	for _, step := range []float64{1, 2, 4, 5, 10} {
		if rounded := step * power; rounded >= top && finite(rounded) {
			return rounded
		}
	}
	return top
}

func trimmed(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

// px writes a measure with one decimal at most; the same numbers give the same bytes.
func px(value float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(value, 'f', 1, 64), ".0")
}

// escape makes text fit for an SVG in a page or by itself; what XML cannot hold becomes U+FFFD.
func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a strings.Builder does not fail
	return b.String()
}

// finite tells whether a number can be drawn.
func finite(value float64) bool { return !math.IsNaN(value) && !math.IsInf(value, 0) }

// lightStyle is the style of a picture that stands alone: the colours of the pages' light side.
const lightStyle = `.paper{fill:#fff}text{font:12px system-ui,sans-serif;fill:#1f2328}.tick{fill:#59636e}.panel-title{font-weight:600}` +
	`.grid{stroke:#e3e7eb}.axis{stroke:#8b949e}.series-1{fill:#0072b2}.series-2{fill:#e69f00}.series-3{fill:#009e73}.series-4{fill:#cc79a7}` +
	`.line{fill:none!important;stroke-width:2}.line.series-1{stroke:#0072b2}.line.series-2{stroke:#e69f00}.line.series-3{stroke:#009e73}` +
	`.waste{fill:url(#waste)}.waste-ground{fill:#dbe7ef}.waste-line{fill:#0072b2}.seen{fill:#59636e}.unseen{fill:#e3e7eb}.on-band{fill:#fff}` +
	`.state-up{fill:#1a7f5a}.state-degraded{fill:#b26a00}.state-down{fill:#c0362c}.state-maintenance{fill:#3b6fb5}.state-stopped{fill:#6b7280}` +
	`.state-unknown{fill:#8b5fbf}.state-unmeasured{fill:#6b7280}`
