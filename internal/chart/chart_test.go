package chart_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/leasewatch/leasewatch/internal/chart"
	"github.com/leasewatch/leasewatch/internal/rental"
)

var update = flag.Bool("update", false, "write the golden files anew")

func moment(day, hour int) rental.Millis {
	return rental.At(time.Date(2026, 3, day, hour, 0, 0, 0, time.UTC))
}

// month is a picture with everything in it.
func month(tb testing.TB) chart.Chart {
	tb.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		tb.Fatal(err)
	}
	var bars []chart.Bar
	line := chart.Line{Class: "series-2"}
	for day := 26; day < 31; day++ {
		span := rental.Span{Start: moment(day, 0), End: moment(day+1, 0)}
		bars = append(bars, chart.Bar{Span: span, Tip: "a day", Parts: []chart.Part{{Height: float64(day), Class: "series-1"}, {Height: 4, Class: "waste"}}})
		line.Points = append(line.Points, chart.Point{At: moment(day, 12), Value: float64(2 * day), Set: day != 28, Tip: "a point"})
	}
	return chart.Chart{
		Title: `Cost & use of "L<1>"`, Span: rental.Span{Start: moment(26, 0), End: moment(31, 0)}, Zone: zone, Alone: true,
		Panels: []chart.Panel{
			{Title: "Cost a day, EUR", Bars: bars},
			{Title: "Utilisation, %", Max: 100, Lines: []chart.Line{line}},
			{Rows: []chart.Row{{Label: "gpu-a17/3", Bands: []chart.Band{
				{Span: rental.Span{Start: moment(26, 0), End: moment(31, 0)}, Class: "state-up", Tip: "up"},
				{Span: rental.Span{Start: moment(27, 0), End: moment(28, 0)}, Class: "state-down", Glyph: "✕", Tip: "lost"},
				{Span: rental.Span{Start: moment(30, 23), End: moment(31, 0)}, Class: "state-unknown", Glyph: "?"},
			}}}},
		},
	}
}

func TestAMonthIsDrawnAsBefore(t *testing.T) {
	path := filepath.Join("testdata", "month.svg")
	got := month(t).SVG() + "\n"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the picture differs from %s; look at it and run with -update:\n%s", path, got)
	}
}

func TestDaysBeginInTheZoneAndTheClockChangeMovesTheMark(t *testing.T) {
	svg := month(t).SVG()
	// The clock goes forward on the 29th at 01:00 UTC: the 30th begins at 22:00 UTC on the 29th.
	for _, label := range []string{"03-27", "03-28", "03-29", "03-30", "03-31"} {
		if !strings.Contains(svg, ">"+label+"<") {
			t.Errorf("no mark %s in %s", label, svg)
		}
	}
}

func TestAShortSpanHasHours(t *testing.T) {
	c := chart.Chart{Span: rental.Span{Start: moment(1, 6), End: moment(1, 12)}, Panels: []chart.Panel{{Max: 1}}}
	if svg := c.SVG(); !strings.Contains(svg, ">06:00<") || !strings.Contains(svg, ">11:00<") {
		t.Errorf("got %s", svg)
	}
}

func TestAGapBreaksTheLine(t *testing.T) {
	svg := month(t).SVG()
	start := strings.Index(svg, `<path class="line series-2" d="`)
	path := svg[start : start+strings.Index(svg[start:], "/>")]
	if got := strings.Count(path, "M"); got != 2 {
		t.Errorf("the line has %d parts, want 2: %s", got, path)
	}
}

// wellFormed reads the whole picture as XML.
func wellFormed(svg string) error {
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

func TestAnyDataGivesAWholePictureInsideItsFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := rental.Millis(rapid.Int64Range(0, 4e12).Draw(t, "start"))
		span := rental.Span{Start: start, End: start + rental.Millis(rapid.Int64Range(0, 40*86_400_000).Draw(t, "length"))}
		value := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e308}))
		label := rapid.StringOf(rapid.Rune())
		at := rapid.Int64Range(0, 4e12)
		c := chart.Chart{Title: label.Draw(t, "title"), Span: span, Alone: rapid.Bool().Draw(t, "alone"), Panels: []chart.Panel{
			{
				Title: label.Draw(t, "panel"), Max: value.Draw(t, "max"),
				Bars:  []chart.Bar{{Span: span, Parts: []chart.Part{{Height: value.Draw(t, "height"), Class: label.Draw(t, "class")}}, Tip: label.Draw(t, "tip")}},
				Lines: []chart.Line{{Points: []chart.Point{{At: rental.Millis(at.Draw(t, "at")), Value: value.Draw(t, "value"), Set: true}, {At: rental.Millis(at.Draw(t, "at2")), Value: value.Draw(t, "value2"), Set: true}}}},
			},
			{Rows: []chart.Row{{Label: label.Draw(t, "row"), Bands: []chart.Band{{Span: rental.Span{Start: rental.Millis(at.Draw(t, "from")), End: rental.Forever}, Glyph: label.Draw(t, "glyph")}}}}},
		}}
		svg := c.SVG()
		if err := wellFormed(svg); err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Fatalf("a measure is no number: %s", svg)
		}
	})
}
