package alertmanagerrules

import (
	"strings"
	"testing"
)

func TestTheAlertThatTheServerTellsItselfNeedsNoTemplate(t *testing.T) {
	labels, annotations, err := PlainAlert(StoreFailing, "https://lw.example")
	if err != nil {
		t.Fatal(err)
	}
	if labels["alertname"] != StoreFailing || labels["severity"] != "page" || labels["subject"] != "leasewatch" {
		t.Errorf("labels %v, expected those of a page about leasewatch", labels)
	}
	if annotations["runbook_url"] != "https://lw.example/runbooks/store-failing" {
		t.Errorf("runbook_url %q", annotations["runbook_url"])
	}
	for _, texts := range []map[string]string{labels, annotations} {
		for name, text := range texts {
			if strings.Contains(text, "{{") {
				t.Errorf("%s holds a template that nobody fills in: %s", name, text)
			}
		}
	}
	if _, _, err := PlainAlert("LeasewatchNothing", ""); err == nil {
		t.Error("an alert that does not exist was found")
	}
}
