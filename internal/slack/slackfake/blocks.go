package slackfake

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Slack's limits, in characters and counts.
const (
	maxBlocks        = 50
	maxSectionText   = 3000
	maxField         = 2000
	maxFields        = 10
	maxHeader        = 150
	maxContext       = 10
	maxActions       = 25
	maxButtonText    = 75
	maxButtonValue   = 2000
	maxButtonURL     = 3000
	maxID            = 255
	maxBlockID       = 255
	maxAllBlocksText = 13_200 // not documented; seen as msg_blocks_too_long
)

// checker gathers what is wrong with the blocks of a message.
type checker struct {
	problems []string
	blockIDs map[string]bool
	chars    int
}

// checkBlocks returns Slack's word for blocks that it would refuse, with the reasons; "" for
// blocks that it would take.
func checkBlocks(raw []byte) (code string, details []string) {
	var blocks []map[string]any
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return "invalid_blocks_format", []string{err.Error()}
	}
	c := &checker{blockIDs: map[string]bool{}}
	if len(blocks) > maxBlocks {
		c.problemf("/blocks", "no more than %d items allowed", maxBlocks)
	}
	for i, block := range blocks {
		c.block(fmt.Sprintf("/blocks/%d", i), block)
	}
	switch {
	case len(c.problems) > 0:
		return "invalid_blocks", c.problems
	case c.chars > maxAllBlocksText:
		return "msg_blocks_too_long", nil
	}
	return "", nil
}

func (c *checker) problemf(at, format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf("[ERROR] %s [json-pointer:%s]", fmt.Sprintf(format, args...), at))
}

// fields refuses what a block or element of this kind does not have.
func (c *checker) fields(at string, object map[string]any, allowed ...string) {
	for name := range object {
		if !slices.Contains(allowed, name) {
			c.problemf(at, "invalid additional property: %s", name)
		}
	}
}

// text checks a string of 1 to limit characters and counts it.
func (c *checker) text(at string, value any, limit int) {
	text, ok := value.(string)
	switch n := utf8.RuneCountInString(text); {
	case !ok:
		c.problemf(at, "must be a string")
	case n < 1:
		c.problemf(at, "must be more than 0 characters")
	case n > limit:
		c.problemf(at, "must be less than %d characters", limit+1)
	default:
		c.chars += n
	}
}

// optional checks a string that may be missing.
func (c *checker) optional(at string, object map[string]any, name string, limit int) {
	if value, ok := object[name]; ok && value != "" {
		before := c.chars
		c.text(at+"/"+name, value, limit)
		c.chars = before // ids and addresses are no shown text
	}
}

// object checks a text object.
func (c *checker) object(at string, value any, limit int, kinds ...string) {
	object, ok := value.(map[string]any)
	if !ok {
		c.problemf(at, "must be a text object")
		return
	}
	c.fields(at, object, "type", "text", "emoji", "verbatim")
	if kind, _ := object["type"].(string); !slices.Contains(kinds, kind) {
		c.problemf(at, "unsupported type: %v", object["type"])
	}
	c.text(at+"/text", object["text"], limit)
}

func list(object map[string]any, name string) []map[string]any {
	values, _ := object[name].([]any)
	out := make([]map[string]any, 0, len(values))
	for _, value := range values {
		item, _ := value.(map[string]any)
		out = append(out, item)
	}
	return out
}

func (c *checker) block(at string, block map[string]any) {
	if id, _ := block["block_id"].(string); id != "" {
		if len(id) > maxBlockID {
			c.problemf(at+"/block_id", "must be less than %d characters", maxBlockID+1)
		}
		if c.blockIDs[id] {
			c.problemf(at+"/block_id", "`block_id` needs to be unique per message: %s", id)
		}
		c.blockIDs[id] = true
	}
	switch block["type"] {
	case "divider":
		c.fields(at, block, "type", "block_id")
	case "header":
		c.fields(at, block, "type", "block_id", "text")
		c.object(at+"/text", block["text"], maxHeader, "plain_text")
	case "section":
		c.section(at, block)
	case "context":
		c.fields(at, block, "type", "block_id", "elements")
		c.count(at, list(block, "elements"), maxContext)
		for i, element := range list(block, "elements") {
			c.object(fmt.Sprintf("%s/elements/%d", at, i), element, maxSectionText, "plain_text", "mrkdwn")
		}
	case "actions":
		c.actions(at, block)
	case "rich_text":
		c.fields(at, block, "type", "block_id", "elements")
		c.count(at, list(block, "elements"), 1000)
		for i, element := range list(block, "elements") {
			c.richText(fmt.Sprintf("%s/elements/%d", at, i), element)
		}
	default:
		c.problemf(at, "unsupported type: %v", block["type"])
	}
}

