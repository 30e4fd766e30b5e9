package demo

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/leasewatch/leasewatch/internal/server"
	"github.com/leasewatch/leasewatch/internal/slack/slackfake"
)

// slackSide is where the demo's messages go: a real workspace, or the recording one.
type slackSide struct {
	config server.Slack
	http   *http.Server
}

// The recording workspace's own secrets; they open nothing else.
const (
	fakeBotToken = "xoxb-demo"
	fakeAppToken = "xapp-demo"
	fakeChannel  = "C0DEMO"
)

// openSlack joins the real workspace where a token is given, else starts the recording one.
func openSlack(o *Options) (*slackSide, error) {
	if o.Slack.BotTokenFile != "" {
		real := o.Slack
		if real.APIURL == "" {
			real.APIURL = server.DefaultConfig().Slack.APIURL
		}
		return &slackSide{config: real}, nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("recording Slack: %w", err)
	}
	fake := slackfake.New(slackfake.Options{
		Token: fakeBotToken, AppToken: fakeAppToken, Channels: []string{fakeChannel},
		OnChange: func(c slackfake.Change) { printMessage(o.Out, c) },
	})
	side := &slackSide{http: &http.Server{Handler: fake}}
	side.config = server.Slack{
		APIURL: "http://" + listener.Addr().String() + "/api/", Channel: fakeChannel,
		BotTokenFile: filepath.Join(o.DataDir, "slack-bot-token"), AppTokenFile: filepath.Join(o.DataDir, "slack-app-token"),
	}
	for file, secret := range map[string]string{side.config.BotTokenFile: fakeBotToken, side.config.AppTokenFile: fakeAppToken} {
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			return nil, err
		}
		if err := os.WriteFile(file, []byte(secret), 0o600); err != nil {
			return nil, fmt.Errorf("recording Slack: %w", err)
		}
	}
	go func() { _ = side.http.Serve(listener) }() // it ends by Close
	return side, nil
}

// Close ends the recording Slack.
func (s *slackSide) Close() {
	if s.http != nil {
		_ = s.http.Close() // the demo is over: nobody is left to tell
	}
}

// printMessage shows a message as the channel would.
func printMessage(w io.Writer, c slackfake.Change) {
	heads := map[string]string{
		"post": "Slack, new message", "update": "Slack, message updated in place",
		"thread": "Slack, reply in thread", "ephemeral": "Slack, private answer",
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n--- %s ---\n", heads[c.Kind])
	for line := range strings.SplitSeq(strings.TrimRight(c.Message.Rendered(), "\n"), "\n") {
		fmt.Fprintf(&b, "| %s\n", line)
	}
	_, _ = io.WriteString(w, b.String()) // the terminal is gone: nobody is left to tell
}
