package alertmanagerrules

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// namesRead returns the names that some rule picks from a series of thresholds.
func namesRead(series string) []string {
	read := regexp.MustCompile(regexp.QuoteMeta(series) + `\{name="([a-z_]+)"`)
	var names []string
	for _, body := range Rules() {
		for _, match := range read.FindAllStringSubmatch(string(body), -1) {
			names = append(names, match[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestEveryThresholdThatMayBeOverriddenHasADefaultAndIsRead(t *testing.T) {
	if got := namesRead("lease_threshold:max"); !slices.Equal(got, Thresholds()) {
		t.Errorf("the rules read %v, Thresholds gives %v", got, Thresholds())
	}
	wide := slices.DeleteFunc(namesRead("threshold:in_force"), func(name string) bool { return slices.Contains(Thresholds(), name) })
	if !slices.Equal(wide, WideThresholds()) {
		t.Errorf("the rules read %v for the installation, WideThresholds gives %v", wide, WideThresholds())
	}
	defaults := string(Rules()["defaults.yaml"])
	for _, name := range slices.Concat(Thresholds(), WideThresholds()) {
		if !strings.Contains(defaults, "name: "+name+"\n") {
			t.Errorf("threshold %s has no default in rules/defaults.yaml", name)
		}
	}
}
