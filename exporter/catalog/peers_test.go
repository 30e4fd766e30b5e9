package catalog

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// Why a field of the peer has no family of ours.
const (
	process = "of single processes: ours tells by container, and never names a process"
	bits    = "a bit mask: each bit stands by itself"
	index   = "a label of every series"
	itself  = "of the peer's own work: leasewatch_exporter_... tell ours"
	secret  = "only where confidential computing is on, which gpu_confidential_compute tells: not read"
	edpp    = "a power setting of boards of old, without a call in NVML"
	address = "parts of an address that stands whole in gpu_info, and a class that is one for all"
	guid    = "the card's own number in the fabric: gpu_fabric_info has its cluster and clique"
)

// peer are what nvidia_gpu_exporter tells of an H100, with our family or, after "-", the reason why
// there is none. Facts as of 30 November 2026, from utkuozdemir/nvidia_gpu_exporter,
// internal/integration/testdata/linux-x86_64__nvidia-h100-80gb-hbm3__590.48.01__load.metrics at
// 4d874907f524, and docs/METRICS.md at 13be0614773c for what it has of the library alone. A name with
// a * stands for all that begin so.
var peer = map[string]string{
	"accounting_buffer_size": "- how many processes are remembered: a constant of the driver", "accounting_mode": "gpu_feature_enabled",
	"c2c_mode": "gpu_feature_enabled", "clocks_current_*": "gpu_clock_hertz", "clocks_max_*": "gpu_clock_max_hertz",
	"clocks_event_reasons_active": "- " + bits, "clocks_event_reasons_supported": "gpu_throttle_supported",
	"clocks_event_reasons_counters_*": "gpu_throttle_seconds_total", "clocks_event_reasons_*": "gpu_throttle_active",
	"compute_app_*": "- " + process, "compute_apps": "gpu_processes", "compute_cap": "gpu_hardware_info", "compute_mode": "gpu_mode_info",
	"count": "- of the host: how many gpu_info there are", "display_active": "gpu_feature_enabled", "display_attached": "gpu_feature_enabled",
	"ecc_errors_uncorrected_aggregate_sram_threshold_exceeded": "gpu_ecc_sram_threshold_exceeded", "ecc_errors_*": "gpu_ecc_errors_total",
	"ecc_mode_current": "gpu_ecc_mode", "ecc_mode_pending": "gpu_ecc_mode_pending", "edpp_multiplier_ratio": "- " + edpp,
	"encoder_stats_average_fps": "gpu_video_frames_per_second", "encoder_stats_average_latency": "gpu_video_latency_seconds",
	"encoder_stats_session_count": "gpu_video_sessions", "enforced_power_limit_watts": "gpu_power_limit_watts", "fabric_clique_id": "gpu_fabric_info",
	"fabric_state": "gpu_fabric_state", "gpu_info": "gpu_info", "gpu_recovery_action": "gpu_recovery_action", "gsp_mode_*": "gpu_feature_enabled",
	"index": "- " + index, "inforom_*": "gpu_hardware_info", "last_collect_*": "- " + itself, "failed_scrapes_total": "- " + itself,
	"command_exit_code": "- " + itself, "memory_free_bytes": "gpu_memory_free_bytes", "memory_reserved_bytes": "gpu_memory_reserved_bytes",
	"memory_total_bytes": "gpu_memory_total_bytes", "memory_used_bytes": "gpu_memory_used_bytes", "mig_mode_current": "gpu_mig_mode",
	"mig_mode_pending": "gpu_mig_mode_pending", "pci_device_id": "gpu_hardware_info", "pci_sub_device_id": "gpu_hardware_info", "pci_*": "- " + address,
	"pcie_link_gen_current": "gpu_pcie_link_generation", "pcie_link_gen_gpucurrent": "gpu_pcie_link_generation",
	"pcie_link_gen_gpumax": "gpu_pcie_link_generation_card_max", "pcie_link_gen_max": "gpu_pcie_link_generation_max",
	"pcie_link_width_current": "gpu_pcie_link_width", "pcie_link_width_max": "gpu_pcie_link_width_max", "persistence_mode": "gpu_persistence_mode",
	"platform_gpu_fabric_guid": "- " + guid, "platform_*": "gpu_board_info", "power_draw_average_watts": "gpu_power_average_watts",
	"power_draw_instant_watts": "gpu_power_instant_watts", "power_draw_watts": "gpu_power_watts", "power_*": "gpu_power_limit_watts",
	"protected_memory_*": "- " + secret, "pstate": "gpu_performance_state", "remapped_rows_correctable": "gpu_remapped_rows",
	"remapped_rows_uncorrectable": "gpu_remapped_rows", "remapped_rows_failure": "gpu_row_remap_failure",
	"remapped_rows_pending": "gpu_remapped_rows_pending", "remapped_rows_histogram_*": "gpu_row_remap_banks", "serial": "gpu_info",
	"temperature_gpu": "gpu_temperature_celsius", "temperature_gpu_tlimit": "gpu_temperature_margin_celsius",
	"temperature_memory": "gpu_memory_temperature_celsius", "utilization_decoder_ratio": "gpu_decoder_utilization_ratio",
	"utilization_encoder_ratio": "gpu_encoder_utilization_ratio", "utilization_gpu_ratio": "gpu_utilization_ratio",
	"utilization_jpeg_ratio": "gpu_jpeg_utilization_ratio", "utilization_memory_ratio": "gpu_memory_utilization_ratio",
	"utilization_ofa_ratio": "gpu_ofa_utilization_ratio", "energy_joules_total": "gpu_energy_joules_total",
	"pcie_throughput_*": "gpu_pcie_throughput_bytes_per_second", "mig_info": "gpu_mig_info", "mig_memory_*": "gpu_memory_used_bytes",
	"mig_graphics_activity_ratio": "gpu_utilization_ratio", "mig_sm_activity_ratio": "gpu_sm_active_ratio", "mig_sm_occupancy_ratio": "gpu_sm_occupancy_ratio",
	"mig_tensor_activity_ratio": "gpu_tensor_active_ratio", "mig_pcie_throughput_*": "gpu_pcie_throughput_bytes_per_second",
	"xid_errors_total": "gpu_xid_errors_total", "xid_last_timestamp_seconds": "gpu_xid_last_timestamp_seconds",
}

func TestWhatNvidiaGPUExporterTellsIsToldOrHasAReason(t *testing.T) {
	families := map[string]Family{}
	for _, f := range All() {
		families[f.Name] = f
	}
	for _, name := range slices.Sorted(maps.Keys(peer)) {
		ours := peer[name]
		if reason, left := strings.CutPrefix(ours, "- "); left {
			if len(strings.Fields(reason)) < 3 {
				t.Errorf("nvidia_smi_%s is left out, and %q is no reason", name, reason)
			}
			continue
		}
		f, there := families[ours]
		switch {
		case !there || f.GPU == nil && f.Instance == nil:
			t.Errorf("nvidia_smi_%s: %s is no family of a card", name, ours)
		case strings.HasPrefix(name, "mig_") && name != "mig_mode_current" && name != "mig_mode_pending" && f.Instance == nil && ours != "gpu_mig_info":
			t.Errorf("nvidia_smi_%s: %s is none of a MIG device", name, ours)
		}
	}
}
