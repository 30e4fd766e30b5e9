package alertmanagerrules

// Thresholds returns the names of the thresholds that a lease, a SKU or a site may override by
// lease_threshold, sorted; their defaults stand in rules/defaults.yaml.
func Thresholds() []string {
	return []string{"heat_throttle_ratio", "idle_coverage_ratio", "idle_ratio", "nvlink_missing_links", "temperature_margin_celsius"}
}

// WideThresholds returns the names of those that hold for the whole installation alone, sorted:
// lease_threshold overrides them with the scope default.
func WideThresholds() []string {
	return []string{
		"clock_correction_seconds", "clock_offset_seconds", "double_bit_pages", "dropped_readings", "filesystem_left_ratio",
		"infiniband_errors", "infiniband_link_downs", "memory_stalled_ratio", "network_errors", "nvlink_crc_errors", "nvlink_errors",
		"pcie_busy_ratio", "pcie_errors", "push_waiting_seconds", "remapped_rows", "retired_pages", "rule_failures",
		"spool_used_ratio", "undelivered_seconds", "unleased_use_ratio",
	}
}
