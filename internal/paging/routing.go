package paging

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/alertmanager/config"
	"github.com/prometheus/alertmanager/dispatch"
	"github.com/prometheus/alertmanager/notify"
	"github.com/prometheus/alertmanager/template"
	"github.com/prometheus/alertmanager/timeinterval"
)

// DefaultConfig groups by provider, severity and subject, and pages at once. It is used where no
// routing file is given; the one in alertmanager-rules adds inhibition.
const DefaultConfig = `
route:
  receiver: leasewatch
  group_by: [provider, severity, subject]
  group_wait: 10s
  group_interval: 5s
  repeat_interval: 24h
  routes:
    - matchers: ['severity = "page"']
      receiver: leasewatch
      group_wait: 0s
receivers:
  - name: leasewatch
    webhook_configs: [{url: 'http://127.0.0.1:8080/api/v1/webhook/alertmanager'}]
`

// routing is a checked routing file.
type routing struct {
	config *config.Config
	texts  *template.Template
	// ways are the integrations of each receiver that lead to others than leasewatch itself.
	ways map[string][]notify.Integration
}

// CheckConfig validates a routing file without applying it; errors name the file and, where the
// parser tells it, the line.
func CheckConfig(text []byte, file string) error {
	_, err := parseRouting(text, file, slog.New(slog.DiscardHandler))
	return err
}

func parseRouting(text []byte, file string, logger *slog.Logger) (*routing, error) {
	if len(text) == 0 {
		text = []byte(DefaultConfig)
	}
	if file == "" {
		file = "alertmanager.yaml"
	}
	cfg, err := config.Load(string(text))
	if err != nil {
		return nil, placed(file, err)
	}
	texts, err := wordings(cfg, file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	out, err := ways(cfg, texts, logger)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if !slices.ContainsFunc(cfg.Receivers, delivers) {
		return nil, fmt.Errorf("%s: no receiver is leasewatch itself, so that no incident would ever open: expected one with webhook_configs: [{url: 'http://127.0.0.1:8080%s'}]", file, WebhookPath)
	}
	return &routing{config: cfg, texts: texts, ways: out}, nil
}

var (
	yamlLine    = regexp.MustCompile(`^(?:yaml: )?line (\d+): (.*)$`)
	yamlUnknown = regexp.MustCompile(`^field (\S+) not found in type \S+$`)
)

// placed says the parser's error with its file and, where the parser tells it, its line.
func placed(file string, err error) error {
	var errs []error
	for line := range strings.Lines(err.Error()) {
		at, line := file, strings.TrimSpace(line)
		if line == "yaml: unmarshal errors:" {
			continue
		}
		if m := yamlLine.FindStringSubmatch(line); m != nil {
			at, line = file+":"+m[1], m[2]
		}
		if m := yamlUnknown.FindStringSubmatch(line); m != nil {
			line = fmt.Sprintf("unknown field %q, expected one of Alertmanager's configuration", m[1])
		}
		errs = append(errs, fmt.Errorf("%s: %s", at, line))
	}
	return errors.Join(errs...)
}

// delivers tells whether what the receiver gets is handed to leasewatch itself. A webhook that asks
// not to send resolved alerts gets them all the same: without them no incident would ever end.
func delivers(r config.Receiver) bool {
	own, _ := split(r)
	return own > 0
}

// retention is how long the state of a notification is kept: longer than the longest repeat, which renews it.
func (r *routing) retention() time.Duration {
	longest := silenceRetention
	dispatch.NewRoute(r.config.Route, nil).Walk(func(route *dispatch.Route) {
		longest = max(longest, 4*route.RouteOpts.RepeatInterval)
	})
	return longest
}

// timeMuter knows the time intervals that routes are muted or active in.
func (r *routing) timeMuter() *timeinterval.Intervener {
	intervals := map[string][]timeinterval.TimeInterval{}
	for _, i := range r.config.MuteTimeIntervals {
		intervals[i.Name] = i.TimeIntervals
	}
	for _, i := range r.config.TimeIntervals {
		intervals[i.Name] = i.TimeIntervals
	}
	return timeinterval.NewIntervener(intervals)
}

// GroupKey is the key of an incident: the receiver with its group labels in order of their names.
// It does not change with the routing, and is the same for the embedded pipeline and a webhook.
func GroupKey(receiver string, labels map[string]string) string {
	var b strings.Builder
	b.WriteString(receiver)
	b.WriteByte('{')
	for i, name := range sortedNames(labels) {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%s=%q", name, labels[name])
	}
	b.WriteByte('}')
	return b.String()
}
