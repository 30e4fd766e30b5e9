package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// efficiencyPanel is the plugin's own panel.
const efficiencyPanel = "leasewatch-gpu-efficiency-panel"

// leaseCost answers what a month of leases was worth: money beside use, and the SLA.
func leaseCost() (string, *dashboard.DashboardBuilder, []card) {
	d := sheet("leasewatch-lease-cost", "Leasewatch: lease cost against use", "Which leases are paid for and little used, and was each one's SLA kept?",
		Leasewatch, "Leasewatch", "5m", "now-30d").
		WithVariable(dashboard.NewQueryVariableBuilder("lease").
			Label("Lease").
			Datasource(source(Leasewatch)).
			Query(dashboard.StringOrMap{String: cog.ToPtr("leases")}).
			Refresh(dashboard.VariableRefreshOnDashboardLoad).
			Sort(dashboard.VariableSortAlphabeticalAsc))
	cards := numbered(efficiency(), leaseTable(), cost(), use(), sla(), downtime())
	d = d.WithPanel(dress(dashboard.NewPanelBuilder().Type(efficiencyPanel), cards[0]).
		Options(map[string]any{"wasteBelow": 0.5, "labels": true, "leaseLink": "/a/leasewatch-gpu-app/leases/${lease}"})).
		WithPanel(leaseTablePanel(cards[1])).
		WithPanel(costPanel(cards[2])).
		WithPanel(curves(cards[3]).Min(0).Max(1)).
		WithPanel(slaPanel(cards[4])).
		WithPanel(dress(table.NewPanelBuilder(), cards[5]))
	return "lease-cost", d, cards
}

func efficiency() card {
	return card{
		title: "What does each lease cost against how well it is used?", unit: "none", noValue: "no lease in this span", width: 12, height: 12,
		description: "Upper left is waste: dear and little used. A point is as large as the lease has GPUs, as solid as its use was measured. A lease whose use was not measured has no point and is named instead. Empty where no lease ran in the chosen time.",
		steps:       steps(colourCost),
		queries:     []Query{lease("A", "leases", "")},
	}
}

func leaseTable() card {
	return card{
		title: "How does every lease do?", unit: "none", noValue: "not measured", width: 12, height: 12,
		description: "One row a lease over the chosen time, each with its coverage: a blank cell was not measured, it is not zero. Empty where no lease ran in the chosen time.",
		steps:       steps(colourStopped),
		queries:     []Query{lease("A", "leases", "")},
	}
}

func leaseTablePanel(c card) *table.PanelBuilder {
	return dress(table.NewPanelBuilder(), c).
		OverrideByName("utilization", []dashboard.DynamicConfigValue{set("decimals", 1)}).
		OverrideByName("coverage", []dashboard.DynamicConfigValue{set("decimals", 1)}).
		OverrideByName("lease", []dashboard.DynamicConfigValue{
			set("links", []map[string]any{{"title": "Show this lease", "url": "/d/${__dashboard.uid}?${__url_time_range}&var-ds=${ds}&var-lease=${__value.raw:percentencode}"}}),
		}).
		SortBy([]cog.Builder[common.TableSortByFieldState]{common.NewTableSortByFieldStateBuilder().DisplayName("Idle cost").Desc(true)})
}

func cost() card {
	return card{
		title: "What does $lease cost, and how much of it is idle?", unit: "none", noValue: "no usage in this span", width: 12, height: 9,
		description: "Money by the hour or day, in the lease's currency; idle is the part paid for time without use. Idle is missing where use was not measured. Empty before the lease starts.",
		steps:       steps(colourCost),
		queries: []Query{
			lease("A", "usage", "cost"),
			lease("B", "usage", "idle_cost").emptyWhen("the use of the lease was not measured"),
		},
	}
}

func costPanel(c card) *timeseries.PanelBuilder {
	return curves(c).DrawStyle(common.GraphDrawStyleBars).FillOpacity(50).Min(0).
		OverrideByName("cost", []dashboard.DynamicConfigValue{fixed(colourCost)}).
		OverrideByName("idle_cost", []dashboard.DynamicConfigValue{fixed(colourStopped)})
}

func use() card {
	return card{
		title: "How well is $lease used?", unit: "percentunit", noValue: "not measured", width: 12, height: 9,
		description: "Utilisation of the time that was measured, beside the share that was. A gap was not measured. Empty where no exporter reports the lease's GPUs.",
		steps:       steps(colourUse),
		queries: []Query{
			lease("A", "usage", "utilization").emptyWhen("the use of the lease was not measured"),
			lease("B", "usage", "coverage"),
		},
	}
}

func sla() card {
	return card{
		title: "Was the SLA of $lease kept this month?", unit: "none", noValue: "no data", width: 24, height: 4,
		description: "The verdict of the contract's present month, provisional until it ends. The low bound takes time without data for down, the high one for up. A contract without an objective shows just that.",
		steps:       steps(colourStopped),
		queries:     []Query{lease("A", "sla", "")},
	}
}

func slaPanel(c card) *stat.PanelBuilder {
	return dress(stat.NewPanelBuilder(), c).
		TextMode(common.BigValueTextModeValueAndName).
		ColorMode(common.BigValueColorModeNone).
		GraphMode(common.BigValueGraphModeNone).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"}).
			Fields("/^(Verdict|Availability, .*|Target|Down|No data|Budget left)$/")).
		OverrideByName("outcome", []dashboard.DynamicConfigValue{set("mappings", []map[string]any{{
			"type": "value",
			"options": map[string]any{
				"Breached":   map[string]any{"text": "✕\u00a0Breached", "color": colourDown},
				"Kept":       map[string]any{"text": "●\u00a0Kept", "color": colourOK},
				"Not proven": map[string]any{"text": "?\u00a0Not\u00a0proven", "color": colourUnknown},
			},
		}})})
}

func downtime() card {
	return card{
		title: "When was $lease down, why, and who saw it?", unit: "none", noValue: "no downtime in this span", width: 24, height: 7,
		description: "Every recorded downtime of the chosen time with its cause, its witnesses and who approved it. Empty where the lease had none.",
		steps:       steps(colourDown),
		queries:     []Query{lease("A", "downtime", "").emptyWhen("the lease had no downtime")},
	}
}
