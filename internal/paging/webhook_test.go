package paging

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestTheSameGroupComesByWebhookUnderTheSameKey(t *testing.T) {
	var d desk
	p := newPager(t, &d, nil)
	post := func(body string) int {
		w := httptest.NewRecorder()
		p.Webhook(w, httptest.NewRequest(http.MethodPost, "/api/v1/webhook/alertmanager", strings.NewReader(body)))
		return w.Code
	}
	message := `{"version":"4","groupKey":"{}:{subject=\"h1\"}","truncatedAlerts":2,"status":"firing","receiver":"leasewatch",
 "groupLabels":{"subject":"h1","severity":"page","provider":"a"},"commonLabels":{},"commonAnnotations":{},"externalURL":"http://am",
 "alerts":[{"status":"firing","labels":{"alertname":"GPULost","subject":"h1"},"annotations":{"summary":"s"},
   "startsAt":"2026-05-04T03:00:00Z","endsAt":"0001-01-01T00:00:00Z","generatorURL":"http://p","fingerprint":"0123456789abcdef"},
  {"status":"resolved","labels":{"alertname":"GPUHot","subject":"h1"},"startsAt":"2026-05-04T03:00:00Z","endsAt":"2026-05-04T03:05:00Z"}]}`
	if code := post(message); code != http.StatusNoContent {
		t.Fatalf("status %d", code)
	}
	g := last(d.got(keyOf("h1")))
	if states(g) != "GPULost=firing GPUHot=ended" || g.Truncated != 2 || g.Alerts[0].Fingerprint != "0123456789abcdef" || len(g.Alerts[1].Fingerprint) != 16 {
		t.Errorf("%+v", g)
	}
	d.fail = 1
	if code := post(message); code != http.StatusServiceUnavailable {
		t.Errorf("a desk that is away: %d, expected 503 so that it is sent again", code)
	}
	for _, bad := range []string{"", "{", `{"version":"3"}`, `{"version":"4","receiver":"r"}`,
		strings.Replace(message, `"resolved"`, `"gone"`, 1), strings.Replace(message, "2026-05-04T03:05:00Z", "yesterday", 1)} {
		if code := post(bad); code != http.StatusBadRequest {
			t.Errorf("%q: %d, expected 400", bad, code)
		}
	}
}

func TestGroupKeysCannotBeForgedByLabelValues(t *testing.T) {
	a := GroupKey("r", map[string]string{"a": `1",b="2`})
	b := GroupKey("r", map[string]string{"a": "1", "b": "2"})
	if a == b {
		t.Errorf("%s and %s are the same", a, b)
	}
}

func FuzzWebhook(f *testing.F) {
	f.Add(`{"version":"4","receiver":"r","groupLabels":{"a":"b"},"alerts":[{"status":"firing","labels":{"a":"b"}}]}`)
	f.Add(`{"version":"4","receiver":"r","alerts":[{"status":"resolved","startsAt":"2026-05-04T03:00:00Z"}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		group, err := readWebhook(strings.NewReader(body))
		if err == nil && (group.Key == "" || len(group.Alerts) == 0) {
			t.Errorf("taken without key or alerts: %+v", group)
		}
	})
}
