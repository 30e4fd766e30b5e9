package slack_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/slack"
	"github.com/leasewatch/leasewatch/internal/slack/slackfake"
)

var update = flag.Bool("update", false, "write golden files")

const route = "slack:C0123"

var began = rental.At(time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC))

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// workspace is a Slack of options on a recording one.
func workspace(t *testing.T, fake slackfake.Options, change func(*slack.Options)) (*slack.Slack, *slackfake.Server) {
	t.Helper()
	server := slackfake.New(fake)
	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	o := slack.Options{
		Token: "xoxb-fake", AppToken: "xapp-fake", APIURL: listener.URL + "/api/", Channel: "C0123",
		ExternalURL: "https://gpu.example.org", Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return began.Time().Add(90 * time.Second) },
	}
	if change != nil {
		change(&o)
	}
	s, err := slack.New(o)
	must(t, err)
	return s, server
}

func lost(n int) rental.Alert {
	return rental.Alert{
		Fingerprint: fmt.Sprintf("f%03d", n), StartsAt: began, EndsAt: rental.Forever,
		Labels: map[string]string{"alertname": "LeasewatchGPULost", "severity": "page", "host": "gpu-a17", "slot": fmt.Sprint(n), "gpu": fmt.Sprint(n),
			"serial": "1654023004512", "sku": "H100-SXM5-80G", "site": "fra1", "provider": "north", "lease": "l-1", "tenant": "acme"},
		Annotations: map[string]string{
			"summary": fmt.Sprintf("GPU lost: gpu-a17 slot %d (serial 1654023004512)", n), "summary_zh": fmt.Sprintf("GPU 丢失：gpu-a17 槽位 %d（序列号 1654023004512）", n),
			"description":    "The driver no longer reaches this GPU: state lost, expected ok.",
			"description_zh": "驱动已无法访问此 GPU：状态为 lost，应为 ok。",
			"action":         "Save the bug report, drain the host, restart it.", "action_zh": "先保存错误报告，排空主机后重启。",
			"runbook_url": "https://gpu.example.org/runbooks/gpu-lost",
		},
	}
}

func incident(alerts ...rental.Alert) rental.Incident {
	return rental.Incident{
		ID: "INC-42", Status: rental.IncidentOpen, Severity: rental.Page, Provider: "north", Subject: "gpu-a17",
		Leases: []string{"l-1"}, Tenants: []string{"acme"}, EvidenceAt: began - 2000, DetectedAt: began, OpenedAt: began,
		Alerts: alerts, Revision: 1, Messages: map[string]rental.MessageRef{},
	}
}

func delivery(id int64, kind string) rental.Delivery {
	return rental.Delivery{ID: id, Incident: "INC-42", Route: route, Kind: kind, Severity: rental.Page, Revision: 1, Started: began}
}

type facts struct{ slow time.Duration }

func (f facts) wait(ctx context.Context) bool {
	select {
	case <-time.After(f.slow):
		return true
	case <-ctx.Done():
		return false
	}
}
func (f facts) BudgetLeft(ctx context.Context, _ string) (int64, bool) { return 754_000, f.wait(ctx) }
func (f facts) AtStake(ctx context.Context, _ string) (rental.Amount, bool) {
	return rental.Amount{Currency: "USD", Minor: 123456}, f.wait(ctx)
}
func (f facts) Cost(ctx context.Context, _ rental.Incident) (rental.Amount, bool) {
	return rental.Amount{Currency: "USD", Minor: 5000}, f.wait(ctx)
}

var _ slack.Facts = facts{}

