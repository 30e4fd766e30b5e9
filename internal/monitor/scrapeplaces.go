package monitor

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// What the engine says of a job without its line.
var (
	ofJob      = regexp.MustCompile(`job(?:[_ ]name)? "((?:[^"\\]|\\.)*)"`)
	noDuration = regexp.MustCompile(`^(?:not a valid duration string: "(.*)"|empty duration string)$`)
)

// placeOf returns "file:line" of what a message without a line is about: the job that it names,
// there the field, or the length of time that is none. It returns the file alone where that
// cannot be told.
func placeOf(file string, list []byte, message string) string {
	var document yaml.Node
	if err := yaml.Unmarshal(list, &document); err != nil || len(document.Content) == 0 {
		return file
	}
	line := 0
	if m := noDuration.FindStringSubmatch(message); m != nil {
		line = lineOfLength(document.Content[0], m[1])
	} else if m := ofJob.FindStringSubmatch(message); m != nil {
		if name, err := strconv.Unquote(`"` + m[1] + `"`); err == nil {
			line = lineOfJob(document.Content[0].Content, name, message)
		}
	}
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// lineOfJob returns the line of the field that the message speaks of in the last job of that name
// (of two jobs with one name the later is in the way), or of its name.
func lineOfJob(jobs []*yaml.Node, name, message string) int {
	line := 0
	for _, job := range jobs {
		if named := valueOf(job, "job_name"); named == nil || named.Value != name {
			continue
		}
		line = valueOf(job, "job_name").Line
		for _, field := range []string{"scrape_timeout", "scrape_interval"} {
			if value := valueOf(job, field); value != nil && strings.Contains(strings.ReplaceAll(message, " ", "_"), field) {
				line = value.Line
				break
			}
		}
	}
	return line
}

func valueOf(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// lineOfLength returns the line of the first interval or timeout that is written so.
func lineOfLength(node *yaml.Node, text string) int {
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 1 && child.Kind == yaml.ScalarNode && child.Value == text &&
			(strings.HasSuffix(node.Content[i-1].Value, "interval") || strings.HasSuffix(node.Content[i-1].Value, "timeout")) {
			return child.Line
		}
		if line := lineOfLength(child, text); line != 0 {
			return line
		}
	}
	return 0
}
