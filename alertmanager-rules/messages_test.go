package alertmanagerrules

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/template"
)

// texts are the annotations in the order a person reads them.
var texts = []string{"summary", "description", "action", "runbook_url", "summary_zh", "description_zh", "action_zh"}

// expand renders a label or an annotation as the rule engine does.
func expand(t *testing.T, text string, set map[string]string, value float64, query template.QueryFunc) string {
	t.Helper()
	const variables = "{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$externalURL := .ExternalURL}}{{$value := .Value}}"
	external := map[string]string{"leasewatch_url": "https://leasewatch.example"}
	data := template.AlertTemplateData(set, external, "", promql.Sample{F: value})
	out, err := template.NewTemplateExpander(t.Context(), variables+text, "alert", data,
		model.TimeFromUnix(1_750_000_000), query, &url.URL{}, nil).Expand()
	if err != nil {
		t.Errorf("%q: %v", text, err)
	}
	return out
}

func known(value float64) template.QueryFunc {
	return func(context.Context, string, time.Time) (promql.Vector, error) {
		return promql.Vector{{Metric: labels.EmptyLabels(), F: value}}, nil
	}
}

func nothing(context.Context, string, time.Time) (promql.Vector, error) { return nil, nil }

func TestMessagesReadAsTheyShould(t *testing.T) {
	full := map[string]string{
		"host": "gpu-a17", "site": "fra1", "vantage": "host", "uuid": "GPU-1", "gpu": "0", "slot": "3",
		"serial": "1654", "sku": "h100", "lease": "L-7", "tenant": "acme", "provider": "north",
		"state": "unresponsive", "xid": "79", "finding": "remapped_rows", "repair": "channel", "problem": "degraded_bandwidth", "type": "replay",
		"part": "width", "mountpoint": "/data", "device": "mlx5_0", "fstype": "ext4", "port": "1", "way": "receive", "collector": "infiniband",
		"call": "nvmlDeviceGetPowerUsage", "version": "v0.9.0", "nvswitch": "0000:84:00.0", "sxid": "12028", "said": "fatal", "kind": "two_places", "instance": "gpu-a17:19400", "rule_group": "health.yaml;health", "step": "80", "item": "egress",
	}
	values := map[string]float64{
		"LeasewatchXIDFatal": 1_750_000_000, "LeasewatchXIDReset": 1_750_000_000, "LeasewatchXIDTicket": 1_750_000_000,
		"LeasewatchXIDUnlisted": 1_750_000_000, "LeasewatchPagingUndelivered": 1_750_000_000,
		"LeasewatchNVSwitchFatal": 1_750_000_000, "LeasewatchHostClockOffset": 90, "LeasewatchGPUReturnDue": 514, "LeasewatchPCIeBelowMaximum": 0.5,
		"LeasewatchPCIeReplays": 40.2, "LeasewatchNVLinkErrors": 12, "LeasewatchFilesystemFull": 0.03, "LeasewatchHostMemoryPressure": 0.21,
		"LeasewatchHostMemoryCorrupted": 8192, "LeasewatchInfiniBandErrors": 31, "LeasewatchNetworkErrors": 412, "LeasewatchReadingsDropped": 61,
		"LeasewatchPushFailing": 900, "LeasewatchSpoolFilling": 0.91, "LeasewatchSpoolDropped": 40, "LeasewatchDriverChanged": 2, "LeasewatchUnleasedUse": 0.83,
		"LeasewatchTemperatureHigh": 2, "LeasewatchThermalThrottle": 0.12, "LeasewatchAvailabilityBurningFast": 21.4,
		"LeasewatchLeaseIdle": 0.004, "LeasewatchLeaseIdleStill": 0.004, "LeasewatchLeaseIdleTicket": 0.004, "LeasewatchQuotaUsed": 0.83, "LeasewatchRuleEvaluationFailing": 3,
	}
	thresholds := map[string]float64{
		"LeasewatchGPUReturnDue": 512, "LeasewatchPCIeReplays": 30.7, "LeasewatchPCIeErrors": 1, "LeasewatchNVLinkErrors": 1, "LeasewatchFilesystemFull": 0.05,
		"LeasewatchHostMemoryPressure": 0.1, "LeasewatchInfiniBandErrors": 20, "LeasewatchNetworkErrors": 100, "LeasewatchReadingsDropped": 20,
		"LeasewatchPushFailing": 600, "LeasewatchSpoolFilling": 0.8, "LeasewatchUnleasedUse": 0.05, "LeasewatchHostClockFree": 0.5,
		"LeasewatchTemperatureHigh": 3, "LeasewatchThermalThrottle": 0.05, "LeasewatchPagingUndelivered": 60, "LeasewatchHostClockOffset": 5, "LeasewatchRuleEvaluationFailing": 1,
		"LeasewatchAvailabilityBurningFast": 14.4, "LeasewatchAvailabilityBurningSlow": 3,
		"LeasewatchLeaseIdle": 0.01, "LeasewatchLeaseIdleStill": 0.01, "LeasewatchLeaseIdleTicket": 0.01, "LeasewatchBudgetSpent": 0.81, "LeasewatchQuotaUsed": 1.07,
	}
	var page strings.Builder
	for _, r := range alerts(t) {
		value, ok := values[r.Alert]
		if !ok {
			value = 1
		}
		set := full
		switch r.Alert {
		case "LeasewatchXIDReset":
			set = with(full, "xid", "95")
		case "LeasewatchXIDTicket":
			set = with(full, "xid", "94")
		case "LeasewatchXIDUnlisted":
			set = with(full, "xid", "999")
		case "LeasewatchDriverDown":
			set = with(full, "state", "mismatch")
		}
		fmt.Fprintf(&page, "# %s (%s)\n", r.Alert, r.Labels["severity"])
		for _, name := range texts {
			fmt.Fprintf(&page, "%s: %s\n", name, expand(t, r.Annotations[name], set, value, known(thresholds[r.Alert])))
		}
		page.WriteByte('\n')
	}
	golden(t, "testdata/messages.golden", page.String())
}

