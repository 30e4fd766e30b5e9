package slack

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	slackgo "github.com/slack-go/slack"
)

const (
	// mostPress bounds the body of one press in bytes: Slack sends the whole message along, of which
	// ours have about 20 KB.
	mostPress = 1 << 20
	// mostActing bounds how many presses are carried out at once; more are told to try again.
	mostActing = 64
	// pressLife is how long a signed press is taken, as slack-go checks its timestamp; it is kept
	// twice as long, since the timestamp may lie in the future by as much.
	pressLife = 5 * time.Minute
)

// interactive tells whether pressed buttons reach us in one of the two ways.
func (s *Slack) interactive() bool { return s.o.AppToken != "" || s.o.SigningSecret != "" }

// Interactions takes pressed buttons that Slack sends by HTTP, the other way beside Listen. Only a
// body that Slack signed within the last five minutes, and that did not come before, is taken. It
// answers at once, whatever the database does. Presses are carried out until ctx ends.
func (s *Slack) Interactions(ctx context.Context, actions Actions) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostPress))
		if err != nil {
			http.Error(w, "the request is too long", http.StatusRequestEntityTooLarge)
			return
		}
		if !s.signed(r.Header, body) {
			http.Error(w, "expected a request that Slack signed within five minutes, once", http.StatusUnauthorized)
			return
		}
		form, err := url.ParseQuery(string(body))
		var press slackgo.InteractionCallback
		if err != nil || json.Unmarshal([]byte(form.Get("payload")), &press) != nil {
			http.Error(w, "expected a form with a payload", http.StatusBadRequest)
			return
		}
		if press.Type != slackgo.InteractionTypeBlockActions {
			return // nothing of ours
		}
		select {
		case s.acting <- struct{}{}:
		default:
			http.Error(w, "too many presses are being carried out; press again", http.StatusServiceUnavailable)
			return
		}
		go func() {
			defer func() { <-s.acting }()
			s.act(ctx, press, actions)
		}()
	})
}

// signed tells whether Slack signed the body lately, and this is the first time that it comes.
func (s *Slack) signed(header http.Header, body []byte) bool {
	verifier, err := slackgo.NewSecretsVerifier(header, string(s.o.SigningSecret))
	if err != nil || s.o.SigningSecret == "" {
		return false
	}
	if _, err := verifier.Write(body); err != nil || verifier.Ensure() != nil {
		return false
	}
	// The same signature in other letters is the same.
	return s.seen.first(strings.ToLower(header.Get("X-Slack-Signature")), s.o.Now())
}

// replays knows the signatures that came lately.
type replays struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// first tells whether the signature is new, and keeps it.
func (r *replays) first(signature string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for known, until := range r.until {
		if !now.Before(until) {
			delete(r.until, known)
		}
	}
	if _, came := r.until[signature]; came {
		return false
	}
	r.until[signature] = now.Add(2 * pressLife)
	return true
}
