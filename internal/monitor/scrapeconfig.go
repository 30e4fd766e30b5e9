package monitor

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/prometheus/config"
	// The discovery mechanisms that scrape_configs may use; Kubernetes' would add 26 MB.
	_ "github.com/prometheus/prometheus/discovery/dns"
	_ "github.com/prometheus/prometheus/discovery/file"
	_ "github.com/prometheus/prometheus/discovery/http"
	"go.yaml.in/yaml/v3"
)

// SelfJob and SelfInstance are the labels of the server's own series; a configured job may
// not take that name.
const (
	SelfJob      = "leasewatch"
	SelfInstance = "self"
)

// headerLines is how many lines fullConfig puts ahead of the user's list.
const headerLines = 2

// parseScrape checks the scrape configuration and returns it as the engine wants it.
func parseScrape(o Options) (*config.Config, error) {
	file := o.ScrapeConfigsFile
	if file == "" {
		file = "scrape_configs"
	}
	if err := checkIsList(o.ScrapeConfigs); err != nil {
		return nil, placedError(file, o.ScrapeConfigs, err.Error())
	}
	cfg, err := config.Load(fullConfig(o), slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, placedError(file, o.ScrapeConfigs, shiftLines(err.Error()))
	}
	for _, job := range cfg.ScrapeConfigs {
		if err := checkJob(job, o.Lookback); err != nil {
			return nil, fmt.Errorf("%s: %w", placeOf(file, o.ScrapeConfigs, err.Error()), err)
		}
	}
	cfg.SetDirectory(filepath.Dir(file))
	if o.Self != nil {
		self, err := selfConfig(o)
		if err != nil {
			return nil, err
		}
		cfg.ScrapeConfigs = append(cfg.ScrapeConfigs, self)
	}
	return cfg, nil
}

// checkIsList keeps other sections of Prometheus's configuration out: only a list of jobs is read.
func checkIsList(raw []byte) error {
	var node yaml.Node
	if err := yaml.Unmarshal(raw, &node); err != nil {
		return err
	}
	if node.Kind == 0 || node.Content[0].Tag == "!!null" {
		return nil
	}
	if root := node.Content[0]; root.Kind != yaml.SequenceNode {
		return fmt.Errorf("line %d: scrape_configs is not a list: expected jobs, each starting with \"- job_name: NAME\"", root.Line)
	}
	return nil
}

// fullConfig wraps the list of jobs into a whole Prometheus configuration: headerLines lines, then the list.
func fullConfig(o Options) string {
	return fmt.Sprintf("global: {scrape_interval: %s, scrape_timeout: %s, evaluation_interval: %s}\nscrape_configs:\n%s\n",
		millis(o.ScrapeInterval), millis(min(o.ScrapeInterval, 10*time.Second)), millis(o.EvaluationInterval), o.ScrapeConfigs)
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) + "ms" }

var (
	placedLine   = regexp.MustCompile(`^(?:yaml: )?line (\d+): (.*)$`)
	unknownField = regexp.MustCompile(`^field (\S+) not found in type \S+$`)
)

// placedError says the engine's error with the user's file and line, one line for each place.
func placedError(file string, list []byte, message string) error {
	var errs []error
	for line := range strings.Lines(message) {
		at, line := file, strings.TrimSpace(line)
		if line == "yaml: unmarshal errors:" {
			continue
		}
		if m := placedLine.FindStringSubmatch(line); m != nil {
			at, line = file+":"+m[1], m[2]
		} else {
			at = placeOf(file, list, line)
		}
		if m := unknownField.FindStringSubmatch(line); m != nil {
			line = fmt.Sprintf("unknown field %q, expected one of Prometheus's scrape_configs", m[1])
		}
		if strings.HasPrefix(line, "found multiple scrape configs") {
			line += ", expected each name once"
		}
		if m := noDuration.FindStringSubmatch(line); m != nil {
			line = fmt.Sprintf("found %q, expected a length of time such as 15s", m[1])
		}
		errs = append(errs, fmt.Errorf("%s: %s", at, line))
	}
	return errors.Join(errs...)
}

var lineNumber = regexp.MustCompile(`\bline (\d+)`)

// shiftLines turns the line numbers of fullConfig into those of the user's file.
func shiftLines(message string) string {
	return lineNumber.ReplaceAllStringFunc(message, func(match string) string {
		n, err := strconv.Atoi(strings.TrimPrefix(match, "line "))
		if err != nil || n <= headerLines {
			return match
		}
		return "line " + strconv.Itoa(n-headerLines)
	})
}

func checkJob(job *config.ScrapeConfig, lookback time.Duration) error {
	if job.JobName == SelfJob {
		return fmt.Errorf("job_name %q is taken by the server's own metrics: choose another name", job.JobName)
	}
	if interval := time.Duration(job.ScrapeInterval); interval > MaxScrapeInterval {
		return fmt.Errorf("job %q: scrape_interval is %s, the longest allowed is %s: queries look back %s, so that a dead "+
			"GPU is not shown as live, and two samples must fit into that", job.JobName, interval, MaxScrapeInterval, lookback)
	}
	return nil
}

// selfConfig is the job that scrapes the server's own series; see selfTarget.
func selfConfig(o Options) (*config.ScrapeConfig, error) {
	text := fmt.Sprintf(`scrape_configs:
- job_name: %s
  scrape_interval: %s
  scrape_timeout: %s
  static_configs:
  - targets: ['%s']
    labels: {instance: %s}
`, SelfJob, millis(o.SelfInterval), millis(o.SelfInterval), selfAddress, SelfInstance)
	cfg, err := config.Load(text, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, fmt.Errorf("monitor: configuration of the own job: %w", err)
	}
	return cfg.ScrapeConfigs[0], nil
}
