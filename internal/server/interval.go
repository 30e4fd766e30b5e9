package server

import (
	"time"

	"github.com/prometheus/common/model"
)

// sampleInterval is the longest distance at which any job's samples come: readings count, and
// states hold, for two of these, so that a job slower than the rest is not taken for silent.
func (c *Config) sampleInterval() time.Duration {
	longest := time.Duration(c.Global.ScrapeInterval)
	var jobs []struct {
		ScrapeInterval string `yaml:"scrape_interval"`
	}
	if err := c.ScrapeConfigs.Decode(&jobs); err != nil {
		return longest // what is wrong with the jobs is the monitor's to say
	}
	for _, job := range jobs {
		if own, err := model.ParseDuration(job.ScrapeInterval); err == nil {
			longest = max(longest, time.Duration(own))
		}
	}
	return longest
}