func TestMessagesAndLabelsHoldWhereEverythingIsMissing(t *testing.T) {
	for _, r := range alerts(t) {
		for _, name := range texts {
			out := expand(t, r.Annotations[name], nil, 1, nothing)
			if strings.Contains(out, "no value") || strings.Contains(out, "nil") || strings.Contains(out, "<error") {
				t.Errorf("%s: %s is %q without labels", r.Alert, name, out)
			}
		}
		if got := expand(t, r.Labels["provider"], nil, 1, nothing); got != "unknown" {
			t.Errorf("%s: provider is %q without labels, expected unknown", r.Alert, got)
		}
		for want, set := range map[string]map[string]string{
			"leasewatch": nil,
			"L-7":        {"lease": "L-7"},
			"gpu-a17":    {"lease": "L-7", "host": "gpu-a17"},
		} {
			if got := expand(t, r.Labels["subject"], set, 1, nothing); got != want {
				t.Errorf("%s: subject is %q with %v, expected %s", r.Alert, got, set, want)
			}
		}
	}
}

func TestAnXIDAlertCarriesTheActionOfItsCode(t *testing.T) {
	byName := map[string]placed{}
	for _, r := range alerts(t) {
		byName[r.Alert] = r
	}
	for _, x := range xids(t) {
		for name, holds := range map[string]bool{
			"LeasewatchXIDFatal":  x.Class == XIDFatal,
			"LeasewatchXIDReset":  x.Class == XIDReset || x.As != 0,
			"LeasewatchXIDTicket": x.Ticket,
		} {
			if !holds {
				continue
			}
			set := map[string]string{"xid": strconv.FormatUint(x.Code, 10)}
			if got := expand(t, byName[name].Annotations["action"], set, 1, nothing); got != x.Action {
				t.Errorf("%s says %q to XID %d, expected %q", name, got, x.Code, x.Action)
			}
			if got := expand(t, byName[name].Annotations["summary"], set, 1, nothing); !strings.Contains(got, x.Meaning) {
				t.Errorf("%s sums XID %d up as %q, expected %q in it", name, x.Code, got, x.Meaning)
			}
		}
	}
}

// TestAlertsPage holds docs/alerts.md, the list of what alerts and for whom, to the rules.
func TestAlertsPage(t *testing.T) {
	var page strings.Builder
	page.WriteString("# Alerts\n\nMade from `alertmanager-rules/` by `go test ./alertmanager-rules -run AlertsPage -update`.\n" +
		"A page wakes the person on call, a ticket waits for the day, a notice only tells.\n" +
		"Thresholds are series: their defaults stand in `rules/defaults.yaml`, and `lease_threshold` of the server overrides them by lease, SKU or site.\n\n" +
		"| alert | severity | for | held | runbook |\n|---|---|---|---|---|\n")
	all := alerts(t)
	slices.SortFunc(all, func(a, b placed) int {
		order := []string{"page", "ticket", "notice"}
		if d := slices.Index(order, a.Labels["severity"]) - slices.Index(order, b.Labels["severity"]); d != 0 {
			return d
		}
		return strings.Compare(a.Alert, b.Alert)
	})
	for _, r := range all {
		held := "at once"
		if r.For > 0 {
			held = r.For.String()
		}
		_, runbook, _ := strings.Cut(r.Annotations["runbook_url"], "/runbooks/")
		fmt.Fprintf(&page, "| %s | %s | %s | %s | [%s](../alertmanager-rules/runbooks/%s.md) |\n",
			r.Alert, r.Labels["severity"], r.Labels["audience"], held, runbook, runbook)
	}
	page.WriteString("\n## Series the server gives to the rules\n\n| series | labels | what |\n|---|---|---|\n")
	for _, s := range ServerSeries() {
		fmt.Fprintf(&page, "| `%s` | %s | %s |\n", s.Name, strings.Join(s.Labels, ", "), s.Help)
	}
	page.WriteString("\n## XID codes\n\nAn XID alone is never downtime. A code that is not listed opens a ticket.\n\n" +
		"| XID | class | fault | opens | meaning | first act |\n|---|---|---|---|---|---|\n")
	for _, x := range xids(t) {
		opens := ""
		switch {
		case x.Pages():
			opens = "page"
		case x.Ticket:
			opens = "ticket"
		}
		fmt.Fprintf(&page, "| %d | %s | %s | %s | %s | %s |\n", x.Code, x.Class, x.Fault, opens, x.Meaning, x.Action)
	}
	golden(t, "../docs/alerts.md", page.String())
}

func with(set map[string]string, name, value string) map[string]string {
	changed := map[string]string{name: value}
	for k, v := range set {
		if k != name {
			changed[k] = v
		}
	}
	return changed
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what the rules make; look at the difference after go test ./alertmanager-rules -update\n%s", file, got)
	}
}
