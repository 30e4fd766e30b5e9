package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/table"
)

// The panels of the machine around the GPUs, and of who uses them.

func pods() card {
	return card{
		title: "Who uses the GPUs of $host?", unit: "bytes", noValue: "no process on a GPU", width: 24, height: 8,
		description: "Memory of the cards by container, pod or batch job, the largest first; never by person or program. Empty while nobody uses a card, or where the exporter cannot see the host's processes.",
		steps:       steps(colourUse),
		queries: []Query{rows("A", `topk(20, max by (gpu, profile, runtime, namespace, pod, container, slurm_job) (uuid:gpu_container_memory_used_bytes:max{host=~"$host"}))`).
			emptyWhen("nobody uses a card")},
	}
}

func podsPanel(c card) *table.PanelBuilder {
	return rowsPanel(c, map[string]string{"gpu": "GPU", "profile": "MIG profile", "runtime": "Runtime", "namespace": "Namespace", "pod": "Pod", "container": "Container", "slurm_job": "Batch job", "Value": "GPU memory"}).
		SortBy([]cog.Builder[common.TableSortByFieldState]{common.NewTableSortByFieldStateBuilder().DisplayName("GPU memory").Desc(true)}).
		OverrideByRegexp("/^(GPU|MIG profile|Runtime|Namespace|Pod|Container|Batch job)$/", []dashboard.DynamicConfigValue{set("unit", "string")})
}

func processors() card {
	return card{
		title: "How busy are the processors of $host?", unit: "percentunit", noValue: "not measured", width: 8, height: 8,
		description: "Share of the processors' time that was not idle. GPUs that starve beside processors at their limit wait for their loaders. Empty where the exporter does not read the machine.",
		steps:       steps(colourOK, from(0.95, colourDegraded)),
		queries:     []Query{prom("A", "{{host}}", `1 - sum by (host) (rate(host:host_cpu_seconds_total:max{host=~"$host", mode="idle"}[5m])) / sum by (host) (rate(host:host_cpu_seconds_total:max{host=~"$host"}[5m]))`)},
	}
}

func memoryLeft() card {
	return card{
		title: "How much memory has $host left?", unit: "percentunit", noValue: "not measured", width: 8, height: 8,
		description: "Share of the machine's memory that new work can have without swapping. Empty where the exporter does not read the machine.",
		steps:       steps(colourDown, from(0.05, colourDegraded), from(0.1, colourOK)),
		queries:     []Query{prom("A", "{{host}}", `max by (host) (host:host_memory_available_bytes:max{host=~"$host"} / host:host_memory_total_bytes:max)`)},
	}
}

func pressure() card {
	return card{
		title: "What does $host stand still for?", unit: "percentunit", noValue: "not measured", width: 8, height: 8,
		description: "Share of the time in which all tasks at once waited for memory, for disks or for processors. Empty on kernels without pressure stall information.",
		steps:       steps(colourOK, from(0.1, colourDegraded)),
		queries:     []Query{prom("A", "{{resource}}", `max by (resource) (rate(host:host_pressure_seconds_total:max{host=~"$host", share="full"}[5m]))`)},
	}
}

func filesystemsLeft() card {
	return card{
		title: "How much space is left on $host?", unit: "percentunit", noValue: "not measured", width: 12, height: 8,
		description: "Share of each local filesystem that is left to users. Empty where the exporter does not read the machine.",
		steps:       steps(colourDown, from(0.05, colourDegraded), from(0.15, colourOK)),
		queries:     []Query{prom("A", "{{mountpoint}}", `min by (mountpoint) (host:host_filesystem_available_bytes:max{host=~"$host"} / host:host_filesystem_size_bytes:max)`)},
	}
}

func infiniBand() card {
	return card{
		title: "What goes over the InfiniBand ports of $host?", unit: "Bps", noValue: "no RDMA port", width: 12, height: 8,
		description: "Bytes a second that each port sends, of InfiniBand and RoCE alike. A port far under the others in a job over several hosts has a bad link. Empty on hosts without such a port.",
		steps:       steps(colourCost),
		queries:     []Query{prom("A", "{{device}} port {{port}}", `max by (device, port) (rate(host:host_infiniband_transmit_bytes_total:max{host=~"$host"}[5m]))`).emptyWhen("the host has no RDMA port")},
	}
}

func switchErrors() card {
	return card{
		title: "Which errors did the NVSwitches of $host report?", unit: "dateTimeFromNow", noValue: "no NVSwitch error", width: 24, height: 6,
		description: "SXids from the kernel log, with the driver's own word for each and when it was last seen. Empty while there was none, or on hosts without NVSwitches.",
		steps:       steps(colourDegraded),
		queries: []Query{rows("A", `topk(20, max by (nvswitch, sxid, severity) (host:host_nvswitch_sxid_last_timestamp_seconds:max{host=~"$host"}) * 1000)`).
			emptyWhen("there was no such error")},
	}
}
