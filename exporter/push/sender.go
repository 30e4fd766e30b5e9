package push

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/exp/api/remote"
)

// outcome is what became of one request.
type outcome string

const (
	delivered outcome = "ok"        // 2xx
	refused   outcome = "discarded" // 400: the receiver will never take it
	tooBig    outcome = "too_big"   // 413: it may take the same in smaller requests
	later     outcome = "retry"     // anything else, no answer at all among it
)

// result is the outcome of one request and what the receiver said with it.
type result struct {
	outcome    outcome
	retryAfter time.Duration // 0 where the receiver did not ask for one
	date       time.Time     // the receiver's clock, zero where it did not tell
	err        error
}

// sender sends bodies one at a time. One goroutine owns it.
type sender struct {
	api   *remote.API
	reply *replyWatcher
	now   func() time.Time
}

func newSender(url, tokenFile string, headers map[string]string, base http.RoundTripper, timeout time.Duration, now func() time.Time) (*sender, error) {
	watcher := &replyWatcher{next: base, tokenFile: tokenFile, headers: headers}
	client := &http.Client{
		Transport: watcher,
		Timeout:   timeout,
		// A redirected POST would turn into a GET, and take the token elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	api, err := remote.NewAPI(url, remote.WithAPIPath(""), remote.WithAPIHTTPClient(client),
		remote.WithAPIBackoff(remote.BackoffConfig{Min: time.Second, Max: time.Second}))
	if err != nil {
		return nil, fmt.Errorf("preparing remote write: %w", err)
	}
	return &sender{api: api, reply: watcher, now: now}, nil
}

// send makes one attempt. Retrying is the caller's: the client's own gives up on 401.
func (s *sender) send(ctx context.Context, b Batch) result {
	attempt, cancel := context.WithCancel(ctx)
	defer cancel()
	var cause error
	s.reply.last = reply{}
	_, err := s.api.Write(attempt, remote.WriteV1MessageType, body(b.body), remote.WithWriteRetryCallback(func(err error) {
		cause = err
		cancel()
	}))
	if cause != nil {
		err = cause
	}
	last := s.reply.last
	r := result{outcome: later, date: last.date, err: err}
	switch {
	case err == nil:
		r.outcome = delivered
	case last.status == http.StatusBadRequest:
		r.outcome = refused
	case last.status == http.StatusRequestEntityTooLarge:
		r.outcome, r.retryAfter = tooBig, retryAfter(last.retryAfter, s.now())
	default:
		r.retryAfter = retryAfter(last.retryAfter, s.now())
	}
	return r
}

// body is a message that is encoded already.
type body []byte

// Size is the length of the message in bytes.
func (b body) Size() int { return len(b) }

// MarshalToSizedBuffer copies the message to the end of the buffer.
func (b body) MarshalToSizedBuffer(out []byte) (int, error) {
	if len(out) < len(b) {
		return 0, errors.New("the buffer is smaller than the message")
	}
	return copy(out[len(out)-len(b):], b), nil
}

// reply is what the receiver's last answer carried.
type reply struct {
	status     int
	retryAfter string
	date       time.Time
}

// replyWatcher adds token and headers to requests and notes what the client does not pass on.
type replyWatcher struct {
	next      http.RoundTripper
	tokenFile string
	headers   map[string]string
	last      reply
}

// maxReplyBytes bounds what is read, and logged, of an answer.
const maxReplyBytes = 1024

type limitedBody struct {
	io.Reader
	io.Closer
}

// RoundTrip sends one request.
func (w *replyWatcher) RoundTrip(request *http.Request) (*http.Response, error) {
	token, err := ReadToken(w.tokenFile)
	if err != nil {
		return nil, err
	}
	request = request.Clone(request.Context())
	for name, value := range w.headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("User-Agent", "leasewatch-exporter")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+string(token))
	}
	response, err := w.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	response.Body = limitedBody{io.LimitReader(response.Body, maxReplyBytes), response.Body}
	w.last = reply{status: response.StatusCode, retryAfter: response.Header.Get("Retry-After")}
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		w.last.date = date
	}
	return response, nil
}

// maxRetryAfter bounds what a receiver may ask for, so that a wrong header cannot silence a host.
const maxRetryAfter = 10 * time.Minute

// retryAfter reads the header as RFC 9110 has it: seconds, or a date.
func retryAfter(header string, now time.Time) time.Duration {
	wait := time.Duration(0)
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if date, err := http.ParseTime(header); err == nil {
		wait = date.Sub(now)
	}
	return min(max(wait, 0), maxRetryAfter)
}
