package slackfake

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// api answers one call of the Web API.
func (s *Server) api(w http.ResponseWriter, r *http.Request) {
	method := r.PathValue("method")
	s.mu.Lock()
	s.calls[method]++
	failure, injected := s.failure(method)
	s.mu.Unlock()
	if injected && !failure.AfterDelivery {
		failure.write(w)
		return
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		formFromJSON(r)
	}
	if err := r.ParseForm(); err != nil {
		reply(w, failed("invalid_form_data"))
		return
	}
	body, change := s.call(w, r, method)
	if body == nil {
		return // 429 has been written
	}
	if change != nil {
		s.notify(change.Kind, change.Message)
	}
	if injected {
		failure.write(w)
		return
	}
	reply(w, body)
}

// call runs the method; a nil body is an answer that was written already.
func (s *Server) call(w http.ResponseWriter, r *http.Request, method string) (map[string]any, *Change) {
	token := bearer(r)
	want := s.o.Token
	if method == "apps.connections.open" {
		want = s.o.AppToken
	}
	switch {
	case token == "":
		return failed("not_authed"), nil
	case token != want:
		return failed("invalid_auth"), nil
	}
	switch method {
	case "auth.test":
		return map[string]any{"url": "https://fake.slack.com/", "team": "fake", "user": "leasewatch", "team_id": "T0FAKE", "user_id": "U0BOT", "bot_id": "B0BOT"}, nil
	case "apps.connections.open":
		return map[string]any{"url": s.ticketURL(r)}, nil
	case "users.info":
		return s.usersInfo(r), nil
	case "chat.postMessage":
		return s.post(w, r)
	case "chat.update":
		return s.update(w, r)
	case "chat.postEphemeral":
		return s.postEphemeral(r)
	case "conversations.history", "conversations.replies":
		return s.history(r, method == "conversations.replies"), nil
	default:
		return failed("unknown_method"), nil
	}
}

// formFromJSON makes a form of a JSON body, as both are the same to Slack.
func formFromJSON(r *http.Request) {
	var fields map[string]json.RawMessage
	if json.NewDecoder(r.Body).Decode(&fields) != nil {
		return
	}
	r.PostForm = map[string][]string{}
	for name, raw := range fields {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		r.PostForm.Set(name, text)
	}
	r.Form = r.PostForm
}

// place checks that a channel can be written to.
func (s *Server) place(channel string) string {
	switch {
	case slices.Contains(s.o.Archived, channel):
		return "is_archived"
	case !slices.Contains(s.o.Channels, channel):
		return "channel_not_found"
	}
	return ""
}

// content checks and takes what a message shows.
func content(r *http.Request, m *Message) (code string, details []string) {
	m.Text = r.FormValue("text")
	if len([]rune(m.Text)) > 40_000 {
		return "msg_too_long", nil
	}
	if raw := r.FormValue("blocks"); raw != "" {
		if code, details := checkBlocks([]byte(raw)); code != "" {
			return code, details
		}
		m.Blocks = json.RawMessage(raw)
	}
	if raw := r.FormValue("metadata"); raw != "" {
		if !goodMetadata([]byte(raw)) {
			return "invalid_metadata_format", nil
		}
		m.Metadata = json.RawMessage(raw)
	}
	if m.Text == "" && (len(m.Blocks) == 0 || string(m.Blocks) == "[]") {
		return "no_text", nil
	}
	return "", nil
}

func goodMetadata(raw []byte) bool {
	var m struct {
		EventType    string         `json:"event_type"`
		EventPayload map[string]any `json:"event_payload"`
	}
	return json.Unmarshal(raw, &m) == nil && m.EventType != "" && m.EventPayload != nil && len(raw) < 8000
}