// life sends every message of an incident's life and returns what the channel showed.
func life(t *testing.T, language string) string {
	t.Helper()
	var shown strings.Builder
	s, _ := workspace(t, slackfake.Options{OnChange: func(c slackfake.Change) {
		fmt.Fprintf(&shown, "== %s\n%s\n", c.Kind, c.Message.Rendered())
	}}, func(o *slack.Options) { o.Language, o.Facts = language, facts{} })
	ctx, inc := context.Background(), incident(lost(3))
	ref, err := s.Send(ctx, delivery(1, "post"), inc)
	must(t, err)
	inc.Messages[route] = ref
	send := func(d rental.Delivery) {
		t.Helper()
		inc.Revision++
		_, err := s.Send(ctx, d, inc)
		must(t, err)
	}
	send(delivery(2, "thread"))
	inc.Status, inc.AckedBy, inc.AckedAt = rental.IncidentAcked, "ada", began+130_000
	send(delivery(3, "update"))
	inc.Alerts = append(inc.Alerts, lost(4))
	inc.Events = []rental.IncidentEvent{{Kind: "worsened"}}
	send(delivery(4, "update"))
	worse := delivery(5, "thread")
	worse.Text = "f004"
	send(worse)
	inc.Silence = &rental.IncidentSilence{ID: "s1", Until: began + 3_600_000, By: "ada"}
	send(delivery(8, "update"))
	inc.Silence, inc.Status = nil, rental.IncidentOpen
	inc.Events = append(inc.Events, rental.IncidentEvent{Kind: "heard"})
	over := delivery(9, "thread")
	over.Text = "f003 f004"
	send(over)
	inc.Status = rental.IncidentAcked
	for i := range inc.Alerts {
		inc.Alerts[i].EndsAt = began + 7_448_000
	}
	inc.Status, inc.ResolvedAt = rental.IncidentResolved, began+7_448_000
	send(delivery(6, "update"))
	inc.Status = rental.IncidentUnknown
	send(delivery(7, "update"))
	return shown.String()
}

func TestAnIncidentReadsAsAPersonAtNightNeedsIt(t *testing.T) {
	for _, language := range []string{"en", "zh"} {
		t.Run(language, func(t *testing.T) {
			got, path := life(t, language), filepath.Join("testdata", "life-"+language+".txt")
			if *update {
				must(t, os.MkdirAll("testdata", 0o755))
				must(t, os.WriteFile(path, []byte(got), 0o600))
			}
			want, err := os.ReadFile(path)
			must(t, err)
			if got != string(want) {
				t.Errorf("the messages changed (run with -update where that is meant):\n%s", got)
			}
		})
	}
}

func TestTheMessageIsEditedInPlaceAndLosesItsButtonsWhenResolved(t *testing.T) {
	s, fake := workspace(t, slackfake.Options{}, nil)
	ctx, inc := context.Background(), incident(lost(3))
	ref, err := s.Send(ctx, delivery(1, "post"), inc)
	must(t, err)
	inc.Messages[route] = ref
	m, _ := fake.Message(ref.ID)
	equal(t, "ack button", m.HasButton("leasewatch_ack"), true)
	equal(t, "runbook button", m.HasButton("leasewatch_runbook"), true)
	equal(t, "incident button", m.HasButton("leasewatch_incident"), true)
	equal(t, "a page calls", fmt.Sprint(m.Mentions()), "[here]")
	inc.Status, inc.ResolvedAt, inc.Revision = rental.IncidentResolved, began+60_000, 2
	_, err = s.Send(ctx, delivery(2, "update"), inc)
	must(t, err)
	equal(t, "messages", len(fake.Messages()), 1)
	equal(t, "edits", len(fake.Updates(ref.ID)), 1)
	m, _ = fake.Message(ref.ID)
	equal(t, "ack button", m.HasButton("leasewatch_ack"), false)
	equal(t, "a resolved one calls nobody", len(m.Mentions()), 0)
	if strings.Contains(string(m.Blocks), `"actions"`) {
		t.Error("a resolved message still has buttons")
	}
}

