package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// fleet answers what ops ask all day: is every GPU well, and if not, which one.
// All figures are the recorded series, in which a GPU that is both scraped and pushed is one.
func fleet() (string, *dashboard.DashboardBuilder, []card) {
	d := sheet("leasewatch-fleet", "Leasewatch: fleet", "Is every GPU well, and if not, which one needs somebody?",
		Prometheus, "Prometheus", "1m", "now-6h")
	cards := numbered(states(), wrongNow(), alerts(), utilisation(), temperature(), power(), ecc(), xids(), shortHosts(), versions(), hosts())
	d = d.WithPanel(statesPanel(cards[0])).
		WithPanel(rowsPanel(cards[1], nil)).
		WithPanel(rowsPanel(cards[2], nil)).
		WithPanel(curves(cards[3]).Min(0).Max(1)).
		WithPanel(curves(cards[4])).
		WithPanel(curves(cards[5]).Min(0)).
		WithPanel(rowsPanel(cards[6], map[string]string{"Value": "Uncorrected errors"})).
		WithPanel(rowsPanel(cards[7], map[string]string{"Value": "Times"})).
		WithPanel(shortHostsPanel(cards[8])).
		WithPanel(rowsPanel(cards[9], map[string]string{"driver_version": "Driver", "Value #A": "Hosts", "version": "Exporter", "Value #B": "Exporters"})).
		WithPanel(hostsPanel(cards[10]))
	return "fleet", d, cards
}

func states() card {
	return card{
		title: "How many GPUs are in each state?", unit: "none", noValue: "no data", width: 24, height: 4,
		description: "Every GPU that an exporter ever reported and nobody retired, by what its driver says now. Empty where no exporter reports.",
		steps:       steps(colourStopped),
		queries:     []Query{at("A", "{{state}}", `sum by (state) (uuid:gpu_state:max)`)},
	}
}

func statesPanel(c card) *stat.PanelBuilder {
	return dress(stat.NewPanelBuilder(), c).
		TextMode(common.BigValueTextModeValueAndName).
		ColorMode(common.BigValueColorModeValue).
		GraphMode(common.BigValueGraphModeNone).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})).
		OverrideByName("ok", []dashboard.DynamicConfigValue{fixed(colourOK)}).
		OverrideByName("unknown", []dashboard.DynamicConfigValue{fixed(colourUnknown)}).
		OverrideByName("released", []dashboard.DynamicConfigValue{fixed(colourStopped)}).
		OverrideByRegexp("/lost|reset_required|unresponsive|driver_down|fabric_incomplete/", []dashboard.DynamicConfigValue{
			set("thresholds", map[string]any{"mode": "absolute", "steps": steps(colourStopped, from(1, colourDown))}),
			set("color", map[string]any{"mode": "thresholds"}),
		})
}

func wrongNow() card {
	bad := `(uuid:gpu_state:max{state!~"ok|released"} == 1)`
	return card{
		title: "Which GPUs are not well now?", unit: "none", noValue: "every GPU is ok", width: 12, height: 8,
		description: "One row a GPU that is neither ok nor released, with where it sits and who has it. Empty while every GPU is ok.",
		steps:       steps(colourDown),
		queries: []Query{rows("A", bad+` * on (uuid) group_left (serial, slot, provider, sku) max by (uuid, serial, slot, provider, sku) (uuid:gpu_inventory_info:max) or on (uuid) `+bad).
			emptyWhen("every GPU is ok or released")},
	}
}

func alerts() card {
	return card{
		title: "Which alerts fire?", unit: "none", noValue: "no alert fires", width: 12, height: 8,
		description: "What the rules say now. Empty while no alert fires.",
		steps:       steps(colourDegraded),
		queries:     []Query{rows("A", `max by (alertname, severity, subject, uuid, lease) (ALERTS{alertstate="firing", alertname!="Watchdog"})`).emptyWhen("no alert fires")},
	}
}

