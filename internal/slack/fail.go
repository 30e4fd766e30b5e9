package slack

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	slackgo "github.com/slack-go/slack"
)

// Failure is a call to Slack that failed.
type Failure struct { //nolint:errname // it reads as what it is: slack.Failure
	Method string // chat.postMessage...
	// Code is Slack's own word (channel_not_found), or http_500, connection, timeout...
	Code    string
	err     error
	after   time.Duration
	refused bool
}

// Error says what failed and, where a person must act, what to do.
func (f *Failure) Error() string {
	text := fmt.Sprintf("slack %s: %v", f.Method, f.err)
	if help := remedy(f.Code); help != "" {
		text += " (" + help + ")"
	}
	return text
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.err }

// RetryAfter is how long Slack asks to be left alone; 0 where it does not ask.
func (f *Failure) RetryAfter() time.Duration { return f.after }

// Refused tells whether Slack certainly did not take the message. Where it is false the
// message may be there: the connection broke, or Slack failed on its side.
func (f *Failure) Refused() bool { return f.refused }

// Terminal tells whether only a person can repair what is wrong: a token, a scope, a channel.
func (f *Failure) Terminal() bool { return slices.Contains(terminalCodes(), f.Code) }

// Gone tells whether the message that was to be edited or answered is no longer there.
func (f *Failure) Gone() bool {
	return slices.Contains([]string{"message_not_found", "thread_not_found", "cant_update_message", "edit_window_closed"}, f.Code)
}

// unfit tells whether Slack did not like the message itself.
func (f *Failure) unfit() bool {
	return slices.Contains([]string{"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long",
		"invalid_metadata_format", "metadata_too_large", "invalid_attachments"}, f.Code)
}

// terminalCodes are Slack's words after which trying again changes nothing by itself.
func terminalCodes() []string {
	return []string{
		"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "no_permission",
		"missing_scope", "not_allowed_token_type", "org_login_required", "ekm_access_denied", "access_denied",
		"channel_not_found", "is_archived", "not_in_channel", "restricted_action", "restricted_action_read_only_channel",
		"restricted_action_thread_only_channel", "team_access_not_granted", "app_disabled", "invalid_arguments", "user_is_bot",
	}
}

func remedy(code string) string {
	switch code {
	case "invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired":
		return "put a working bot token into the file that slack.bot_token_file names"
	case "missing_scope":
		return "add the scopes of deploy/slack/manifest.yaml to the app and install it again"
	case "channel_not_found", "not_in_channel":
		return "check slack.channel and invite the app to the channel"
	case "is_archived":
		return "unarchive the channel or choose another"
	}
	return ""
}

// failure turns what slack-go returned into a Failure and counts it. Slack answers many
// failures with HTTP 200 and ok:false; slack-go hands those over as SlackErrorResponse.
func (s *Slack) failure(method string, err error) *Failure {
	f := &Failure{Method: method, Code: "other", err: err}
	var (
		answer  slackgo.SlackErrorResponse
		limited *slackgo.RateLimitedError
		status  slackgo.StatusCodeError
		network net.Error
		op      *net.OpError
	)
	switch {
	case errors.As(err, &answer):
		f.Code, f.refused = answer.Err, true
		switch answer.Err {
		case "internal_error", "fatal_error", "service_unavailable", "request_timeout":
			f.refused = false // Slack says that it may have got half way
		case "ratelimited", "rate_limited":
			f.after = 30 * time.Second
		}
	case errors.As(err, &limited):
		f.Code, f.refused, f.after = "ratelimited", true, max(limited.RetryAfter, time.Second)
	case errors.As(err, &status):
		f.Code, f.refused = fmt.Sprintf("http_%d", status.Code), status.Code < http.StatusInternalServerError
		if status.Code == http.StatusTooManyRequests {
			f.after = 30 * time.Second
		}
	case errors.As(err, &op) && op.Op == "dial":
		f.Code, f.refused = "connection", true
	case errors.As(err, &network) && network.Timeout():
		f.Code = "timeout"
	case errors.As(err, &op):
		f.Code = "connection"
	}
	s.errors.WithLabelValues(f.Code).Inc()
	return f
}
