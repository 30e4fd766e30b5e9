package alertmanagerrules

// Thresholds returns the names of the thresholds that a lease, a SKU or a site may override by
// lease_threshold; their defaults stand in rules/defaults.yaml.
func Thresholds() []string {
	return []string{"heat_throttle_ratio", "idle_coverage_ratio", "idle_ratio", "temperature_margin_celsius"}
}
