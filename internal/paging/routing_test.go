package paging

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/testenv"
)

func TestReloadKeepsKeysAndTellsNobodyAgain(t *testing.T) {
	var d desk
	p := startPager(t, &d, nil)
	put(t, p, firing("GPULost", "h1", "GPU-1"))
	eventually(t, "the group arrives", func() bool { return len(d.got(keyOf("h1"))) == 1 })
	if err := p.Reload([]byte("route: {receiver: nobody}\n"), "routing.yaml"); err == nil || !strings.Contains(err.Error(), "routing.yaml") {
		t.Errorf("%v, expected an error that names the file", err)
	}
	nested := strings.Replace(quickConfig, "inhibit_rules:", "  routes: [{matchers: ['severity = \"page\"'], receiver: leasewatch}]\ninhibit_rules:", 1)
	if err := p.Reload([]byte(nested), "routing.yaml"); err != nil {
		t.Fatal(err)
	}
	put(t, p, firing("GPUHot", "h1", "GPU-2"))
	eventually(t, "the next change has the same key", func() bool { return len(last(d.got(keyOf("h1"))).Alerts) == 2 })
}

func TestRoutingThatWouldSilentlyDoNothingIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, word string }{
		"twice leasewatch":         {"route: {receiver: a}\nreceivers: [{name: a, webhook_configs: [{url: 'http://a/api/v1/webhook/alertmanager'}, {url: 'http://b/api/v1/webhook/alertmanager'}]}]\n", "more than one"},
		"a template that is wrong": {"route: {receiver: a}\nreceivers: [{name: a}]\ntemplates: [testdata/wrong.tmpl]\n", "wrong.tmpl"},
		"a receiver without a key": {"route: {receiver: a}\nreceivers: [{name: a, pagerduty_configs: [{}]}]\n", "routing key"},
		"nobody to open incidents": {"route: {receiver: a}\nreceivers: [{name: a, webhook_configs: [{url: 'http://127.0.0.1/'}]}]\n", WebhookPath},
		"an unknown field":         {"route: {receiver: a, group_bye: []}\nreceivers: [{name: a}]\n", "group_bye"},
		"an unknown receiver":      {"route: {receiver: b}\nreceivers: [{name: a}]\n", `"b"`},
	} {
		if err := CheckConfig([]byte(c.text), "routing.yaml"); err == nil || !strings.Contains(err.Error(), c.word) || !strings.Contains(err.Error(), "routing.yaml") {
			t.Errorf("%s: %v, expected an error that names the file and %s", name, err, c.word)
		}
	}
	if err := CheckConfig(nil, ""); err != nil {
		t.Errorf("the default: %v", err)
	}
	rules := filepath.Join(testenv.Root(t), "alertmanager-rules", "alertmanager.yaml")
	text, err := os.ReadFile(rules)
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckConfig(text, rules); err != nil {
		t.Errorf("the file that comes with leasewatch: %v", err)
	}
}