func (s *Server) post(w http.ResponseWriter, r *http.Request) (map[string]any, *Change) {
	channel, thread := r.FormValue("channel"), r.FormValue("thread_ts")
	if code := s.place(channel); code != "" {
		return failed(code), nil
	}
	m := Message{Channel: channel, ThreadTS: thread, At: s.o.Now()}
	if code, details := content(r, &m); code != "" {
		return failed(code, details...), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if thread != "" && s.find(channel, thread) < 0 {
		return failed("thread_not_found"), nil
	}
	if wait := s.rates.message(channel, s.o.Now()); s.o.RateLimit && wait > 0 {
		tooMany(w, wait)
		return nil, nil
	}
	m.TS = s.nextTS()
	s.messages = append(s.messages, m)
	kind := "post"
	if thread != "" {
		kind = "thread"
	}
	return map[string]any{"channel": channel, "ts": m.TS, "message": shown(m)}, &Change{Kind: kind, Message: m}
}

func (s *Server) update(w http.ResponseWriter, r *http.Request) (map[string]any, *Change) {
	channel, ts := r.FormValue("channel"), r.FormValue("ts")
	if code := s.place(channel); code != "" {
		return failed(code), nil
	}
	edit := Message{}
	if code, details := content(r, &edit); code != "" {
		return failed(code, details...), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.find(channel, ts)
	if i < 0 {
		return failed("message_not_found"), nil
	}
	if wait := s.rates.edit(s.o.Now()); s.o.RateLimit && wait > 0 {
		tooMany(w, wait)
		return nil, nil
	}
	m := s.messages[i]
	m.Text, m.At = edit.Text, s.o.Now()
	if edit.Blocks != nil { // left out keeps the old ones, an empty array clears them
		m.Blocks = edit.Blocks
	}
	if edit.Metadata != nil {
		m.Metadata = edit.Metadata
	}
	s.messages[i] = m
	s.versions[ts] = append(s.versions[ts], m)
	return map[string]any{"channel": channel, "ts": ts, "text": m.Text, "message": shown(m)}, &Change{Kind: "update", Message: m}
}

func (s *Server) postEphemeral(r *http.Request) (map[string]any, *Change) {
	channel, user := r.FormValue("channel"), r.FormValue("user")
	if code := s.place(channel); code != "" {
		return failed(code), nil
	}
	if s.user(user) == nil {
		return failed("user_not_in_channel"), nil
	}
	m := Message{Channel: channel, User: user, At: s.o.Now()}
	if code, details := content(r, &m); code != "" {
		return failed(code, details...), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m.TS = s.nextTS()
	s.ephemeral = append(s.ephemeral, m)
	return map[string]any{"message_ts": m.TS}, &Change{Kind: "ephemeral", Message: m}
}

// history answers for a channel, newest first, or for a thread, oldest first, a page at a time.
func (s *Server) history(r *http.Request, thread bool) map[string]any {
	channel := r.FormValue("channel")
	if !slices.Contains(s.o.Channels, channel) && !slices.Contains(s.o.Archived, channel) {
		return failed("channel_not_found")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []map[string]any
	parent, oldest := r.FormValue("ts"), r.FormValue("oldest")
	if thread && s.find(channel, parent) < 0 {
		return failed("thread_not_found")
	}
	for _, m := range s.messages {
		inThread := thread && (m.TS == parent || m.ThreadTS == parent)
		if m.Channel != channel || thread != inThread || (!thread && m.ThreadTS != "") {
			continue
		}
		if oldest == "" || m.TS > oldest || m.TS == parent {
			item := shown(m)
			if r.FormValue("include_all_metadata") != "1" {
				delete(item, "metadata")
			}
			list = append(list, item)
		}
	}
	if !thread {
		slices.Reverse(list)
	}
	from, _ := strconv.Atoi(r.FormValue("cursor"))
	limit, err := strconv.Atoi(r.FormValue("limit"))
	if err != nil || limit < 1 {
		limit = 100
	}
	from = min(max(from, 0), len(list))
	to, cursor := min(from+limit, len(list)), ""
	if to < len(list) {
		cursor = strconv.Itoa(to)
	}
	return map[string]any{"messages": list[from:to], "has_more": cursor != "", "response_metadata": map[string]any{"next_cursor": cursor}}
}

// shown is a message as Slack gives it out.
func shown(m Message) map[string]any {
	item := map[string]any{"type": "message", "user": "U0BOT", "bot_id": "B0BOT", "ts": m.TS, "text": m.Text}
	if m.ThreadTS != "" {
		item["thread_ts"] = m.ThreadTS
	}
	if m.Blocks != nil {
		item["blocks"] = m.Blocks
	}
	if m.Metadata != nil {
		item["metadata"] = m.Metadata
	}
	return item
}

func (s *Server) user(id string) *User {
	if i := slices.IndexFunc(s.o.Users, func(u User) bool { return u.ID == id }); i >= 0 {
		return &s.o.Users[i]
	}
	return nil
}

func (s *Server) usersInfo(r *http.Request) map[string]any {
	user := s.user(r.FormValue("user"))
	if user == nil {
		return failed("user_not_found")
	}
	return map[string]any{"user": map[string]any{"id": user.ID, "name": user.Name, "real_name": user.Name}}
}
