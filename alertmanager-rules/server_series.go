package alertmanagerrules

// Series is a series that the rules read and the server gives out.
type Series struct {
	Name string
	// Labels are those the rules use; the server may add more only where Help says so.
	Labels []string
	Help   string
}

// ServerSeries returns the contract between the rules and the server: every series that a rule
// reads and no exporter gives out.
func ServerSeries() []Series {
	return []Series{
		{"gpu_inventory_info", []string{"uuid", "serial", "provider", "site", "host", "slot", "sku"},
			"1 for each GPU of the inventory; for one that is not adopted yet provider is \"unknown\" and host is the exporter's."},
		{"host_expected", []string{"host", "provider", "site"},
			"1 for each host of the inventory that should be heard of; gone when it is retired."},
		{"lease_gpu", []string{"uuid", "lease", "tenant"},
			"1 while the GPU is assigned to the lease."},
		{"lease_mig_gpu", []string{"uuid", "lease", "tenant"},
			"1 while a MIG instance of the GPU is assigned to the lease."},
		{"lease_info", []string{"lease", "tenant", "provider"},
			"1 for each running lease; contract, sku and more labels may follow."},
		{"lease_gpu_state", []string{"uuid", "lease", "state"},
			"State set: 1 for the present state of a leased GPU, with the states that the server derives."},
		{"lease_threshold", []string{"name", "scope", "lease", "sku", "site"},
			"An override of a threshold of rules/defaults.yaml: scope is lease, sku, site or default, and the label of that name is set, the others are empty. Absent means the default holds."},
		{"lease_burn_rate", []string{"lease", "window"},
			"Share of down time over the window divided by the share the objective allows, from the ledger's classes of time; windows 5m, 30m, 1h, 2h, 6h, 1d, 3d. Absent where the window has no measured time: never NaN."},
		{"lease_burn_threshold", []string{"lease", "window"},
			"Burn rate above which the long window alerts, for windows 1h, 6h, 1d and 3d: share of the budget (2, 5, 10, 10 %) x period / window; 14.4, 6, 3 and 1 for thirty days. Absent where it exceeds 1 / (1 - objective), which no outage could reach."},
		{"lease_budget_used_ratio", []string{"lease"},
			"What the lease costs in the contract's month so far, with tax and before credits, divided by the contract's monthly budget. Absent without one."},
		{"lease_budget_forecast_ratio", []string{"lease"},
			"The same for the whole month if the lease goes on as it is and metered items at the month's mean rate."},
		{"lease_budget_step_ratio", []string{"lease", "step"},
			"The parts of a budget whose spending is told: 0.5, 0.8 and 1, with step as percent. Absent without a budget."},
		{"lease_quota_used_ratio", []string{"lease", "item"},
			"What was used of a metered item in the contract's month, divided by what the month includes. Absent where it includes nothing."},
		{"lease_quota_forecast_ratio", []string{"lease", "item"},
			"The same for the whole month, at the month's mean rate."},
		{"lease_credit_claim_deadline_timestamp_seconds", []string{"lease", "tenant", "provider", "month"},
			"Until when a credit of the contract's month may be claimed that nobody has claimed yet, in seconds since 1970. Absent where the contract names no date or nothing is to be claimed."},
		{"lease_clock_remaining_ratio", []string{"lease", "incident", "objective"},
			"Part of the contract's limit that is left of a clock, response or resolution, of an incident which nobody has stopped yet; negative where it is passed. Drills have none."},
		{"lease_clock_due_timestamp_seconds", []string{"lease", "incident", "objective"},
			"When the limit of that clock is up, in seconds since 1970."},
		{"lease_backup_age_seconds", []string{"lease"},
			"Time since the data of the newest verified backup, or since the lease's start where it has none. Absent for a lease that promises no RPO and of which no backup was ever told."},
		{"lease_unprotected_seconds", []string{"lease"},
			"The part of that time in which the lease worked: without its tenant's stops."},
		{"lease_rpo_seconds", []string{"lease"},
			"The contract's recovery point objective. Absent without one."},
		{"leasewatch_outbox_oldest_timestamp_seconds", []string{"severity"},
			"When the oldest undelivered message of this severity was put into the outbox, in seconds since 1970; 0 for none."},
		{"leasewatch_store_failing", nil,
			"1 while the server cannot store samples, else 0."},
		{"leasewatch_inventory_conflicts", []string{"kind"},
			"Places where inventory, leases and reports do not fit together, by kind; 0 where none."},
		{"leasewatch_build_info", []string{"version"},
			"1, with the server's version."},
	}
}

// EngineSeries returns the series that the rules read from the rule engine and the scraper
// themselves; a ruler of another make has others, and the rules on them stay empty there.
func EngineSeries() []Series {
	return []Series{
		{"up", []string{"job", "instance"}, "1 where the last scrape of the target succeeded."},
		{"prometheus_rule_evaluation_failures_total", []string{"rule_group"}, "Failed evaluations of rules."},
		{"prometheus_rule_group_iterations_missed_total", []string{"rule_group"}, "Evaluations that were skipped because the one before was slow."},
	}
}
