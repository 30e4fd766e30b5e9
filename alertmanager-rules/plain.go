package alertmanagerrules

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// StoreFailing is the alert that the server hands to paging itself: while it cannot store
// samples, no rule can see that it cannot.
const StoreFailing = "LeasewatchStoreFailing"

// PlainAlert returns the labels, alertname among them, and the annotations of an alert of
// rules/self.yaml about leasewatch itself, whose texts hold no template but those that all alerts
// have: provider, subject and the server's address, url. It is an error where there is no such alert.
func PlainAlert(name, url string) (labels, annotations map[string]string, err error) {
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert               string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(mustRead("rules/self.yaml"), &file); err != nil {
		return nil, nil, fmt.Errorf("rules/self.yaml: %w", err)
	}
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			if rule.Alert != name {
				continue
			}
			plain := strings.NewReplacer(
				`{{ or $labels.provider "unknown" }}`, "unknown",
				`{{ or $labels.host $labels.lease "leasewatch" }}`, "leasewatch",
				"{{ $externalLabels.leasewatch_url }}", url,
			)
			for _, texts := range []map[string]string{rule.Labels, rule.Annotations} {
				for key, text := range texts {
					texts[key] = plain.Replace(text)
				}
			}
			rule.Labels["alertname"] = name
			return rule.Labels, rule.Annotations, nil
		}
	}
	return nil, nil, fmt.Errorf("rules/self.yaml: no alert %s", name)
}
