package slack

import (
	"net/url"
	"strings"
	"unicode"
)

// The longest texts that we send, in characters. Slack's own limits are wider (a section's
// text 3,000, all blocks of a message about 13,200 together): the sum of ours stays below.
const (
	maxHeadline    = 300
	maxWho         = 600
	maxAction      = 900
	maxDescription = 1800
	maxLine        = 300
	maxContext     = 250
	maxFallback    = 2500
	maxLines       = 8
	maxButtonURL   = 3000
)

// clean makes one line of data that comes from hosts, labels and people: control characters
// and line breaks become spaces, and characters that change the direction or hide text go.
// Texts stand in rich text and plain text objects, which Slack shows as they are; nothing in
// them becomes a mention, a link or markup.
func clean(text string) string {
	mapped := strings.Map(func(r rune) rune {
		switch {
		case r == unicode.ReplacementChar:
			return -1
		case unicode.IsControl(r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
			return ' '
		case unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	return strings.TrimSpace(mapped)
}

// cut shortens a text to at most limit characters, at a space where one is near the end, and
// marks the cut with an ellipsis.
func cut(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	end := limit - 1
	for i := end; i > end-40 && i > 0; i-- {
		if runes[i] == ' ' {
			end = i
			break
		}
	}
	return strings.TrimRight(string(runes[:end]), " ") + "…"
}

// fallbackText escapes data for a message's text, which shows in notifications: Slack's three
// characters, and no @here, @channel or @everyone that a client could take for a call.
func fallbackText(text string) string {
	const wordJoiner = "\u2060"
	text = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
	return strings.NewReplacer("@", "@"+wordJoiner).Replace(text)
}

// safeURL returns an address fit for a button, or "" where it is none.
func safeURL(raw string) string {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || len(u.String()) > maxButtonURL {
		return ""
	}
	return u.String()
}
