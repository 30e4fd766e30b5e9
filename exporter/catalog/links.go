package catalog

import (
	"strconv"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// pcieFamilies tell of PCIe.
func pcieFamilies() []Family {
	return []Family{
		{
			Name: "gpu_pcie_link_generation", Kind: Gauge,
			Help: "PCIe generation now; an idle card may go lower to save power.", Source: "nvmlDeviceGetCurrPcieLinkGeneration",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.PCIeGeneration }),
		},
		{
			Name: "gpu_pcie_link_generation_max", Kind: Gauge,
			Help: "Highest PCIe generation that card and slot allow.", Source: "nvmlDeviceGetMaxPcieLinkGeneration",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.PCIeGenerationMax }),
		},
		{
			Name: "gpu_pcie_link_width", Kind: Gauge,
			Help: "PCIe lanes in use now.", Source: "nvmlDeviceGetCurrPcieLinkWidth",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.PCIeWidth }),
		},
		{
			Name: "gpu_pcie_link_width_max", Kind: Gauge,
			Help: "Most PCIe lanes that card and slot allow.", Source: "nvmlDeviceGetMaxPcieLinkWidth",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.PCIeWidthMax }),
		},
		{
			Name: "gpu_pcie_replays_total", Kind: Counter,
			Help: "PCIe packets sent again.", Source: "nvmlDeviceGetPcieReplayCounter",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.PCIeReplaysTotal }),
		},
		{
			Name: "gpu_pcie_errors_total", Kind: Counter, Labels: []string{"type"},
			Help:     "PCIe errors as the card counts them: correctable, non_fatal, fatal, unsupported_request; receiver, bad_tlp, bad_dllp, lcrc, lane; nak_received, nak_sent; recovery (the link left its working state) and replay_rollover (a packet was sent again too often).",
			Hardware: "by generation and driver", Source: "fields NVML_FI_DEV_PCIE_COUNT_*, NVML_FI_DEV_PCIE_L0_TO_RECOVERY_COUNTER, NVML_FI_DEV_PCIE_REPLAY_ROLLOVER_COUNTER",
			GPU: each(func(r *gpu.Readings) map[string]float64 { return r.PCIeErrors }),
		},
		{
			Name: "gpu_pcie_bytes_total", Kind: Counter, Unit: "bytes", Labels: []string{"direction"},
			Help:     "Bytes over PCIe with their packets' overhead, as the card sees it: tx leaves the card, rx reaches it. Absent where the driver counts in 32 bits, which wrap unnoticed.",
			Hardware: "Ampere and later, by driver", Source: "fields NVML_FI_DEV_PCIE_COUNT_TX_BYTES, NVML_FI_DEV_PCIE_COUNT_RX_BYTES",
			GPU: each(func(r *gpu.Readings) map[string]float64 { return r.PCIeBytesTotal }),
		},
	}
}

// nvlinkFamilies tell of NVLink.
func nvlinkFamilies() []Family {
	return []Family{
		{
			Name: "gpu_nvlink_active_links", Kind: Gauge,
			Help: "NVLinks that are up.", Hardware: "cards with NVLink", Source: "nvmlDeviceGetNvLinkState",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.NVLinkActive }),
		},
		{
			Name: "gpu_nvlink_expected_links", Kind: Gauge,
			Help: "NVLinks that the card has.", Hardware: "cards with NVLink", Source: "field NVML_FI_DEV_NVLINK_LINK_COUNT",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.NVLinkExpected }),
		},
		{
			Name: "gpu_nvlink_errors_total", Kind: Counter, Labels: []string{"type"},
			Help: "NVLink errors of all links of the card. Until Hopper: crc_flit, crc_data, ecc_data, replay, recovery. " +
				"Since Blackwell: malformed_packet, buffer_overrun, receive, receive_remote, receive_general, link_integrity, transmit_discard, " +
				"recovery, recovery_succeeded, recovery_failed, and effective and symbol, of which a healthy link corrects some all the time.",
			Hardware: "cards with NVLink", Source: "fields NVML_FI_DEV_NVLINK_*_ERROR_COUNT_TOTAL, NVML_FI_DEV_NVLINK_COUNT_*, else nvmlDeviceGetNvLinkErrorCounter",
			GPU: each(func(r *gpu.Readings) map[string]float64 { return r.NVLinkErrors }),
		},
		{
			Name: "gpu_nvlink_link_up", Kind: Gauge, Labels: []string{"link"},
			Help: "1 where this NVLink is up.", Hardware: "cards with NVLink", Source: "nvmlDeviceGetNvLinkState",
			GPU: func(g *gpu.GPU, emit Emit) {
				for i := range g.Readings.NVLink.Links {
					emit(number(g.Readings.NVLink.Links[i].Up), linkName(g.Readings.NVLink.Links[i].Number))
				}
			},
		},
		{
			Name: "gpu_nvlink_link_errors_total", Kind: Counter, Labels: []string{"link", "type"},
			Help:     "NVLink errors by link, only of links and types that counted any: it says which link, gpu_nvlink_errors_total says that there are some. Until Hopper crc counts flit and data errors together.",
			Hardware: "cards with NVLink", Source: "fields NVML_FI_DEV_NVLINK_ERROR_DL_*, NVML_FI_DEV_NVLINK_COUNT_*",
			GPU: func(g *gpu.GPU, emit Emit) {
				for i := range g.Readings.NVLink.Links {
					link := &g.Readings.NVLink.Links[i]
					for _, kind := range sortedKeys(link.Errors) {
						emit(link.Errors[kind], linkName(link.Number), kind)
					}
				}
			},
		},
		{
			Name: "gpu_nvlink_bytes_total", Kind: Counter, Unit: "bytes", Labels: []string{"direction"},
			Help:     "Bytes over all NVLinks of the card: tx leaves the card, rx reaches it. Until Hopper the data alone; since Blackwell as the links count it.",
			Hardware: "cards with NVLink", Source: "fields NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX and _RX, else NVML_FI_DEV_NVLINK_COUNT_XMIT_BYTES and _RCV_BYTES",
			GPU: each(func(r *gpu.Readings) map[string]float64 { return r.NVLink.BytesTotal }),
		},
		{
			Name: "gpu_nvlink_speed_bytes_per_second", Kind: Gauge, Unit: "bytes_per_second",
			Help:     "Speed of one NVLink that is up, in each direction.",
			Hardware: "cards with NVLink", Source: "field NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.NVLink.SpeedBytesPerSec }),
		},
	}
}

