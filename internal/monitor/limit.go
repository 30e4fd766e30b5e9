package monitor

import (
	"context"
	"net/http"

	"github.com/prometheus/prometheus/model/labels"
)

// Limit tells whether a sender may write a sample of that moment (milliseconds since 1970, UTC);
// label returns one of its series' labels, "" where it has none of the name ("__name__" is the
// metric's). Where keep is false the sample is left out; an error refuses the whole message with
// 403, so that a sender keeps it and tries again.
type Limit func(label func(name string) string, at int64) (keep bool, err error)

// LimitedWriteHandler receives remote write as WriteHandler does, and asks limit what the sender of
// each request may write; nil is everything.
func (m *Monitor) LimitedWriteHandler(limit func(*http.Request) Limit) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		allowed := limit(r)
		if allowed == nil {
			m.write.ServeHTTP(w, r)
			return
		}
		s := &sender{limit: allowed}
		m.write.ServeHTTP(refusal{w, s}, r.WithContext(context.WithValue(r.Context(), senderKey{}, s)))
	})
}

type senderKey struct{}

// sender is who sent one request, while it is written.
type sender struct {
	limit   Limit
	refused error
}

// senderOf returns the limited sender of the request that is written, or nil.
func senderOf(ctx context.Context) *sender {
	s, _ := ctx.Value(senderKey{}).(*sender)
	return s
}

// allows tells whether the sample may be written.
func (s *sender) allows(ls labels.Labels, at int64) (bool, error) {
	if s == nil {
		return true, nil
	}
	keep, err := s.limit(ls.Get, at)
	if err != nil {
		s.refused = err
	}
	return keep, err
}

// refusal answers 403 where the engine, which knows no such refusal, would answer 500.
type refusal struct {
	http.ResponseWriter

	sender *sender
}

// WriteHeader sends the status.
func (r refusal) WriteHeader(status int) {
	if r.sender.refused != nil && status == http.StatusInternalServerError {
		status = http.StatusForbidden
	}
	r.ResponseWriter.WriteHeader(status)
}
