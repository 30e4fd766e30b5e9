package exporter

import (
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/exporter-toolkit/web"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// healthyAnswer is what the liveness page says; the doctor knows an exporter by it.
const healthyAnswer = "leasewatch-exporter is running"

// newHandler serves the page, the probes and a landing page.
func newHandler(page *Page, source gpu.Source, version string, log *slog.Logger) (http.Handler, error) {
	landing, err := web.NewLandingPage(web.LandingConfig{
		Name:        "leasewatch-exporter",
		Description: "Every GPU of this host, and its state, for Prometheus",
		Version:     version,
		HeaderColor: "#1f4a5c",
		Profiling:   "false",
		Links: []web.LandingLinks{
			{Address: "/metrics", Text: "Metrics", Description: "the page that Prometheus scrapes"},
			{Address: "/-/healthy", Text: "Liveness", Description: "whether the exporter runs; the driver does not matter"},
			{Address: "/-/ready", Text: "Readiness", Description: "whether the first round of readings is done"},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("making the landing page: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", landing)
	scrapes, err := newScrapes(page, log)
	if err != nil {
		return nil, err
	}
	mux.Handle("GET /metrics", scrapes)
	mux.HandleFunc("GET /-/healthy", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, healthyAnswer)
	})
	mux.HandleFunc("GET /-/ready", func(w http.ResponseWriter, _ *http.Request) { ready(w, source.Snapshot()) })
	return mux, nil
}

// ready answers 200 once the first round is done, whatever it found: a missing driver is
// something to be scraped, not a reason to keep the scraper away.
func ready(w http.ResponseWriter, s *gpu.Snapshot) {
	if s.At.IsZero() {
		http.Error(w, "the first round of readings is not done yet", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintf(w, "ready: %d GPUs, driver %s, read at %s\n", len(s.GPUs), s.Driver.State, s.At.UTC().Format(time.RFC3339))
}
