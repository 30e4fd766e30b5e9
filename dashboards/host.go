package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/table"
)

// hostUID is what the rows of other dashboards link to.
const hostUID = "leasewatch-host"

// hostAndGPU answers what somebody asks who was sent to one machine: what is wrong here, the
// cards, the ways between them, or the machine around them.
func hostAndGPU() (string, *dashboard.DashboardBuilder, []card) {
	d := sheet(hostUID, "Leasewatch: host and GPU", "What is wrong on this machine: its GPUs, the ways between them, or the machine around them?",
		Prometheus, "Prometheus", "1m", "now-6h").
		WithVariable(dashboard.NewQueryVariableBuilder("host").
			Label("Host").
			Datasource(source(Prometheus)).
			Query(dashboard.StringOrMap{String: cog.ToPtr("label_values(uuid:gpu_state:max, host)")}).
			Refresh(dashboard.VariableRefreshOnTimeRangeChanged).
			Sort(dashboard.VariableSortAlphabeticalAsc))
	cards := numbered(gpusOfHost(), alertsOfHost(), smActive(), pipes(), nvlink(), migDevices(), gpuHeat(), gpuPower(), heldBack(), pods(),
		processors(), memoryLeft(), pressure(), filesystemsLeft(), infiniBand(), switchErrors())
	d = d.WithPanel(gpusPanel(cards[0])).
		WithPanel(rowsPanel(cards[1], nil)).
		WithPanel(curves(cards[2]).Min(0).Max(1)).
		WithPanel(curves(cards[3]).Min(0).Max(1)).
		WithPanel(curves(cards[4]).Min(0)).
		WithPanel(curves(cards[5]).Min(0).Max(1)).
		WithPanel(curves(cards[6])).
		WithPanel(curves(cards[7]).Min(0)).
		WithPanel(curves(cards[8]).Min(0).Max(1)).
		WithPanel(podsPanel(cards[9])).
		WithPanel(curves(cards[10]).Min(0).Max(1)).
		WithPanel(curves(cards[11]).Min(0).Max(1)).
		WithPanel(curves(cards[12]).Min(0)).
		WithPanel(curves(cards[13]).Min(0).Max(1)).
		WithPanel(curves(cards[14]).Min(0)).
		WithPanel(rowsPanel(cards[15], map[string]string{"Value": "Last seen"}))
	return "host", d, cards
}

func gpusOfHost() card {
	return card{
		title: "How is each GPU of $host?", unit: "none", noValue: "not measured", width: 16, height: 9,
		description: "One row a card. SM activity says how much of the card the kernels used, utilisation only that one ran. A blank cell was not measured: a card that is split has no utilisation. Empty where the host is silent.",
		steps:       steps(colourOK),
		queries: []Query{
			rows("A", `max by (gpu, uuid, state) (uuid:gpu_state:max{host=~"$host"} == 1)`),
			rows("B", `max by (gpu, uuid) (uuid:gpu_utilization_ratio:max{host=~"$host", gpu_uuid=""})`),
			rows("C", `max by (gpu, uuid) (uuid:gpu_sm_active_ratio:max{host=~"$host", gpu_uuid=""})`).emptyWhen("the cards are older than Hopper"),
			rows("D", `max by (gpu, uuid) (uuid:gpu_memory_used_bytes:max{host=~"$host", gpu_uuid=""} / uuid:gpu_memory_total_bytes:max)`),
			rows("E", `max by (gpu, uuid) (uuid:gpu_temperature_celsius:max{host=~"$host"})`),
			rows("F", `max by (gpu, uuid) (uuid:gpu_power_watts:max{host=~"$host"})`),
			rows("G", `max by (gpu, uuid) (uuid:gpu_nvlink_active_links:max{host=~"$host"})`).emptyWhen("the cards have no NVLink"),
		},
	}
}

func gpusPanel(c card) *table.PanelBuilder {
	return rowsPanel(c, map[string]string{
		"gpu": "GPU", "state": "State", "Value #B": "Utilisation", "Value #C": "SMs active", "Value #D": "Memory used",
		"Value #E": "Temperature", "Value #F": "Power", "Value #G": "NVLinks up",
	}).
		SortBy([]cog.Builder[common.TableSortByFieldState]{common.NewTableSortByFieldStateBuilder().DisplayName("GPU")}).
		OverrideByName("Value #A", []dashboard.DynamicConfigValue{set("custom.hidden", true)}).
		OverrideByRegexp("/^(Utilisation|SMs active|Memory used)$/", []dashboard.DynamicConfigValue{set("unit", "percentunit"), set("decimals", 1)}).
		OverrideByName("Temperature", []dashboard.DynamicConfigValue{set("unit", "celsius")}).
		OverrideByName("Power", []dashboard.DynamicConfigValue{set("unit", "watt")}).
		OverrideByName("State", []dashboard.DynamicConfigValue{set("mappings", []map[string]any{{
			"type": "value",
			"options": map[string]any{
				"ok":       map[string]any{"text": "●\u00a0ok", "color": colourOK},
				"lost":     map[string]any{"text": "✕\u00a0lost", "color": colourDown},
				"released": map[string]any{"text": "▢\u00a0released", "color": colourStopped},
				"unknown":  map[string]any{"text": "?\u00a0unknown", "color": colourUnknown},
			},
		}})})
}

