package paging

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/alertmanager/config"
	"github.com/prometheus/alertmanager/dispatch"
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
    webhook_configs: [{url: 'http://127.0.0.1/'}]
`

// routing is a checked routing file.
type routing struct{ config *config.Config }

// CheckConfig validates a routing file without applying it; errors name the file and, where the
// parser tells it, the line.
func CheckConfig(text []byte, file string) error {
	_, err := parseRouting(text, file)
	return err
}

func parseRouting(text []byte, file string) (*routing, error) {
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
	for _, r := range cfg.Receivers {
		if err := checkReceiver(r); err != nil {
			return nil, fmt.Errorf("%s: receiver %q: %w", file, r.Name, err)
		}
	}
	return &routing{cfg}, nil
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

// checkReceiver refuses what would silently not happen: only webhooks are delivered, and to our notifier.
func checkReceiver(r config.Receiver) error {
	others := map[string]int{
		"discord_configs": len(r.DiscordConfigs), "email_configs": len(r.EmailConfigs),
		"incidentio_configs": len(r.IncidentioConfigs), "jira_configs": len(r.JiraConfigs),
		"mattermost_configs": len(r.MattermostConfigs), "msteams_configs": len(r.MSTeamsConfigs),
		"msteamsv2_configs": len(r.MSTeamsV2Configs), "opsgenie_configs": len(r.OpsGenieConfigs),
		"pagerduty_configs": len(r.PagerdutyConfigs), "pushover_configs": len(r.PushoverConfigs),
		"rocketchat_configs": len(r.RocketchatConfigs), "slack_configs": len(r.SlackConfigs),
		"sns_configs": len(r.SNSConfigs), "telegram_configs": len(r.TelegramConfigs),
		"victorops_configs": len(r.VictorOpsConfigs), "webex_configs": len(r.WebexConfigs),
		"wechat_configs": len(r.WechatConfigs),
	}
	for kind, n := range others {
		if n > 0 {
			return fmt.Errorf("%s is not used here: the embedded pipeline delivers to leasewatch itself, which tells people by "+
				"its own routes: expected webhook_configs, or run an Alertmanager beside it", kind)
		}
	}
	if len(r.WebhookConfigs) > 1 {
		return errors.New("more than one webhook: all of them are leasewatch itself: expected one")
	}
	return nil
}

// delivers tells whether what the receiver gets is handed on. A webhook that asks not to send
// resolved alerts gets them all the same: without them no incident would ever end.
func delivers(r config.Receiver) bool { return len(r.WebhookConfigs) > 0 }

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
