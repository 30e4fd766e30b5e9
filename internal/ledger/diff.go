package ledger

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// diff returns one line a field that differs between two JSON objects: "end: open -> 2026-05-31T00:00:00Z".
func diff(old, new []byte) (string, error) {
	was, err := flatten(old)
	if err != nil {
		return "", err
	}
	is, err := flatten(new)
	if err != nil {
		return "", err
	}
	var lines []string
	for path, value := range is {
		if before, ok := was[path]; !ok {
			lines = append(lines, fmt.Sprintf("%s: %s (new)", path, value))
		} else if before != value {
			lines = append(lines, fmt.Sprintf("%s: %s -> %s", path, before, value))
		}
	}
	for path, value := range was {
		if _, ok := is[path]; !ok {
			lines = append(lines, fmt.Sprintf("%s: %s (removed)", path, value))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n"), nil
}

// flatten turns a JSON object into its leaves by path ("plan.prices[0].price").
func flatten(body []byte) (map[string]string, error) {
	var root any
	if err := json.Unmarshal(body, &root); err != nil {
		return nil, fmt.Errorf("diff: %w", err)
	}
	leaves := map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, child := range v {
				walk(strings.TrimPrefix(path+"."+key, "."), child)
			}
		case []any:
			for i, child := range v {
				walk(fmt.Sprintf("%s[%d]", path, i), child)
			}
		case string:
			leaves[path] = v
		default:
			text, _ := json.Marshal(v) // null, numbers and booleans always marshal
			leaves[path] = string(text)
		}
	}
	walk("", root)
	return leaves, nil
}