func alertsOfHost() card {
	return card{
		title: "Which alerts fire for $host?", unit: "none", noValue: "no alert fires here", width: 8, height: 9,
		description: "What the rules say of this machine and its cards now. Empty while no alert fires for it.",
		steps:       steps(colourDegraded),
		queries:     []Query{rows("A", `max by (alertname, severity, gpu, lease) (ALERTS{alertstate="firing", host=~"$host"})`).emptyWhen("no alert fires for this host")},
	}
}

func smActive() card {
	return card{
		title: "How much of each GPU of $host do the kernels use?", unit: "percentunit", noValue: "not measured", width: 12, height: 8,
		description: "Share of the multiprocessors that had work. A line far under the utilisation is a kernel that leaves most of the card idle. Empty on cards older than Hopper, which have no such counters.",
		steps:       steps(colourUse),
		queries:     []Query{prom("A", "GPU {{gpu}}", `max by (gpu) (uuid:gpu_sm_active_ratio:max{host=~"$host", gpu_uuid=""})`).emptyWhen("the cards are older than Hopper")},
	}
}

func pipes() card {
	return card{
		title: "What are the GPUs of $host busy with?", unit: "percentunit", noValue: "not measured", width: 12, height: 8,
		description: "Means over the cards. High memory and low tensor activity is work that waits for memory, as inference does; the other way round is training. Empty on cards older than Hopper.",
		steps:       steps(colourUse),
		queries: []Query{
			prom("A", "tensor cores", `avg(uuid:gpu_tensor_active_ratio:max{host=~"$host", gpu_uuid=""})`).emptyWhen("the cards are older than Hopper"),
			prom("B", "memory bandwidth", `avg(uuid:gpu_dram_active_ratio:max{host=~"$host", gpu_uuid=""})`).emptyWhen("the cards are older than Hopper"),
		},
	}
}

func nvlink() card {
	return card{
		title: "What goes over the NVLinks of $host?", unit: "Bps", noValue: "no NVLink", width: 12, height: 8,
		description: "Bytes a second that each card sends. One card far under its neighbours in a collective job has a link that is down or errs. Empty on cards without NVLink, or older than Hopper.",
		steps:       steps(colourCost),
		queries:     []Query{prom("A", "GPU {{gpu}}", `max by (gpu) (uuid:gpu_nvlink_throughput_bytes_per_second:max{host=~"$host", direction="tx", gpu_uuid=""})`).emptyWhen("the cards have no NVLink or are older than Hopper")},
	}
}

func migDevices() card {
	return card{
		title: "How busy are the MIG devices of $host?", unit: "percentunit", noValue: "no MIG device", width: 12, height: 8,
		description: "Share of each device's own multiprocessors that had work, by card, instance and profile. Empty on a host whose cards are not split.",
		steps:       steps(colourUse),
		queries:     []Query{prom("A", "GPU {{gpu}} instance {{gpu_instance}}, {{profile}}", `max by (gpu, gpu_instance, profile) (uuid:gpu_sm_active_ratio:max{host=~"$host", gpu_uuid!=""})`).emptyWhen("no card of the host is split")},
	}
}

func gpuHeat() card {
	return card{
		title: "How hot are the GPUs of $host?", unit: "celsius", noValue: "not measured", width: 8, height: 8,
		description: "Temperature of each chip. The coloured lines are a guide for data-centre cards; alerts compare with the threshold of each card's own driver. Empty where the driver tells none.",
		steps:       steps(colourOK, from(80, colourDegraded), from(90, colourDown)),
		queries:     []Query{prom("A", "GPU {{gpu}}", `max by (gpu) (uuid:gpu_temperature_celsius:max{host=~"$host"})`)},
	}
}

func gpuPower() card {
	return card{
		title: "What do the GPUs of $host draw?", unit: "watt", noValue: "not measured", width: 8, height: 8,
		description: "Power of each card as its driver measures it. Empty where the driver tells none.",
		steps:       steps(colourCost),
		queries:     []Query{prom("A", "GPU {{gpu}}", `max by (gpu) (uuid:gpu_power_watts:max{host=~"$host"})`)},
	}
}

func heldBack() card {
	return card{
		title: "What holds the clocks of $host back?", unit: "percentunit", noValue: "not measured", width: 8, height: 8,
		description: "Share of the cards that each reason holds back. The software power cap is normal under load; heat and the power brake are not. Empty where the driver tells no reasons.",
		steps:       steps(colourOK),
		queries:     []Query{prom("A", "{{reason}}", `avg by (reason) (uuid:gpu_throttle_active:max{host=~"$host", reason!="gpu_idle"})`)},
	}
}
