package server

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// place returns "file:line" of a field ("slack.people.U1.role", "thresholds[0].name"), of the
// nearest thing around it where it is not written, or the file alone.
func (c *Config) place(file, field string) string {
	var document yaml.Node
	if err := yaml.Unmarshal(c.source, &document); err != nil || len(document.Content) == 0 {
		return file // not read from a file
	}
	node, line := document.Content[0], 0
	for step := range strings.FieldsFuncSeq(field, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		if node, line = below(node, step, line); node == nil {
			break
		}
	}
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// below returns the node that a step leads to, and its line; where there is none, nil and the line
// that was.
func below(node *yaml.Node, step string, line int) (*yaml.Node, int) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == step {
				return node.Content[i+1], node.Content[i].Line
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i < len(node.Content) {
			return node.Content[i], node.Content[i].Line
		}
	}
	return nil, line
}
