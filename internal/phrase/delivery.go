package phrase

import (
	"regexp"
	"slices"
	"strings"
)

// Why a message does not reach its channel.
const (
	UndeliveredToken       Key = "undelivered.token"
	UndeliveredScope       Key = "undelivered.scope"
	UndeliveredChannel     Key = "undelivered.channel"
	UndeliveredLimited     Key = "undelivered.limited"
	UndeliveredUnreachable Key = "undelivered.unreachable"
)

var deliveryTexts = map[Key]sentence{
	UndeliveredToken:       {"Slack does not accept the token of the bot (%s)", "Slack 不接受机器人令牌（%s）"},
	UndeliveredScope:       {"the Slack app lacks a permission (%s)", "Slack 应用缺少权限（%s）"},
	UndeliveredChannel:     {"the channel cannot be written to (%s)", "无法写入该频道（%s）"},
	UndeliveredLimited:     {"Slack asks to wait", "Slack 要求稍后再试"},
	UndeliveredUnreachable: {"Slack cannot be reached", "无法连接 Slack"},
}

// slackSaid is how the slack room writes an error: its method, Slack's own word, a remedy.
var slackSaid = regexp.MustCompile(`^slack [a-zA-Z.]+: ([a-z_]+)(?: \(.*\))?$`)

// Undelivered says why a message was not delivered, of a delivery's last error: whole sentences for
// what is common, and the error itself for the rest.
func (p Printer) Undelivered(reason string) string {
	if !strings.HasPrefix(reason, "slack ") {
		return reason
	}
	for _, words := range []string{"dial tcp", "i/o timeout", "deadline exceeded", "connection re", "EOF"} {
		if strings.Contains(reason, words) {
			return p.Say(UndeliveredUnreachable)
		}
	}
	if strings.Contains(reason, "rate limit") || strings.Contains(reason, "429") {
		return p.Say(UndeliveredLimited)
	}
	m := slackSaid.FindStringSubmatch(reason)
	if m == nil {
		return reason
	}
	for _, known := range []struct {
		key   Key
		words []string
	}{
		{UndeliveredToken, []string{"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "app_disabled"}},
		{UndeliveredScope, []string{"missing_scope", "no_permission", "not_allowed_token_type", "access_denied"}},
		{UndeliveredChannel, []string{"channel_not_found", "not_in_channel", "is_archived", "restricted_action"}},
	} {
		if slices.Contains(known.words, m[1]) {
			return p.Say(known.key, m[1])
		}
	}
	if m[1] == "ratelimited" || m[1] == "rate_limited" {
		return p.Say(UndeliveredLimited)
	}
	return m[1]
}
