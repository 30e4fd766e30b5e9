package server

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// cardTrace is what samples tell of a card, as rows of tables.
type cardTrace struct {
	states       [][]string // from, to, state
	changes      [][]string // at, metric, labels, value
	temperatures [][]string // hour, metric, lowest, highest, samples
}

// counted are the metrics of which each change is told, with the labels that tell their series
// apart. Other labels say by which way a sample came.
var counted = []struct{ metric, labels string }{
	{"gpu_xid_errors_total", "xid"},
	{"gpu_ecc_errors_total", "type,counter,location"},
	{"gpu_ecc_sram_threshold_exceeded", ""},
	{"gpu_ecc_sram_uncorrected_errors_total", "counter,cause"},
	{"gpu_ecc_sram_unit_errors_total", "unit"},
	{"gpu_remapped_rows", "type"},
	{"gpu_remapped_rows_inactive", "type"},
	{"gpu_remapped_rows_pending", ""},
	{"gpu_remapped_banks", "use"},
	{"gpu_remapped_banks_pending", ""},
	{"gpu_row_remap_banks", "availability"},
	{"gpu_row_remap_failure", ""},
	{"gpu_retired_pages", "cause"},
	{"gpu_retired_pages_pending", ""},
	{"gpu_unrepairable_memory", ""},
	{"gpu_inforom_valid", ""},
	{"gpu_recovery_action", ""},
}

// heats are the metrics of which each hour is told.
var heats = []string{"gpu_memory_temperature_celsius", "gpu_temperature_celsius"}

// traceCard reads the samples of a card, a day at a time: memory holds no more of them.
func traceCard(ctx context.Context, samples sampleSelector, uuid string, span rental.Span) (cardTrace, error) {
	t := cardTrace{}
	last := map[string]float64{}
	states := stateRows{span: span}
	for at := span.Start; at < span.End; at += 24 * millisPerHour {
		day := rental.Span{Start: at, End: min(at+24*millisPerHour, span.End)}
		read := func(metric, labels string) (map[string][]rental.Sample, error) {
			all, err := samples.Select(ctx, metric, map[string]string{"uuid": uuid}, day)
			if err != nil {
				return nil, err
			}
			return merged(all, labels), nil
		}
		present, err := read("gpu_state", "state")
		if err != nil {
			return t, err
		}
		states.add(present)
		for _, c := range counted {
			found, err := read(c.metric, c.labels)
			if err != nil {
				return t, err
			}
			t.addChanges(c.metric, found, last)
		}
		for _, metric := range heats {
			found, err := read(metric, "")
			if err != nil {
				return t, err
			}
			t.addHours(metric, found[""])
		}
	}
	t.states = states.done()
	for _, rows := range [][][]string{t.changes, t.temperatures} {
		slices.SortFunc(rows, slices.Compare)
	}
	return t, nil
}

// merged joins the series that tell the same by different ways: their samples in order of time, by
// the labels that were named, as "type=corrected location=dram".
func merged(all []rental.Series, labels string) map[string][]rental.Sample {
	out := map[string][]rental.Sample{}
	for _, s := range all {
		var key []string
		for name := range strings.SplitSeq(labels, ",") {
			if v := s.Labels[name]; v != "" {
				key = append(key, name+"="+v)
			}
		}
		name := strings.Join(key, " ")
		out[name] = append(out[name], s.Samples...)
	}
	for name, list := range out {
		slices.SortFunc(list, func(a, b rental.Sample) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Value, b.Value)) })
		out[name] = slices.Compact(list)
	}
	return out
}

// addChanges adds a row for each value that is another than the one before.
func (t *cardTrace) addChanges(metric string, found map[string][]rental.Sample, last map[string]float64) {
	for labels, list := range found {
		key := metric + " " + labels
		for _, s := range list {
			if was, known := last[key]; known && was == s.Value {
				continue
			}
			last[key] = s.Value
			t.changes = append(t.changes, []string{s.At.String(), metric, labels, figure(s.Value)})
		}
	}
}

// addHours adds a row for each hour that has a sample.
func (t *cardTrace) addHours(metric string, list []rental.Sample) {
	type hour struct {
		low, high float64
		n         int
	}
	hours := map[rental.Millis]*hour{}
	for _, s := range list {
		begin := s.At - s.At%millisPerHour
		h := hours[begin]
		if h == nil {
			h = &hour{low: math.Inf(1), high: math.Inf(-1)}
			hours[begin] = h
		}
		h.low, h.high, h.n = min(h.low, s.Value), max(h.high, s.Value), h.n+1
	}
	for _, begin := range slices.Sorted(maps.Keys(hours)) {
		h := hours[begin]
		t.temperatures = append(t.temperatures, []string{begin.String(), metric, figure(h.low), figure(h.high), strconv.Itoa(h.n)})
	}
}

func figure(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// stateRows makes spans of samples of a card's state.
type stateRows struct {
	span  rental.Span
	rows  [][]string
	state string        // that holds; "" before the first sample
	from  rental.Millis // since when
	seen  rental.Millis // its newest sample
}

// add takes the samples of a day, by "state=NAME": the state that is 1 is the present one. Where
// two are at one moment, for one way was told later than another, the first by name is.
func (r *stateRows) add(found map[string][]rental.Sample) {
	type word struct {
		at    rental.Millis
		state string
	}
	var words []word
	for label, list := range found {
		for _, s := range list {
			if s.Value == 1 {
				words = append(words, word{s.At, strings.TrimPrefix(label, "state=")})
			}
		}
	}
	slices.SortFunc(words, func(a, b word) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.state, b.state))
	})
	for i, w := range words {
		if i > 0 && words[i-1].at == w.at {
			continue
		}
		switch {
		case r.state == "":
			if w.at-r.span.Start > maxStatesGap {
				r.rows = append(r.rows, []string{r.span.Start.String(), w.at.String(), "unknown"})
			}
			r.state, r.from = w.state, w.at
		case w.at-r.seen > maxStatesGap:
			r.end(r.seen)
			r.rows = append(r.rows, []string{r.seen.String(), w.at.String(), "unknown"})
			r.state, r.from = w.state, w.at
		case w.state != r.state:
			r.end(w.at)
			r.state, r.from = w.state, w.at
		}
		r.seen = w.at
	}
}

func (r *stateRows) end(at rental.Millis) {
	r.rows = append(r.rows, []string{r.from.String(), at.String(), r.state})
}

// done returns the rows of the whole span.
func (r *stateRows) done() [][]string {
	switch {
	case r.state == "":
		return append(r.rows, []string{r.span.Start.String(), r.span.End.String(), "unknown"})
	case r.span.End-r.seen > maxStatesGap:
		r.end(r.seen)
		return append(r.rows, []string{r.seen.String(), r.span.End.String(), "unknown"})
	}
	r.end(r.span.End)
	return r.rows
}
