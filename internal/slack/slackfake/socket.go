package slackfake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// sockets are the connections of Socket Mode.
type sockets struct {
	mu      sync.Mutex
	tickets map[string]bool
	conns   []*conn
	acks    map[string]chan struct{} // by envelope id
	next    int
	joined  chan struct{} // closed when a connection comes, then replaced
}

type conn struct {
	ws    *websocket.Conn
	write sync.Mutex
}

func newSockets() sockets {
	return sockets{tickets: map[string]bool{}, acks: map[string]chan struct{}{}, joined: make(chan struct{})}
}

// pingEvery is well inside the 30 s after which clients give a connection up.
const pingEvery = 5 * time.Second

// ticketURL returns a websocket address that works once.
func (s *Server) ticketURL(r *http.Request) string {
	s.sockets.mu.Lock()
	defer s.sockets.mu.Unlock()
	s.sockets.next++
	ticket := fmt.Sprintf("ticket-%d", s.sockets.next)
	s.sockets.tickets[ticket] = true
	return "ws://" + r.Host + "/socket/" + ticket
}

// socket serves one connection: hello, pings, and the acks of envelopes.
func (s *Server) socket(w http.ResponseWriter, r *http.Request) {
	ticket := r.PathValue("ticket")
	s.sockets.mu.Lock()
	valid := s.sockets.tickets[ticket]
	delete(s.sockets.tickets, ticket)
	s.sockets.mu.Unlock()
	if !valid {
		http.Error(w, "no such ticket", http.StatusNotFound)
		return
	}
	upgrader := websocket.Upgrader{CheckOrigin: func(r *http.Request) bool {
		origin := r.Header.Get("Origin")
		return origin == "" || origin == "https://api.slack.com"
	}}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has answered
	}
	c := &conn{ws: ws}
	defer s.leave(c)
	if c.send(map[string]any{"type": "hello", "num_connections": 1, "connection_info": map[string]any{"app_id": "A0FAKE"}}) != nil {
		return
	}
	s.join(c)
	stop := make(chan struct{})
	defer close(stop)
	go c.ping(stop)
	for {
		var ack struct {
			EnvelopeID string `json:"envelope_id"`
		}
		if err := ws.ReadJSON(&ack); err != nil {
			return
		}
		s.sockets.mu.Lock()
		if waiting, ok := s.sockets.acks[ack.EnvelopeID]; ok {
			close(waiting)
			delete(s.sockets.acks, ack.EnvelopeID)
		}
		s.sockets.mu.Unlock()
	}
}

func (c *conn) send(body any) error {
	c.write.Lock()
	defer c.write.Unlock()
	return c.ws.WriteJSON(body)
}

func (c *conn) ping(stop <-chan struct{}) {
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for {
		if c.ws.WriteControl(websocket.PingMessage, []byte("ping"), time.Now().Add(pingEvery)) != nil { //nolint:forbidigo // a deadline of the network
			return
		}
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
	}
}

func (s *Server) join(c *conn) {
	s.sockets.mu.Lock()
	defer s.sockets.mu.Unlock()
	s.sockets.conns = append(s.sockets.conns, c)
	close(s.sockets.joined)
	s.sockets.joined = make(chan struct{})
}

func (s *Server) leave(c *conn) {
	_ = c.ws.Close()
	s.sockets.mu.Lock()
	defer s.sockets.mu.Unlock()
	for i := range s.sockets.conns {
		if s.sockets.conns[i] == c {
			s.sockets.conns = append(s.sockets.conns[:i], s.sockets.conns[i+1:]...)
			return
		}
	}
}

// Disconnect closes every connection of Socket Mode, as Slack does now and then.
func (s *Server) Disconnect() {
	s.sockets.mu.Lock()
	defer s.sockets.mu.Unlock()
	for _, c := range s.sockets.conns {
		_ = c.ws.Close()
	}
	s.sockets.conns = nil
}

// connection waits for one.
func (s *Server) connection(ctx context.Context) (*conn, error) {
	for {
		s.sockets.mu.Lock()
		joined := s.sockets.joined
		if n := len(s.sockets.conns); n > 0 {
			c := s.sockets.conns[n-1]
			s.sockets.mu.Unlock()
			return c, nil
		}
		s.sockets.mu.Unlock()
		select {
		case <-joined:
		case <-ctx.Done():
			return nil, fmt.Errorf("no client is connected by Socket Mode: %w", ctx.Err())
		}
	}
}

// ClickAck presses the Ack button of a message as a user, and waits until the client has
// acknowledged the press (not until the incident is changed).
func (s *Server) ClickAck(ctx context.Context, ts, user string) error {
	return s.Click(ctx, ts, "leasewatch_ack", user)
}

// Click presses the button with an action id. It waits for a client to be connected, and fails
// where the message has no such button or the client does not answer before the context ends.
func (s *Server) Click(ctx context.Context, ts, actionID, user string) error {
	m, ok := s.Message(ts)
	if !ok {
		return fmt.Errorf("there is no message %s", ts)
	}
	button := findButton(m.Blocks, actionID)
	if button == nil {
		return fmt.Errorf("message %s has no button %s", ts, actionID)
	}
	name := user
	if known := s.user(user); known != nil {
		name = known.Name
	}
	c, err := s.connection(ctx)
	if err != nil {
		return err
	}
	s.sockets.mu.Lock()
	s.sockets.next++
	envelope := fmt.Sprintf("envelope-%d", s.sockets.next)
	acked := make(chan struct{})
	s.sockets.acks[envelope] = acked
	s.sockets.mu.Unlock()
	err = c.send(map[string]any{
		"type": "interactive", "envelope_id": envelope, "accepts_response_payload": true,
		"payload": map[string]any{
			"type":    "block_actions",
			"user":    map[string]any{"id": user, "name": name, "username": name},
			"channel": map[string]any{"id": m.Channel, "name": "gpu-alerts"},
			"message": map[string]any{"ts": m.TS, "text": m.Text},
			"container": map[string]any{
				"type": "message", "message_ts": m.TS, "channel_id": m.Channel,
			},
			"actions": []any{button},
		},
	})
	if err != nil {
		return fmt.Errorf("hand the press over: %w", err)
	}
	select {
	case <-acked:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the press was not acknowledged: %w", errors.Join(ctx.Err(), context.Cause(ctx)))
	}
}

// findButton returns the action that pressing a button sends; nil where there is none.
func findButton(blocks json.RawMessage, actionID string) map[string]any {
	var list []struct {
		Type     string           `json:"type"`
		BlockID  string           `json:"block_id"`
		Elements []map[string]any `json:"elements"`
	}
	if json.Unmarshal(blocks, &list) != nil {
		return nil
	}
	for _, block := range list {
		if block.Type != "actions" {
			continue
		}
		for _, element := range block.Elements {
			if id, _ := element["action_id"].(string); strings.EqualFold(id, actionID) {
				return map[string]any{"type": "button", "action_id": id, "block_id": block.BlockID, "value": element["value"], "text": element["text"]}
			}
		}
	}
	return nil
}
