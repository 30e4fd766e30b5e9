package monitor

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"runtime/debug"

	remoteapi "github.com/prometheus/client_golang/exp/api/remote"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/route"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage/remote"
	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/util/notifications"
	apiv1 "github.com/prometheus/prometheus/web/api/v1"
)

// apiVersion is the Prometheus whose HTTP API this is; Grafana asks for it to choose its features.
const apiVersion = "3.16.0"

// Handler serves Prometheus's HTTP API under /api/v1: queries, series, labels, rules, alerts,
// targets and status. It writes nothing: remote write has WriteHandler, and the admin API is off.
func (m *Monitor) Handler() http.Handler { return m.api }

// WriteHandler receives remote write, messages of versions 1 and 2, at whatever path it is mounted.
// A sample that is already there is accepted quietly, so that a sender may replay.
func (m *Monitor) WriteHandler() http.Handler { return m.write }

// handlers builds both. Reading and writing are apart, because they ask for different rights.
func (m *Monitor) handlers(logger *slog.Logger) (api, write http.Handler) {
	a := apiv1.NewAPI(
		m.engine, m.db, nil, m.db,
		func(context.Context) apiv1.ScrapePoolsRetriever { return m.scraper },
		func(context.Context) apiv1.TargetRetriever { return m.scraper },
		func(context.Context) apiv1.AlertmanagerRetriever { return noAlertmanagers{} },
		m.currentConfig, map[string]string{}, apiv1.GlobalURLOptions{Host: m.externalURL.Host, Scheme: m.externalURL.Scheme},
		func(f http.HandlerFunc) http.HandlerFunc { return f },
		storeStats{m.db}, m.opts.DataDir, false, false, 0, logger.With("component", "api"),
		func(context.Context) apiv1.RulesRetriever { return m.rules },
		50_000_000, 10, 1<<20, false, nil, m.runtimeInfo,
		&apiv1.PrometheusVersion{Version: apiVersion, GoVersion: runtime.Version()},
		func() []notifications.Notification { return nil },
		func() (<-chan notifications.Notification, func(), bool) { return nil, func() {}, false },
		prometheus.NewRegistry(), m.opts.Registerer, nil,
		false, nil, false, false, false, m.opts.Lookback, false, false, nil, nil,
		apiv1.OpenAPIOptions{ExternalURL: m.opts.ExternalURL, Version: apiVersion}, m.parser, false, queryTimeout,
	)
	router := route.New()
	a.Register(router.WithPrefix("/api/v1"))
	accepted := remoteapi.MessageTypes{remoteapi.WriteV1MessageType, remoteapi.WriteV2MessageType}
	write = remote.NewWriteHandler(logger.With("component", "remote write"), m.opts.Registerer,
		replayable{m.intake}, accepted, false, false)
	return router, write
}

func (m *Monitor) currentConfig() config.Config {
	m.mu.Lock()
	defer m.mu.Unlock()
	return *m.config
}

func (m *Monitor) runtimeInfo() (apiv1.RuntimeInfo, error) {
	host, err := os.Hostname()
	return apiv1.RuntimeInfo{
		ServerTime: m.opts.Now().UTC(), Hostname: host, ReloadConfigSuccess: true,
		GoroutineCount: runtime.NumGoroutine(), GOMAXPROCS: runtime.GOMAXPROCS(0), GOMEMLIMIT: debug.SetMemoryLimit(-1),
		StorageRetention: m.opts.Retention.String(),
	}, err
}

// noAlertmanagers: alerts go to paging in this process, not to Alertmanagers elsewhere.
type noAlertmanagers struct{}

// Alertmanagers returns none.
func (noAlertmanagers) Alertmanagers() []*url.URL { return nil }

// DroppedAlertmanagers returns none.
func (noAlertmanagers) DroppedAlertmanagers() []*url.URL { return nil }

// errNoAdmin is the answer of the admin API, which is switched off.
var errNoAdmin = errors.New("the admin API is off")

// storeStats gives the API the store's statistics, and none of its admin functions.
type storeStats struct{ db *tsdb.DB }

var _ apiv1.TSDBAdminStats = storeStats{}

// CleanTombstones is refused.
func (storeStats) CleanTombstones() error { return errNoAdmin }

// Delete is refused.
func (storeStats) Delete(context.Context, int64, int64, ...*labels.Matcher) error { return errNoAdmin }

// Snapshot is refused.
func (storeStats) Snapshot(string, bool) error { return errNoAdmin }

// Stats returns the cardinality statistics of the newest block.
func (s storeStats) Stats(label string, limit int) (*tsdb.Stats, error) {
	return s.db.Head().Stats(label, limit), nil
}

// WALReplayStatus says that the log was replayed: the store opens before the API does.
func (storeStats) WALReplayStatus() (tsdb.WALReplayStatus, error) { return tsdb.WALReplayStatus{}, nil }

// BlockMetas lists the blocks.
func (s storeStats) BlockMetas() ([]tsdb.BlockMeta, error) { return s.db.BlockMetas(), nil }
