package plugin

import (
	"context"
	"fmt"

	"github.com/grafana/grafana-plugin-sdk-go/data"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// leasesFrame is one row a lease: what it cost against how it was used. With a metric
// chosen it is a numeric frame of that one metric, as alerting needs it.
func leasesFrame(ctx context.Context, client *api.Client, q Query, span rental.Span) (*data.Frame, error) {
	table, err := client.CostVsUtilisation(ctx, span)
	if err != nil {
		return nil, err
	}
	n := len(table.Rows)
	text := func(name, title string) *data.Field {
		f := data.NewField(name, nil, make([]string, n))
		f.Config = &data.FieldConfig{DisplayName: title}
		return f
	}
	number := func(name, title, unit string) *data.Field {
		f := data.NewField(name, nil, make([]*float64, n))
		f.Config = &data.FieldConfig{DisplayName: title, Unit: unit}
		return f
	}
	money := oneCurrency(table.Rows)
	texts := []*data.Field{
		text("lease", "Lease"), text("tenant", "Tenant"), text("provider", "Provider"),
		text("sku", "SKU"), text("currency", "Currency"),
	}
	numbers := []*data.Field{
		number("gpus", "GPUs", "none"), number("cost", "Cost", money), number("idle_cost", "Idle cost", money),
		number("utilization", "Utilisation", "percentunit"), number("coverage", "Coverage", "percentunit"),
		number("useful_hour_cost", "Cost per used GPU-hour", money),
	}
	for i, row := range table.Rows {
		for f, value := range []string{row.Lease, row.Tenant, row.Provider, row.SKU, string(row.Currency)} {
			texts[f].Set(i, value)
		}
		values, err := leaseValues(row)
		if err != nil {
			return nil, err
		}
		for f := range numbers {
			numbers[f].Set(i, values[f])
		}
	}
	kind := data.FrameTypeTable
	if q.Metric != "" {
		numbers = chosen(numbers, q.Metric)
		if len(numbers) == 0 {
			return nil, api.Errorf(400, "metric %q: expected gpus, cost, idle_cost, utilization, coverage or useful_hour_cost", q.Metric)
		}
		kind = data.FrameTypeNumericLong
	}
	frame := data.NewFrame("leases", append(texts, numbers...)...)
	frame.Meta = &data.FrameMeta{Type: kind, TypeVersion: data.FrameTypeVersion{0, 1}}
	notices(frame, table.Notes, nil)
	if money == "" && n > 0 {
		frame.AppendNotices(data.Notice{Severity: data.NoticeSeverityInfo, Text: "the leases are of several currencies: amounts are never added over them"})
	}
	for _, row := range table.Rows {
		if row.Usage.Coverage != nil && *row.Usage.Coverage < lowCoverage {
			frame.AppendNotices(data.Notice{
				Severity: data.NoticeSeverityWarning,
				Text:     fmt.Sprintf("%s: use was measured for %.1f %% of the paid time only", row.Lease, *row.Usage.Coverage*100),
			})
		}
	}
	return frame, nil
}

func leaseValues(row api.CostRow) ([]*float64, error) {
	gpus := float64(row.GPUs)
	spent, err := shown(&row.Cost.Decimal)
	if err != nil {
		return nil, err
	}
	var idle *float64
	if row.IdleCost != nil {
		if idle, err = shown(&row.IdleCost.Decimal); err != nil {
			return nil, err
		}
	}
	useful, err := shown(row.UsefulHourCost)
	if err != nil {
		return nil, err
	}
	return []*float64{&gpus, spent, idle, row.Usage.Utilisation, row.Usage.Coverage, useful}, nil
}

func chosen(fields []*data.Field, name string) []*data.Field {
	for _, f := range fields {
		if f.Name == name {
			return []*data.Field{f}
		}
	}
	return nil
}

// oneCurrency returns Grafana's unit where all rows are of one currency, else "".
func oneCurrency(rows []api.CostRow) string {
	if len(rows) == 0 {
		return ""
	}
	for _, row := range rows {
		if row.Currency != rows[0].Currency {
			return ""
		}
	}
	return currencyUnit(rows[0].Currency)
}
