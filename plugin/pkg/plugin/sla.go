package plugin

import (
	"context"
	"strings"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/data"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// slaFrame is the verdict of one lease's month, in one row.
func slaFrame(ctx context.Context, client *api.Client, q Query) (*data.Frame, error) {
	sla, err := client.SLA(ctx, q.Lease, q.Month)
	if err != nil {
		return nil, err
	}
	if sla.Verdict == nil {
		if q.Metric != "" {
			return nil, api.Errorf(422, "the contract of %s has no availability objective: there is nothing to alert on", q.Lease)
		}
		frame := data.NewFrame("sla", one("lease", "Lease", q.Lease), one("outcome", "Verdict", "No objective"))
		frame.Meta = &data.FrameMeta{Type: data.FrameTypeTable, TypeVersion: data.FrameTypeVersion{0, 1}}
		frame.AppendNotices(data.Notice{Severity: data.NoticeSeverityInfo, Text: "the contract of " + q.Lease + " has no availability objective"})
		return frame, nil
	}
	v := sla.Verdict
	fields, err := slaFields(sla)
	if err != nil {
		return nil, err
	}
	kind := data.FrameTypeTable
	if q.Metric != "" {
		one := chosen(fields[2:], q.Metric)
		if len(one) == 0 || one[0].Type() != data.FieldTypeNullableFloat64 {
			return nil, api.Errorf(400, "metric %q: expected availability_low, availability_high, coverage, down_seconds, unknown_seconds, excluded_seconds, budget_left_seconds or credit", q.Metric)
		}
		fields, kind = []*data.Field{fields[0], one[0]}, data.FrameTypeNumericLong
	}
	frame := data.NewFrame("sla", fields...)
	frame.Meta = &data.FrameMeta{Type: kind, TypeVersion: data.FrameTypeVersion{0, 1}}
	if v.Open {
		frame.AppendNotices(data.Notice{Severity: data.NoticeSeverityInfo, Text: "the month has not ended: the verdict is provisional"})
	}
	if v.UnknownMS > 0 {
		frame.AppendNotices(data.Notice{Severity: data.NoticeSeverityWarning, Text: "part of the time has no data: both bounds are shown"})
	}
	return frame, nil
}

// clock is Grafana's unit for seconds as 03:37:20. Its plain seconds become "3.62 hours", which
// cannot be redone with a pencil; what may be negative keeps them, since a clock has no sign.
const clock = "dthms"

// slaFields are the columns of a verdict. Its arithmetic stands last.
func slaFields(sla api.SLA) ([]*data.Field, error) {
	v := sla.Verdict
	target := v.Target.String()
	low, err := percent("availability_low", "Availability, unknown as down", v.Low.Percent(v.Target))
	if err != nil {
		return nil, err
	}
	high, err := percent("availability_high", "Availability, unknown as up", v.High.Percent(v.Target))
	if err != nil {
		return nil, err
	}
	aim, err := percent("target_percent", "Target", target)
	if err != nil {
		return nil, err
	}
	coverage, err := percent("coverage", "Coverage", v.Coverage.Percent(v.Target))
	if err != nil {
		return nil, err
	}
	fields := []*data.Field{
		one("lease", "Lease", v.Lease),
		one("outcome", "Verdict", outcomeWord(v.Outcome)),
		low, high, aim, coverage,
		number("down_seconds", "Down", clock, []*float64{seconds(v.DownMS)}),
		number("unknown_seconds", "No data", clock, []*float64{seconds(v.UnknownMS)}),
		number("excluded_seconds", "Excluded", clock, []*float64{seconds(v.ExcludedMS)}),
	}
	if sla.BudgetLeftMS != nil {
		fields = append(fields, number("budget_left_seconds", "Budget left", "s", []*float64{seconds(*sla.BudgetLeftMS)}))
	}
	owed, err := creditFields(sla.Credits)
	if err != nil {
		return nil, err
	}
	return append(append(fields, owed...), one("arithmetic", "Arithmetic", v.Arithmetic)), nil
}

// creditFields say what the month's missed objective pays back, and how far that has come: a
// credit may be computed only, or booked on the bill; while it may still change it is
// provisional.
func creditFields(credits []rental.Credit) ([]*data.Field, error) {
	if len(credits) == 0 {
		return []*data.Field{number("credit", "Credit", "", []*float64{ptr(0.0)}), one("credit_state", "Credit is", "None")}, nil
	}
	amounts := make([]rental.Amount, len(credits))
	state, provisional := rental.CreditBooked, false
	for i, c := range credits {
		amounts[i] = c.Amount
		provisional = provisional || c.Provisional
		if c.State != rental.CreditBooked {
			state = c.State
		}
	}
	currency := amounts[0].Currency
	sum, err := rental.SumAmounts(currency, amounts...)
	if err != nil {
		return nil, err
	}
	decimal := sum.Decimal()
	value, err := shown(&decimal)
	if err != nil {
		return nil, err
	}
	if provisional {
		state += ", provisional"
	}
	return []*data.Field{
		money(number("credit", "Credit", "", []*float64{value}), currency),
		one("credit_state", "Credit is", strings.ToUpper(state[:1])+state[1:]),
	}, nil
}

// percent is a share of time as the server floored it, shown with exactly its digits: the
// same number rounded by a panel could look like a pass. "-" is a share of nothing.
func percent(name, title, text string) (*data.Field, error) {
	if text == "-" || text == "" {
		return number(name, title, "percent", []*float64{nil}), nil
	}
	value, err := shown(&text)
	if err != nil {
		return nil, err
	}
	f := number(name, title, "percent", []*float64{value})
	_, fraction, _ := strings.Cut(text, ".")
	f.Config.SetDecimals(uint16(len(fraction)))
	return f, nil
}

// outcomeWord is the verdict as UI texts say it: "Not proven".
func outcomeWord(o rental.Outcome) string {
	word := strings.ReplaceAll(string(o), "_", " ")
	return strings.ToUpper(word[:min(1, len(word))]) + word[min(1, len(word)):]
}

func one(name, title, value string) *data.Field { return text(name, title, []string{value}) }

// downtimeFrame is the downtime of one lease in the span, one row each.
func downtimeFrame(ctx context.Context, client *api.Client, q Query, span rental.Span) (*data.Frame, error) {
	list, err := client.Downtime(ctx, q.Lease, api.Period{Span: span})
	if err != nil {
		return nil, err
	}
	n := len(list.Downtimes)
	from := data.NewField("time", nil, make([]time.Time, n))
	to := data.NewField("end", nil, make([]*time.Time, n))
	from.Config, to.Config = &data.FieldConfig{DisplayNameFromDS: "From"}, &data.FieldConfig{DisplayNameFromDS: "To"}
	length := number("seconds", "Length", clock, make([]*float64, n))
	texts := []*data.Field{
		text("gpus", "GPUs", make([]string, n)), text("reason", "Reason", make([]string, n)), text("cause", "Cause", make([]string, n)),
		text("witnesses", "Witnesses", make([]string, n)), text("incident", "Incident", make([]string, n)), text("approved_by", "Approved by", make([]string, n)),
	}
	for i, d := range list.Downtimes {
		from.Set(i, d.Span.Start.Time())
		if d.Span.End != rental.Forever {
			to.Set(i, ptr(d.Span.End.Time()))
			length.Set(i, seconds(d.Span.Duration()))
		}
		for f, value := range []string{strings.Join(d.UUIDs, " "), strings.ReplaceAll(d.Reason, "_", " "), d.Cause, strings.Join(d.Witnesses, "; "), d.Incident, d.ApprovedBy} {
			texts[f].Set(i, value)
		}
	}
	frame := data.NewFrame("downtime", append([]*data.Field{from, to, length}, texts...)...)
	frame.Meta = &data.FrameMeta{Type: data.FrameTypeTable, TypeVersion: data.FrameTypeVersion{0, 1}}
	return frame, nil
}

func seconds(ms int64) *float64 { return ptr(float64(ms) / 1000) }

func ptr[T any](v T) *T { return &v }
