package slack_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/slack"
	"github.com/leasewatch/leasewatch/internal/slack/slackfake"
)

func TestNothingInALabelBecomesACallALinkOrMarkup(t *testing.T) {
	evil := "<!here> <@U0ADA> @channel <https://evil.example|click> *bold* `code` :fire: & \u202egnp.exe\u0007\nsecond line"
	for _, kind := range []string{"post", "update", "thread"} {
		for _, text := range []string{"", "f003"} {
			s, fake := workspace(t, slackfake.Options{}, func(o *slack.Options) { o.Mention = "none" })
			alert := lost(3)
			for name := range alert.Labels {
				if name != "severity" {
					alert.Labels[name] = evil
				}
			}
			for name := range alert.Annotations {
				alert.Annotations[name] = evil
			}
			inc := incident(alert)
			inc.Provider, inc.Leases, inc.Tenants, inc.AckedBy, inc.Status = evil, []string{evil}, []string{evil}, evil, rental.IncidentAcked
			first, err := s.Send(context.Background(), delivery(1, "post"), inc)
			must(t, err)
			inc.Messages[route] = first
			d := delivery(2, kind)
			d.Text = text
			ref, err := s.Send(context.Background(), d, inc)
			must(t, err)
			m, _ := fake.Message(ref.ID)
			equal(t, "calls in a "+kind, len(m.Mentions()), 0)
			if bytes.Contains(m.Blocks, []byte(`"mrkdwn"`)) || bytes.Contains(m.Blocks, []byte(`"link"`)) || bytes.Contains(m.Blocks, []byte(`"url"`)) && strings.Contains(string(m.Blocks), "evil.example|click>\",\"type\":\"button") {
				t.Errorf("%s: a label reached markup: %s", kind, m.Blocks)
			}
			if strings.ContainsAny(m.Text, "<>\u202e\u0007") || strings.Contains(m.Text, "@channel") {
				t.Errorf("%s: the notification's text is not escaped: %q", kind, m.Text)
			}
			if strings.Contains(m.Rendered(), "\u202e") {
				t.Errorf("%s: a character that turns the text round got through", kind)
			}
			equal(t, "runbook button of an address that is none", m.HasButton("leasewatch_runbook"), false)
		}
	}
}

func TestTheBiggestIncidentFitsSlacksLimits(t *testing.T) {
	alerts, leases := make([]rental.Alert, 0, 400), make([]string, 0, 400)
	for n := range 400 {
		alert := lost(n)
		alert.Annotations["description"] = strings.Repeat("警报 very long ", 2000)
		alert.Annotations["action"] = strings.Repeat("x", 5000)
		alert.Annotations["summary"] = fmt.Sprint(n) + strings.Repeat(" summary", 500)
		alert.Labels["serial"], alert.Labels["sku"] = strings.Repeat("s", 500), strings.Repeat("k", 500)
		alerts = append(alerts, alert)
		leases = append(leases, strings.Repeat("l", 300)+fmt.Sprint(n))
	}
	s, fake := workspace(t, slackfake.Options{}, nil)
	inc := incident(alerts...)
	inc.Leases = leases
	for i, kind := range []string{"post", "update", "thread", "thread"} {
		d := delivery(int64(i+1), kind)
		if i == 3 {
			for _, alert := range alerts {
				d.Text += alert.Fingerprint + " "
			}
		}
		d.Repeat = true
		ref, err := s.Send(context.Background(), d, inc)
		must(t, err)
		if i == 0 {
			inc.Messages[route] = ref
		}
		if m, _ := fake.Message(ref.ID); len(m.Blocks) < 10 || string(m.Blocks) == "[]" {
			t.Errorf("%s: Slack refused the blocks", kind)
		}
	}
	if shown := fake.Messages()[0].Rendered(); !strings.Contains(shown, "and 392 more") {
		t.Errorf("expected how many alerts are left off: %s", shown)
	}
	equal(t, "calls", fake.Calls("chat.postMessage"), 3)
}

// Whatever stands in labels and texts, Slack takes the message with its layout, and it calls nobody.
func FuzzAnyTextMakesAMessageThatSlackTakes(f *testing.F) {
	server := slackfake.New(slackfake.Options{})
	listener := httptest.NewServer(server)
	f.Cleanup(listener.Close)
	s, err := slack.New(slack.Options{
		Token: "xoxb-fake", APIURL: listener.URL + "/api/", Mention: "none", Now: time.Now, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("gpu-a17", "GPU lost", "zh")
	f.Add("<!here>", "\x00\xff\u202e", "en")
	f.Add("", strings.Repeat("长", 5000), "en")
	f.Fuzz(func(t *testing.T, label, text, id string) {
		alert := rental.Alert{Fingerprint: id, EndsAt: rental.Forever,
			Labels:      map[string]string{"alertname": label, "host": label, "serial": label, "sku": label, "site": label, "lease": label, "tenant": text},
			Annotations: map[string]string{"summary": text, "description": label + text, "action": text, "runbook_url": label}}
		inc := incident(alert, alert)
		inc.Provider, inc.Leases, inc.Tenants, inc.AckedBy, inc.Status = label, []string{label, text}, []string{text}, text, rental.IncidentAcked
		before := len(server.Messages())
		ref, err := s.Send(context.Background(), delivery(1, "post"), inc)
		if err != nil {
			t.Fatal(err)
		}
		inc.Messages[route] = ref
		for _, about := range []string{"", id + " x"} {
			d := delivery(2, "thread")
			d.Text = about
			if _, err := s.Send(context.Background(), d, inc); err != nil {
				t.Fatal(err)
			}
		}
		for _, m := range server.Messages()[before:] {
			if string(m.Blocks) == "[]" {
				t.Fatalf("Slack refused the layout of %q, %q", label, text)
			}
			if len(m.Mentions()) > 0 {
				t.Fatalf("%q, %q call %v", label, text, m.Mentions())
			}
		}
	})
}
