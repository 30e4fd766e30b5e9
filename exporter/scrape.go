package exporter

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/expfmt"
)

const (
	// maxScrapes bounds the pages made at once. A further scrape waits in line, because to make one
	// waits for nobody.
	maxScrapes = 20
	// lineFor is how long it waits before it is told to come again (503).
	lineFor = 5 * time.Second
)

// pageRoom is what a page of eight GPUs takes in gzip, and a little.
const pageRoom = 48 << 10

// scrapes serves the page. Both text formats, which is what scrapers ask for, it writes itself:
// the general way makes every line anew and costs five times as much. Everything else (protobuf,
// a choice of names) goes the general way.
type scrapes struct {
	page     *Page
	inFlight chan struct{}
	handouts handouts
	general  http.Handler
	log      *slog.Logger

	mu  sync.Mutex
	zip *gzip.Writer // used again: to make one costs more than the page
}

func newScrapes(page *Page, log *slog.Logger) (*scrapes, error) {
	// Without a window gzip keeps next to no memory and costs a third of the default, for a page a
	// third larger.
	zip, err := gzip.NewWriterLevel(nil, gzip.StatelessCompression)
	if err != nil {
		return nil, fmt.Errorf("preparing gzip: %w", err)
	}
	return &scrapes{
		page: page, inFlight: make(chan struct{}, maxScrapes), zip: zip, log: log,
		general: promhttp.HandlerFor(page, promhttp.HandlerOpts{
			EnableOpenMetrics: true,
			ErrorHandling:     promhttp.ContinueOnError,
			ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelError),
		}),
	}, nil
}

// ServeHTTP makes the page in memory, and lets the next scrape in before it hands it out: a scraper
// that reads slowly holds its own copy, and nobody else up.
func (s *scrapes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case s.inFlight <- struct{}{}:
	case <-r.Context().Done():
		return
	case <-time.After(lineFor):
		http.Error(w, fmt.Sprintf("%d pages are being made: come again later", maxScrapes), http.StatusServiceUnavailable)
		return
	}
	made := &answer{header: w.Header(), status: http.StatusOK}
	func() {
		defer func() { <-s.inFlight }()
		s.make(made, r)
	}()
	s.handouts.hand(w, made)
}

// make makes the page as the scraper wants it.
func (s *scrapes) make(made *answer, r *http.Request) {
	format := expfmt.NegotiateAccept(r.Header, expfmt.DefaultOpenMetricsAcceptedFormats()...)
	in, ok := spellingOf(format)
	if !ok || r.URL.RawQuery != "" {
		s.general.ServeHTTP(made, r)
		return
	}
	made.header.Set("Content-Type", string(format))
	made.header.Set("Vary", "Accept, Accept-Encoding")
	write := s.page.spell
	if takesGzip(r.Header) {
		made.header.Set("Content-Encoding", "gzip")
		write = s.compress
	}
	made.body.Grow(pageRoom)
	if err := write(&made.body, in); err != nil {
		s.log.Error("a part of the page is missing", "err", err)
	}
}

// compress writes the page in gzip.
func (s *scrapes) compress(w io.Writer, in spelling) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.zip.Reset(w)
	return errors.Join(s.page.spell(s.zip, in), s.zip.Close())
}

// takesGzip tells whether a scraper takes gzip (RFC 9110, 12.5.3).
func takesGzip(h http.Header) bool {
	for _, line := range h.Values("Accept-Encoding") {
		for coding := range strings.SplitSeq(line, ",") {
			name, parameters, _ := strings.Cut(coding, ";")
			if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
				continue
			}
			weight, ok := strings.CutPrefix(strings.ReplaceAll(strings.ToLower(parameters), " ", ""), "q=")
			q, err := strconv.ParseFloat(weight, 64)
			return !ok || err != nil || q > 0
		}
	}
	return false
}
