package catalog

// Self returns the exporter's own instruments, sorted by name. They carry host and vantage,
// and are there only where their part runs (push, the driver's reader).
func Self() []Family {
	self := []Family{
		{Name: "leasewatch_exporter_build_info", Kind: Info, Labels: []string{"version", "revision", "goversion", "source"},
			Help: "Version of the exporter and where its figures come from.", Source: "the build"},
		{Name: "leasewatch_exporter_duplicate_series_total", Kind: Counter,
			Help: "Series left out of the page because one with the same labels was there already.", Source: "the page"},
		{Name: "leasewatch_exporter_invalid_samples_total", Kind: Counter,
			Help: "Samples left out of the page because their value was no number.", Source: "the page"},
		{Name: "leasewatch_exporter_page_builds_total", Kind: Counter,
			Help: "How often the page was put together; scrapes of one snapshot share one page.", Source: "the page"},
		{Name: "leasewatch_exporter_scrapes_total", Kind: Counter,
			Help: "Requests for the page.", Source: "the page"},
		{Name: "leasewatch_exporter_series", Kind: Gauge,
			Help: "Series made from the newest snapshot.", Source: "the page"},
		{Name: "leasewatch_exporter_driver_call_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{"call"},
			Help: "How long driver calls took, by call.", Source: "the driver's reader"},
		{Name: "leasewatch_exporter_push_requests_total", Kind: Counter, Labels: []string{"outcome"},
			Help: "Remote-write requests by outcome: ok, retry (will be sent again), discarded (the receiver answered 400).", Source: "the push"},
		{Name: "leasewatch_exporter_push_samples_total", Kind: Counter,
			Help: "Samples delivered.", Source: "the push"},
		{Name: "leasewatch_exporter_push_discarded_samples_total", Kind: Counter,
			Help: "Samples the receiver refused for good (400).", Source: "the push"},
		{Name: "leasewatch_exporter_push_spool_bytes", Kind: Gauge, Unit: "bytes",
			Help: "Size of the spool on disk.", Source: "the push"},
		{Name: "leasewatch_exporter_push_spool_records", Kind: Gauge,
			Help: "Requests in the spool that are not delivered yet.", Source: "the push"},
		{Name: "leasewatch_exporter_push_spool_dropped_segments_total", Kind: Counter,
			Help: "Spool segments dropped undelivered because the spool reached its cap.", Source: "the push"},
		{Name: "leasewatch_exporter_push_spool_dropped_records_total", Kind: Counter,
			Help: "Requests lost with those segments.", Source: "the push"},
		{Name: "leasewatch_exporter_push_spool_errors_total", Kind: Counter,
			Help: "Writes to the spool that failed (full or read-only disk).", Source: "the push"},
		{Name: "leasewatch_exporter_push_last_success_timestamp_seconds", Kind: Gauge, Unit: "seconds",
			Help: "When the receiver last took a request, in seconds since 1970; 0 for never.", Source: "the push"},
		{Name: "leasewatch_exporter_push_clock_offset_seconds", Kind: Gauge, Unit: "seconds",
			Help: "This host's clock minus the receiver's Date header, exact to about a second.", Source: "the push"},
		{Name: "leasewatch_exporter_events_total", Kind: Counter,
			Help: "Critical events: XIDs of class F and R and changes of state.", Source: "the push"},
		{Name: "leasewatch_exporter_events_overflow_total", Kind: Counter,
			Help: "Critical events that were not pushed at once because too many waited; the page tells them.", Source: "the push"},
	}
	sortByName(self)
	return self
}
