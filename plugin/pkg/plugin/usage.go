package plugin

import (
	"context"
	"fmt"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/data"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// hourlyUpTo is the longest span that is shown by the hour where the query leaves it open.
const hourlyUpTo = 8 * 24 * time.Hour

// usageFrame is one lease's cost beside its use: a wide time series, or with a metric chosen
// a single one, as alerting needs it.
func usageFrame(ctx context.Context, client *api.Client, q Query, span rental.Span) (*data.Frame, error) {
	step := q.Step
	if step == "" {
		step = api.StepDay
		if span.Duration() <= hourlyUpTo.Milliseconds() {
			step = api.StepHour
		}
	}
	usage, err := client.Usage(ctx, q.Lease, api.Period{Span: span}, step)
	if err != nil {
		return nil, err
	}
	n := len(usage.Points)
	labels := data.Labels{"lease": usage.Lease}
	at := data.NewField("time", nil, make([]time.Time, n))
	at.Config = &data.FieldConfig{DisplayNameFromDS: "Time"}
	columns := usageColumns(n, labels, usage.Currency)
	for i, point := range usage.Points {
		at.Set(i, point.Span.Start.Time())
		values, err := usageValues(point)
		if err != nil {
			return nil, err
		}
		for c := range columns {
			columns[c].Set(i, values[c])
		}
	}
	fields := data.Fields{at}
	for _, column := range columns {
		if q.Metric == "" || q.Metric == column.Name {
			fields = append(fields, column)
		}
	}
	if len(fields) == 1 {
		return nil, api.Errorf(400, "metric %q: expected cost, idle_cost, utilization, coverage, held or working", q.Metric)
	}
	frame := data.NewFrame(usage.Lease, fields...)
	frame.Meta = &data.FrameMeta{Type: data.FrameTypeTimeSeriesWide, TypeVersion: data.FrameTypeVersion{0, 1}}
	notices(frame, usage.Notes, usage.Total.Coverage)
	return frame, nil
}

func usageColumns(n int, labels data.Labels, currency rental.Currency) []*data.Field {
	column := func(name, title, unit string) *data.Field {
		f := number(name, title+", "+labels["lease"], unit, make([]*float64, n))
		f.Labels = labels
		return f
	}
	return []*data.Field{
		money(column("cost", "Cost", ""), currency),
		money(column("idle_cost", "Idle cost", ""), currency),
		column("utilization", "Utilisation", "percentunit"),
		column("coverage", "Coverage", "percentunit"),
		column("held", "Held by a job", "percentunit"),
		column("working", "Multiprocessors at work", "percentunit"),
	}
}

// usageValues is a point in the order of usageColumns. Money becomes a copy for show.
func usageValues(p api.UsagePoint) ([]*float64, error) {
	spent, err := shown(p.Cost)
	if err != nil {
		return nil, err
	}
	idle, err := shown(p.IdleCost)
	if err != nil {
		return nil, err
	}
	return []*float64{spent, idle, p.Utilisation, p.Coverage, p.Held, p.Working}, nil
}

// lowCoverage is the share of measured time below which a frame says so (DESIGN: flagged
// under 99.9 % for availability; use is a softer figure).
const lowCoverage = 0.95

// notices puts the server's warnings and a low coverage beside the figures.
func notices(frame *data.Frame, notes []string, coverage *float64) {
	for _, note := range notes {
		frame.AppendNotices(data.Notice{Severity: data.NoticeSeverityWarning, Text: note})
	}
	if coverage != nil && *coverage < lowCoverage {
		frame.AppendNotices(data.Notice{
			Severity: data.NoticeSeverityWarning,
			Text:     fmt.Sprintf("use was measured for %.1f %% of the paid time only", *coverage*100),
		})
	}
}
