package alertmanagerrules

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestEveryThresholdThatMayBeOverriddenHasADefaultAndIsRead(t *testing.T) {
	read := regexp.MustCompile(`lease_threshold:max\{name="([a-z_]+)"`)
	var names []string
	for _, body := range Rules() {
		for _, match := range read.FindAllStringSubmatch(string(body), -1) {
			names = append(names, match[1])
		}
	}
	slices.Sort(names)
	if got := slices.Compact(names); !slices.Equal(got, Thresholds()) {
		t.Errorf("the rules read %v, Thresholds gives %v", got, Thresholds())
	}
	defaults := string(Rules()["defaults.yaml"])
	for _, name := range Thresholds() {
		if !strings.Contains(defaults, "name: "+name+"\n") {
			t.Errorf("threshold %s has no default in rules/defaults.yaml", name)
		}
	}
}
