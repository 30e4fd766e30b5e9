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
	if !c.ScrapeConfigs.IsZero() {
		body, err := yaml.Marshal(&c.ScrapeConfigs)
		if err != nil {
			return out, fmt.Errorf("%s: scrape_configs: %w", file, err)
		}
		// Lines of errors are those of the configuration file.
		out.ScrapeConfigs = append(bytes.Repeat([]byte("\n"), max(c.ScrapeConfigs.Line-1, 0)), body...)
	}
	for _, pattern := range c.RuleFiles {
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
