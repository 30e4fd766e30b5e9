package exporter

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// spelling is one of the two text formats.
type spelling int

const (
	plainText   spelling = iota // Prometheus's own
	openMetrics                 // versions 0.0.1 and 1.0.0, which are spelled alike
	spellings                   // how many there are
)

// spellingOf returns the spelling of a format that a scraper asked for, if it is one of these.
// Our names are what every scheme of escaping leaves as they are, but for that with dots.
func spellingOf(format expfmt.Format) (spelling, bool) {
	if format.ToEscapingScheme() == model.DotsEscaping {
		return 0, false
	}
	switch format.FormatType() {
	case expfmt.TypeTextPlain:
		return plainText, true
	case expfmt.TypeOpenMetrics:
		version := format.Version()
		return openMetrics, version == expfmt.OpenMetricsVersion_0_0_1 || version == expfmt.OpenMetricsVersion_1_0_0
	}
	return 0, false
}

// library spells a family as the library does.
func (s spelling) library(w io.Writer, f *dto.MetricFamily) error {
	var err error
	if s == openMetrics {
		_, err = expfmt.MetricFamilyToOpenMetrics(w, f)
	} else {
		_, err = expfmt.MetricFamilyToText(w, f)
	}
	return err
}

// line is a series as it was spelled last. Name and labels stay as they are, and mostly the
// value does as well.
type line struct {
	text   []byte
	prefix int // how much of it is name and labels
	value  float64
}

// spell adds the present samples of a family to the page. It fails where the library cannot
// spell a series; what becomes of the page is known when it is flushed.
func (e *entry) spell(page *bufio.Writer, in spelling) error {
	var scratch bytes.Buffer
	for i := range e.samples {
		s, v := e.samples[i].series, e.samples[i].value
		l := &s.lines[in]
		if l.text == nil {
			if err := e.begin(s, in, &scratch); err != nil {
				return err
			}
		}
		if v != l.value {
			l.text = append(in.number(l.text[:l.prefix], v), '\n')
			l.value = v
		}
		if i == 0 {
			_, _ = page.WriteString(e.heads[in]) // the writer keeps its first error until it is flushed
		}
		_, _ = page.Write(l.text)
	}
	return nil
}

// begin has the library spell a series for the first time, with the value 0, and takes apart
// what stays: what stands above its family, and its name and labels. What is in scratch is lost.
func (e *entry) begin(s *series, in spelling, scratch *bytes.Buffer) error {
	f, zero := e.family(), 0.0
	f.Metric = []*dto.Metric{{Label: s.pairs(), Gauge: &dto.Gauge{Value: &zero}, Counter: &dto.Counter{Value: &zero}}}
	scratch.Reset()
	if err := in.library(scratch, f); err != nil {
		return fmt.Errorf("spelling a series of %s: %w", e.Name, err)
	}
	text := scratch.Bytes()
	head := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
	e.heads[in] = string(text[:head])
	const room = 16 // for a longer value
	l := &s.lines[in]
	l.text = append(make([]byte, 0, len(text)-head+room), text[head:]...)
	l.prefix = bytes.LastIndexByte(l.text, ' ') + 1
	return nil
}

// number adds a value that is a number.
func (s spelling) number(text []byte, v float64) []byte {
	const exact = 1e6 // below it strconv spells whole numbers without an exponent
	if whole := int64(v); v > -exact && v < exact && float64(whole) == v {
		text = strconv.AppendInt(text, whole, 10)
		if s == openMetrics {
			text = append(text, ".0"...)
		}
		return text
	}
	from := len(text)
	text = strconv.AppendFloat(text, v, 'g', -1, 64)
	if s == openMetrics && !bytes.ContainsAny(text[from:], "e.") {
		text = append(text, ".0"...)
	}
	return text
}
