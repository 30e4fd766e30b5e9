package server

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	alertmanagerrules "github.com/leasewatch/leasewatch/alertmanager-rules"
	"github.com/leasewatch/leasewatch/internal/monitor"
)

func builtInRouting() []byte { return alertmanagerrules.AlertmanagerConfig() }

// monitorConfig is the part of the configuration that the monitor reads: the scrape
// configurations as they stand in the file, and the rules.
func (c *Config) monitorConfig(file string) (monitor.Config, error) {
	out := monitor.Config{ScrapeConfigsFile: file, RuleFiles: alertmanagerrules.Rules()}
	var err error
	if out.ScrapeConfigs, err = c.scrapeConfigs(); err != nil {
		return out, fmt.Errorf("%s: scrape_configs: %w", file, err)
	}
	for i, pattern := range c.RuleFiles {
		file := c.place(file, fmt.Sprintf("rule_files[%d]", i))
		found, err := filepath.Glob(c.path(pattern))
		if err != nil {
			return out, fmt.Errorf("%s: rule_files: %q: %w", file, pattern, err)
		}
		if len(found) == 0 {
			return out, fmt.Errorf("%s: rule_files: %q: no such file; expected a rule file or a pattern that matches some", file, pattern)
		}
		for _, name := range found {
			body, err := os.ReadFile(name)
			if err != nil {
				return out, fmt.Errorf("%s: rule_files: %w", file, err)
			}
			out.RuleFiles[name] = body
		}
	}
	return out, nil
}

// scrapeConfigs is the list of jobs as it stands in the file, below as many empty lines as
// stand before it there: lines of errors are those of the configuration file.
func (c *Config) scrapeConfigs() ([]byte, error) {
	list := c.ScrapeConfigs
	if list.IsZero() || list.Tag == "!!null" {
		return nil, nil
	}
	var document yaml.Node
	if err := yaml.Unmarshal(c.source, &document); err != nil || len(document.Content) == 0 {
		return yaml.Marshal(&list) // not read from a file
	}
	lines := bytes.SplitAfter(c.source, []byte("\n"))
	end := len(lines)
	keys := document.Content[0].Content
	for i := 0; i < len(keys); i += 2 {
		if line := keys[i].Line; line > list.Line && line-1 < end {
			end = line - 1
		}
	}
	var out bytes.Buffer
	out.Write(bytes.Repeat([]byte("\n"), list.Line-1))
	out.Write(bytes.Repeat([]byte(" "), list.Column-1))
	out.Write(lines[list.Line-1][list.Column-1:])
	out.Write(bytes.Join(lines[list.Line:end], nil))
	return out.Bytes(), nil
}
