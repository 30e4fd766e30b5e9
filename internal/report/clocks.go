package report

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// clockRows says the verdict of each objective that clocks measure. One that the contract does not
// have is said to be not agreed; it is never kept.
func (w writer) clockRows(outcome func(rental.Outcome) cell) [][]cell {
	if len(w.Objectives) == 0 {
		return [][]cell{{{Text: w.say.Say(phrase.ReportMeasures)}, {Text: "-"}, {Text: "-"}, outcome(rental.NotMeasured), {}}}
	}
	var rows [][]cell
	for _, name := range []string{rental.ObjectiveResponse, rental.ObjectiveResolution, rental.ObjectiveRTO, rental.ObjectiveRPO} {
		i := slices.IndexFunc(w.Objectives, func(o rental.ObjectiveVerdict) bool { return o.Objective == name })
		if i < 0 {
			rows = append(rows, []cell{{Text: w.say.Objective(name)}, {Text: "-"}, {Text: "-"}, {Text: w.say.Say(phrase.ReportNotAgreed)}, {}})
			continue
		}
		o := w.Objectives[i]
		bounds := "-"
		if o.Low.Denominator > 0 {
			bounds = o.Low.Percent(o.Target) + "\u00a0% – " + o.High.Percent(o.Target) + "\u00a0%"
		}
		rows = append(rows, []cell{{Text: w.say.Objective(name)}, {Text: o.Target.String() + "\u00a0%", Class: "whole"}, {Text: bounds, Class: "whole"},
			outcome(o.Outcome), {Text: o.Counted(w.say.Lang()).Arithmetic}})
	}
	return append(rows, []cell{{Text: w.say.Say(phrase.ReportNetwork)}, {Text: "-"}, {Text: "-"}, outcome(rental.NotMeasured), {}})
}

// clocks lists each incident and each failure with its clock.
func (w writer) clocks() section {
	s := section{Title: w.say.Say(phrase.ReportClocks)}
	t := &table{Small: true, Head: w.heads(phrase.ReportObjective, phrase.ReportCase, phrase.ReportFrom, phrase.ReportTo,
		numeric(phrase.ReportElapsed), numeric(phrase.ReportLimit), phrase.ReportVerdict)}
	for _, o := range w.Objectives {
		for _, r := range o.Runs {
			what := cell{Text: clean(w.say.ClockCase(r))}
			if r.EvidenceAt != 0 {
				what.More = []string{w.say.ClockStarts(r, w.zone)}
			}
			if r.Backup != "" {
				what.More = append(what.More, clean(r.Backup))
			}
			look := w.say.ClockOutcome(r)
			t.Rows = append(t.Rows, []cell{{Text: w.say.Objective(r.Objective)}, what, {Text: w.moment(r.StartAt)}, {Text: w.moment(r.StopAt)},
				{Text: w.say.ClockElapsed(r), Class: "n"}, {Text: w.say.ClockLimit(r), Class: "n"}, {Text: look.Glyph + "\u00a0" + look.Word, Class: look.Kind}})
		}
	}
	switch {
	case len(w.Objectives) == 0:
		s.Lines = []string{w.say.Say(phrase.ReportNoClocks)}
	case len(t.Rows) == 0:
		for _, o := range w.Objectives {
			s.Lines = append(s.Lines, w.say.Objective(o.Objective)+": "+o.Counted(w.say.Lang()).Arithmetic)
		}
	default:
		s.Table = t
	}
	return s
}

func (w writer) moment(at rental.Millis) string {
	if at == 0 {
		return "-"
	}
	return w.time(at)
}

// clockFaults counts each objective's clocks anew: every clock against its limit, and the verdict
// from the clocks.
func (d Document) clockFaults(fault func(where, format string, args ...any)) {
	for _, o := range d.Objectives {
		where := "objective " + o.Objective
		for _, r := range o.Runs {
			if r.Hours == rental.HoursAlways && r.StartAt != 0 && r.StopAt != 0 && r.ElapsedMS != int64(r.StopAt-r.StartAt) {
				fault(where, "%s%s ran for %d ms, its own times give %d", r.Failure, r.Incident, r.ElapsedMS, int64(r.StopAt-r.StartAt))
			}
			if kept := r.Outcome == rental.Kept; kept && r.ElapsedMS > r.LimitMS {
				fault(where, "%s%s is said to be kept at %d ms of %d", r.Failure, r.Incident, r.ElapsedMS, r.LimitMS)
			}
			if r.Outcome == rental.Breached && r.ElapsedMS <= r.LimitMS && r.StartAt != 0 && r.StopAt != 0 && o.Objective != rental.ObjectiveRPO {
				fault(where, "%s%s is said to be breached at %d ms of %d", r.Failure, r.Incident, r.ElapsedMS, r.LimitMS)
			}
		}
		if again := o.Counted(d.Language); !reflect.DeepEqual(again, o) {
			fault(where, "%s: %s", o.Outcome, fmt.Sprintf("its clocks give %s, %s", again.Outcome, again.Arithmetic))
		}
	}
}

// csvClocks are the clocks as rows of the table.
func (d Document) csvClocks(lang string, add func(section, name string, span rental.Span, value, unit, detail string)) {
	for _, o := range d.Objectives {
		add("objective", o.Objective, d.Period, string(o.Outcome), "", o.Counted(lang).Arithmetic)
		for _, r := range o.Runs {
			add(o.Objective, r.Failure+r.Incident, rental.Span{Start: r.StartAt, End: r.StopAt}, fmt.Sprint(r.ElapsedMS), "ms",
				fmt.Sprintf("limit %d ms %s, %s", r.LimitMS, r.Hours, r.Outcome))
		}
	}
}