func (c *checker) count(at string, elements []map[string]any, most int) {
	if len(elements) < 1 {
		c.problemf(at+"/elements", "no fewer than 1 items allowed")
	}
	if len(elements) > most {
		c.problemf(at+"/elements", "no more than %d items allowed", most)
	}
}

func (c *checker) section(at string, block map[string]any) {
	c.fields(at, block, "type", "block_id", "text", "fields", "accessory", "expand")
	fields := list(block, "fields")
	if block["text"] == nil && len(fields) == 0 {
		c.problemf(at, "must have text or fields")
	}
	if block["text"] != nil {
		c.object(at+"/text", block["text"], maxSectionText, "plain_text", "mrkdwn")
	}
	if len(fields) > maxFields {
		c.problemf(at+"/fields", "no more than %d items allowed", maxFields)
	}
	for i, field := range fields {
		c.object(fmt.Sprintf("%s/fields/%d", at, i), field, maxField, "plain_text", "mrkdwn")
	}
}

func (c *checker) actions(at string, block map[string]any) {
	c.fields(at, block, "type", "block_id", "elements")
	elements := list(block, "elements")
	c.count(at, elements, maxActions)
	seen := map[any]bool{}
	for i, element := range elements {
		at := fmt.Sprintf("%s/elements/%d", at, i)
		if element["type"] != "button" {
			c.problemf(at, "unsupported type: %v", element["type"])
			continue
		}
		c.fields(at, element, "type", "text", "action_id", "url", "value", "style", "confirm", "accessibility_label")
		c.object(at+"/text", element["text"], maxButtonText, "plain_text")
		c.optional(at, element, "action_id", maxID)
		c.optional(at, element, "value", maxButtonValue)
		c.optional(at, element, "url", maxButtonURL)
		if style, ok := element["style"]; ok && style != "primary" && style != "danger" {
			c.problemf(at+"/style", "must be primary or danger")
		}
		if id := element["action_id"]; id != nil {
			if seen[id] {
				c.problemf(at+"/action_id", "`action_id` needs to be unique per block: %v", id)
			}
			seen[id] = true
		}
	}
}

// richText checks a section, a list, a quote or preformatted text.
func (c *checker) richText(at string, element map[string]any) {
	switch element["type"] {
	case "rich_text_section", "rich_text_quote", "rich_text_preformatted":
		c.fields(at, element, "type", "elements", "border")
		for i, part := range list(element, "elements") {
			c.richPart(fmt.Sprintf("%s/elements/%d", at, i), part)
		}
	case "rich_text_list":
		c.fields(at, element, "type", "elements", "style", "indent", "offset", "border")
		if style := element["style"]; style != "bullet" && style != "ordered" {
			c.problemf(at+"/style", "must be bullet or ordered")
		}
		for i, item := range list(element, "elements") {
			if item["type"] != "rich_text_section" {
				c.problemf(at, "a list holds sections, found %v", item["type"])
			}
			c.richText(fmt.Sprintf("%s/elements/%d", at, i), item)
		}
	default:
		c.problemf(at, "unsupported type: %v", element["type"])
	}
}

func (c *checker) richPart(at string, part map[string]any) {
	switch part["type"] {
	case "text":
		c.fields(at, part, "type", "text", "style")
		c.text(at+"/text", part["text"], maxAllBlocksText)
	case "link":
		c.fields(at, part, "type", "url", "text", "style", "unsafe")
		c.optional(at, part, "url", maxButtonURL)
	case "user":
		c.fields(at, part, "type", "user_id", "style")
		c.text(at+"/user_id", part["user_id"], maxID)
	case "usergroup":
		c.fields(at, part, "type", "usergroup_id", "style")
		c.text(at+"/usergroup_id", part["usergroup_id"], maxID)
	case "broadcast":
		c.fields(at, part, "type", "range", "style")
		if part["range"] != "here" && part["range"] != "channel" && part["range"] != "everyone" {
			c.problemf(at+"/range", "must be here, channel or everyone")
		}
	default:
		c.problemf(at, "unsupported type: %v", part["type"])
	}
}