func TestWhoIsCalled(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*slack.Options)
		inc    func(*rental.Incident)
		want   string
	}{
		"a page calls those who are here":     {nil, nil, "[here]"},
		"a user group":                        {func(o *slack.Options) { o.Mention = "S0GROUP" }, nil, "[S0GROUP]"},
		"a user":                              {func(o *slack.Options) { o.Mention = "U0ADA" }, nil, "[U0ADA]"},
		"nobody":                              {func(o *slack.Options) { o.Mention = "none" }, nil, "[]"},
		"a ticket calls nobody":               {nil, func(i *rental.Incident) { i.Severity = rental.Ticket }, "[]"},
		"a drill calls nobody":                {nil, func(i *rental.Incident) { i.Drill = true }, "[]"},
		"whoever has it rather than everyone": {func(o *slack.Options) { o.People = map[string]slack.Person{"U0BOB": {Name: "bob", Role: "oncall"}} }, func(i *rental.Incident) { i.Status, i.AckedBy = rental.IncidentAcked, "bob" }, "[U0BOB]"},
	} {
		t.Run(name, func(t *testing.T) {
			s, fake := workspace(t, slackfake.Options{}, test.change)
			inc := incident(lost(3))
			if test.inc != nil {
				test.inc(&inc)
			}
			_, err := s.Send(context.Background(), delivery(1, "post"), inc)
			must(t, err)
			equal(t, "called", fmt.Sprint(fake.Messages()[0].Mentions()), test.want)
		})
	}
}

func TestBlocksThatSlackRefusesGoAsText(t *testing.T) {
	s, fake := workspace(t, slackfake.Options{}, nil)
	fake.FailNext("chat.postMessage", slackfake.Failure{Error: "invalid_blocks"})
	_, err := s.Send(context.Background(), delivery(1, "post"), incident(lost(3)))
	must(t, err)
	m := fake.Messages()[0]
	equal(t, "blocks", string(m.Blocks), "[]")
	if !strings.Contains(m.Rendered(), "GPU lost: gpu-a17 slot 3") {
		t.Errorf("the text does not say what broke: %q", m.Rendered())
	}
}

func TestEachFailureSaysWhatItMeans(t *testing.T) {
	for name, test := range map[string]struct {
		failure  slackfake.Failure
		refused  bool
		terminal bool
		gone     bool
		after    time.Duration
	}{
		"a revoked token":         {failure: slackfake.Failure{Error: "token_revoked"}, refused: true, terminal: true},
		"an unknown channel":      {failure: slackfake.Failure{Error: "channel_not_found"}, refused: true, terminal: true},
		"a missing scope":         {failure: slackfake.Failure{Error: "missing_scope"}, refused: true, terminal: true},
		"a deleted message":       {failure: slackfake.Failure{Error: "message_not_found"}, refused: true, gone: true},
		"a limit with its wait":   {failure: slackfake.Failure{Status: http.StatusTooManyRequests, RetryAfter: 7 * time.Second}, refused: true, after: 7 * time.Second},
		"a limit in HTTP 200":     {failure: slackfake.Failure{Error: "ratelimited"}, refused: true, after: 30 * time.Second},
		"Slack's own failure":     {failure: slackfake.Failure{Status: http.StatusInternalServerError}},
		"an internal error":       {failure: slackfake.Failure{Error: "internal_error"}},
		"a refusal by a proxy":    {failure: slackfake.Failure{Status: http.StatusForbidden}, refused: true},
		"a connection that broke": {failure: slackfake.Failure{}},
	} {
		t.Run(name, func(t *testing.T) {
			s, fake := workspace(t, slackfake.Options{}, nil)
			fake.FailAlways("chat.postMessage", test.failure)
			_, err := s.Send(context.Background(), delivery(1, "post"), incident(lost(3)))
			var f *slack.Failure
			if !errors.As(err, &f) {
				t.Fatalf("got %v, want a *slack.Failure", err)
			}
			equal(t, "refused", f.Refused(), test.refused)
			equal(t, "terminal", f.Terminal(), test.terminal)
			equal(t, "gone", f.Gone(), test.gone)
			equal(t, "retry after", f.RetryAfter(), test.after)
			if strings.Contains(err.Error(), "xoxb") {
				t.Errorf("the error shows the token: %v", err)
			}
		})
	}
	t.Run("a server that is not there", func(t *testing.T) {
		s, _ := workspace(t, slackfake.Options{}, func(o *slack.Options) { o.APIURL = "http://127.0.0.1:1/api/" })
		_, err := s.Send(context.Background(), delivery(1, "post"), incident(lost(3)))
		var f *slack.Failure
		if !errors.As(err, &f) || !f.Refused() || f.Terminal() {
			t.Errorf("got %v, want a refusal that passes", err)
		}
	})
	t.Run("a channel without the app", func(t *testing.T) {
		s, _ := workspace(t, slackfake.Options{}, func(o *slack.Options) { o.Channel = "C0OTHER" })
		if err := s.Check(context.Background()); err == nil || !strings.Contains(err.Error(), "invite the app") {
			t.Errorf("got %v, want an error that says what to do", err)
		}
	})
	t.Run("nothing wrong", func(t *testing.T) {
		s, fake := workspace(t, slackfake.Options{}, nil)
		must(t, s.Check(context.Background()))
		equal(t, "posted by a check", len(fake.Messages()), 0)
	})
	t.Run("a wrong token", func(t *testing.T) {
		s, _ := workspace(t, slackfake.Options{Token: "xoxb-other"}, nil)
		if err := s.Check(context.Background()); err == nil || !strings.Contains(err.Error(), "slack.bot_token_file") {
			t.Errorf("got %v, want an error that names slack.bot_token_file", err)
		}
	})
}

