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
		frame := data.NewFrame("sla", data.NewField("lease", nil, []string{q.Lease}), data.NewField("outcome", nil, []string{string(rental.NotMeasured)}))
		frame.Meta = &data.FrameMeta{Type: data.FrameTypeTable, TypeVersion: data.FrameTypeVersion{0, 1}}
		frame.AppendNotices(data.Notice{Severity: data.NoticeSeverityInfo, Text: "the contract of " + q.Lease + " has no availability objective"})
		return frame, nil
	}
	v := sla.Verdict
	target, err := shown(ptr(v.Target.String()))
	if err != nil {
		return nil, err
	}
	number := func(name, title, unit string, value *float64) *data.Field {
		f := data.NewField(name, nil, []*float64{value})
		f.Config = &data.FieldConfig{DisplayName: title, Unit: unit}
		return f
	}
	text := func(name, title, value string) *data.Field {
		f := data.NewField(name, nil, []string{value})
		f.Config = &data.FieldConfig{DisplayName: title}
		return f
	}
	fields := []*data.Field{
		text("lease", "Lease", v.Lease),
		text("outcome", "Verdict", strings.ReplaceAll(string(v.Outcome), "_", " ")),
		number("availability_low", "Availability, unknown as down", "percentunit", ratio(v.Low)),
		number("availability_high", "Availability, unknown as up", "percentunit", ratio(v.High)),
		number("target_percent", "Target", "percent", target),
		number("coverage", "Coverage", "percentunit", ratio(v.Coverage)),
		number("down_seconds", "Down", "s", seconds(v.DownMS)),
		number("unknown_seconds", "No data", "s", seconds(v.UnknownMS)),
		number("excluded_seconds", "Excluded", "s", seconds(v.ExcludedMS)),
		text("arithmetic", "Arithmetic", v.Arithmetic),
	}
	if sla.BudgetLeftMS != nil {
		fields = append(fields, number("budget_left_seconds", "Budget left", "s", seconds(*sla.BudgetLeftMS)))
	}
	kind := data.FrameTypeTable
	if q.Metric != "" {
		one := chosen(fields[2:], q.Metric)
		if len(one) == 0 || one[0].Type() != data.FieldTypeNullableFloat64 {
			return nil, api.Errorf(400, "metric %q: expected availability_low, availability_high, coverage, down_seconds, unknown_seconds, excluded_seconds or budget_left_seconds", q.Metric)
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

// downtimeFrame is the downtime of one lease in the span, one row each.
func downtimeFrame(ctx context.Context, client *api.Client, q Query, span rental.Span) (*data.Frame, error) {
	list, err := client.Downtime(ctx, q.Lease, api.Period{Span: span})
	if err != nil {
		return nil, err
	}
	n := len(list.Downtimes)
	from := data.NewField("time", nil, make([]time.Time, n))
	to := data.NewField("end", nil, make([]*time.Time, n))
	length := data.NewField("seconds", nil, make([]*float64, n))
	length.Config = &data.FieldConfig{Unit: "s"}
	names := []string{"gpus", "reason", "cause", "witnesses", "incident", "approved_by"}
	texts := make([]*data.Field, len(names))
	for i, name := range names {
		texts[i] = data.NewField(name, nil, make([]string, n))
	}
	for i, d := range list.Downtimes {
		from.Set(i, d.Span.Start.Time())
		if d.Span.End != rental.Forever {
			to.Set(i, ptr(d.Span.End.Time()))
			length.Set(i, seconds(d.Span.Duration()))
		}
		for f, value := range []string{strings.Join(d.UUIDs, " "), d.Reason, d.Cause, strings.Join(d.Witnesses, "; "), d.Incident, d.ApprovedBy} {
			texts[f].Set(i, value)
		}
	}
	frame := data.NewFrame("downtime", append([]*data.Field{from, to, length}, texts...)...)
	frame.Meta = &data.FrameMeta{Type: data.FrameTypeTable, TypeVersion: data.FrameTypeVersion{0, 1}}
	return frame, nil
}

// ratio is the copy for show of a bound; nil where there is no time to judge.
func ratio(b rental.Bound) *float64 {
	if b.Denominator == 0 {
		return nil
	}
	return ptr(float64(b.Numerator) / float64(b.Denominator))
}

func seconds(ms int64) *float64 { return ptr(float64(ms) / 1000) }

func ptr[T any](v T) *T { return &v }
