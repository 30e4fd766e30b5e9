package compat

// The units of dcgm-exporter. NVML counts utilisation and fans in whole percents, energy in
// millijoules and violations in nanoseconds: older lists of dcgm-exporter said microseconds,
// which was an error of the text, not of the values.
var (
	number      = Unit{Times: 1, Over: 1}
	percent     = Unit{Name: "%", Times: 100, Over: 1, Steps: 1e6}
	mhz         = Unit{Name: "MHz", Times: 1, Over: 1e6}
	mib         = Unit{Name: "MiB", Times: 1, Over: 1 << 20}
	celsius     = Unit{Name: "C", Times: 1, Over: 1}
	watts       = Unit{Name: "W", Times: 1, Over: 1}
	millijoules = Unit{Name: "mJ", Times: 1000, Over: 1, Steps: 1}
	kilobytes   = Unit{Name: "KB/s", Times: 1, Over: 1e3}
	megabytes   = Unit{Name: "MB/s", Times: 1, Over: 1e6}
	bytesPerS   = Unit{Name: "B/s", Times: 1, Over: 1}
	nanos       = Unit{Name: "ns", Times: 1e9, Over: 1, Steps: 1}
)

// DCGM lists the metrics of dcgm-exporter's default list and its common options that NVML
// can give, by name as that program spells it.
func DCGM() []Alias {
	var all []Alias
	for _, part := range [][]Alias{dcgmClocks(), dcgmHeat(), dcgmUse(), dcgmProfiling(), dcgmErrors(), dcgmLinks()} {
		all = append(all, part...)
	}
	return all
}

func dcgmClocks() []Alias {
	return []Alias{
		one("DCGM_FI_DEV_SM_CLOCK", "Clock of the SMs.", mhz, of("gpu_clock_hertz", "sm")),
		one("DCGM_FI_DEV_MEM_CLOCK", "Clock of the memory.", mhz, of("gpu_clock_hertz", "memory")),
		one("DCGM_FI_DEV_VIDEO_CLOCK", "Clock of the video engines.", mhz, of("gpu_clock_hertz", "video")),
		one("DCGM_FI_DEV_MAX_SM_CLOCK", "Highest clock of the SMs.", mhz, of("gpu_clock_max_hertz", "sm")),
		one("DCGM_FI_DEV_MAX_MEM_CLOCK", "Highest clock of the memory.", mhz, of("gpu_clock_max_hertz", "memory")),
		throttleMask("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS"),
		throttleMask("DCGM_FI_DEV_CLOCKS_EVENT_REASONS"), // its name since DCGM 4
		one("DCGM_FI_DEV_POWER_VIOLATION", "Time that the power cap held the clocks back.", nanos, of("gpu_throttle_seconds_total", "sw_power_cap")),
		{
			Name: "DCGM_FI_DEV_THERMAL_VIOLATION", Help: "Time that heat held the clocks back.", Unit: nanos,
			// Software and hardware may hold back at the same time: their sum would count it twice.
			Join: Greatest, Terms: []Term{
				of("gpu_throttle_seconds_total", "thermal"),
				of("gpu_throttle_seconds_total", "sw_thermal"),
				of("gpu_throttle_seconds_total", "hw_thermal"),
			},
		},
		one("DCGM_FI_DEV_SYNC_BOOST_VIOLATION", "Time that the sync boost group held the clocks back.", nanos, of("gpu_throttle_seconds_total", "sync_boost")),
		one("DCGM_FI_DEV_BOARD_LIMIT_VIOLATION", "Time that a limit of the board held the clocks back.", nanos, of("gpu_throttle_seconds_total", "board_limit")),
		one("DCGM_FI_DEV_RELIABILITY_VIOLATION", "Time that reliability held the clocks back.", nanos, of("gpu_throttle_seconds_total", "reliability")),
		one("DCGM_FI_DEV_PSTATE", "Performance state, 0 to 15.", number, of("gpu_performance_state")),
		one("DCGM_FI_DEV_PERSISTENCE_MODE", "1 where the driver stays loaded without clients.", number, of("gpu_persistence_mode")),
	}
}