func TestAMessageThatArrivedIsFoundAgain(t *testing.T) {
	for _, how := range []slackfake.Failure{{AfterDelivery: true}, {Status: 500, AfterDelivery: true}} {
		s, fake := workspace(t, slackfake.Options{}, nil)
		ctx, inc := context.Background(), incident(lost(3))
		d := delivery(7, "post")
		if _, found, err := s.Find(ctx, d, inc); err != nil || found {
			t.Fatalf("before it was sent: found %v, %v", found, err)
		}
		fake.FailNext("chat.postMessage", how)
		_, err := s.Send(ctx, d, inc)
		var f *slack.Failure
		if !errors.As(err, &f) || f.Refused() {
			t.Fatalf("got %v, want a failure in doubt", err)
		}
		other := inc
		other.ID = "INC-43"
		for n := range 150 { // others talk in between
			if _, err := s.Send(ctx, delivery(int64(100+n), "post"), other); err != nil {
				t.Fatal(err)
			}
		}
		ref, found, err := s.Find(ctx, d, inc)
		must(t, err)
		equal(t, "found", found, true)
		equal(t, "it", ref.ID, fake.Messages()[0].TS)
		inc.Messages[route] = ref

		reply := delivery(8, "thread")
		fake.FailNext("chat.postMessage", how)
		if _, err := s.Send(ctx, reply, inc); err == nil {
			t.Fatal("expected a failure")
		}
		at, found, err := s.Find(ctx, reply, inc)
		must(t, err)
		equal(t, "reply found", found, true)
		equal(t, "reply", at.ID, fake.Messages()[len(fake.Messages())-1].TS)
		if _, found, _ := s.Find(ctx, delivery(9, "thread"), inc); found {
			t.Error("found a reply that was never sent")
		}
	}
}

func TestSlowFactsDoNotDelayAPage(t *testing.T) {
	s, fake := workspace(t, slackfake.Options{}, func(o *slack.Options) { o.Facts = facts{slow: time.Hour} })
	_, err := s.Send(context.Background(), delivery(1, "post"), incident(lost(3)))
	must(t, err)
	equal(t, "messages", len(fake.Messages()), 1)
}