// fabricFamilies tell what the NVSwitch fabric says of a card.
func fabricFamilies() []Family {
	const hardware, source = "hosts with NVSwitch", "nvmlDeviceGetGpuFabricInfoV, nvmlDeviceGetGpuFabricInfo"
	return []Family{
		{
			Name: "gpu_fabric_state", Kind: StateSet, Labels: []string{"state"},
			Help: "Registration of the card with the fabric: 1 for the present state, 0 for the others.", Hardware: hardware, Source: source,
			GPU: oneOf(func(r *gpu.Readings) string { return r.Fabric.State }, gpu.FabricStates),
		},
		{
			Name: "gpu_fabric_status", Kind: Gauge,
			Help: "What the completed registration returned, in the driver's numbers: 0 is success.", Hardware: hardware, Source: source,
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.Fabric.Status }),
		},
		{
			Name: "gpu_fabric_info", Kind: Info, Labels: []string{"cluster", "clique"},
			Help:     "The fabric that the card is registered with: cards of one cluster and clique reach each other over NVLink.",
			Hardware: hardware, Source: source,
			GPU: func(g *gpu.GPU, emit Emit) {
				if f := &g.Readings.Fabric; f.Cluster != "" {
					emit(1, f.Cluster, f.Clique)
				}
			},
		},
		{
			Name: "gpu_fabric_problem", Kind: Gauge, Labels: []string{"problem"},
			Help: "1 while the fabric reports this problem of the card: degraded_bandwidth, route_recovery, route_unhealthy, access_timeout_recovery, " +
				"incorrect_configuration, no_partition, manager_disconnected. One that the driver does not tell is absent.",
			Hardware: "Hopper and later with NVSwitch", Source: "nvmlDeviceGetGpuFabricInfoV, its health mask",
			GPU: flags(func(r *gpu.Readings) map[string]bool { return r.Fabric.Problems }),
		},
		{
			Name: "gpu_fabric_configuration_code", Kind: Gauge,
			Help: "What is wrong with the fabric's configuration, in the driver's numbers: 1 nothing, 2 system GUID, 3 chassis serial number, 4 no partition, " +
				"5 too few NVLinks, 6 incompatible firmware, 7 location, 8 state of the GPU.",
			Hardware: "Blackwell with NVSwitch", Source: "nvmlDeviceGetGpuFabricInfoV, its health mask",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.Fabric.Configuration }),
		},
		{
			Name: "gpu_fabric_health", Kind: StateSet, Labels: []string{"health"},
			Help: "The driver's sum of the fabric's health bits: 1 for the present one, 0 for the others.", Hardware: "newer drivers, with NVSwitch", Source: "nvmlDeviceGetGpuFabricInfoV, version 3",
			GPU: oneOf(func(r *gpu.Readings) string { return r.Fabric.Health }, gpu.FabricHealths),
		},
	}
}

// linkNames are the numbers of links as labels.
var linkNames = func() (names [64]string) {
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}()

func linkName(i int) string {
	if i >= 0 && i < len(linkNames) {
		return linkNames[i]
	}
	return strconv.Itoa(i)
}
