package slackfake

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Rendered returns a message as text for a terminal: its blocks line by line, buttons in
// brackets, calls with an @; the message's own text where it has no blocks.
func (m Message) Rendered() string {
	var blocks []map[string]any
	if json.Unmarshal(m.Blocks, &blocks) != nil || len(blocks) == 0 {
		return unescape(m.Text)
	}
	var lines []string
	for _, block := range blocks {
		switch block["type"] {
		case "header", "section":
			if text := textOf(block["text"]); text != "" {
				lines = append(lines, text)
			}
			for _, field := range list(block, "fields") {
				lines = append(lines, textOf(field))
			}
		case "context":
			for _, element := range list(block, "elements") {
				lines = append(lines, textOf(element))
			}
		case "actions":
			var buttons []string
			for _, element := range list(block, "elements") {
				button := "[" + textOf(element["text"]) + "]"
				if address, _ := element["url"].(string); address != "" {
					button += " " + address
				}
				buttons = append(buttons, button)
			}
			lines = append(lines, strings.Join(buttons, "  "))
		case "rich_text":
			for _, element := range list(block, "elements") {
				lines = append(lines, richLines(element)...)
			}
		case "divider":
			lines = append(lines, "---")
		}
	}
	return strings.Join(lines, "\n")
}

// Mentions returns whom a message calls: "here", "channel", "everyone" or ids.
func (m Message) Mentions() []string {
	var found []string
	var walk func(any)
	walk = func(value any) {
		switch v := value.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			switch v["type"] {
			case "broadcast":
				found = append(found, fmt.Sprint(v["range"]))
			case "user":
				found = append(found, fmt.Sprint(v["user_id"]))
			case "usergroup":
				found = append(found, fmt.Sprint(v["usergroup_id"]))
			case "mrkdwn":
				if text, _ := v["text"].(string); strings.Contains(text, "<!") || strings.Contains(text, "<@") {
					found = append(found, text)
				}
			}
			walk(v["elements"])
			walk(v["text"])
			walk(v["fields"])
		}
	}
	var blocks []any
	if json.Unmarshal(m.Blocks, &blocks) == nil {
		walk(blocks)
	}
	if strings.Contains(m.Text, "<!") || strings.Contains(m.Text, "<@") {
		found = append(found, m.Text)
	}
	return found
}

// HasButton tells whether the message has a button with the action id.
func (m Message) HasButton(actionID string) bool { return findButton(m.Blocks, actionID) != nil }

func richLines(element map[string]any) []string {
	if element["type"] != "rich_text_list" {
		return []string{richText(element)}
	}
	var lines []string
	for i, item := range list(element, "elements") {
		mark := "• "
		if element["style"] == "ordered" {
			mark = fmt.Sprintf("%d. ", i+1)
		}
		lines = append(lines, mark+richText(item))
	}
	return lines
}

func richText(section map[string]any) string {
	var b strings.Builder
	for _, part := range list(section, "elements") {
		switch part["type"] {
		case "text":
			fmt.Fprint(&b, part["text"])
		case "link":
			fmt.Fprint(&b, part["url"])
		case "broadcast":
			fmt.Fprint(&b, "@", part["range"])
		case "user":
			fmt.Fprint(&b, "@", part["user_id"])
		case "usergroup":
			fmt.Fprint(&b, "@", part["usergroup_id"])
		}
	}
	return b.String()
}

func textOf(value any) string {
	object, _ := value.(map[string]any)
	text, _ := object["text"].(string)
	if object["type"] == "mrkdwn" {
		return unescape(text)
	}
	return text
}

func unescape(text string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&", "\u2060", "").Replace(text)
}
