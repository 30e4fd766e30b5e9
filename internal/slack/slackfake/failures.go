package slackfake

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// Failure is a way in which a call fails. Its zero value cuts the connection without an answer.
type Failure struct {
	// Error is Slack's word, in HTTP 200 with ok:false ("channel_not_found").
	Error string
	// Status is an HTTP status that is not 200 (429, 500, 503).
	Status int
	// RetryAfter goes with Status 429.
	RetryAfter time.Duration
	// AfterDelivery does what was asked before it fails.
	AfterDelivery bool
}

// FailNext makes the next call of a method fail; several queue up.
func (s *Server) FailNext(method string, f Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures[method] = append(s.failures[method], f)
}

// FailAlways makes every call of a method fail until Heal.
func (s *Server) FailAlways(method string, f Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.always[method] = f
}

// Heal ends FailAlways and forgets what FailNext queued for the method.
func (s *Server) Heal(method string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.always, method)
	delete(s.failures, method)
}

// failure takes the next failure of a method. The lock is held.
func (s *Server) failure(method string) (Failure, bool) {
	if queue := s.failures[method]; len(queue) > 0 {
		s.failures[method] = queue[1:]
		return queue[0], true
	}
	f, ok := s.always[method]
	return f, ok
}

func (f Failure) write(w http.ResponseWriter) {
	switch {
	case f.Error != "":
		reply(w, failed(f.Error))
	case f.Status == http.StatusTooManyRequests:
		tooMany(w, f.RetryAfter)
	case f.Status != 0:
		http.Error(w, "<html>something went wrong</html>", f.Status)
	default:
		panic(http.ErrAbortHandler) // net/http closes the connection and logs nothing
	}
}

// tooMany asks the client to wait, in whole seconds.
func tooMany(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	w.WriteHeader(http.StatusTooManyRequests)
	_, _ = w.Write([]byte(`{"ok":false,"error":"ratelimited"}`))
}

// rates counts what has been sent. Its methods say how long a caller has to wait; a call
// that has to wait does not count.
type rates struct {
	tokens map[string]float64 // by channel
	last   map[string]time.Time
	edits  []time.Time
}

const (
	burst          = 3.0
	editsPerMinute = 50
)

func newRates() rates { return rates{tokens: map[string]float64{}, last: map[string]time.Time{}} }

func (r *rates) message(channel string, now time.Time) time.Duration {
	tokens := burst
	if last, ok := r.last[channel]; ok {
		tokens = min(burst, r.tokens[channel]+now.Sub(last).Seconds())
	}
	r.last[channel] = now
	if tokens < 1 {
		r.tokens[channel] = tokens
		return time.Duration((1 - tokens) * float64(time.Second))
	}
	r.tokens[channel] = tokens - 1
	return 0
}

func (r *rates) edit(now time.Time) time.Duration {
	for len(r.edits) > 0 && now.Sub(r.edits[0]) >= time.Minute {
		r.edits = r.edits[1:]
	}
	if len(r.edits) >= editsPerMinute {
		return time.Minute - now.Sub(r.edits[0])
	}
	r.edits = append(r.edits, now)
	return 0
}