func utilisation() card {
	return card{
		title: "How well are the GPUs used?", unit: "percentunit", noValue: "not measured", width: 8, height: 8,
		description: "The tenth that is used least, the middle and the tenth that is used most, so that 500 hosts stay readable; beside them how much of a card its kernels used. Empty where no driver tells utilisation.",
		steps:       steps(colourUse),
		queries: []Query{
			prom("A", "least used tenth", `quantile(0.1, uuid:gpu_utilization_ratio:max)`),
			prom("B", "middle", `quantile(0.5, uuid:gpu_utilization_ratio:max)`),
			prom("C", "most used tenth", `quantile(0.9, uuid:gpu_utilization_ratio:max)`),
			prom("D", "SMs active, middle", `quantile(0.5, uuid:gpu_sm_active_ratio:max{gpu_uuid=""})`).emptyWhen("no card is a Hopper or later"),
		},
	}
}

func temperature() card {
	return card{
		title: "How hot are the GPUs?", unit: "celsius", noValue: "not measured", width: 8, height: 8,
		description: "The hottest GPU and the middle one. The coloured lines are a guide for data-centre cards; alerts compare with the threshold of each card's own driver. Empty where no driver tells temperature.",
		steps:       steps(colourOK, from(80, colourDegraded), from(90, colourDown)),
		queries: []Query{
			prom("A", "hottest", `max(uuid:gpu_temperature_celsius:max)`),
			prom("B", "middle", `quantile(0.5, uuid:gpu_temperature_celsius:max)`),
		},
	}
}

func power() card {
	return card{
		title: "What do the GPUs draw?", unit: "watt", noValue: "not measured", width: 8, height: 8,
		description: "All GPUs together, as their drivers measure it; the rest of each host is not in it. Empty where no driver tells power.",
		steps:       steps(colourCost),
		queries:     []Query{prom("A", "all GPUs", `sum(uuid:gpu_power_watts:max)`)},
	}
}

func ecc() card {
	return card{
		title: "Which GPUs counted uncorrected memory errors?", unit: "none", noValue: "no ECC counters", width: 12, height: 8,
		description: "The 20 GPUs with the most uncorrected ECC errors over their life; 0 is well. Empty where no card has ECC.",
		steps:       steps(colourOK, from(1, colourDown)),
		queries: []Query{rows("A", `topk(20, sum by (host, gpu, uuid) (uuid:gpu_ecc_errors_total:max{counter="aggregate"}))`).
			emptyWhen("no card has ECC, as consumer cards")},
	}
}

func xids() card {
	return card{
		title: "Which driver errors (XID) came in the last day?", unit: "none", noValue: "no XID in the last day", width: 12, height: 8,
		description: "Critical driver events of the last 24 h by GPU and code; what each code asks for is in its runbook. Empty while none came.",
		steps:       steps(colourDegraded),
		queries: []Query{rows("A", `topk(20, ceil(sum by (host, gpu, uuid, xid) (increase(uuid:gpu_xid_errors_total:max[1d])) > 0))`).
			emptyWhen("no XID came in the last day")},
	}
}

func hosts() card {
	return card{
		title: "How is each host?", unit: "none", noValue: "no data", width: 24, height: 12,
		description: "One row a host, the worst first. A host whose exporter is silent has no row of live figures: see the alerts. Empty where no exporter reports.",
		steps:       steps(colourOK),
		queries: []Query{
			rows("A", `count by (host) (uuid:gpu_state:max{state="ok"})`),
			rows("B", `count by (host) (uuid:gpu_state:max{state="ok"} == 0) or count by (host) (uuid:gpu_state:max{state="ok"}) * 0`),
			rows("C", `avg by (host) (uuid:gpu_utilization_ratio:max)`),
			rows("D", `max by (host) (uuid:gpu_temperature_celsius:max)`),
			rows("E", `sum by (host) (uuid:gpu_power_watts:max)`),
		},
	}
}

