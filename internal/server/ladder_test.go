package server_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/slack/slackfake"
)

// bell is a phone that is rung over HTTP.
type bell struct {
	mu   sync.Mutex
	rung []string
}

// ServeHTTP takes what is told.
func (b *bell) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rung = append(b.rung, string(body))
}

func (b *bell) heard(words ...string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.rung, func(body string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(body, word) })
	})
}

// stockAlert is what a stock Alertmanager posts of one alert.
func stockAlert(status string, began time.Time) string {
	ends := time.Time{}
	if status == "resolved" {
		ends = began.Add(time.Hour) // by a clock that is ahead: it is over all the same
	}
	return fmt.Sprintf(`{"version":"4","receiver":"leasewatch","status":%[1]q,"groupLabels":{"provider":"acme","severity":"page","subject":"gpu-a17"},
"alerts":[{"status":%[1]q,"fingerprint":"f1","labels":{"alertname":"LeasewatchGPULost","severity":"page","subject":"gpu-a17","provider":"acme"},
"annotations":{"summary":"GPU lost on gpu-a17","action":"Reset the GPU."},"startsAt":%[2]q,"endsAt":%[3]q}]}`,
		status, began.Format(time.RFC3339Nano), ends.Format(time.RFC3339Nano))
}

// duty writes a routing file whose receiver phone rings the bell.
func duty(t *testing.T, address string) {
	t.Helper()
	text := fmt.Sprintf(`
route: {receiver: leasewatch, group_by: [provider, severity, subject]}
receivers:
  - name: leasewatch
    webhook_configs: [{url: 'http://127.0.0.1:8080/api/v1/webhook/alertmanager'}]
  - name: phone
    webhook_configs: [{url: %q}]
`, address+"/duty")
	if err := os.WriteFile("routing.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAPageThatSlackRefusesRingsThePhoneAndIsTakenBackWhenItEnds(t *testing.T) {
	t.Chdir(t.TempDir())
	workspace, phone := slackfake.New(slackfake.Options{}), &bell{}
	recording, ringing := httptest.NewServer(workspace), httptest.NewServer(phone)
	t.Cleanup(recording.Close)
	t.Cleanup(ringing.Close)
	duty(t, ringing.URL)
	if err := os.WriteFile("bot", []byte("xoxb-fake"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		workspace.FailNext("chat.postMessage", slackfake.Failure{Error: "is_archived"})
	}
	base := startServer(t, fmt.Sprintf(`
global: {scrape_interval: 1s, evaluation_interval: 1s}
paging: {config_file: routing.yaml, next: [{receiver: phone, undelivered_after: 2m, unacknowledged_after: 15m}]}
slack: {api_url: %s/api/, channel: C0123, bot_token_file: bot}
`, recording.URL), "data")
	client, err := api.New(base, api.Secret{}, http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server is ready", func() bool { code, _ := get(t, base+"/-/ready"); return code == http.StatusOK })
	began := time.Now().UTC()
	tell := func(status string) {
		answer, err := http.Post(base+"/api/v1/webhook/alertmanager", "application/json", strings.NewReader(stockAlert(status, began)))
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusNoContent {
			t.Fatalf("the webhook answers %s", answer.Status)
		}
	}
	tell("firing")
	eventually(t, "the phone rings", func() bool { return phone.heard("GPU lost on gpu-a17", "Reset the GPU.", "is_archived") })
	list, err := client.Incidents(t.Context(), api.IncidentQuery{Limit: 10})
	if err != nil || len(list.Incidents) != 1 {
		t.Fatalf("%+v, %v: expected one incident", list, err)
	}
	one, err := client.Incident(t.Context(), list.Incidents[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(one.Incident.Events, func(e rental.IncidentEvent) bool {
		return e.Kind == "climbed" && strings.HasPrefix(e.Note, "phone: slack:C0123 refuses it")
	}) {
		t.Errorf("timeline %+v: expected why the page went to the phone", one.Incident.Events)
	}
	if _, page := get(t, base+"/incidents/"+one.Incident.ID+"?lang=zh"); !strings.Contains(page, "转下一渠道") {
		t.Error("the incident's page does not show the step")
	}
	tell("resolved")
	eventually(t, "the phone hears the end", func() bool { return phone.heard(`"status":"resolved"`, "GPU lost on gpu-a17") })
}

func TestWithoutSlackTheFirstStepIsTheWayToPeople(t *testing.T) {
	t.Chdir(t.TempDir())
	phone := &bell{}
	ringing := httptest.NewServer(phone)
	t.Cleanup(ringing.Close)
	duty(t, ringing.URL)
	base := startServer(t, `
global: {scrape_interval: 1s, evaluation_interval: 1s}
paging: {config_file: routing.yaml, next: [{receiver: phone, undelivered_after: 2m}]}
`, "data")
	client, err := api.New(base, api.Secret{}, http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	status, err := client.Status(t.Context())
	if err != nil || !status.Paging.Enabled {
		t.Errorf("%+v, %v: expected that somebody is paged", status.Paging, err)
	}
	eventually(t, "the server is ready", func() bool { code, _ := get(t, base+"/-/ready"); return code == http.StatusOK })
	answer, err := http.Post(base+"/api/v1/webhook/alertmanager", "application/json", strings.NewReader(stockAlert("firing", time.Now().UTC())))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	eventually(t, "the phone rings", func() bool { return phone.heard("GPU lost on gpu-a17") })
}
