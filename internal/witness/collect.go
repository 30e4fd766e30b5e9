package witness

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The series that are given out. Readings carry the time at which they were taken, not that of
// the scrape, and are left out once they are older than two intervals.
var (
	probeDesc  = prometheus.NewDesc("host_probe_success", "1 where the host answered the last probe on this path in this way, 0 where it did not.", []string{"host", "path", "way"}, nil)
	pathDesc   = prometheus.NewDesc("leasewatch_probe_path_up", "1 while the path's reference answers; while it is 0 nothing is told of hosts on it.", []string{"path"}, nil)
	powerDesc  = prometheus.NewDesc("host_power_on", "1 where the host's BMC says that it has power, 0 where it says that it has none.", []string{"host"}, nil)
	bmcDesc    = prometheus.NewDesc("host_bmc_up", "1 where the host's BMC answered the last question, 0 where it did not or made no sense.", []string{"host"}, nil)
	gpusDesc   = prometheus.NewDesc("host_bmc_gpus", "GPUs that the host's BMC counts.", []string{"host"}, nil)
	eventsDesc = prometheus.NewDesc("host_bmc_log_entries", "Entries of the BMC's event log by severity (ok, warning, critical), of the newest 1,000.", []string{"host", "severity"}, nil)
	newestDesc = prometheus.NewDesc("host_bmc_log_last_timestamp_seconds", "When the newest entry of the severity was made, by the BMC's clock, in seconds since 1970.", []string{"host", "severity"}, nil)
)

var _ prometheus.Collector = (*Service)(nil)

// Describe sends what may be given out.
func (s *Service) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{probeDesc, pathDesc, powerDesc, bmcDesc, gpusDesc, eventsDesc, newestDesc} {
		out <- d
	}
}

// Collect sends what was seen last.
func (s *Service) Collect(out chan<- prometheus.Metric) {
	now := s.opts.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := func(at time.Time) bool { return now.Sub(at) <= 2*s.opts.Interval }
	gauge := func(at time.Time, desc *prometheus.Desc, value float64, labels ...string) {
		m := prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
		if !at.IsZero() {
			m = prometheus.NewMetricWithTimestamp(at, m)
		}
		out <- m
	}
	for _, r := range s.probes {
		if fresh(r.At) {
			gauge(r.At, probeDesc, number(r.Up), r.Host, r.Path, string(r.Way))
		}
	}
	for path, up := range s.paths {
		gauge(time.Time{}, pathDesc, number(up), path)
	}
	for host, r := range s.power {
		if !fresh(r.At) {
			continue
		}
		gauge(r.At, bmcDesc, number(r.Err == nil), host)
		if r.Power != PowerUntold {
			gauge(r.At, powerDesc, number(r.Power == PowerOn), host)
		}
		if r.GPUs != nil {
			gauge(time.Time{}, gpusDesc, float64(*r.GPUs), host)
		}
		for severity, log := range r.Log {
			gauge(time.Time{}, eventsDesc, float64(log.Entries), host, severity)
			if !log.Newest.IsZero() {
				gauge(time.Time{}, newestDesc, float64(log.Newest.UnixMilli())/1000, host, severity)
			}
		}
	}
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