func hostsPanel(c card) *table.PanelBuilder {
	names := map[string]string{
		"host": "Host", "Value #A": "GPUs", "Value #B": "Not ok", "Value #C": "Utilisation", "Value #D": "Hottest", "Value #E": "Power",
	}
	return rowsPanel(c, names).
		SortBy([]cog.Builder[common.TableSortByFieldState]{common.NewTableSortByFieldStateBuilder().DisplayName("Not ok").Desc(true)}).
		OverrideByName("Not ok", []dashboard.DynamicConfigValue{
			set("custom.cellOptions", map[string]any{"type": "color-text"}),
			set("thresholds", map[string]any{"mode": "absolute", "steps": steps(colourOK, from(1, colourDown))}),
		}).
		OverrideByName("Utilisation", []dashboard.DynamicConfigValue{set("unit", "percentunit"), set("decimals", 1)}).
		OverrideByName("Hottest", []dashboard.DynamicConfigValue{set("unit", "celsius")}).
		OverrideByName("Power", []dashboard.DynamicConfigValue{set("unit", "watt")}).
		OverrideByName("Host", []dashboard.DynamicConfigValue{
			set("links", []map[string]any{{"title": "Show this host", "url": "/d/" + hostUID + "?${__url_time_range}&var-ds=${ds}&var-host=${__value.raw:percentencode}"}}),
		})
}

func shortHosts() card {
	return card{
		title: "Which hosts run short of something?", unit: "percentunit", noValue: "no host is read", width: 12, height: 8,
		description: "The 20 hosts with the least memory left, with the least space on any filesystem and the share of time in which all tasks waited for memory. Empty where no exporter reads its machine.",
		steps:       steps(colourOK),
		queries: []Query{
			rows("A", `bottomk(20, max by (host) (host:host_memory_available_bytes:max / host:host_memory_total_bytes:max))`),
			rows("B", `bottomk(20, min by (host) (host:host_filesystem_available_bytes:max / host:host_filesystem_size_bytes:max))`),
			rows("C", `topk(20, max by (host) (rate(host:host_pressure_seconds_total:max{resource="memory", share="full"}[5m])))`).emptyWhen("no kernel tells pressure"),
		},
	}
}

func shortHostsPanel(c card) *table.PanelBuilder {
	short := set("thresholds", map[string]any{"mode": "absolute", "steps": steps(colourDown, from(0.05, colourDegraded), from(0.15, colourOK))})
	return rowsPanel(c, map[string]string{"host": "Host", "Value #A": "Memory left", "Value #B": "Least space left", "Value #C": "Stood still for memory"}).
		OverrideByRegexp("/left$/", []dashboard.DynamicConfigValue{short, set("custom.cellOptions", map[string]any{"type": "color-text"})}).
		SortBy([]cog.Builder[common.TableSortByFieldState]{common.NewTableSortByFieldStateBuilder().DisplayName("Memory left")}).
		OverrideByName("Host", []dashboard.DynamicConfigValue{
			set("links", []map[string]any{{"title": "Show this host", "url": "/d/" + hostUID + "?${__url_time_range}&var-ds=${ds}&var-host=${__value.raw:percentencode}"}}),
		})
}

func versions() card {
	return card{
		title: "Which versions run where?", unit: "none", noValue: "no data", width: 12, height: 8,
		description: "How many hosts run each driver, and how many exporters each version. Two drivers in one fleet are a roll-out that did not end. Empty where no exporter reports.",
		steps:       steps(colourStopped),
		queries: []Query{
			rows("A", `count by (driver_version) (group by (host, driver_version) (host:gpu_driver_info:max))`),
			rows("B", `count by (version) (group by (host, version) (host:leasewatch_exporter_build_info:max))`).emptyWhen("the figures come from dcgm-exporter"),
		},
	}
}

// rowsPanel is a table of one row a thing: the queries' rows joined, without the time.
func rowsPanel(c card, names map[string]string) *table.PanelBuilder {
	return dress(table.NewPanelBuilder(), c).
		WithTransformation(dashboard.DataTransformerConfig{Id: "merge", Options: map[string]any{}}).
		WithTransformation(dashboard.DataTransformerConfig{Id: "organize", Options: map[string]any{
			"excludeByName": map[string]bool{"Time": true, "__name__": true, "vantage": true},
			"renameByName":  names,
		}})
}

// curves is a picture over time.
func curves(c card) *timeseries.PanelBuilder {
	return dress(timeseries.NewPanelBuilder(), c).
		LineWidth(2).
		FillOpacity(8).
		ShowPoints(common.VisibilityModeNever).
		ColorScheme(dashboard.NewFieldColorBuilder().Mode(dashboard.FieldColorModeIdPaletteClassic)).
		Legend(common.NewVizLegendOptionsBuilder().DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom).ShowLegend(true))
}
