// Package doctor judges what an exporter can and cannot see on its host, and says what to do
// about it. Its judgements are functions of what was found: it changes nothing, and what it
// asks of the driver is what the exporter asks in any case.
package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Level says how much a finding matters.
type Level string

// The levels, from the best to the worst.
const (
	OK   Level = "ok"   // works
	Note Level = "note" // usual, and worth knowing
	Warn Level = "warn" // something is missing or about to be
	Fail Level = "fail" // the exporter does not do its work
)

var levels = []Level{OK, Note, Warn, Fail}

// Finding is one thing that was looked at.
type Finding struct {
	// Check names what was looked at: driver, gpus, bus, persistence, calls, devices,
	// kernel_log, containers, kubelet, state, clock, spool, push, web or port.
	Check string `json:"check"`
	Level Level  `json:"level"`
	// Found says what was found, in one sentence.
	Found string `json:"found"`
	// Remedy says what to do; "" where there is nothing to do.
	Remedy string `json:"remedy,omitempty"`
}

// Report is everything that was found on one host.
type Report struct {
	Host     string    `json:"host"`
	Version  string    `json:"version"`
	Worst    Level     `json:"worst"`
	Findings []Finding `json:"findings"`
}

// NewReport puts findings together.
func NewReport(host, version string, findings ...[]Finding) Report {
	r := Report{Host: host, Version: version, Worst: OK, Findings: slices.Concat(findings...)}
	for _, f := range r.Findings {
		if slices.Index(levels, f.Level) > slices.Index(levels, r.Worst) {
			r.Worst = f.Level
		}
	}
	return r
}

// WriteText writes the report for people: a line a finding, its remedy below it.
func (r Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "leasewatch-exporter %s on %s\n", plain(r.Version), plain(r.Host))
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%-4s  %-11s  %s\n", f.Level, f.Check, plain(f.Found))
		if f.Remedy != "" {
			fmt.Fprintf(&b, "%-4s  %-11s  -> %s\n", "", "", plain(f.Remedy))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJSON writes the report as one indented object.
func (r Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(r)
}

// plain keeps what a host says from steering the reader's terminal.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

func ok(check, found string, args ...any) Finding {
	return Finding{Check: check, Level: OK, Found: fmt.Sprintf(found, args...)}
}

func (f Finding) but(level Level, remedy string) Finding {
	f.Level, f.Remedy = level, remedy
	return f
}
