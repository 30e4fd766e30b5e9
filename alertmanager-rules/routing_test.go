package alertmanagerrules

import (
	"strings"
	"testing"

	"github.com/prometheus/alertmanager/config"
	amcommoncfg "github.com/prometheus/alertmanager/config/common"
	"github.com/prometheus/alertmanager/pkg/labels"
	"github.com/prometheus/common/model"
)

func set(alert string, more ...string) model.LabelSet {
	labelled := model.LabelSet{"alertname": model.LabelValue(alert)}
	for i := 0; i < len(more); i += 2 {
		labelled[model.LabelName(more[i])] = model.LabelValue(more[i+1])
	}
	return labelled
}

// silences tells whether an alert inhibits another, by the rules as Alertmanager reads them:
// a missing label equals an empty one.
func silences(rules []amcommoncfg.InhibitRule, source, target model.LabelSet) bool {
	for _, rule := range rules {
		if !labels.Matchers(rule.SourceMatchers).Matches(source) || !labels.Matchers(rule.TargetMatchers).Matches(target) {
			continue
		}
		equal := true
		for _, name := range rule.Equal {
			equal = equal && source[model.LabelName(name)] == target[model.LabelName(name)]
		}
		if equal {
			return true
		}
	}
	return false
}

func TestOneCauseIsOnePage(t *testing.T) {
	routing, err := config.Load(string(AlertmanagerConfig()))
	if err != nil {
		t.Fatal(err)
	}
	const a, b = "gpu-a17", "gpu-a18"
	hot := func(host, uuid string) model.LabelSet {
		return set("LeasewatchTemperatureHigh", "host", host, "uuid", uuid)
	}
	for name, c := range map[string]struct {
		source, target model.LabelSet
		want           bool
	}{
		"a silent host hides the alerts of its GPUs":       {set("LeasewatchHostSilent", "host", a), hot(a, "GPU-1"), true},
		"a silent host hides its exporter":                 {set("LeasewatchHostSilent", "host", a), set("LeasewatchExporterDown", "host", a), true},
		"a silent host hides nothing of another":           {set("LeasewatchHostSilent", "host", a), hot(b, "GPU-9"), false},
		"a silent host does not hide itself":               {set("LeasewatchHostSilent", "host", a), set("LeasewatchHostSilent", "host", a), false},
		"a silent host does not hide a lease's budget":     {set("LeasewatchHostSilent", "host", a), set("LeasewatchAvailabilityBurningFast", "lease", "L-7"), false},
		"a driver that is down hides the GPUs":             {set("LeasewatchDriverDown", "host", a), set("LeasewatchGPULost", "host", a, "uuid", "GPU-1"), true},
		"a driver that is down does not hide the host":     {set("LeasewatchDriverDown", "host", a), set("LeasewatchHostSilent", "host", a), false},
		"a lost GPU hides its own XID":                     {set("LeasewatchGPULost", "host", a, "uuid", "GPU-1"), set("LeasewatchXIDFatal", "host", a, "uuid", "GPU-1"), true},
		"a lost GPU does not hide its neighbour":           {set("LeasewatchGPULost", "host", a, "uuid", "GPU-1"), hot(a, "GPU-2"), false},
		"a lost GPU does not hide what has no GPU":         {set("LeasewatchGPULost", "host", a, "uuid", "GPU-1"), set("LeasewatchPagingUndelivered"), false},
		"the second idle notice hides the first":           {set("LeasewatchLeaseIdleStill", "lease", "L-7"), set("LeasewatchLeaseIdle", "lease", "L-7"), true},
		"the idle ticket hides both notices":               {set("LeasewatchLeaseIdleTicket", "lease", "L-7"), set("LeasewatchLeaseIdleStill", "lease", "L-7"), true},
		"an idle lease does not hide another":              {set("LeasewatchLeaseIdleTicket", "lease", "L-7"), set("LeasewatchLeaseIdle", "lease", "L-8"), false},
		"a budget that burns fast hides its slow burning":  {set("LeasewatchAvailabilityBurningFast", "lease", "L-7"), set("LeasewatchAvailabilityBurningSlow", "lease", "L-7"), true},
		"a switch that failed hides the links of its host": {set("LeasewatchNVSwitchFatal", "host", a), set("LeasewatchNVLinkMissing", "host", a, "uuid", "GPU-1"), true},
		"a switch that failed does not hide a lost GPU":    {set("LeasewatchNVSwitchFatal", "host", a), set("LeasewatchGPULost", "host", a, "uuid", "GPU-1"), false},
		"a switch hides nothing of another host":           {set("LeasewatchNVSwitchFatal", "host", a), set("LeasewatchNVLinkMissing", "host", b, "uuid", "GPU-9"), false},
		"a port that is down hides its own errors":         {set("LeasewatchInfiniBandDown", "host", a, "device", "mlx5_0", "port", "1"), set("LeasewatchInfiniBandErrors", "host", a, "device", "mlx5_0", "port", "1"), true},
		"a port does not hide another":                     {set("LeasewatchInfiniBandDown", "host", a, "device", "mlx5_0", "port", "1"), set("LeasewatchInfiniBandErrors", "host", a, "device", "mlx5_1", "port", "1"), false},
		"a silent host hides its missing GPUs":             {set("LeasewatchHostSilent", "host", a), set("LeasewatchGPUMissing", "host", a), true},
		"a card to return hides its pending repair":        {set("LeasewatchGPUReturnDue", "host", a, "uuid", "GPU-1"), set("LeasewatchGPURepairPending", "host", a, "uuid", "GPU-1"), true},
		"a wrong clock hides that nobody keeps it":         {set("LeasewatchHostClockOffset", "host", a), set("LeasewatchHostClockFree", "host", a), true},
		"a spool that drops hides that it is nearly full":  {set("LeasewatchSpoolDropped", "host", a), set("LeasewatchSpoolFilling", "host", a), true},
		"nothing hides an undelivered page":                {set("LeasewatchHostSilent", "host", a), set("LeasewatchPagingUndelivered"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := silences(routing.InhibitRules, c.source, c.target); got != c.want {
				t.Errorf("%v hides %v: %t, expected %t", c.source, c.target, got, c.want)
			}
		})
	}
}

func TestInhibitionAndRoutesNameAlertsThatExist(t *testing.T) {
	routing, err := config.Load(string(AlertmanagerConfig()))
	if err != nil {
		t.Fatal(err)
	}
	known := map[model.LabelValue]bool{}
	for _, r := range alerts(t) {
		known[model.LabelValue(r.Alert)] = true
	}
	for _, rule := range routing.InhibitRules {
		for _, m := range rule.SourceMatchers {
			for name := range strings.SplitSeq(m.Value, "|") {
				if m.Name == "alertname" && !known[model.LabelValue(name)] {
					t.Errorf("inhibition by %s, which no rule raises", name)
				}
			}
		}
	}
	for _, route := range routing.Route.Routes {
		for _, m := range route.Matchers {
			if m.Name == "alertname" && !known[model.LabelValue(m.Value)] {
				t.Errorf("a route for %s, which no rule raises", m.Value)
			}
		}
	}
}
