package paging

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// outside is a service that is told over HTTP.
type outside struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	got    []string
}

func newOutside(t *testing.T) *outside {
	t.Helper()
	o := &outside{status: http.StatusOK}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.got = append(o.got, string(body))
		w.WriteHeader(o.status)
	}))
	t.Cleanup(o.Close)
	return o
}

func (o *outside) answers(status int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.status = status
}

func (o *outside) all() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.got...)
}

// duty is a routing file with a pager for people, a webhook elsewhere, and leasewatch itself.
func duty(address string) string {
	return strings.ReplaceAll(`
route: {receiver: leasewatch, group_by: [subject], group_wait: 0s, group_interval: 100ms, routes: [{receiver: beat, matchers: ['alertname="Watchdog"'], repeat_interval: 100ms}]}
receivers:
  - name: leasewatch
    webhook_configs: [{url: 'http://127.0.0.1:8080/api/v1/webhook/alertmanager'}]
  - name: phone
    pagerduty_configs: [{routing_key: k-0123456789abcdef, url: 'ADDRESS/v2/enqueue'}]
  - name: beat
    webhook_configs: [{url: 'ADDRESS/beat/s3cret'}]
`, "ADDRESS", address)
}

func dutyPager(t *testing.T, d *desk, address, language string) *Pager {
	t.Helper()
	p, err := New(t.Context(), Options{
		Config: []byte(duty(address)), Deliver: d.deliver, ExternalURL: "https://leasewatch.example/gpu", Language: language,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

// lostGPU is an incident that climbed to the phone.
func lostGPU() rental.Incident {
	return rental.Incident{
		ID: "INC-7", Status: rental.IncidentOpen, Severity: rental.Page, Provider: "acme", Subject: "gpu-a17",
		Title: "GPU lost  gpu-a17 slot 3",
		Alerts: []rental.Alert{{
			Labels: map[string]string{"alertname": "LeasewatchGPULost", "host": "gpu-a17", "uuid": "GPU-1"},
			Annotations: map[string]string{
				"summary": "GPU lost on gpu-a17 {{ .Evil }} <!channel>", "summary_zh": "gpu-a17 的 GPU 丢失",
				"description": "slot 3, serial 1654", "action": "Reset the GPU.",
			},
			StartsAt: rental.At(time.Now().Add(-time.Minute)), EndsAt: rental.Forever,
		}},
		Events: []rental.IncidentEvent{{Kind: "climbed", Note: "phone: nobody acknowledged it within 10m0s"}},
	}
}

func TestAnIncidentIsToldOnTheWayOfAReceiver(t *testing.T) {
	o := newOutside(t)
	p := dutyPager(t, &desk{}, o.URL, "en")
	routes := p.Routes("phone")
	if len(routes) != 1 || routes[0] != "receiver:phone/pagerduty/0" {
		t.Fatalf("routes %q, expected one to the phone", routes)
	}
	if got := p.Routes("leasewatch"); got != nil {
		t.Errorf("routes %q to leasewatch itself, expected none", got)
	}
	inc := lostGPU()
	ref, err := p.Send(t.Context(), rental.Delivery{Route: routes[0], Kind: "post"}, inc)
	if err != nil || ref.ID != "INC-7" {
		t.Fatalf("%+v, %v", ref, err)
	}
	if _, err := p.Send(t.Context(), rental.Delivery{Route: routes[0], Kind: "update"}, inc); err != nil {
		t.Fatal(err)
	}
	inc.Status, inc.ResolvedAt = rental.IncidentResolved, rental.At(time.Now())
	if _, err := p.Send(t.Context(), rental.Delivery{Route: routes[0], Kind: "update"}, inc); err != nil {
		t.Fatal(err)
	}
	var events []struct {
		Action    string `json:"event_action"`
		Dedup     string `json:"dedup_key"`
		ClientURL string `json:"client_url"`
		Payload   struct {
			Summary string         `json:"summary"`
			Details map[string]any `json:"custom_details"`
		} `json:"payload"`
	}
	if err := json.Unmarshal([]byte("["+strings.Join(o.all(), ",")+"]"), &events); err != nil {
		t.Fatal(err)
	}
	if len(events) != 2 || events[0].Action != "trigger" || events[1].Action != "resolve" || events[0].Dedup != events[1].Dedup {
		t.Fatalf("%+v: expected one trigger and its end, and nothing for an update between", events)
	}
	first := events[0]
	if !strings.HasPrefix(first.Payload.Summary, "[FIRING] ") || !strings.Contains(first.Payload.Summary, "gpu-a17") {
		t.Errorf("summary %q: expected the incident's headline", first.Payload.Summary)
	}
	if first.ClientURL != "https://leasewatch.example/gpu/incidents/INC-7" {
		t.Errorf("link %q: expected the incident's page", first.ClientURL)
	}
	if details := fmt.Sprint(first.Payload.Details["firing"]); !strings.Contains(details, "{{ .Evil }}") || !strings.Contains(details, "Reset the GPU.") {
		t.Errorf("details %q: expected the summary as it is and the action", details)
	}
}

func TestANoticeSpeaksTheLanguageOfTheServer(t *testing.T) {
	o := newOutside(t)
	p := dutyPager(t, &desk{}, o.URL, "zh")
	if _, err := p.Send(t.Context(), rental.Delivery{Route: "receiver:phone/pagerduty/0", Kind: "post"}, lostGPU()); err != nil {
		t.Fatal(err)
	}
	if got := o.all(); len(got) != 1 || !strings.Contains(got[0], "gpu-a17 的 GPU 丢失") {
		t.Errorf("%q: expected the Chinese summary", got)
	}
}

func TestWhatAWayOutAnswersDecidesWhetherItIsTriedAgain(t *testing.T) {
	o := newOutside(t)
	p := dutyPager(t, &desk{}, o.URL, "en")
	for status, terminal := range map[int]bool{http.StatusBadRequest: true, http.StatusForbidden: true, http.StatusTooManyRequests: false, http.StatusBadGateway: false} {
		o.answers(status)
		_, err := p.Send(t.Context(), rental.Delivery{Route: "receiver:phone/pagerduty/0", Kind: "post"}, lostGPU())
		var refusal *Refusal
		if !errors.As(err, &refusal) || refusal.Terminal() != terminal {
			t.Errorf("%d: %v: expected a refusal, for good: %t", status, err, terminal)
		}
	}
	_, err := p.Send(t.Context(), rental.Delivery{Route: "receiver:nobody/email/0", Kind: "post"}, lostGPU())
	var refusal *Refusal
	if !errors.As(err, &refusal) || !refusal.Terminal() {
		t.Errorf("%v: expected that a receiver that is gone is refused for good", err)
	}
}

func TestAnErrorOfAWayOutTellsNoSecret(t *testing.T) {
	o := newOutside(t)
	p := dutyPager(t, &desk{}, o.URL, "en")
	o.Close()
	for _, route := range []string{"receiver:phone/pagerduty/0", "receiver:beat/webhook/0"} {
		_, err := p.Send(t.Context(), rental.Delivery{Route: route, Kind: "post"}, lostGPU())
		if err == nil || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "k-0123456789abcdef") {
			t.Errorf("%s: %v: expected an error without the key or the address", route, err)
		}
	}
}

func TestTheWatchdogBeatsAtTheAddressOutside(t *testing.T) {
	o, d := newOutside(t), desk{}
	p := dutyPager(t, &d, o.URL, "en")
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	put(t, p, firing("Watchdog", "h1", "GPU-1"))
	eventually(t, "the heart beats outside", func() bool { return len(o.all()) >= 1 })
	if got := o.all()[0]; !strings.Contains(got, `"alertname":"Watchdog"`) {
		t.Errorf("%s: expected the watchdog's alert", got)
	}
	if got := d.got(GroupKey("beat", map[string]string{"subject": "h1"})); len(got) != 0 {
		t.Errorf("leasewatch was told of the heartbeat: %v", got)
	}
}
