package monitor

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/discovery"
)

// bringUp takes the rules from a cold start to their schedule: state of the last run, first scrape,
// one full evaluation. Only then may anybody believe that an alert is absent.
func (m *Monitor) bringUp(ctx context.Context) {
	defer func() {
		// The manager is released even when we are stopped before: its Stop waits for the groups,
		// and they wait for this.
		m.running.Go(m.rules.Run)
		close(m.ready)
	}()
	m.restoreRules(ctx, m.before)
	if !m.awaitFirstScrape(ctx) {
		m.logger.Warn("some targets have not answered yet: the first evaluation goes on without them",
			"waited", m.opts.StartupWait)
	}
	if ctx.Err() != nil {
		return
	}
	m.resumeHolds(m.before, m.opts.Now())
	now := m.opts.Now()
	m.evaluateAll(ctx, now)
	if err := m.endRecorded(ctx, now); err != nil && ctx.Err() == nil {
		m.logger.Warn("series that ended while the server was down go on for the lookback", "err", err)
	}
}

// awaitFirstScrape waits until each known target was scraped once, at most StartupWait.
func (m *Monitor) awaitFirstScrape(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, m.opts.StartupWait)
	defer cancel()
	began := m.opts.Now()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !m.allScraped(ctx, began) {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return true
}

// allScraped tells whether each job with targets in its configuration knows them, and the store holds
// the outcome of a scrape of each since then. (A target reports its scrape before that is stored.)
func (m *Monitor) allScraped(ctx context.Context, since time.Time) bool {
	active := m.scraper.TargetsActive()
	dropped := m.scraper.TargetsDroppedCounts()
	for _, job := range m.config.ScrapeConfigs {
		if hasStaticTargets(job) && len(active[job.JobName]) == 0 && dropped[job.JobName] == 0 {
			return false
		}
	}
	targets := 0
	for _, ofJob := range active {
		targets += len(ofJob)
	}
	if targets == 0 {
		return true
	}
	// Scrape times are rounded to their schedule, by less than a second.
	scraped, err := m.Query(ctx, fmt.Sprintf("count(timestamp(up) >= %d)", since.Unix()-1), m.opts.Now())
	return err == nil && len(scraped) == 1 && int(scraped[0].Samples[0].Value) >= targets
}

func hasStaticTargets(job *config.ScrapeConfig) bool {
	for _, sd := range job.ServiceDiscoveryConfigs {
		static, ok := sd.(discovery.StaticConfig)
		if !ok {
			continue
		}
		for _, group := range static {
			if len(group.Targets) > 0 {
				return true
			}
		}
	}
	return false
}
