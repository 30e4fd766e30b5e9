// Package slackfake is a Slack that records: the part of the Web API and of Socket Mode that
// Leasewatch uses, as strict as the real one about blocks, lengths, tokens, channels and
// rates. Tests use it, and the demo prints what it is told.
package slackfake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options sets the workspace up. What is empty takes its default.
type Options struct {
	Token    string   // the bot's token; "xoxb-fake"
	AppToken string   // the app-level token; "xapp-fake"
	Channels []string // ids that exist and have the app as a member; C0123
	Archived []string // ids of channels that are archived
	Users    []User   // U0ADA (ada) and U0BOB (bob)
	// RateLimit enforces 1 message a second a channel beyond a burst of 3, and 50 edits a
	// minute, by answering 429 with Retry-After.
	RateLimit bool
	Now       func() time.Time // time.Now
	// OnChange is called, in order and outside locks, after each message, edit and private answer.
	OnChange func(Change)
}

// User is a member of the workspace.
type User struct{ ID, Name string }

// Message is one version of a message.
type Message struct {
	Channel  string
	TS       string
	ThreadTS string // of the message that this one answers; "" for one in the channel
	User     string // for a private answer: who sees it
	Text     string
	Blocks   json.RawMessage
	Metadata json.RawMessage
	At       time.Time
}

// Change is something that the channel would see.
type Change struct {
	Kind    string // post, thread, update or ephemeral
	Message Message
}

// Server is the recording Slack. It is an http.Handler: the Web API stands below /api/, the
// websocket of Socket Mode below /socket/.
type Server struct {
	o   Options
	mux *http.ServeMux

	mu        sync.Mutex
	messages  []Message            // the newest version of each, in order of arrival
	versions  map[string][]Message // by ts, edits only
	ephemeral []Message
	calls     map[string]int
	failures  map[string][]Failure
	always    map[string]Failure
	lastTS    int64 // microseconds
	rates     rates
	sockets   sockets
	changes   sync.Mutex // keeps OnChange in order
}

// New returns a recording Slack with no messages.
func New(o Options) *Server {
	if o.Token == "" {
		o.Token = "xoxb-fake"
	}
	if o.AppToken == "" {
		o.AppToken = "xapp-fake"
	}
	if len(o.Channels) == 0 {
		o.Channels = []string{"C0123"}
	}
	if len(o.Users) == 0 {
		o.Users = []User{{ID: "U0ADA", Name: "ada"}, {ID: "U0BOB", Name: "bob"}}
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the default clock of a stand-in for the outside world
	}
	s := &Server{
		o: o, mux: http.NewServeMux(), versions: map[string][]Message{}, calls: map[string]int{},
		failures: map[string][]Failure{}, always: map[string]Failure{}, rates: newRates(),
		sockets: newSockets(),
	}
	s.mux.HandleFunc("POST /api/{method}", s.api)
	s.mux.HandleFunc("GET /api/{method}", s.api)
	s.mux.HandleFunc("GET /socket/{ticket}", s.socket)
	return s
}

// ServeHTTP answers as Slack does.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Messages returns the newest version of every message and reply, in order of arrival.
func (s *Server) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.messages)
}

// Message returns the newest version of one message.
func (s *Server) Message(ts string) (Message, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.find("", ts); i >= 0 {
		return s.messages[i], true
	}
	return Message{}, false
}

// Updates returns what each edit of a message made of it, the first edit first.
func (s *Server) Updates(ts string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.versions[ts])
}

// Ephemeral returns the private answers, in order.
func (s *Server) Ephemeral() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ephemeral)
}

// Calls returns how often a method was called, failed calls included.
func (s *Server) Calls(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[method]
}

// find returns the index of a message; an empty channel is any. The lock is held.
func (s *Server) find(channel, ts string) int {
	return slices.IndexFunc(s.messages, func(m Message) bool {
		return m.TS == ts && (channel == "" || m.Channel == channel)
	})
}

// nextTS returns a new id: seconds and microseconds of the clock, never the same twice. The
// lock is held.
func (s *Server) nextTS() string {
	s.lastTS = max(s.lastTS+1, s.o.Now().UnixMicro())
	return fmt.Sprintf("%d.%06d", s.lastTS/1_000_000, s.lastTS%1_000_000)
}

func (s *Server) notify(kind string, m Message) {
	if s.o.OnChange == nil {
		return
	}
	s.changes.Lock()
	defer s.changes.Unlock()
	s.o.OnChange(Change{Kind: kind, Message: m})
}

// reply writes an answer; Slack says what failed with HTTP 200 and ok:false.
func reply(w http.ResponseWriter, body map[string]any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if _, failed := body["error"]; !failed {
		body["ok"] = true
	} else {
		body["ok"] = false
	}
	// A client that went away is the only way in which this fails.
	_ = json.NewEncoder(w).Encode(body)
}

func failed(code string, details ...string) map[string]any {
	body := map[string]any{"error": code}
	if len(details) > 0 {
		body["response_metadata"] = map[string]any{"messages": details}
	}
	return body
}

// bearer returns the token of a call: the Authorization header, else the form's field.
func bearer(r *http.Request) string {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return token
	}
	return r.FormValue("token")
}
