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
	currency, same := oneCurrency(table.Rows)
	texts, numbers := leaseColumns(n, currency)
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
	if !same {
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

// oneCurrency returns the currency of all rows, or false where they have several.
func oneCurrency(rows []api.CostRow) (rental.Currency, bool) {
	for _, row := range rows {
		if row.Currency != rows[0].Currency {
			return "", false
		}
	}
	if len(rows) == 0 {
		return "", true
	}
	return rows[0].Currency, true
}

func leaseColumns(n int, currency rental.Currency) (texts, numbers []*data.Field) {
	column := func(name, title, unit string) *data.Field { return number(name, title, unit, make([]*float64, n)) }
	for _, t := range [][2]string{{"lease", "Lease"}, {"tenant", "Tenant"}, {"provider", "Provider"}, {"sku", "SKU"}, {"currency", "Currency"}} {
		texts = append(texts, text(t[0], t[1], make([]string, n)))
	}
	useful := money(column("useful_hour_cost", "Cost per used GPU-hour", ""), currency)
	useful.Config.SetDecimals(4) // a unit price is not rounded to the currency's minor unit
	return texts, []*data.Field{
		column("gpus", "GPUs", "none"),
		money(column("cost", "Cost", ""), currency),
		money(column("idle_cost", "Idle cost", ""), currency),
		column("utilization", "Utilisation", "percentunit"),
		column("coverage", "Coverage", "percentunit"),
		useful,
	}
}
