package exporter

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	// handOutFor is how long a scraper may take to read a page that is made: Prometheus gives a scrape
	// 10 s by default.
	handOutFor = 10 * time.Second
	// maxAnswers bounds the pages in memory that somebody still reads. For one more the oldest is cut
	// off: whoever comes new is answered, however many hang.
	maxAnswers = 20
)

// answer is an HTTP answer in memory.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }

// handouts are the answers being handed out, the oldest first.
type handouts struct {
	mu   sync.Mutex
	open []*http.ResponseController
}

// hand writes an answer to a scraper, for as long as it may take.
func (a *handouts) hand(w http.ResponseWriter, made *answer) {
	out := http.NewResponseController(w)
	a.begin(out)
	defer a.end(out)
	w.Header().Set("Content-Length", strconv.Itoa(made.body.Len()))
	w.WriteHeader(made.status)
	_, _ = w.Write(made.body.Bytes()) // whoever hangs up needs no word
	_ = out.Flush()                   // what is left in buffers is a part of the page, under the same limit
}

func (a *handouts) begin(out *http.ResponseController) {
	now := time.Now() // a deadline of a connection is by the system's clock
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = out.SetWriteDeadline(now.Add(handOutFor)) // a writer without deadlines is a test's
	a.open = append(a.open, out)
	if len(a.open) > maxAnswers {
		_ = a.open[0].SetWriteDeadline(now)
		a.open = a.open[1:]
	}
}

// end forgets an answer: its connection may serve the next request, and must not be cut for this one.
func (a *handouts) end(out *http.ResponseController) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.Index(a.open, out); i >= 0 {
		a.open = slices.Delete(a.open, i, i+1)
	}
}