// throttleMask is NVML's bit mask of clock event reasons (nvmlClocksEventReason* in nvml.h).
func throttleMask(name string) Alias {
	a := Alias{Name: name, Help: "Bit mask of what holds the clocks back.", Unit: number, Join: Sum}
	for bit, reason := range []string{"gpu_idle", "applications_clocks", "sw_power_cap", "hw_slowdown", "sync_boost",
		"sw_thermal", "hw_thermal", "hw_power_brake", "display_clock"} {
		a.Terms = append(a.Terms, Term{Family: "gpu_throttle_active", Labels: []string{reason}, Weight: float64(uint64(1) << bit)})
	}
	return a
}

func dcgmHeat() []Alias {
	return []Alias{
		one("DCGM_FI_DEV_GPU_TEMP", "Temperature of the chip.", celsius, of("gpu_temperature_celsius")),
		one("DCGM_FI_DEV_MEMORY_TEMP", "Temperature of the memory.", celsius, of("gpu_memory_temperature_celsius")),
		one("DCGM_FI_DEV_SLOWDOWN_TEMP", "Temperature from which the card slows down.", celsius, of("gpu_temperature_threshold_celsius", "slowdown")),
		one("DCGM_FI_DEV_SHUTDOWN_TEMP", "Temperature from which the card shuts down.", celsius, of("gpu_temperature_threshold_celsius", "shutdown")),
		one("DCGM_FI_DEV_GPU_MAX_OP_TEMP", "Highest temperature for the chip at work.", celsius, of("gpu_temperature_threshold_celsius", "gpu_max")),
		one("DCGM_FI_DEV_MEM_MAX_OP_TEMP", "Highest temperature for the memory at work.", celsius, of("gpu_temperature_threshold_celsius", "memory_max")),
		one("DCGM_FI_DEV_POWER_USAGE", "Power drawn.", watts, of("gpu_power_watts")),
		one("DCGM_FI_DEV_POWER_USAGE_INSTANT", "Power drawn at this moment.", watts, of("gpu_power_instant_watts")),
		one("DCGM_FI_DEV_ENFORCED_POWER_LIMIT", "Power limit that counts now.", watts, of("gpu_power_limit_watts", "enforced")),
		one("DCGM_FI_DEV_POWER_MGMT_LIMIT", "Power limit as set.", watts, of("gpu_power_limit_watts", "management")),
		one("DCGM_FI_DEV_POWER_MGMT_LIMIT_DEF", "Power limit by default.", watts, of("gpu_power_limit_watts", "default")),
		one("DCGM_FI_DEV_POWER_MGMT_LIMIT_MIN", "Lowest power limit that can be set.", watts, of("gpu_power_limit_watts", "min")),
		one("DCGM_FI_DEV_POWER_MGMT_LIMIT_MAX", "Highest power limit that can be set.", watts, of("gpu_power_limit_watts", "max")),
		one("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "Energy drawn since the driver was loaded.", millijoules, of("gpu_energy_joules_total")),
		one("DCGM_FI_DEV_FAN_SPEED", "Intended speed of the first fan.", percent, of("gpu_fan_speed_ratio", "0")),
	}
}

func dcgmUse() []Alias {
	return []Alias{
		one("DCGM_FI_DEV_GPU_UTIL", "Share of time in which a kernel ran.", percent, of("gpu_utilization_ratio")),
		one("DCGM_FI_DEV_MEM_COPY_UTIL", "Share of time in which the memory was read or written.", percent, of("gpu_memory_utilization_ratio")),
		one("DCGM_FI_DEV_ENC_UTIL", "Share of time in which the encoder was busy.", percent, of("gpu_encoder_utilization_ratio")),
		one("DCGM_FI_DEV_DEC_UTIL", "Share of time in which the decoder was busy.", percent, of("gpu_decoder_utilization_ratio")),
		one("DCGM_FI_DEV_FB_TOTAL", "Memory of the card.", mib, of("gpu_memory_total_bytes")),
		one("DCGM_FI_DEV_FB_FREE", "Memory that can be allocated.", mib, of("gpu_memory_free_bytes")),
		one("DCGM_FI_DEV_FB_USED", "Memory in use, without what is reserved.", mib, of("gpu_memory_used_bytes")),
		one("DCGM_FI_DEV_BAR1_TOTAL", "BAR1 window of the card.", mib, of("gpu_bar1_memory_total_bytes")),
		one("DCGM_FI_DEV_BAR1_USED", "BAR1 window in use.", mib, of("gpu_bar1_memory_used_bytes")),
		one("DCGM_FI_DEV_BAR1_FREE", "BAR1 window that is free.", mib, of("gpu_bar1_memory_free_bytes")),
		{
			Name: "DCGM_FI_DEV_VGPU_LICENSE_STATUS", Help: "1 where a virtual GPU has a licence.", Unit: number,
			Join: Any, Terms: []Term{of("gpu_vgpu_licensed")},
		},
		one("DCGM_FI_DEV_FB_RESERVED", "Memory that the driver keeps for itself.", mib, of("gpu_memory_reserved_bytes")),
	}
}

// dcgmProfiling are means over our interval of 5 s. dcgm-exporter's are means over its own.
func dcgmProfiling() []Alias {
	return []Alias{
		one("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "Share of time in which anything ran, 0 to 1.", number, of("gpu_graphics_active_ratio")),
		one("DCGM_FI_PROF_SM_ACTIVE", "Share of the SMs that had work, 0 to 1.", number, of("gpu_sm_active_ratio")),
		one("DCGM_FI_PROF_SM_OCCUPANCY", "Resident warps, of the most there can be, 0 to 1.", number, of("gpu_sm_occupancy_ratio")),
		one("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "Share of time in which the tensor cores were busy, 0 to 1.", number, of("gpu_tensor_active_ratio")),
		one("DCGM_FI_PROF_PIPE_TENSOR_HMMA_ACTIVE", "The same with half precision.", number, of("gpu_tensor_type_active_ratio", "hmma")),
		one("DCGM_FI_PROF_PIPE_TENSOR_IMMA_ACTIVE", "The same with integers.", number, of("gpu_tensor_type_active_ratio", "imma")),
		one("DCGM_FI_PROF_PIPE_TENSOR_DFMA_ACTIVE", "The same with double precision.", number, of("gpu_tensor_type_active_ratio", "dfma")),
		one("DCGM_FI_PROF_PIPE_FP64_ACTIVE", "Share of time in which the FP64 pipe was busy, 0 to 1.", number, of("gpu_pipe_active_ratio", "fp64")),
		one("DCGM_FI_PROF_PIPE_FP32_ACTIVE", "Share of time in which the FP32 pipe was busy, 0 to 1.", number, of("gpu_pipe_active_ratio", "fp32")),
		one("DCGM_FI_PROF_PIPE_FP16_ACTIVE", "Share of time in which the FP16 pipe was busy, 0 to 1.", number, of("gpu_pipe_active_ratio", "fp16")),
		one("DCGM_FI_PROF_PIPE_INT_ACTIVE", "Share of time in which the integer pipe was busy, 0 to 1.", number, of("gpu_pipe_active_ratio", "integer")),
		one("DCGM_FI_PROF_DRAM_ACTIVE", "Memory bandwidth in use, 0 to 1.", number, of("gpu_dram_active_ratio")),
		one("DCGM_FI_PROF_PCIE_TX_BYTES", "PCIe traffic that the GPU sent.", bytesPerS, of("gpu_pcie_throughput_bytes_per_second", "tx")),
		one("DCGM_FI_PROF_PCIE_RX_BYTES", "PCIe traffic that the GPU received.", bytesPerS, of("gpu_pcie_throughput_bytes_per_second", "rx")),
		one("DCGM_FI_PROF_NVLINK_TX_BYTES", "NVLink traffic that the GPU sent.", bytesPerS, of("gpu_nvlink_throughput_bytes_per_second", "tx")),
		one("DCGM_FI_PROF_NVLINK_RX_BYTES", "NVLink traffic that the GPU received.", bytesPerS, of("gpu_nvlink_throughput_bytes_per_second", "rx")),
	}
}

func dcgmErrors() []Alias {
	return []Alias{
		{
			Name: "DCGM_FI_DEV_XID_ERRORS", Help: "Code of the last XID seen, 0 for none.", Unit: number,
			Join: Newest, Terms: []Term{of("gpu_xid_last_timestamp_seconds")},
		},
		one("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "Corrected memory errors since the driver was loaded.", number, of("gpu_ecc_errors_total", "corrected", "volatile", "total")),
		one("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "Uncorrected memory errors since the driver was loaded.", number, of("gpu_ecc_errors_total", "uncorrected", "volatile", "total")),
		one("DCGM_FI_DEV_ECC_SBE_AGG_TOTAL", "Corrected memory errors over the card's life.", number, of("gpu_ecc_errors_total", "corrected", "aggregate", "total")),
		one("DCGM_FI_DEV_ECC_DBE_AGG_TOTAL", "Uncorrected memory errors over the card's life.", number, of("gpu_ecc_errors_total", "uncorrected", "aggregate", "total")),
		one("DCGM_FI_DEV_RETIRED_SBE", "Pages retired for single-bit errors.", number, of("gpu_retired_pages", "single_bit")),
		one("DCGM_FI_DEV_RETIRED_DBE", "Pages retired for double-bit errors.", number, of("gpu_retired_pages", "double_bit")),
		one("DCGM_FI_DEV_RETIRED_PENDING", "1 where pages wait for a reset to be retired.", number, of("gpu_retired_pages_pending")),
		one("DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "Rows remapped for correctable errors.", number, of("gpu_remapped_rows", "correctable")),
		one("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "Rows remapped for uncorrectable errors.", number, of("gpu_remapped_rows", "uncorrectable")),
		one("DCGM_FI_DEV_ROW_REMAP_PENDING", "1 where a row waits for a reset to be remapped.", number, of("gpu_remapped_rows_pending")),
		one("DCGM_FI_DEV_ROW_REMAP_FAILURE", "1 where a row could not be remapped.", number, of("gpu_row_remap_failure")),
	}
}

func dcgmLinks() []Alias {
	return []Alias{
		// In name and type counters, in value rates of the last moment: so they are there too.
		one("DCGM_FI_DEV_PCIE_TX_THROUGHPUT", "PCIe traffic that the GPU sent.", kilobytes, of("gpu_pcie_throughput_bytes_per_second", "tx")),
		one("DCGM_FI_DEV_PCIE_RX_THROUGHPUT", "PCIe traffic that the GPU received.", kilobytes, of("gpu_pcie_throughput_bytes_per_second", "rx")),
		one("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "PCIe packets sent again.", number, of("gpu_pcie_replays_total")),
		one("DCGM_FI_DEV_PCIE_LINK_GEN", "PCIe generation now.", number, of("gpu_pcie_link_generation")),
		one("DCGM_FI_DEV_PCIE_LINK_WIDTH", "PCIe lanes now.", number, of("gpu_pcie_link_width")),
		one("DCGM_FI_DEV_PCIE_MAX_LINK_GEN", "Highest PCIe generation.", number, of("gpu_pcie_link_generation_max")),
		one("DCGM_FI_DEV_PCIE_MAX_LINK_WIDTH", "Most PCIe lanes.", number, of("gpu_pcie_link_width_max")),
		{
			// In name a counter and in value a rate: so it is there too.
			Name: "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", Help: "NVLink traffic of all links, both ways.", Unit: megabytes,
			Join: Whole, Terms: []Term{of("gpu_nvlink_throughput_bytes_per_second", "tx"), of("gpu_nvlink_throughput_bytes_per_second", "rx")},
		},
		one("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", "NVLink flow-control CRC errors.", number, of("gpu_nvlink_errors_total", "crc_flit")),
		one("DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", "NVLink data CRC errors.", number, of("gpu_nvlink_errors_total", "crc_data")),
		one("DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", "NVLink replays.", number, of("gpu_nvlink_errors_total", "replay")),
		one("DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", "NVLink recoveries.", number, of("gpu_nvlink_errors_total", "recovery")),
	}
}

// one is an alias of a single series.
func one(name, help string, unit Unit, t Term) Alias {
	return Alias{Name: name, Help: help, Unit: unit, Join: Sum, Terms: []Term{t}}
}

func of(family string, labels ...string) Term {
	return Term{Family: family, Labels: labels, Weight: 1}
}
